"""`arena judge statements`: the reports of a run judged on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from llm_server import LLMServer

import arena
from arena.cli import main


@pytest.fixture(scope="session")
def reported(synthetic, tmp_path_factory):
    """A finished run of `oracle` on the task `report`, whose reports are the topics' articles."""
    output = tmp_path_factory.mktemp("reported") / "oracle"
    arena.run(synthetic, "report", "oracle", output, topics=2)
    return output


@pytest.fixture
def run(reported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    return Path(shutil.copytree(reported, "oracle"))


def judge(run, synthetic, server, *more):
    options = ("--llm-option", "model=first", "--llm-option", f"base_url={server.url}")
    return main(["judge", "statements", str(run), "--corpus", str(synthetic), *options, *more])


def answers(body):
    text = body["messages"][0]["content"]
    if "Which words" in text:
        return text.split("<passage>\n")[1].split("\n</passage>")[0]
    if "ought to be checked" in text:
        return '[{"statement": "This is in no report of this synthetic corpus."}]'
    return json.dumps({"reason": "So.", "match": len(text) % 2 == 0})


def test_a_run_is_judged_and_compared_with_people(run, synthetic, capsys):
    with LLMServer(answers) as server:
        assert judge(run, synthetic, server, "--votes", "0", "--extract", "rules", "--dry-run") == 0
        assert capsys.readouterr().out.splitlines()[2].startswith("first ")
        assert not server.requests and not (run / "judgements").exists()
        assert judge(run, synthetic, server, "--voters", "first,second", "--votes", "1") == 0
        printed = capsys.readouterr().out
        assert "2 reports in " in printed
        assert "match_rate" in printed
        path = run / "judgements" / "statements.json"
        first = path.read_bytes()
        asked = len(server.requests)
        assert (
            judge(run, synthetic, server, "--voters", "first,second", "--votes", "1", "--json") == 0
        )
        assert len(server.requests) == asked
    assert path.read_bytes() == first
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(first)
    assert found["sha256"].keys() == {"corpus", "tasks", "trajectories.jsonl", "code", "content"}
    assert [voter["model"] for voter in found["judge"]["voters"]] == ["first", "second"]
    counts = found["counts"]
    assert counts["pairs"] == counts["match"] + counts["mismatch"] + counts["unreachable"] > 20
    assert counts["match"] > 0
    # The run is still the run.
    assert main(["verify", str(run), "--corpus", str(synthetic)]) == 0
    capsys.readouterr()
    rows = [row for report in found["reports"].values() for row in report["cited"]]
    # Each unreachable paper has a reason.
    reasons = [row["why"] for row in rows if row["outcome"] == "unreachable"]
    assert len(reasons) == sum(counts[f"unreachable_{why}"] for why in set(reasons))
    assert main(["judge", "sample", str(run), "--what", "statements", "--output", "s.csv"]) == 0
    assert "PASSAGE" in Path("s.csv").read_text()


def test_bad_input_is_one_line(run, synthetic, title_run, capsys):
    problems = {
        ("--votes", "-1"): "votes=-1: give an integer >= 0",
        ("--extract", "guess"): "unknown 'guess'",
        ("--prompts", "nowhere"): "'nowhere' contains no template",
    }
    with LLMServer([]) as server:
        for more, problem in problems.items():
            try:
                status = judge(run, synthetic, server, *more)
            except SystemExit as stop:
                status = stop.code
            assert status == 2
            error = capsys.readouterr().err
            assert problem in error
            assert error.count("\n") == 1
        assert judge(title_run, synthetic, server) == 2
        assert "which submits no report" in capsys.readouterr().err
        assert not server.requests
