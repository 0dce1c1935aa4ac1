"""``arena report``."""

from __future__ import annotations

import json

from arena.cli import main

TEXT = "# T\n\nOne [1]. Two [3].\n\n## References\n\n[1] Deep nets\n\n[2] Flat nets\n"


def test_a_row_for_each_report(tmp_path, capsys):
    (tmp_path / "a.md").write_text(TEXT)
    (tmp_path / "b.html").write_text("<p>One https://x.org</p>")
    (tmp_path / "c.json").write_text("{}")
    assert main(["report", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["report", "sections"] and len(lines) == 4
    assert lines[2].split()[1:] == ["1", "2", "2", "2", "2", "2", "1", "1", "numbers"]
    assert lines[3].split()[1:] == ["1", "1", "1", "1", "0", "1", "1", "0", "links"]


def test_cited_papers_are_found_in_a_corpus(synthetic, tmp_path, capsys):
    from arena.tasks import TaskSet

    name = next(TaskSet(synthetic).paper_names())
    file = tmp_path / "a.md"
    file.write_text(f"One [1], two [@{name.id}].\n\n# References\n\n[1] {name.title.upper()}.\n")
    assert main(["report", str(file), "--corpus", str(synthetic), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["resolved"] == row["cited"] == 2
    assert {reference["paper"] for reference in row["references"]} == {name.id}


def test_bad_input_is_one_line(tmp_path, capsys):
    (tmp_path / "a.md").write_bytes(b"\x00\xff\x00")
    (tmp_path / "empty").mkdir()
    for words in (
        ["missing.md"],
        [str(tmp_path / "a.md")],
        [str(tmp_path / "empty")],
    ):
        assert main(["report", *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
