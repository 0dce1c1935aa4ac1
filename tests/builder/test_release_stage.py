"""The stage ``parse`` over a bad release: counted, listed, stopped; resumed; in any number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from release_helpers import citation, full_text, paper, write_shard

from arena.errors import DataError
from corpus_builder.sources.s2orc import S2orc
from corpus_builder.stages import plan, read_config, run_stages


def parse(release: S2orc, output: Path, workers: int = 1, **config: Any) -> dict[str, Any]:
    """Run the stage; return its report."""
    settings = read_config({"full_text_only": False, **config})
    build = plan("s2orc", release, output, settings, workers=workers, memory=4 << 30)
    report: dict[str, Any] = run_stages(build, "parse")["parse"]
    return report


def stage(output: Path) -> Path:
    return output.with_name(f"{output.name}.stages") / "parse"


def corpus(output: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(stage(output) / "corpus.parquet").to_pylist()
    return rows


def rejects(output: Path) -> list[tuple[str, int, str, bool]]:
    lines = (stage(output) / "rejects.jsonl").read_text(encoding="ascii").splitlines()
    entries = [json.loads(line) for line in lines]
    return [(e["shard"], e["line"], e["reason"], e["kept"]) for e in entries]


TEXT = "One Here we dive. And rise."


def text_of(number: int, **changes: Any) -> dict[str, Any]:
    annotations = {
        "sectionheader": [{"start": 0, "end": 3}],
        "paragraph": [{"start": 4, "end": 17}, {"start": 18, "end": 27}],
        "bibentry": [{"start": 0, "end": 3, "attributes": {"id": "b0", "matched_paper_id": 1}}],
        "bibref": [{"start": 4, "end": 8, "attributes": {"ref_id": "b0"}}],
    }
    return full_text(number, TEXT, **{**annotations, **changes})


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A release with one of each: 100 papers and what the synthetic corpus does to them."""
    folder = tmp_path / "release"
    papers = [paper(number) for number in range(100)]
    write_shard(
        folder / "papers" / "a.gz",
        [
            *papers[:50],
            b"{not json}\n",
            paper(3, title="Told twice"),
            paper(101, publicationdate="2099-04-02", year=2099),
            paper(102, publicationdate="0001-04-02", year=None),
            '{"corpusid": 103, "title": "Ü"}\n'.encode("latin-1"),
        ],
    )
    write_shard(folder / "papers" / "b.jsonl", [*papers[50:], paper(7, title="Told thrice")])
    write_shard(
        folder / "citations" / "a.gz",
        [citation(n, n + 1) for n in range(98)] + [citation(5, 5), citation(5, None)],
    )
    write_shard(folder / "abstracts" / "a.gz", [{"corpusid": 1, "abstract": "We dive."}])
    far = [{"start": 4, "end": 17}, {"start": 18, "end": 10**6}]
    itself = [{"start": 0, "end": 3, "attributes": {"id": "b0", "matched_paper_id": 12}}]
    write_shard(
        folder / "s2orc" / "a.gz",
        [
            text_of(10),
            text_of(11, paragraph=far),
            text_of(12, bibentry=itself),
            full_text(13, "x" * 3000),
            text_of(999),
            text_of(14, paragraph=[], bibentry=3 * itself),
        ],
    )
    return folder


def test_one_of_each(bad, tmp_path):
    output = tmp_path / "c"
    report = parse(S2orc(bad), output, max_rejected=0.1, characters=2000, dates={"last_year": 2024})
    counts = report["datasets"]
    assert counts["papers"]["lines"] == 106
    assert counts["papers"]["rows"] == {"papers": 104}
    assert counts["papers"]["rejected"] == {"not JSON": 1, "not UTF-8": 1}
    assert counts["papers"]["flaws"] == {"date implausible": 2}
    assert counts["citations"]["rejected"] == {"cites itself": 1}
    assert counts["s2orc"]["rejected"] == {"text too long": 1}
    assert counts["s2orc"]["flaws"] == {
        "annotation out of range": 1,
        "cites itself": 1,
        "no paragraphs": 1,
    }
    assert report["duplicate_ids"] == {"papers": 2}
    assert report["papers"] == 102
    assert report["texts_without_paper"] == 1
    rows = {row["id"]: row for row in corpus(output)}
    listed = {id_: row["listed"] for id_, row in rows.items() if row["listed"] is not None}
    assert listed == {"10": 1, "11": 1, "12": 1, "14": 3}  # 14 has no full text
    assert rows["3"]["title"] == "On Reefs 3"  # the first in the order of shards and lines
    assert rows["7"]["title"] == "On Reefs 7"
    assert rows["101"]["day"] is rows["102"]["day"] is None  # out of every survey's reach
    assert "103" not in rows
    assert rejects(output) == [
        ("citations/a.gz", 99, "cites itself", False),
        ("papers/a.gz", 51, "not JSON", False),
        ("papers/a.gz", 53, "date implausible", True),
        ("papers/a.gz", 54, "date implausible", True),
        ("papers/a.gz", 55, "not UTF-8", False),
        ("s2orc/a.gz", 2, "annotation out of range", True),
        ("s2orc/a.gz", 3, "cites itself", True),
        ("s2orc/a.gz", 4, "text too long", False),
        ("s2orc/a.gz", 6, "no paragraphs", True),
        ("papers/a.gz", 52, "duplicate id", False),
        ("papers/b.jsonl", 51, "duplicate id", False),
    ]
    assert not list(stage(output).rglob(".*"))


