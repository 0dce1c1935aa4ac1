"""The source ``openalex``: works, folders, and the stage ``parse`` over them."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_helpers import read_shard, write_shard

from corpus_builder.release import RecordLimits, Sink
from corpus_builder.sources.openalex import OpenAlex, read_abstract
from corpus_builder.stages import plan, read_config, run_stages

BASE = "https://openalex.org/"


def day(text: str) -> int:
    return (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days


def work(number: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a record of the entity ``works``."""
    return {
        "id": f"{BASE}W{number}",
        "title": f"On Reefs {number}",
        "display_name": f"On Reefs {number}",
        "publication_year": 2018,
        "publication_date": "2018-05-17",
        "type": "article",
        "is_paratext": False,
        "is_retracted": False,
        "authorships": [{"author": {"id": f"{BASE}A1", "display_name": "Ada Low"}}],
        "primary_location": {"source": {"id": f"{BASE}S1", "display_name": "Reefs"}},
        "topics": [
            {"display_name": "Corals", "field": {"display_name": "Biology"}},
            {"display_name": "Tides", "field": {"display_name": "Geology"}},
            {"display_name": "Fish", "field": {"display_name": "Biology"}},
        ],
        "referenced_works": [f"{BASE}W20", f"{BASE}W30", f"{BASE}W20"],
        "referenced_works_count": 3,
        "abstract_inverted_index": {"We": [0], "dive": [1, 3], "and": [2], "again.": [4]},
        **changes,
    }


def outcome(tmp_path: Path, *lines: Any, **options: Any) -> Any:
    write_shard(tmp_path / "r" / "a.gz", lines)
    release = OpenAlex(tmp_path / "r", **options)
    return read_shard(release, "works/a.gz", tmp_path / "read", RecordLimits(last_year=2024))


def test_a_work(tmp_path):
    told = outcome(tmp_path, work(12, cited_by_count=494))
    assert told.rows == {
        "papers": [
            ("W12", "On Reefs 12", "onreefs12", day("2018-05-17"), "day", False, 3, "Reefs",
             ["Ada Low"], ["Biology", "Geology"], None, None, 494)
        ],
        "abstracts": [("W12", "We dive and dive again.")],
        "citations": [("W12", "W20", False), ("W12", "W30", False)],
    }  # fmt: skip
    assert told.report["rejected"] == told.report["flaws"] == told.report["skipped"] == {}


def test_a_work_without_topics(tmp_path):
    record = work(
        12, title=None, topics=None, primary_location=None, referenced_works_count=None,
        concepts=[{"level": 1, "display_name": "Corals"}, {"level": 0, "display_name": "Biology"}],
    )  # fmt: skip
    (row,) = outcome(tmp_path, record).rows["papers"]
    assert (row[1], row[6:8], row[9]) == ("On Reefs 12", (3, None), ["Biology"])


@pytest.mark.parametrize(
    ("date", "year", "resolved", "precision"),
    [
        ("2018-05-17", 2018, "2018-05-17", "day"),
        ("2018-01-01", 2018, "2018-12-31", "year"),  # written where only the year is known
        ("2018-05-01", 2018, "2018-05-31", "month"),
        (None, 2018, "2018-12-31", "year"),
        ("2018-05-17", 2019, "2019-12-31", "year"),
        ("2099-01-01", 2099, None, None),
    ],
)
def test_dates(tmp_path, date, year, resolved, precision):
    told = outcome(tmp_path, work(publication_date=date, publication_year=year))
    assert told.rows["papers"][0][3:5] == (None if resolved is None else day(resolved), precision)


def test_retracted_works_stay_since_the_retraction_was_later(tmp_path):
    told = outcome(tmp_path, work(is_retracted=True))
    assert told.report["rows"]["papers"] == 1


def test_what_is_no_paper_is_passed_over(tmp_path):
    told = outcome(
        tmp_path, work(1, is_paratext=True), work(2, type="dataset"), work(3, type="dataset"),
        work(4, type="review"), work(5, type="preprint"), work(6, type=None),
    )  # fmt: skip
    assert [row[0] for row in told.rows["papers"]] == ["W4", "W5", "W6"]
    assert told.report["skipped"] == {"no paper: dataset": 2, "no paper: paratext": 1}
    assert told.report["rejected"] == {}
    assert told.rejects == []
    assert [row[5] for row in told.rows["papers"]] == [False, False, False]
    told = outcome(tmp_path, work(4, type="review"), work(5), reviews=True)
    assert [row[5] for row in told.rows["papers"]] == [True, False]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"id": f"{BASE}A12", "display_name": "Ada Low"}, "of another dataset"),
        (work(id=f"{BASE}A12"), "no id"),
        (work(title=None, display_name=" "), "no title"),
        (["work"], "not an object"),
    ],
)
def test_rejects(tmp_path, record, reason):
    told = outcome(tmp_path, record, work(2))
    assert told.report["rejected"] == {reason: 1}
    assert [row[0] for row in told.rows["papers"]] == ["W2"]


