"""Building: what is stored, that only the records decide it, and that it is whole or absent."""

from __future__ import annotations

import calendar
import contextlib
import datetime as dt
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import layout
from arena._arrays import ArrayWriter, load_array, save_array
from arena._strings import StringTable
from arena.corpus import Corpus
from arena.errors import ArenaError, CorpusError, DataError
from corpus_builder import _order, _output, _parquet
from corpus_builder import build as build_module
from corpus_builder.build import build
from corpus_builder.sources import Located
from corpus_builder.sources.jsonl import JsonLines
from corpus_builder.verify import verify


class Memory:
    """A source that holds its records."""

    example = ""

    def __init__(self, papers: list[Any], surveys: list[Any]) -> None:
        self._papers, self._surveys = papers, surveys

    def papers(self) -> Iterator[Located]:
        return (Located(p, "papers", n) for n, p in enumerate(self._papers, 1))

    def surveys(self) -> Iterator[Located]:
        return (Located(s, "surveys", n) for n, s in enumerate(self._surveys, 1))

    def describe(self) -> dict[str, Any]:
        return {"source": "memory"}


SURVEY = {"id": "s", "title": "The survey", "date": "2020-06", "references": ["a"]}
SMALL = Memory([{"id": "a", "title": "Alpha", "date": "2019", "abstract": "beta"}], [SURVEY])


def table(path: Path) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]


def strings(path: Path) -> list[str]:
    found = StringTable(path)
    return [found[i] for i in range(len(found))]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


# What is stored, worked out by hand from the records in conftest.py.

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
    )
    assert [row[2] for row in papers if row[2]] == ["We train encoders for passages.", "Tantalum."]
    assert [row[7:] for row in papers if row[0] != "p:day"] == [(None, [], [])] * 16


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
    assert table(mini / layout.SURVEYS) == [
        ("sv:1", "Dense Retrieval: A Survey", dt.date(2022, 6, 15), "day"),
        ("sv:2", "Sparse Models: A Review", dt.date(2021, 12, 31), "year"),
        ("sv:3", "Nothing before 1960", dt.date(1960, 12, 31), "year"),
    ]
    dense = '{"name": "Dense", "subtopics": [{"name": "Rhenium", "papers": ["p:day"]}]}'
    assert table(mini / layout.MIND_MAPS) == [
        ("sv:1", 40, dense),
        ("sv:2", 3, '{"name": "Sparse", "subtopics": ["Rhenium topic"]}'),
        ("sv:3", 1, None),
    ]


def test_manifest(mini: Path) -> None:
    manifest = json.loads((mini / layout.MANIFEST).read_text())
    assert manifest["format_version"] == 1
    assert manifest["counts"] == {
        "papers": 17,
        "searchable": 11,
        "undated": 3,
        "survey_papers": 4,
        "survey_papers_unflagged": 2,
        "unflagged_survey_titles": 0,
        "sections": 2,
        "references": 5,
        "dangling_references": 2,
        "surveys": 3,
        "surveys_with_gold": 2,
        "mind_maps": 2,
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
        ({"id": "x", "title": "THE  survey?"}, True),
        ({"id": "x", "title": "The survey", "is_survey": False}, True),
        ({"id": "x", "title": "The surveys"}, False),
        ({"id": "S", "title": "Other"}, False),
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


def test_titles_without_letters_are_no_match(tmp_path: Path) -> None:
    papers = [{"id": "a", "title": "???", "date": "2019"}]
    manifest = build(Memory(papers, [{**SURVEY, "title": "!"}]), tmp_path / "c")
    assert manifest["counts"]["survey_papers"] == 0


def test_nothing_is_searchable(tmp_path: Path) -> None:
    papers = [{"id": "a", "title": "A"}, {"id": "b", "title": "B", "is_survey": True}]
    manifest = build(Memory(papers, [SURVEY]), tmp_path / "c")
    assert manifest["dates"] == {"first": None, "last": None}
    assert manifest["counts"]["searchable"] == 0
    view = Corpus.open(tmp_path / "c").at("2030")
    assert len(view) == 0 and view.search("a") == []
    assert verify(tmp_path / "c")["problems"] == {}


def test_odd_texts_are_stored(tmp_path: Path) -> None:
    odd = "nul\0 quote' \"\\ {} %s \u2028 \U0001f600 é"
    long = "word " * 200_000
    papers = [
        {"id": "a'b", "title": "x" * (1 << 20), "abstract": odd, "date": "2019", "venue": odd},
        {"id": "b", "title": odd, "abstract": "\ud800", "date": "2019", "authors": [odd] * 3,
         "sections": [{"heading": odd, "text": long}]},
    ]  # fmt: skip
    build(Memory(papers, [SURVEY]), tmp_path / "c")
    view = Corpus.open(tmp_path / "c").at("2021")
    first, second = view.paper("a'b"), view.paper("b")
    assert (len(first.title), first.abstract, first.venue) == (1 << 20, odd, odd)
    assert (second.title, second.abstract) == (odd.replace("\u2028", "").replace("  ", " "), "�")
    assert second.authors == (odd,) * 3
    assert view.sections("b")[0].text == long


def test_row_groups_are_bounded(tmp_path: Path) -> None:
    """Whatever column is long: a reader and a writer hold one row group at a time."""
    many = [{"id": f"p{n}", "title": "x" * 100_000, "authors": ["y" * 1000] * 100, "date": "2019"}
            for n in range(40)]  # fmt: skip
    build(Memory(many, [SURVEY]), tmp_path / "c")
    metadata = pq.ParquetFile(tmp_path / "c" / layout.PAPERS).metadata
    assert max(metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)) <= 6


