"""`arena judge`: a run judged and compared with people, on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from filelock import FileLock
from llm_server import LLMServer, last_text

import arena
from arena.cli import main

DIMENSIONS = ("coverage", "organization", "logic", "topology")


@pytest.fixture(scope="session")
def judged_synthetic_corpus(synthetic, tmp_path_factory):
    """A finished run of `clustering` in `synthetic`."""
    output = tmp_path_factory.mktemp("judged") / "clustering"
    arena.run(synthetic, "organization", "clustering", output)
    return output


@pytest.fixture
def clustering_run(judged_synthetic_corpus, tmp_path, monkeypatch):
    """A copy of the run to write into, and an empty directory to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    return Path(shutil.copytree(judged_synthetic_corpus, "clustering"))


def judge(run, synthetic, server, *more):
    options = ("--llm-option", "model=scripted", "--llm-option", f"base_url={server.url}")
    rubric = () if "--rubric" in more else ("--rubric", "taxobench")
    return main(["judge", "run", str(run), "--corpus", str(synthetic), *rubric, *options, *more])


def scores_of(body):
    """Scores that differ between prompts and are the same each time."""
    length = len(last_text(body))
    return json.dumps({name: 1 + (length + i) % 5 for i, name in enumerate(DIMENSIONS)})


def test_a_run_is_judged_and_compared_with_people(clustering_run, synthetic, capsys):
    with LLMServer(scores_of) as server:
        assert judge(clustering_run, synthetic, server, "--dry-run") == 0
        cells = capsys.readouterr().out.splitlines()[2].split()
        assert cells[:2] == ["scripted", "8"] and not server.requests
        assert not (clustering_run / "judgements").exists()
        assert judge(clustering_run, synthetic, server) == 0
        printed = capsys.readouterr().out
        assert "8 of 8 judged by scripted in 8 calls; 0 empty" in printed
        path = clustering_run / "judgements" / "taxobench.json"
        first = path.read_bytes()
        # Again: from the store, the same bytes, and as JSON.
        assert judge(clustering_run, synthetic, server, "--json", "--output", "again.json") == 0
        assert len(server.requests) == 8
    assert Path("again.json").read_bytes() == first
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(first)
    assert found["sha256"].keys() == {"corpus", "tasks", "trajectories.jsonl", "code", "content"}
    # The run is still the run: it replays, and its command finds it finished.
    assert main(["verify", str(clustering_run), "--corpus", str(synthetic)]) == 0
    before = {p.name: p.read_bytes() for p in clustering_run.iterdir() if p.is_file()}
    arena.run(synthetic, "organization", "clustering", clustering_run)
    assert {p.name: p.read_bytes() for p in clustering_run.iterdir() if p.is_file()} == before
    # A verdict that was edited: neither the run nor the verdicts count as what was written.
    path.write_bytes(first.replace(b'"judged": 8', b'"judged": 9', 1))
    with pytest.raises(SystemExit, match="1"):
        main(["verify", str(clustering_run), "--corpus", str(synthetic)])
    assert "Edited since the run: judgements/taxobench.json" in capsys.readouterr().err


def test_two_judges_do_not_write_one_file(clustering_run, synthetic, capsys):
    with LLMServer(scores_of) as server, FileLock(".scores.json.lock"):
        assert judge(clustering_run, synthetic, server, "--output", "scores.json") == 2
        assert server.requests == []
    assert "another process is writing 'scores.json'" in capsys.readouterr().err