@pytest.mark.parametrize(
    ("changes", "flaw"),
    [
        ({"referenced_works": [f"{BASE}W1", f"{BASE}W20"]}, "cites itself"),
        ({"referenced_works": ["x", 3, f"{BASE}W20"]}, "referenced_works unreadable"),
        ({"referenced_works_count": -3}, "referenced_works_count unreadable"),
        ({"abstract_inverted_index": {"We": [-1]}}, "abstract unreadable"),
        ({"abstract_inverted_index": {"We" * 10: list(range(250_000))}}, "abstract too long"),
        ({"topics": [3]}, "topics unreadable"),
    ],
)
def test_parts_that_are_left_out(tmp_path, changes, flaw):
    told = outcome(tmp_path, work(**changes))
    assert told.report["flaws"] == {flaw: 1}
    assert told.report["rows"]["papers"] == 1
    assert ("W1", "W20", False) in told.rows["citations"]
    assert ("abstracts" in told.rows) == ("abstract_inverted_index" not in changes)


@given(st.lists(st.text(min_size=1, max_size=6).filter(lambda w: not w.isspace()), max_size=40))
def test_an_inverted_index_gives_back_the_words_in_their_order(words):
    words = [word.replace("\0", "x") for word in words]
    index: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        index.setdefault(word, []).append(position)
    shuffled = list(index.items())
    random.Random(3).shuffle(shuffled)
    sink = Sink()
    assert read_abstract(dict(shuffled), 10**6, sink) == " ".join(words).strip()
    assert not sink.flaws


# ------------------------------------------------------------------------------------- the folder


def names(folder: Path) -> list[str]:
    return [shard.name for shard in OpenAlex(folder).shards()]


@pytest.mark.parametrize("place", ["works", "data/works", "data/jsonl/works"])
def test_the_snapshot(tmp_path, place):
    works = tmp_path / place
    for name in ("updated_date=2024-02-01/part_000.gz", "updated_date=2023-05-01/part_001.gz"):
        write_shard(works / name, [work()])
    write_shard(works.parent / "authors" / "updated_date=2024-02-01" / "part_000.gz", [{}])
    assert names(tmp_path) == [
        "works/updated_date=2023-05-01/part_001.gz", "works/updated_date=2024-02-01/part_000.gz"
    ]  # fmt: skip
    release = OpenAlex(tmp_path)
    assert release.year == 2024
    assert release.describe()["release"] == "2024-02-01"
    assert pickle.loads(pickle.dumps(release)).shards() == release.shards()
    assert names(works) == names(tmp_path)


def test_files_side_by_side(tmp_path):
    write_shard(tmp_path / "b.jsonl", [work(1)])
    write_shard(tmp_path / "a.jsonl.gz", [work(2)])
    write_shard(tmp_path / "authors" / "c.gz", [{}])
    assert names(tmp_path) == ["works/a.jsonl.gz", "works/b.jsonl"]
    assert OpenAlex(tmp_path).year is None


# -------------------------------------------------------------------------------------- the stage


def test_the_first_of_two_partitions_counts(tmp_path):
    works = tmp_path / "r" / "works"
    write_shard(works / "updated_date=2024-02-01" / "part_000.gz", [work(1, title="New"), work(2)])
    write_shard(works / "updated_date=2023-05-01" / "part_000.gz", [work(1, title="Old")])
    config = read_config({"full_text_only": False})
    report = run_stages(plan("openalex", OpenAlex(tmp_path / "r"), tmp_path / "c", config), "parse")
    assert report["parse"]["duplicate_ids"] == {"papers": 1, "identical abstracts": 1}
    table = pq.read_table(tmp_path / "c.stages" / "parse" / "corpus.parquet")
    assert table.column("title").to_pylist() == ["Old", "On Reefs 2"]
    rejects = (tmp_path / "c.stages" / "parse" / "rejects.jsonl").read_text().splitlines()
    assert [json.loads(line)["shard"] for line in rejects] == [
        "works/updated_date=2024-02-01/part_000.gz"  # its abstract is the same
    ]