def test_full_text_only(bad, tmp_path):
    report = parse(S2orc(bad), tmp_path / "c", full_text_only=True, max_rejected=0.5)
    assert [row["id"] for row in corpus(tmp_path / "c")] == ["10", "11", "12"]
    assert [row["listed"] for row in corpus(tmp_path / "c")] == [1, 1, 1]
    assert report["without_full_text"] == 99


def test_a_release_of_the_past_cannot_hold_papers_of_the_future(tmp_path):
    """The last plausible year is that after the release, as the names of the files tell it."""
    lines = [paper(n, year=n, publicationdate=None) for n in (2023, 2024, 2025)]
    write_shard(tmp_path / "r" / "papers" / "20230214_050000_00000_x.gz", lines)
    report = parse(S2orc(tmp_path / "r"), tmp_path / "c")
    assert report["datasets"]["papers"]["flaws"] == {"date implausible": 1}
    assert [row["id"] for row in corpus(tmp_path / "c") if row["day"] is None] == ["2025"]


def built(root: Path, records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    survey = paper(9, title="Reefs: a survey", year=2015, publicationdate="2015-06-15")
    survey["citationcount"] = 340
    write_shard(root / "papers" / "0.gz", [survey, paper(1, year=2010, publicationdate=None)])
    write_shard(root / "papers" / "1.gz", records)
    write_shard(root / "citations" / "0.gz", [citation("9", "1"), citation("9", "5")])
    config = read_config({"full_text_only": False, "max_rejected": 0.1})
    release = S2orc(root, reviews=True)
    run_stages(plan("s2orc", release, root / "c", config, workers=1, memory=1 << 30))
    rows = pq.read_table(root / "c" / "papers.parquet").to_pylist()
    return {row["id"]: row for row in rows}


@pytest.mark.parametrize("order", [1, -1])
def test_of_duplicates_the_latest_date_counts(tmp_path: Path, order: int) -> None:
    early = paper(5, year=2010, publicationdate="2010-02-03")
    late = paper(5, year=2020, publicationdate=None)
    found = built(tmp_path, [early, late, paper(5, year=None, publicationdate=None)][::order])
    assert str(found["5"]["date"]) == "2020-12-31" and found["5"]["date_precision"] == "year"


@pytest.mark.parametrize("order", [1, -1])
def test_of_duplicates_one_survey_hides_all(tmp_path: Path, order: int) -> None:
    found = built(tmp_path, [paper(5), paper(5, publicationtypes=["Review"])][::order])
    assert found["5"]["is_survey"] and not found["5"]["searchable"]


@pytest.mark.parametrize("order", [1, -1])
def test_of_duplicates_the_earliest_date_is_the_cutoff(tmp_path: Path, order: int) -> None:
    """A paper from between the two dates of its survey may be later than that."""
    early = paper(9, title="Reefs: a survey", year=2012, publicationdate="2012-03-04")
    built(tmp_path, [early, paper(5, year=2013, publicationdate=None)][::order])
    (survey,) = pq.read_table(tmp_path / "c" / "tasks" / "topics.parquet").to_pylist()
    assert (str(survey["date"]), survey["date_precision"]) == ("2012-03-04", "day")
    assert survey["survey_citations"] == 340
    gold = pq.read_table(tmp_path / "c" / "tasks" / "gold.parquet").to_pylist()
    assert {row["reference"]: row["status"] for row in gold} == {"1": "gold", "5": "not_before"}


def test_abstracts_that_repeat_another_word_for_word_are_folded(tmp_path):
    write_shard(tmp_path / "r" / "papers" / "a.gz", [paper(n) for n in range(30)])
    same, other = ({"corpusid": 1, "abstract": text} for text in ("We dive.", "We surface."))
    path = tmp_path / "r" / "abstracts" / "a.gz"
    write_shard(path, [same] * 20 + [{"corpusid": 2, "abstract": "We dive."}])
    assert parse(S2orc(tmp_path / "r"), tmp_path / "c", full_text_only=False)["duplicate_ids"] == {
        "identical abstracts": 19
    }
    write_shard(path, [same, same, other, other, same])
    with pytest.raises(DataError, match="2 of 5 abstracts have an id twice"):
        parse(S2orc(tmp_path / "r"), tmp_path / "c", full_text_only=False)