# The same records give the same bytes.


def pruned(directory: Path) -> dict[str, bytes]:
    """Everything but what the manifest says of the source."""
    files = contents(directory)
    manifest = json.loads(files[layout.MANIFEST])
    del manifest["source"], manifest["manifest_sha256"]
    files[layout.MANIFEST] = json.dumps(manifest).encode()
    return files


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_the_order_of_records_does_not_matter(
    mini: Path, mini_records: Any, tmp_path: Path, data: st.DataObject
) -> None:
    papers = data.draw(st.permutations(mini_records.papers))
    surveys = data.draw(st.permutations(mini_records.surveys))
    for record in [*papers, *surveys]:
        if "references" in record:
            record["references"] = data.draw(st.permutations(record["references"]))
    build(Memory(papers, surveys), tmp_path / "c", overwrite=True)
    assert pruned(tmp_path / "c") == pruned(mini)


def test_neither_threads_nor_memory_matter(tmp_path: Path, monkeypatch: Any) -> None:
    from corpus_builder.sources.world import WorldSource
    from corpus_builder.world import WorldConfig

    source = WorldSource(WorldConfig(seed=3, papers=200, surveys=4))
    monkeypatch.setattr(_parquet, "_CHARACTERS", 1 << 15)  # many row groups, read in parallel
    connect = duckdb.connect
    for threads, memory in ((1, "1GB"), (4, "1GB"), (3, "60MB")):
        monkeypatch.setattr(_order, "_MEMORY_LIMIT", memory)
        monkeypatch.setattr(
            duckdb,
            "connect",
            lambda config, threads=threads: connect(config={**config, "threads": threads}),
        )
        build(source, tmp_path / f"{threads}")
    one, four, three = (contents(tmp_path / name) for name in "143")
    assert one == four == three


def test_the_process_does_not_matter(tmp_path: Path, mini: Path, mini_records: Any) -> None:
    papers, surveys = mini_records.write(tmp_path)
    for number, environment in enumerate(
        ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo"})
    ):
        subprocess.run(
            command("jsonl", "--papers", papers, "--surveys", surveys, "--output", number),
            cwd=tmp_path,
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
            if number
            else None,
        )
    assert contents(tmp_path / "0") == contents(tmp_path / "1") == contents(mini)


def test_the_hash_follows_the_content(tmp_path: Path, mini: Path, mini_records: Any) -> None:
    before = json.loads((mini / layout.MANIFEST).read_text())
    hashes = {before["content_sha256"]}
    changes = [
        lambda papers, surveys: papers[4].update(title="Sparse Models in Practise"),
        lambda papers, surveys: papers[4].update(date="2020-12-31"),  # the same day, said precisely
        lambda papers, surveys: papers[4].update(references=["p:day"]),
        lambda papers, surveys: papers[4].update(venue="X"),
        lambda papers, surveys: papers[1]["sections"][0].update(text="Passages matter!"),
        lambda papers, surveys: surveys[0]["references"].pop(),
        lambda papers, surveys: surveys[1]["mind_map"].update(name="Other"),
    ]
    for change in changes:
        records = json.loads(json.dumps(mini_records))
        change(*records)
        manifest = build(Memory(*records), tmp_path / "c", overwrite=True)
        hashes.add(manifest["content_sha256"])
    assert len(hashes) == 1 + len(changes)


