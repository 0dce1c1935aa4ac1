"""``arena doctor``, and the help by sections."""

import json

from arena.cli import main
from arena.cli.doctor import GIVES
from corpus_builder.cli import main as build


def test_the_doctor_says_what_is_there(tiny, capsys):
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert "arena doctor demo/world" in printed
    assert main(["doctor", str(tiny), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["extras"].keys() == GIVES.keys()
    assert found["extras"]["build"]
    assert found["corpus"]["searches_per_second"]["bm25"] > 0


def test_a_corpus_without_surveys_is_timed_too(mini_records, tmp_path, capsys):
    papers, _ = mini_records.write(tmp_path)
    corpus = str(tmp_path / "corpus")
    assert build(["build", "jsonl", "--papers", str(papers), "--output", corpus]) == 0
    capsys.readouterr()
    assert main(["doctor", corpus, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["corpus"]
    assert found["surveys"] == 0
    assert found["searches_per_second"]["bm25"] > 0


def test_an_absent_package_is_named(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "mcp" else name)
    assert main(["doctor"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("serve ")]
    assert line.endswith("needs mcp")


def test_a_corpus_that_is_absent_is_one_line(tmp_path, capsys):
    assert main(["doctor", str(tmp_path / "nothing")]) == 2
    assert "there is no directory" in capsys.readouterr().err
