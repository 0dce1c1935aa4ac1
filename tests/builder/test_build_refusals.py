"""Building: bad records and bad options are refused, each by its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from helpers import SMALL, SURVEY, Memory, names

from arena.errors import ArenaError, DataError
from corpus_builder.build import build


def refusal(papers: list[Any], surveys: list[Any], output: Path) -> str:
    with pytest.raises(DataError) as caught:
        build(Memory(papers, surveys), output)
    assert names(output.parent) == []
    return str(caught.value)


def test_duplicates_name_both_lines(tmp_path: Path) -> None:
    output = tmp_path / "c"
    ids = ["a", "b", 7, "c", "b", "7", "b"]
    papers = [{"id": id_, "title": f"T{n}"} for n, id_ in enumerate(ids)]
    message = "papers lines 2 and 5: both have id 'b'. Ids are unique; remove or rename one."
    assert refusal(papers, [SURVEY], output) == message
    message = refusal(papers[2:], [SURVEY], output)
    assert message.startswith("papers lines 1 and 4: both have id '7'.")
    message = refusal(papers[:2], [SURVEY, {**SURVEY, "id": "t"}, SURVEY], output)
    assert message.startswith("surveys lines 1 and 3: both have id 's'.")


def test_bad_records_name_their_line(tmp_path: Path) -> None:
    output = tmp_path / "c"
    good = {"id": "a", "title": "A"}
    assert refusal([good, {"id": "b"}], [SURVEY], output).startswith("papers line 2: title=None")
    message = refusal([good, {**good, "date": "last year"}], [SURVEY], output)
    assert message.startswith("papers line 2: date: 'last year' is not a date. Write YYYY")
    message = refusal([good], [SURVEY, {"id": "t", "title": "T"}], output)
    assert message.startswith("surveys line 2: a survey needs a date")
    assert refusal([], [SURVEY], output) == "the source contains no papers. Give at least one."


def test_bad_options(tmp_path: Path) -> None:
    for fields, message in (
        (("titel",), "no field 'titel' to index. Did you mean 'title'"),
        ((), "name each of title, abstract, fulltext at most once"),
        (("title", "title"), "at most once"),
    ):
        with pytest.raises(DataError, match=re.escape(message)):
            build(SMALL, tmp_path / "c", fields=fields)
    with pytest.raises(ArenaError, match=r"'bm52'.*Did you mean 'bm25'"):
        build(SMALL, tmp_path / "c", engines=("bm52",))
    assert names(tmp_path) == []