def test_what_is_not_stored_does_not_change_the_hash(tmp_path: Path, mini_records: Any) -> None:
    papers, surveys = mini_records
    first = build(Memory(papers, surveys), tmp_path / "1")
    for paper in papers:
        paper["citation_count"] = 5
        if paper["id"] == "s:flag":  # the text of a survey
            paper["abstract"], paper["sections"] = "Other words.", []
    second = build(Memory(papers, surveys), tmp_path / "2")
    assert first == second


def test_fields(tmp_path: Path, mini_records: Any) -> None:
    manifest = build(Memory(*mini_records), tmp_path / "c", fields=("title",))
    assert manifest["configuration"]["fields"] == ["title"]
    view = Corpus.open(tmp_path / "c").at("2030")
    assert [hit.id for hit in view.search("leap")] == ["p:leap"]
    assert view.search("towers") == []


# Bad records.


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
    assert message.startswith("papers line 2: date: 'last year' is no date. Write YYYY")
    message = refusal([good], [SURVEY, {"id": "t", "title": "T"}], output)
    assert message.startswith("surveys line 2: a survey needs a date")
    assert refusal([], [SURVEY], output) == "the source holds no papers. Give at least one."
    assert refusal([good], [], output) == "the source holds no surveys. Give at least one."


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


# The output directory.


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    "files",
    [
        {"notes.txt": "mine"},
        {"manifest.json": "mine"},
        {"manifest.json": "[]"},
        {"manifest.json": '{"manifest_version": 3, "files": {}}'},
        {"manifest.json": '{"format_version": 1, "engine": "bm25", "files": {}}'},
        {"below/notes.txt": "mine"},
        {"corpus/notes.txt": "mine"},
    ],
)
def test_other_files_are_never_deleted(tmp_path: Path, files: Any, overwrite: bool) -> None:
    output = tmp_path / "c"
    for name, text in files.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text)
    with pytest.raises(CorpusError, match=r"holds other files, '.*' for one"):
        build(SMALL, output, overwrite=overwrite)
    assert {name: data.decode() for name, data in contents(output).items()} == files
    assert names(tmp_path) == ["c"]


def test_files_beside_a_corpus_are_never_deleted(tmp_path: Path) -> None:
    output = tmp_path / "c"
    build(SMALL, output)
    (output / "notes.txt").write_text("mine")
    with pytest.raises(CorpusError, match=r"already holds a corpus\. Pass --overwrite"):
        build(SMALL, output)
    with pytest.raises(CorpusError, match=r"holds other files, 'notes.txt' for one"):
        build(SMALL, output, overwrite=True)
    assert (output / "notes.txt").read_text() == "mine"


def test_neighbours_are_never_deleted(tmp_path: Path) -> None:
    for name in ("c.building", "c.lock", ".c", "c.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    build(SMALL, tmp_path / "c")
    build(SMALL, tmp_path / "c", overwrite=True)
    shutil.rmtree(tmp_path / "c")
    assert contents(tmp_path) == before
    (tmp_path / ".c.building").mkdir()
    (tmp_path / ".c.building" / "notes.txt").write_text("mine")
    with pytest.raises(CorpusError, match=r"\.c\.building' holds other files, 'notes.txt'"):
        build(SMALL, tmp_path / "c")
    assert (tmp_path / ".c.building" / "notes.txt").read_text() == "mine"


class Meanwhile(Memory):
    """Does something when its surveys are read, in the middle of a build."""

    def __init__(self, action: Any) -> None:
        super().__init__(SMALL._papers, SMALL._surveys)
        self.action = action

    def surveys(self) -> Iterator[Located]:
        self.action()
        return super().surveys()


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_comes_meanwhile_is_kept(tmp_path: Path, overwrite: bool) -> None:
    output = tmp_path / "c"

    def come() -> None:
        output.mkdir()
        (output / "notes.txt").write_text("mine")

    with pytest.raises(CorpusError, match="holds other files"):
        build(Meanwhile(come), output, overwrite=overwrite)
    assert (output / "notes.txt").read_text() == "mine"
    assert names(tmp_path) == ["c"]


def test_an_empty_directory_and_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "nowhere").symlink_to("new")
    build(SMALL, tmp_path / "link")
    build(SMALL, tmp_path / "link", overwrite=True)
    build(SMALL, tmp_path / "nowhere")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "nowhere").is_symlink()
    assert contents(tmp_path / "real") == contents(tmp_path / "new")
    assert names(tmp_path) == ["link", "new", "nowhere", "real"]
    build(SMALL, tmp_path / "a" / "b" / "c")
    assert verify(tmp_path / "a/b/c")["problems"] == {}


