"""Building: what is stored, worked out by hand from the records in conftest.py."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from helpers import SURVEY, Memory, contents, strings, table

import arena
from arena.corpus import Corpus, layout
from arena.kit.arrays import load_array
from corpus_builder.build import build
from corpus_builder.database import connected, copy, sorted_rows
from corpus_builder.manifest import verify
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

ORDER = ["p:old", "s:flag", "p:leap", "p:day", "Z:tie", "p:month", "é:tie", "p:year", "12345",
         "p:twin", "sv:1", "p:last", "p:same", "p:later", "p:nodate", "p:null",
         "s:undated"]  # fmt: skip


def test_papers(mini: Path) -> None:
    d = dt.date
    papers = table(mini / layout.PAPERS)
    assert [row[0] for row in papers] == ORDER
    assert [(row[3], row[4]) for row in papers] == [
        (d(1969, 12, 31), "day"),
        (d(2019, 12, 31), "year"),
        (d(2020, 2, 29), "month"),
        (d(2020, 3, 5), "day"),
        (d(2020, 3, 31), "day"),
        (d(2020, 3, 31), "month"),
        (d(2020, 3, 31), "day"),
        (d(2020, 12, 31), "year"),
        (d(2021, 1, 1), "day"),
        (d(2021, 5, 1), "day"),
        (d(2021, 12, 31), "year"),
        (d(2022, 6, 14), "day"),
        (d(2022, 6, 15), "day"),
        (d(2023, 1, 31), "month"),
        (None, None),
        (None, None),
        (None, None),
    ]
    assert {row[0] for row in papers if row[5]} == {"s:flag", "p:twin", "sv:1", "s:undated"}
    out_of_reach = {"s:flag", "p:twin", "sv:1", "s:undated", "p:nodate", "p:null"}
    assert {row[0] for row in papers if not row[6]} == out_of_reach
    assert papers[3] == (
        "p:day",
        "Dense Retrieval with Encoders",
        "We train encoders for passages.",
        d(2020, 3, 5),
        "day",
        False,
        True,
        "Journal of Search",
        ["Ada Meyer", "Bo Lind"],
        ["Computer Science"],
        None,
        None,
    )
    assert [row[2] for row in papers if row[2]] == ["We train encoders for passages.", "Tantalum."]
    assert [row[7:] for row in papers if row[0] != "p:day"] == [(None, [], [], None, None)] * 16


def test_sections(mini: Path) -> None:
    assert table(mini / layout.SECTIONS) == [
        (3, 0, "1 Introduction", "Passages matter."),
        (3, 1, "2 Method", "Two towers.\nOne loss."),
    ]


def test_links_only_between_searchable_papers(mini: Path) -> None:
    assert table(mini / layout.REFERENCES) == [
        (3, 0, False),  # p:day -> p:old
        (3, 2, True),  # p:day -> p:leap, given twice, once as influential
        (8, 3, False),  # 12345 -> p:day, and neither to surveys nor to undated papers
        (12, 8, False),  # p:same -> 12345
        (13, 12, False),  # p:later -> p:same, given twice, and not to itself
    ]


def test_lookup_files(mini: Path) -> None:
    def array(name: str) -> list[int]:
        return load_array(mini / name).tolist()

    assert strings(mini / layout.IDS) == ORDER
    assert strings(mini / layout.TITLES) == [row[1] for row in table(mini / layout.PAPERS)]
    # Days since 1970: 50 years with 12 leap days are 18,262 up to 2020-01-01.
    undated = 2**31 - 1
    assert array(layout.DAYS) == [
        -1, 18_261, 18_262 + 59, 18_262 + 64, *[18_262 + 90] * 3, 18_262 + 365, 18_628,
        18_628 + 120, 18_628 + 364, 18_993 + 164, 18_993 + 165, 19_358 + 30, *[undated] * 3,
    ]  # fmt: skip
    assert array(layout.SEARCHABLE_BEFORE) == [
        0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 9, 10, 11, 11, 11, 11,
    ]  # fmt: skip
    assert array(layout.SECTION_STARTS) == [0] * 4 + [2] * 14
    assert array(layout.CITED_STARTS) == [0] * 4 + [2] * 5 + [3] * 4 + [4, 5, 5, 5, 5]
    assert array(layout.CITED) == [0, 2, 3, 8, 12]
    assert array(layout.CITING_STARTS) == [0, 1, 1, 2] + [3] * 5 + [4] * 4 + [5] * 5
    assert array(layout.CITING) == [3, 3, 8, 12, 13]
    hashes, documents = array(layout.ID_HASHES), array(layout.ID_DOCUMENTS)
    assert hashes == sorted(hashes)
    assert sorted(documents) == list(range(17))
    store = Corpus.open(mini)
    assert [store.document_number(id_) for id_ in ORDER] == list(range(17))
    assert store.document_number("nowhere:1") is None


def test_gold(mini: Path) -> None:
    assert table(mini / layout.GOLD) == [
        ("sv:1", "s:flag", False, 1, "survey"),
        ("sv:1", "p:leap", True, 2, "gold"),
        ("sv:1", "p:day", False, 3, "gold"),
        ("sv:1", "12345", False, 8, "gold"),
        ("sv:1", "p:twin", False, 9, "survey"),
        ("sv:1", "sv:1", False, 10, "survey"),
        ("sv:1", "p:last", False, 11, "gold"),  # one day before
        ("sv:1", "p:same", False, 12, "not_before"),  # the same day
        ("sv:1", "p:later", False, 13, "not_before"),
        ("sv:1", "p:null", False, 15, "undated"),
        ("sv:1", "s:undated", False, 16, "undated"),
        ("sv:1", "nowhere:3", True, None, "unknown"),
        ("sv:2", "p:month", False, 5, "gold"),
        ("sv:2", "p:year", True, 7, "gold"),
        ("sv:2", "12345", False, 8, "gold"),
        ("sv:3", "p:old", False, 0, "not_before"),
    ]


def test_surveys(mini: Path) -> None:
    none = (None,) * 6  # identifiers, prompts, domain, cluster, citations
    assert table(mini / layout.TOPICS) == [
        ("sv:1", "Dense Retrieval: A Survey", dt.date(2022, 6, 15), "day", *none),
        ("sv:2", "Sparse Models: A Review", dt.date(2021, 12, 31), "year", *none),
        ("sv:3", "Nothing before 1960", dt.date(1960, 12, 31), "year", *none),
    ]
    dense = '{"name": "Dense", "subtopics": [{"name": "Rhenium", "papers": ["p:day"]}]}'
    assert table(mini / layout.MIND_MAPS) == [
        ("sv:1", 40, dense, None, None),
        ("sv:2", 3, '{"name": "Sparse", "subtopics": ["Rhenium topic"]}', None, None),
        ("sv:3", 1, None, None, None),
    ]


def test_what_the_source_adds_to_a_survey_and_no_agent_sees(tmp_path: Path) -> None:
    added = {"cluster": "s", "survey_citations": 12, "figure": "f.png", "caption": "A tree."}
    synthetic, seen = SyntheticCorpus(SyntheticConfig(seed=4, papers=60, surveys=2)), []
    surveys = list(synthetic.surveys())
    for name, more in (("plain", {}), ("added", added)):
        build(Memory(list(synthetic.papers()), [each | more for each in surveys]), tmp_path / name)
        for task in arena.tasks.TASKS.names():
            if task != "question":
                arena.run(tmp_path / name, task, "oracle", tmp_path / f"{name}-{task}")
        lines = [path.read_text() for path in sorted(tmp_path.glob(f"{name}-*/trajectories.jsonl"))]
        seen.append(re.findall(r'"observation_sha256": ?"\w+"', "".join(lines)))
    assert seen[0] == seen[1] and len(seen[0]) > 20
    assert [row[-2:] for row in table(tmp_path / "added" / layout.TOPICS)] == [("s", 12)] * 2
    maps = table(tmp_path / "added" / layout.MIND_MAPS)
    assert [row[-2:] for row in maps] == [("f.png", "A tree.")] * 2


def test_manifest(mini: Path) -> None:
    manifest = json.loads((mini / layout.MANIFEST).read_text())
    assert manifest["format_version"] == 5
    assert manifest["counts"] == {
        "papers": 17,
        "searchable": 11,
        "undated": 3,
        "survey_papers": 4,
        "survey_papers_unflagged": 2,
        "unflagged_survey_titles": 0,
        "abstracts": 2,
        "sections": 2,
        "references": 5,
        "dangling_references": 2,
        "surveys": 3,
        "surveys_with_gold": 2,
        "mind_maps": 2,
        "prompts": 0,
        "outlines": 0,
        "articles": 0,
        "prompts_title": 0,
        "prompts_reference_title": 0,
        "prompts_no_cutoff": 0,
        "prompts_other_cutoff": 0,
        "survey_references_gold": 7,
        "survey_references_unknown": 1,
        "survey_references_undated": 2,
        "survey_references_survey": 3,
        "survey_references_not_before": 3,
    }
    assert manifest["dates"] == {"first": "1969-12-31", "last": "2023-01-31"}
    fields = ["title", "abstract", "fulltext"]
    assert manifest["configuration"] == {"engines": ["bm25"], "fields": fields}
    on_disk = {name for name in contents(mini) if not name.startswith("index/")}
    assert manifest["files"].keys() == on_disk - {layout.MANIFEST}
    text = (mini / layout.MANIFEST).read_text()
    assert str(mini.parent) not in text  # no path
    assert not re.search(r'"[^"]*20[23]\d-\d\d-\d\d[T ]', text)  # no time of day


def test_texts_of_surveys_are_nowhere(mini: Path) -> None:
    terms = set(strings(mini / "index/bm25/terms"))
    secrets = {"zirconium", "hafnium", "niobium", "rhenium"}
    assert "encod" in terms  # a stem of the searchable papers
    assert not terms & (secrets | {"tantalum"})
    for path in mini.rglob("*"):
        if path.is_dir() or path.name == "mind_maps.parquet":
            continue
        text = str(table(path)) if path.suffix == ".parquet" else path.read_bytes().decode("latin1")
        assert not [word for word in secrets if word in text.lower()], path


def test_no_posting_of_a_paper_out_of_reach(mini: Path) -> None:
    index = mini / "index/bm25"
    searchable = {n for n, row in enumerate(table(mini / layout.PAPERS)) if row[6]}
    assert set(load_array(index / "docs.npy").tolist()) <= searchable
    lengths = load_array(index / "lengths.npy").tolist()
    assert {n for n, length in enumerate(lengths) if length} <= searchable


@pytest.mark.parametrize(
    ("paper", "is_survey"),
    [
        ({"id": "s", "title": "Quite another"}, True),
        ({"id": "x", "title": "THE  survey of: Graphs?"}, True),
        ({"id": "x", "title": "The survey of graphs", "is_survey": False}, True),
        ({"id": "x", "title": "The surveys of graphs"}, False),
        ({"id": "S", "title": "Other"}, False),
        ({"id": "x", "title": "!?"}, False),
    ],
)
def test_a_survey_under_another_name(tmp_path: Path, paper: Any, is_survey: bool) -> None:
    papers = [{"id": "a", "title": "A", "date": "2019"}, {**paper, "date": "2018"}]
    survey = {**SURVEY, "references": ["a", paper["id"]]}
    manifest = build(Memory(papers, [survey]), tmp_path / "c")
    assert manifest["counts"]["survey_papers"] == is_survey
    assert manifest["counts"]["searchable"] == 2 - is_survey
    status = {row[1]: row[4] for row in table(tmp_path / "c" / layout.GOLD)}
    assert status == {"a": "gold", paper["id"]: "survey" if is_survey else "gold"}


def test_a_short_title_counts_as_well(tmp_path: Path) -> None:
    """The target survey must not be found, however little its title says."""
    papers = [
        {"id": "a", "title": "Deep nets", "date": "2018"},
        {"id": "b", "title": "Nets", "date": "2018", "is_survey": True},
        {"id": "c", "title": "nets!", "date": "2018"},  # a namesake of a flagged paper stays
    ]
    survey = {**SURVEY, "title": "Deep Nets", "references": ["a", "c"]}
    manifest = build(Memory(papers, [survey]), tmp_path / "c")
    assert manifest["counts"]["survey_papers"] == 2
    assert manifest["counts"]["survey_papers_unflagged"] == 1
    view = Corpus.open(tmp_path / "c").at("2030")
    assert [p for p in "abc" if p in view] == ["c"]


def test_nothing_is_searchable(tmp_path: Path) -> None:
    papers = [{"id": "a", "title": "A"}, {"id": "b", "title": "B", "is_survey": True}]
    manifest = build(Memory(papers, [SURVEY]), tmp_path / "c")
    assert manifest["dates"] == {"first": None, "last": None}
    assert manifest["counts"]["searchable"] == 0
    view = Corpus.open(tmp_path / "c").at("2030")
    assert len(view) == 0 and view.search("a") == []
    assert verify(tmp_path / "c")["problems"] == {}


def test_fields(tmp_path: Path, mini_records: Any) -> None:
    manifest = build(Memory(*mini_records), tmp_path / "c", fields=("title",))
    assert manifest["configuration"]["fields"] == ["title"]
    view = Corpus.open(tmp_path / "c").at("2030")
    assert [hit.id for hit in view.search("leap")] == ["p:leap"]
    assert view.search("towers") == []


def test_texts_that_are_too_wide_to_be_sorted_in_memory_come_in_order(tmp_path: Path) -> None:
    query = "SELECT document, repeat(chr(97 + document % 7), 9000) AS text FROM documents"
    with connected(tmp_path / "spill", 60 << 20, 1) as connection:
        connection.execute(
            "CREATE TABLE documents AS "
            "SELECT (range * 7919 % 10000)::INTEGER AS document FROM range(10000)"
        )
        target = tmp_path / "at once.parquet"
        with pytest.raises(duckdb.OutOfMemoryException):
            copy(connection, query, target, "document")
        found = list(sorted_rows(connection, query, "document", tmp_path / "sorted.parquet"))
    assert found == [(n, "abcdefg"[n % 7] * 9000) for n in range(10000)]
    assert not list(tmp_path.glob("sorted*"))
