"""The command ``arena``, as a person types it."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import pytest

import arena
from arena.cli import main
from arena.envs import EnvConfig


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """In a real process: its exit status and what it prints are the contract."""
    return subprocess.run(
        [sys.executable, "-m", "arena", *map(str, arguments)], capture_output=True, text=True
    )


def test_search_prints_json(synthetic):
    done = run(
        "search", "--corpus", synthetic, "--query", "membrane erosion", "--before", "2015-03",
        "--k", 4, "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["cutoff"] == "2015-03-01"
    hits = found["hits"]
    assert len(hits) == 4
    assert [list(hit) for hit in hits] == [["id", "title", "date", "score"]] * 4
    assert all(hit["date"] < "2015-03-01" for hit in hits)
    view = arena.Corpus.open(synthetic).at("2015-03-01")
    assert hits == [hit._asdict() for hit in view.search("membrane erosion", 4)]
    done = run("search", "--corpus", synthetic, "--query", "membrane", "--before", "1900", "--json")
    assert json.loads(done.stdout)["hits"] == []


def test_search_options(synthetic, capsys, monkeypatch):
    monkeypatch.setenv("ARENA_CORPUS", str(synthetic))  # then --corpus may be left out
    base = ["search", "--query", "membrane", "--before", "2015", "--json"]

    def hits(*options: str) -> list[dict]:
        assert main([*base, *options]) == 0
        return json.loads(capsys.readouterr().out)["hits"]

    plain = hits()
    other = hits("--retriever-option", "statistics=corpus")
    assert [h["score"] for h in other] != [h["score"] for h in plain]
    for wrong in ("b", "=1"):
        assert main([*base, "--retriever-option", wrong]) == 2
        assert "write NAME=VALUE" in capsys.readouterr().err
    assert main([*base, "--retriever-option", "b=1", "--retriever-option", "b=.5"]) == 2
    assert "--retriever-option 'b' is given twice" in capsys.readouterr().err


def test_an_episode_step_by_step(synthetic, title_run, capsys):
    line = json.loads((title_run / "trajectories.jsonl").read_text().splitlines()[0])
    command = ["show", str(title_run), "--topic", line["topic_id"], "--corpus", str(synthetic)]
    assert main(command) == 0
    out = capsys.readouterr().out
    query = line["steps"][0]["action"]["arguments"]["query"]
    assert f'1. search(query="{query}", k=100)' in out
    assert "2. submit(paper_ids=" in out
    assert f"{line['metrics']['recall@100']:.4f}" in out
    assert main([*command, "--json"]) == 0
    steps = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert [step["action"] for step in steps] == [
        None, *(step["action"] for step in line["steps"]),
    ]  # fmt: skip
    assert main([*command[:2], *command[4:]]) == 0
    assert capsys.readouterr().out.startswith("The first of 8 episodes. The others: ")
    command[3] = "nowhere"
    assert main(command) == 2
    assert "has no episode of topic 'nowhere'" in capsys.readouterr().err


def test_an_episode_with_another_query(synthetic, title_run, capsys):
    line = json.loads((title_run / "trajectories.jsonl").read_text().splitlines()[0])
    command = ["show", str(title_run), "--topic", line["topic_id"], "--corpus", str(synthetic)]
    command += ["--steps", "1", "--instead"]
    other = {"tool": "search", "arguments": {"query": "zzzz"}}
    assert main([*command, json.dumps(other)]) == 0
    out = capsys.readouterr().out
    assert '1. search(query="zzzz")' in out and "Nothing matches" in out
    assert re.search(rf"gain +{line['steps'][0]['gain']:.4f} +0.0000", out)
    same = f"{line['metrics']['recall@100']:.4f}"  # what is submitted after it is the run's
    assert re.search(rf"recall@100 +{same} +{same}", out)
    early = {"tool": "finish", "arguments": {}}
    assert main([*command, json.dumps(early)]) == 0
    assert re.search(rf"recall@100 +{same} +0.0000", capsys.readouterr().out)
    for words in (["{"], ['{"tool": 1}', "--steps", "1-2"]):
        assert main([*command, *words]) == 2
        assert "--steps 3" in capsys.readouterr().err


def test_tables(synthetic, tmp_path, capsys):
    assert (
        main(["search", "--corpus", str(synthetic), "--query", "membrane", "--before", "2015"]) == 0
    )
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["rank", "score", "date", "id", "title"]
    assert len(table) == 13
    assert table[-1].startswith("The best 10 of ") and table[-1].endswith("before 2015-01-01.")
    assert main(["search", "--corpus", str(synthetic), "--query", "zzz", "--before", "2015"]) == 0
    assert "Nothing matches among" in capsys.readouterr().out
    output = str(tmp_path / "run")
    arguments = ["run", "--corpus", str(synthetic), "--task", "discovery", "--agent", "title",
                 "--output", output, "--topics", "3"]  # fmt: skip
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "recall@100" in text
    assert "Mean over 3 of 3 topics" in text
    assert main([*arguments, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["mean"]["recall@100"] > 0
    score = ["score", "--corpus", str(synthetic), "--task", "discovery", f"{output}/run.trec",
             "--topics", "3"]  # fmt: skip
    assert main([*score, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mean"] == summary["mean"]
    assert main(score) == 0
    assert "recall@100" in capsys.readouterr().out


def test_list(synthetic, capsys):
    assert main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {
        "agents", "answers", "commands", "corpus-schemes", "credits", "encoders", "environments",
        "executors", "extractors", "paper_texts", "result-readers",
        "integrations", "judges", "metrics", "mind-map-formats", "mind-map-readers", "pairs",
        "question-formats", "readers", "report-readers", "retrievers", "rewards", "rubrics",
        "samplers", "sources", "suites", "tasks", "tools",
    }  # fmt: skip
    assert {"title", "random", "clustering", "oracle"} <= set(found["agents"])
    assert main(["list", "retrievers"]) == 0
    assert "bm25" in capsys.readouterr().out
    assert main(["list", "topics", "--corpus", str(synthetic), "--json"]) == 0
    topics = json.loads(capsys.readouterr().out)
    assert len(topics) == 8
    keys = ("id", "text", "date", "date_guessed", "prompts", "domain", "question")
    assert {tuple(s) for s in topics} == {keys}
    assert main(["list", "topics"]) == 2
    assert "needs --corpus" in capsys.readouterr().err


SYNTHETIC = "--corpus WORLD"
BAD = [
    ("", "the following arguments are required: COMMAND. See `arena --help`."),
    ("serach", "Did you mean 'search'"),
    ("search --corpus . --query x --before 2020", "contains no built corpus"),
    (f"search {SYNTHETIC} --query x", "required: --before"),
    (f"search {SYNTHETIC} --query x --before 2020-13", "'2020-13' is not a day of the calendar"),
    (f"search {SYNTHETIC} --query x --before 2020 --k -1", "--k -1: give an integer >= 1"),
    (
        f"search {SYNTHETIC} --qurey x --before 2020",
        "unknown option '--qurey'. Did you mean '--query'",
    ),
    (f"search {SYNTHETIC} x --before 2020 --query y", "too many words: 'x'"),
    (f"run {SYNTHETIC} --task discovery --agent title --output OUT --topics x", "no topic 'x'"),
    (f"score {SYNTHETIC} --task discovery nothing.trec", "no such file"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_bad_input_is_one_line_and_status_2(
    synthetic, tmp_path, capsys, monkeypatch, line, message
):
    monkeypatch.chdir(tmp_path)
    arguments = line.replace("WORLD", str(synthetic)).replace("OUT", str(tmp_path / "out")).split()
    try:
        status = main(arguments)
    except SystemExit as stop:  # argparse leaves this way
        status = stop.code
    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("arena")
    assert message in captured.err
    assert list(tmp_path.iterdir()) == []


def test_a_bug_is_one_line_too(synthetic, capsys, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom\nboom")

    monkeypatch.setattr("arena.corpus.view.CorpusView.search", broken)
    arguments = ["search", "--corpus", str(synthetic), "--query", "x", "--before", "2015"]
    assert main(arguments) == 1
    assert "RuntimeError: boom boom (a bug" in capsys.readouterr().err
    monkeypatch.setenv("ARENA_DEBUG", "1")
    with pytest.raises(RuntimeError):
        main(arguments)


def test_a_closed_pipe_is_no_error(synthetic):
    command = (
        f"{sys.executable} -m arena list topics --corpus {synthetic} --json | head -n 1; "
        "exit ${PIPESTATUS[0]}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [[], ["search"], ["run"], ["score"], ["list"]])
def test_every_help_has_an_example(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert f"example:\n  arena {' '.join(command)}" in text
    if command:
        assert "--json" in text


def test_the_help_lists_the_settings_of_the_environment(capsys):
    for command in (["run"], ["serve", "mcp"]):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        listed = capsys.readouterr().out.partition("(--env-option NAME=VALUE):\n")[2]
        assert re.findall(r"^  (\w+) ", listed, re.MULTILINE) == list(EnvConfig.model_fields)
        assert (
            "max_k                  Most hits of one search, from 1 to 1000 (default: 100)"
            in listed
        )


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_letter_that_the_output_lacks_is_a_question_mark(mini, monkeypatch, errors):
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, "ascii", errors=errors))
    words = ["--corpus", str(mini), "--query", "Étude index", "--before", "2021", "--k", "1"]
    assert main(["search", *words]) == 0
    sys.stdout.flush()
    assert b"?tude des index" in raw.getvalue()