@pytest.mark.parametrize("name", ["*", "**", "a?b", "we[i]rd's", 'q"--;', "x\ny", "$HOME", "{a,b}"])
def test_odd_names(tmp_path: Path, name: str) -> None:
    other = tmp_path / "a1b" / "staging"  # what a pattern could match
    other.mkdir(parents=True)
    (other / "papers.parquet").write_text("not ours")
    build(SMALL, tmp_path / name)
    assert verify(tmp_path / name)["problems"] == {}
    assert json.loads((tmp_path / name / layout.MANIFEST).read_text())["counts"]["papers"] == 1


@pytest.mark.parametrize("name", [b"back\\slash", b"\xff"])
def test_names_that_duckdb_cannot_take(tmp_path: Path, name: bytes) -> None:
    with pytest.raises(CorpusError, match="a corpus cannot be built below a name with") as caught:
        build(SMALL, os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    assert str(caught.value).isascii()
    assert names(tmp_path) == []


def test_output_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("mine")
    with pytest.raises(CorpusError, match=r"is a file\. Name a new directory"):
        build(SMALL, tmp_path / "c", overwrite=True)
    with pytest.raises(OSError, match="cannot write"):
        build(SMALL, tmp_path / "c" / "below")


def test_overwrite(tmp_path: Path, mini: Path) -> None:
    output = tmp_path / "c"
    shutil.copytree(mini, output)
    build(SMALL, output, overwrite=True)
    build(SMALL, tmp_path / "fresh")
    assert contents(output) == contents(tmp_path / "fresh")
    manifest = json.loads((output / layout.MANIFEST).read_text())
    manifest["format_version"] = 99  # a corpus of another release is a corpus
    (output / layout.MANIFEST).write_text(json.dumps(manifest))
    build(SMALL, output, overwrite=True)
    assert contents(output) == contents(tmp_path / "fresh")
    assert names(tmp_path) == ["c", "fresh"]


@pytest.mark.parametrize("exchange", [True, False])
def test_a_failing_overwrite_keeps_the_old(
    tmp_path: Path, mini: Path, monkeypatch: Any, exchange: bool
) -> None:
    output = tmp_path / "c"
    shutil.copytree(mini, output)
    with pytest.raises(DataError):
        build(Memory(SMALL._papers, [{}]), output, overwrite=True)
    if not exchange:
        monkeypatch.setattr(_output, "_exchange", lambda first, second: False)
        rename = Path.rename

        def refuse(self: Path, target: Any) -> Path:
            if self.name == "corpus":
                raise OSError(5, "Input/output error")
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", refuse)
        with pytest.raises(OSError, match=r"cannot write .*Input/output error"):
            build(SMALL, output, overwrite=True)
    assert contents(output) == contents(mini)
    assert names(tmp_path) == ["c"]


def test_a_reader_always_finds_a_corpus(tmp_path: Path) -> None:
    output = tmp_path / "c"
    build(SMALL, output)
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    if not _output._exchange(tmp_path / "x", tmp_path / "y"):
        pytest.skip("this file system cannot exchange two directories")
    stop, misses = threading.Event(), Counter[bool]()

    def watch() -> None:
        while not stop.is_set():
            misses[not (output / layout.MANIFEST).exists()] += 1

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(5):
        build(SMALL, output, overwrite=True)
    stop.set()
    watcher.join()
    assert misses[True] == 0 and misses[False] > 100


def test_two_builds_at_once(tmp_path: Path) -> None:
    output = tmp_path / "c"
    errors = []

    def second() -> None:
        with pytest.raises(ArenaError, match="another process is writing"):
            build(SMALL, output)
        result = arena_corpus("world", "--papers", "60", "--surveys", "1", "--output", output)
        errors.append((result.returncode, result.stderr))

    build(Meanwhile(second), output)
    line = f"arena-corpus: error: another process is writing {str(output)!r}. Wait for it or name "
    assert errors == [(2, line + "another directory.\n")]
    assert verify(output)["problems"] == {}
    assert names(tmp_path) == ["c"]


def test_a_corpus_that_comes_before_the_lock_is_kept(tmp_path: Path, monkeypatch: Any) -> None:
    """The other build was done between our first look and our turn."""
    output, check = tmp_path / "c", build_module.check_output
    looks = []

    def look(path: Path, overwrite: bool) -> None:
        check(path, overwrite)
        looks.append(path)
        if len(looks) == 1:
            build(SMALL, output)

    monkeypatch.setattr(build_module, "check_output", look)
    other = Memory([{"id": "z", "title": "Z", "date": "2000"}], [SURVEY])
    with pytest.raises(CorpusError, match="already holds a corpus"):
        build(other, output)
    assert Corpus.open(output).document_number("a") == 0


# Kills, interrupts and full disks, in processes of their own.

MAIN = "import sys; from corpus_builder.cli import main; sys.exit(main())"
WORLD = ["world", "--seed", "7", "--papers", "400", "--surveys", "4"]


def command(*arguments: object, code: str = MAIN) -> list[str]:
    return [sys.executable, "-c", code, "build", *map(str, arguments)]


def arena_corpus(*arguments: object, code: str = MAIN, **options: Any) -> Any:
    return subprocess.run(
        command(*arguments, code=code), capture_output=True, text=True, timeout=60, **options
    )


def whole_or_closed(directory: Path) -> None:
    """Whatever opens below `directory` is complete."""
    for path in [directory, *directory.rglob("*")]:
        if path.is_dir():
            with contextlib.suppress(CorpusError):
                Corpus.open(path)
                assert verify(path)["problems"] == {}, path


def test_sigkill_at_random_moments(tmp_path: Path) -> None:
    output, building = tmp_path / "c", tmp_path / ".c.building"
    random_moments = random.Random(20)
    span, killed = 0.5, 0
    for _ in range(8):
        process = subprocess.Popen(command(*WORLD, "--output", output), stdout=subprocess.DEVNULL)
        while not building.exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(random_moments.uniform(0, span))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        whole_or_closed(tmp_path)
        if output.exists():
            assert verify(output)["problems"] == {}
            shutil.rmtree(output)
            span *= 0.8
    assert killed >= 3
    assert arena_corpus(*WORLD, "--output", output).returncode == 0
    assert verify(output)["problems"] == {}
    assert names(tmp_path) == ["c"]


KILL = """
import os, signal, sys
from pathlib import Path
import corpus_builder.build as b
from corpus_builder import _output
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
"""
MOMENTS = {
    "before anything": "b.stage = die",
    "when staged": "b.database = die",
    "papers written": "b.write_links = die",
    "links written": "b.write_tasks = die",
    "tasks written": "b.build_index = die",
    "index written": "b.list_files = die",
    "before the manifest": "b.write_json = die",
    "before the rename": "_output._put = die",
    "after the rename": "_output._sync_one = lambda path: path.name == sys.argv[-1] and die()",
    "while clearing": "rmtree = b.shutil.rmtree\nb.shutil.rmtree = lambda path, **options: "
    "die() if Path(path).name == 'corpus' else rmtree(path, **options)",
    "between two renames": "_output._exchange = lambda *a: False; rename = Path.rename\n"
    "Path.rename = lambda self, to: die() if self.name == 'corpus' else rename(self, to)",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_sigkill_at_every_step(tmp_path: Path, mini: Path, mini_records: Any, moment: str) -> None:
    data, place = tmp_path / "data", tmp_path / "place"
    data.mkdir(), place.mkdir()
    papers, surveys = mini_records.write(data)
    output = place / "c"
    build(SMALL, output)
    old, new = contents(output), contents(mini)
    options = ["jsonl", "--papers", papers, "--surveys", surveys, "--output", output, "--overwrite"]
    code = KILL + MOMENTS[moment] + "\n" + MAIN
    result = arena_corpus(*options, place.name, code=code.replace("main()", "main(sys.argv[1:-1])"))
    assert result.returncode == -signal.SIGKILL, result.stderr
    whole_or_closed(place)
    done = moment in ("after the rename", "while clearing")
    if moment != "between two renames":
        assert contents(output) == (new if done else old)
    # The next build, which fails, finds the old corpus where it was, and leaves nothing else.
    with pytest.raises(CorpusError if moment == "between two renames" else DataError):
        build(Memory([{}], []), output, overwrite=moment != "between two renames")
    assert contents(output) == (new if done else old)
    assert arena_corpus(*options).returncode == 0
    assert contents(output) == new
    assert names(place) == ["c"]


INTERRUPT = """
import os, signal, sys, threading, time
import corpus_builder.build as b
def interrupt(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(9)
def query(connection, output):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    connection.execute("SELECT sum(hash(range) % 7) FROM range(99999999999)")
"""


@pytest.mark.parametrize(
    "patch", ["b.stage = interrupt", "b.write_links = query", "b.write_json = interrupt"]
)
def test_ctrl_c(tmp_path: Path, patch: str) -> None:
    code = INTERRUPT + patch + "\n" + MAIN
    result = arena_corpus(*WORLD, "--output", tmp_path / "c", code=code)
    assert (result.returncode, result.stderr) == (130, "arena-corpus: interrupted.\n")
    assert names(tmp_path) == []


def test_ctrl_c_from_outside(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("world", "--papers", 5000, "--surveys", 4, "--output", tmp_path / "c"),
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / ".c.building").exists():
        time.sleep(0.005)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "arena-corpus: interrupted.\n")
    assert names(tmp_path) == []


def limit_files(size: int) -> Any:
    """Let every write beyond `size` bytes of a file fail, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture(scope="module")
def largest(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The size of the largest file that the build of WORLD leaves."""
    output = tmp_path_factory.mktemp("largest") / "c"
    assert arena_corpus(*WORLD, "--output", output).returncode == 0
    return max(len(data) for data in contents(output).values())


@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.3, 0.6, 0.9, 0.999])
def test_disk_full(tmp_path: Path, largest: int, share: float) -> None:
    output = tmp_path / "c"
    result = arena_corpus(*WORLD, "--output", output, preexec_fn=limit_files(int(share * largest)))
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith(f"arena-corpus: error: cannot write {str(output)!r}: ")
    assert result.stderr.count("\n") == 1
    assert "free some disk space" in result.stderr
    assert names(tmp_path) == []


