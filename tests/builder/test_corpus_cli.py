"""The command line arena-corpus: what it prints, what it finds, how it fails."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from arena.corpus import Corpus, layout
from arena.errors import ArenaError, CorpusError
from corpus_builder.cli import main
from corpus_builder.manifest import verify


def run(capsys: Any, *arguments: object) -> tuple[int, str, str]:
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def fails(capsys: Any, *arguments: object) -> str:
    """Run, expecting status 2, one line of error and nothing else; return the line."""
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, ""), err
    assert err.count("\n") == 1 and err.endswith("\n")
    assert re.match(r"arena-corpus( [a-z ]+)?: error: ", err)
    return err


CARD = """\
corpus        {directory} (jsonl, 0.0 MB without indexes)
papers        17 (11 searchable, 3 undated, 4 surveys) of 1969-12-31 to 2023-01-31; 2 abstracts, \
2 sections of full text
citations     5 between searchable papers (2 to unknown papers left out)
survey tasks  3 (2 can be scored, 2 with a mind-map); 16 references: 7 in reach, 1 unknown, \
2 undated, 3 surveys, 3 not before their survey
indexes       bm25 over title, abstract, fulltext
"""


def test_build_info_verify(capsys: Any, tmp_path: Path, mini_records: Any) -> None:
    papers, surveys = mini_records.write(tmp_path)
    packed = tmp_path / "papers.jsonl.gz"
    packed.write_bytes(gzip.compress(papers.read_bytes()))
    output = tmp_path / "c"
    options = ("build", "jsonl", "--papers", packed, "--surveys", surveys, "--output", output)
    status, built, err = run(capsys, *options)
    assert (status, err) == (0, "")
    assert re.search(r"\nbuilt in \d+\.\d s\n\Z", built)
    status, card, err = run(capsys, "info", output)
    assert (status, err) == (0, "")
    assert card.startswith(CARD.format(directory=output))
    assert built.startswith(card)
    status, out, err = run(capsys, "verify", output)
    n_files = sum(1 for path in output.rglob("*") if path.is_file())
    assert (status, out, err) == (0, f"{n_files} files are as built.\n", "")

    status, out, _ = run(capsys, "info", output, "--json")
    assert json.loads(out) == json.loads((output / layout.MANIFEST).read_text())
    status, out, _ = run(capsys, "verify", output, "--json")
    assert json.loads(out) == {"files": n_files, "problems": {}}
    status, out, _ = run(capsys, *options, "--overwrite", "--json", "--fields", "title, abstract")
    assert json.loads(out)["configuration"]["fields"] == ["title", "abstract"]


def test_bad_input(capsys: Any, tmp_path: Path, mini_records: Any) -> None:
    papers, surveys = mini_records.write(tmp_path)
    output = tmp_path / "c"

    def build(**changes: object) -> str:
        options = {"papers": papers, "surveys": surveys, "output": output, **changes}
        flat = [text for name, value in options.items() for text in (f"--{name}", value)]
        before = sorted(tmp_path.rglob("*"))
        message = fails(capsys, "build", "jsonl", *flat)
        assert sorted(tmp_path.rglob("*")) == before
        return message

    def file(text: str) -> Path:
        path = tmp_path / "bad"
        path.write_text(text)
        return path

    good = papers.read_text()
    twice = good + '{"id": "12345", "title": "Again"}\n'  # a number in line 11
    assert "bad lines 11 and 18: both have id '12345'." in build(papers=file(twice))
    assert "bad line 1: title=None: every record needs a title" in build(papers=file('{"id": 1}'))
    assert "bad line 1: [] is not a JSON object" in build(papers=file("[]"))
    assert "no field 'titel' to index. Did you mean 'title'?" in build(fields="titel")
    assert "Did you mean 'bm25'?" in build(engines="bm52")
    assert "name each of title, abstract, fulltext" in build(fields="")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    assert "contains other files, 'notes.txt' for one." in build(output=tmp_path / "full")
    assert "bad' is a file. Name a new directory." in build(output=tmp_path / "bad")
    run(capsys, "build", "synthetic", "--papers", 60, "--surveys", 1, "--output", output)
    assert "already contains a corpus. Pass --overwrite to replace it." in build()


def test_not_a_corpus(capsys: Any, copy: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name, message in (
        ("absent", "there is no directory"),
        ("empty", r"contains no built corpus \(no manifest.json\)"),
        ("file", "is a file, not a built corpus"),
        ("corpus/index/bm25", "is not the manifest of a built corpus: content_sha256 is missing"),
    ):
        for command in ("info", "verify"):
            assert re.search(message, fails(capsys, command, tmp_path / name))
        with pytest.raises(CorpusError, match=message):
            Corpus.open(tmp_path / name)


@pytest.mark.parametrize("version", [1, 4, "2", None, [2]])
def test_another_format_version(capsys: Any, copy: Path, version: Any) -> None:
    # A later format may have none of the keys of this one.
    (copy / layout.MANIFEST).write_text(json.dumps({"format_version": version, "new": 1}))
    for command in ("info", "verify"):
        message = fails(capsys, command, copy)
        assert f"is of format version {version!r}; this release reads version 5." in message
    with pytest.raises(CorpusError, match="is of format version"):
        Corpus.open(copy)


def files(directory: Path) -> list[str]:
    found = [path for path in directory.rglob("*") if path.is_file()]
    return sorted(path.relative_to(directory).as_posix() for path in found)


def test_verify_finds_every_flipped_byte(copy: Path) -> None:
    for name in files(copy):
        path = copy / name
        data = path.read_bytes()
        for position in {0, len(data) // 2, len(data) - 1} if data else ():
            path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
            try:
                problems = verify(copy)["problems"]
            except ArenaError:  # no JSON any more
                assert name == layout.MANIFEST
            else:
                assert problems[name] == "has other content"
                assert len(problems) == 1 or name == layout.MANIFEST  # which may name other files
            path.write_bytes(data)
    assert verify(copy)["problems"] == {}


def test_verify_finds_what_is_missing_or_too_much(capsys: Any, copy: Path) -> None:
    (copy / "papers.parquet").unlink()
    (copy / "lookup/extra\x1b.npy").write_bytes(b"x")
    (copy / "link").symlink_to("/nowhere")
    (copy / "tasks/folder").symlink_to(copy / "lookup")
    status, out, err = run(capsys, "verify", copy)
    assert status == 2
    assert out.splitlines() == [
        "link: is not in the manifest",
        "'lookup/extra\\x1b.npy': is not in the manifest",
        "papers.parquet: is missing",
        "tasks/folder: is not in the manifest",
    ]
    assert err.startswith("arena-corpus: error: 4 files of ") and err.count("\n") == 1
    status, out, _ = run(capsys, "verify", copy, "--json")
    assert status == 2 and len(json.loads(out)["problems"]) == 4


def test_a_corpus_in_which_nothing_can_be_found_is_warned_of(mini_records, tmp_path, capsys):
    papers, surveys = mini_records.write(tmp_path)
    base = ["build", "jsonl", "--output", str(tmp_path / "out"), "--overwrite"]
    assert main([*base, "--papers", str(surveys), "--surveys", str(surveys)]) == 0
    text = capsys.readouterr().out
    assert re.search("^warning +nothing can be found", text, re.MULTILINE)
    assert re.search("^warning +no survey can be scored", text, re.MULTILINE)
    assert "are the two files swapped?" in text
    assert main([*base, "--papers", str(papers), "--surveys", str(surveys)]) == 0
    assert "warning" not in capsys.readouterr().out