def test_disk_full_while_overwriting(tmp_path: Path, mini: Path) -> None:
    output = tmp_path / "c"
    shutil.copytree(mini, output)
    result = arena_corpus(*WORLD, "--overwrite", "--output", output, preexec_fn=limit_files(9999))
    assert result.returncode == 2
    assert contents(output) == contents(mini)
    assert names(tmp_path) == ["c"]


def test_disk_full_while_sorting(tmp_path: Path, mini_records: Any) -> None:
    papers, surveys = mini_records.write(tmp_path)
    code = """
import corpus_builder.build as b
from corpus_builder import _order
_order._MEMORY_LIMIT = "20MB"
def write_links(connection, output):
    connection.execute(
        "SELECT * FROM (SELECT hash(range) AS h, repeat('x', 100) || range AS t "
        "FROM range(2000000) ORDER BY h) OFFSET 1999999"
    ).fetchall()
b.write_links = write_links
"""
    output = tmp_path / "c"
    options = ["jsonl", "--papers", papers, "--surveys", surveys, "--output", output]
    result = arena_corpus(*options, code=code + MAIN, preexec_fn=limit_files(1 << 20))
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith(f"arena-corpus: error: cannot write {str(output)!r}: ")
    assert result.stderr.count("\n") == 1
    assert names(tmp_path) == ["papers.jsonl", "surveys.jsonl"]


@pytest.mark.parametrize("size", [0, 127, 128, 129, 4096, 7999, 8000, 8100, 8127])
def test_a_cut_array_is_an_error(tmp_path: Path, size: int) -> None:
    """`numpy.save` drops the end in silence when only that does not fit."""
    code = (
        "import numpy as np, pathlib; from arena._arrays import save_array\n"
        "save_array(pathlib.Path('a.npy'), np.arange(1000))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        preexec_fn=limit_files(size),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1 and "OSError: [Errno 27] File too large" in result.stderr


def test_an_array_that_an_engine_cut_fails_the_build(tmp_path: Path, monkeypatch: Any) -> None:
    build_index = build_module.build_index

    def cut(corpus: Path, *arguments: Any) -> str:
        sha256 = build_index(corpus, *arguments)
        path = corpus / "index/bm25/lengths.npy"
        os.truncate(path, path.stat().st_size - 1)
        return sha256

    monkeypatch.setattr(build_module, "build_index", cut)
    with pytest.raises(OSError, match=r"cannot write .*: the index bm25 was cut off"):
        build(SMALL, tmp_path / "c")
    assert names(tmp_path) == []


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.uint8, np.float16])
@pytest.mark.parametrize("length", [0, 1, 1000])
def test_arrays_are_what_numpy_writes(tmp_path: Path, dtype: Any, length: int) -> None:
    array = np.arange(length).astype(dtype)
    np.save(tmp_path / "numpy.npy", array)
    save_array(tmp_path / "ours.npy", array)
    with ArrayWriter(tmp_path / "parts.npy", dtype) as writer:
        writer.append(array[: length // 3])
        writer.append([])
        writer.append(array[length // 3 :].tolist())
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    loaded = load_array(tmp_path / "ours.npy")
    assert loaded.dtype == dtype and loaded.tolist() == array.tolist()
    assert not loaded.flags.writeable or length == 0


def test_no_array_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([print], object), allow_pickle=True)
    with pytest.raises(CorpusError, match="is damaged"):
        load_array(tmp_path / "a.npy")


# The real data, read a second time without any code of the project.


def last_day(date: str | None) -> dt.date | None:
    if date is None:
        return None
    year, month, day = (*map(int, date.split("-")), 0, 0)[:3]
    month = month or 12
    return dt.date(year, month, day or calendar.monthrange(year, month)[1])


def letters(title: str) -> str:
    import unicodedata

    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", title).casefold())


def test_real_corpus(real_data: Any, real_corpus: Path) -> None:
    papers, surveys = real_data.read()
    counts = json.loads((real_corpus / layout.MANIFEST).read_text())["counts"]
    assert (counts["papers"], counts["undated"], counts["surveys"]) == (29_168, 210, 76)

    days = {paper["id"]: last_day(paper["date"]) for paper in papers}
    titles, ids = {letters(s["title"]) for s in surveys}, {s["id"] for s in surveys}
    are_surveys = {
        paper["id"]
        for paper in papers
        if paper["is_survey_title"] or paper["id"] in ids or letters(paper["title"]) in titles
    }
    order = sorted(days, key=lambda id_: (days[id_] or dt.date.max, id_.encode()))
    rows = pq.read_table(real_corpus / layout.PAPERS, columns=["id", "date", "searchable"])
    assert list(zip(*rows.to_pydict().values(), strict=True)) == [
        (id_, days[id_], days[id_] is not None and id_ not in are_surveys) for id_ in order
    ]

    numbers = {id_: number for number, id_ in enumerate(order)}
    gold = set()
    for survey in surveys:
        day = last_day(survey["date"])
        for id_ in survey["references"]:
            if id_ not in days:
                status = "unknown"
            elif days[id_] is None:
                status = "undated"
            elif id_ in are_surveys:
                status = "survey"
            else:
                status = "gold" if days[id_] < day else "not_before"
            influential = id_ in (survey.get("influential") or [])
            gold.add((survey["id"], id_, influential, numbers.get(id_), status))
    stored = table(real_corpus / layout.GOLD)
    assert len(stored) == len(set(stored))
    assert set(stored) == gold
    by_status = Counter(row[4] for row in gold)
    for status in ("gold", "unknown", "undated", "survey", "not_before"):
        assert counts[f"survey_references_{status}"] == by_status[status]
    assert counts["surveys_with_gold"] == len({row[0] for row in gold if row[4] == "gold"})
    assert counts["survey_papers"] == len(are_surveys)
    assert verify(real_corpus)["problems"] == {}


def test_worlds_are_whole(world: Path) -> None:
    assert verify(world)["problems"] == {}
    manifest = json.loads((world / layout.MANIFEST).read_text())
    assert manifest["source"]["config"]["seed"] == 7
    assert manifest["counts"]["surveys"] == 8


def test_jsonl_source_and_memory_give_the_same(
    mini: Path, mini_records: Any, tmp_path: Path
) -> None:
    build(Memory(*mini_records), tmp_path / "c")
    assert pruned(tmp_path / "c") == pruned(mini)
    papers, surveys = mini_records.write(tmp_path)
    build(JsonLines(papers, surveys), tmp_path / "d")
    assert contents(tmp_path / "d") == contents(mini)
