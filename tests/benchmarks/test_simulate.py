"""Worlds as the files of a release: the format of the real samples, and nothing lost on the way."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers import Memory, contents, names
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import CorpusError, DataError
from benchmarks.__main__ import main as simulate_command
from benchmarks.release_records import FIRST_EXTRA, corpus_id, paper_record, text_record
from benchmarks.simulate import measure
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.manifest import verify
from corpus_builder.world import World, WorldConfig

CONFIG = WorldConfig(papers=700, surveys=8, seed=5)
# All titles of a world's surveys, and no other.
TITLES = "survey|review|overview|^recent advances in|progress and open problems$|^trends in"


def simulate(world: WorldConfig, output: Path, **settings: Any) -> dict[str, Any]:
    return measure(world=world, output=str(output), **settings)


def rows(release: Path, dataset: str) -> list[dict[str, Any]]:
    found = []
    for path in sorted((release / dataset).iterdir()):
        with gzip.open(path) as lines:
            found += [json.loads(line) for line in lines]
    return found


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("simulate") / "release"
    simulate(CONFIG, directory, shards=3, workers=1)
    return directory


# --- the format ----------------------------------------------------------------------------------


def kinds(values: list[Any]) -> dict[str, set[str]]:
    """Return the types of the value of each key, at any depth."""
    found: dict[str, set[str]] = {}

    def walk(path: str, value: Any) -> None:
        found.setdefault(path, set()).add(type(value).__name__)
        if isinstance(value, dict):
            for key, below in value.items():
                walk(f"{path}.{key}", below)
        for below in value if isinstance(value, list) else ():
            walk(f"{path}[]", below)

    for value in values:
        walk("", value)
    return found


@pytest.mark.parametrize("dataset", ["papers", "abstracts", "citations", "s2orc"])
def test_records_have_the_keys_and_types_of_the_official_samples(
    release: Path, dataset: str, real_data: Any
) -> None:
    sample = real_data.directory / "semantic_scholar" / f"{dataset}-sample.jsonl"
    real = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]
    made = rows(release, dataset)
    assert [list(record) for record in made[:1]] == [list(record) for record in real[:1]]
    told, expected = kinds(made), kinds(real)
    assert told.keys() == expected.keys() - ({".content.source.pdfurls[]",
                                              ".content.source.oainfo.license",
                                              ".content.source.oainfo.openaccessurl",
                                              ".content.source.oainfo.status"}
                                             if dataset == "s2orc" else set())  # fmt: skip
    for key, types in told.items():
        none = {"NoneType"} if key.startswith(".content.annotations.") else set()
        assert types <= expected[key] | none, key
    if dataset == "s2orc":
        spans: dict[str, list[Any]] = {"made": [], "real": []}
        for where, records in (("made", made), ("real", real)):
            for record in records:
                told = record["content"]["annotations"]
                found = {name: json.loads(value) for name, value in told.items() if value}
                spans[where].append(found)
        told, expected = kinds(spans["made"]), kinds(spans["real"])
        assert {".bibref[].attributes.ref_id", ".paragraph[].end"} <= told.keys()
        for key, types in told.items():
            assert types <= expected[key], key


PAPER = {
    "id": "w7-00000000ff",
    "title": "Braided Lattice Tempering",
    "abstract": "It tempers.",
    "date": "2004-02-29",
    "sections": [
        {"heading": "Introduction", "text": "One is one. Two is two."},
        {"heading": "End", "text": "A. B. C. D. E."},
    ],
    "references": [
        {"id": "w7-0000000000", "influential": True},
        {"id": "w7-0000000009", "influential": False},
    ],
    "is_survey": False,
    "fields": ["Plexonics"],
    "venue": "Journal",
    "authors": ["Ada Lin"],
}


@pytest.mark.parametrize(
    ("date", "day", "year"),
    [
        ("2004-02-29", "2004-02-29", 2004),
        ("2004-02", "2004-02-01", 2004),
        ("2004", None, 2004),
        (None, None, None),
    ],
)
def test_dates(date: str | None, day: str | None, year: int | None) -> None:
    record = paper_record({**PAPER, "date": date}, 4, 3, 2, 0, "2024-02-06")
    assert (record["publicationdate"], record["year"]) == (day, year)
    assert (record["corpusid"], record["externalids"]["CorpusId"]) == (256, "256")
    assert (record["referencecount"], record["citationcount"]) == (4, 3)


def test_a_full_text_by_hand() -> None:
    text = text_record(PAPER, 1, 0, "v1", "2024-02-06")["content"]
    whole, told = text["text"], text["annotations"]
    spans = {name: json.loads(value) for name, value in told.items() if value is not None}
    said = {name: [whole[s["start"] : s["end"]] for s in of] for name, of in spans.items()}
    assert said["title"] == ["Braided Lattice Tempering"]
    assert said["author"] == ["Ada Lin"]
    assert said["abstract"] == ["It tempers."]
    assert said["sectionheader"] == ["Introduction", "End"]
    # Seven sentences; the influential reference is mentioned three times, the others once.
    assert said["paragraph"] == [
        "One is one [1]. Two is two [1].",
        "A [1]. B [2]. C [3].",
        "D. E.",
    ]
    assert said["bibref"] == ["[1]", "[1]", "[1]", "[2]", "[3]"]
    assert [s["attributes"] for s in spans["bibref"]] == [
        {"ref_id": f"b{k}"} for k in (0, 0, 0, 1, 2)
    ]
    assert [s["attributes"] for s in spans["bibentry"]] == [
        {"id": "b0", "matched_paper_id": 1},
        {"id": "b1", "matched_paper_id": 10},
        {"id": "b2"},
    ]
    assert told["formula"] is None


def said_by(spans: str | None, text: str) -> list[Any]:
    told = [] if spans is None else json.loads(spans)
    return [(span.get("attributes"), text[span["start"] : span["end"]]) for span in told]


def test_the_second_version_tells_the_same_under_other_names() -> None:
    first = text_record(PAPER, 1, 3, "v1", "2024-02-06")["content"]
    second = text_record(PAPER, 1, 3, "v2", "2024-02-06")
    parts = (second["body"], second["bibliography"])
    assert first["text"] == f"{parts[0]['text']}\n\n{parts[1]['text']}"
    for part in parts:
        for name, spans in part["annotations"].items():
            of_first = first["annotations"][name.replace("_", "")]
            texts = [
                [(s.get("attributes"), whole[s["start"] : s["end"]]) for s in json.loads(told)]
                for told, whole in (
                    (spans or "[]", part["text"]),
                    (of_first or "[]", first["text"]),
                )
            ]
            assert texts[0] == texts[1], name
    assert sum(len(part["annotations"]) for part in parts) == len(first["annotations"])


@given(st.lists(st.integers(0, (1 << 40) - 1), unique=True, min_size=2, max_size=2))
def test_ids_are_one_to_one(numbers: list[int]) -> None:
    one, other = (corpus_id(f"w7-{number:010x}") for number in numbers)
    assert one != other and min(one, other) >= 1 and max(one, other) < FIRST_EXTRA


def test_release_json_is_true_of_the_files(release: Path) -> None:
    told = json.loads((release / "release.json").read_bytes())
    assert told["release"] == "2024-02-06"
    assert sorted(told["datasets"]) == ["abstracts", "citations", "papers", "s2orc"]
    for dataset, files in told["datasets"].items():
        assert [file["name"] for file in files] == names(release / dataset)
        for number, file in enumerate(files):
            data = (release / dataset / file["name"]).read_bytes()
            assert re.fullmatch(rf"20240206_\d{{6}}_0000{number}_[a-z2-9]{{5}}\.gz", file["name"])
            assert data[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"  # no name and no time
            assert file["bytes"] == len(data)
            assert file["md5"] == hashlib.md5(data).hexdigest()
            assert file["sha256"] == hashlib.sha256(data).hexdigest()


def test_counts_are_those_of_the_citations(release: Path) -> None:
    cited, influential, listed = Counter[str](), Counter[str](), Counter[str]()
    for row in rows(release, "citations"):
        listed[row["citingcorpusid"]] += 1
        if row["citedcorpusid"] is not None:
            cited[row["citedcorpusid"]] += 1
            influential[row["citedcorpusid"]] += row["isinfluential"]
    for paper in rows(release, "papers"):
        number = str(paper["corpusid"])
        assert paper["citationcount"] == cited[number]
        assert paper["influentialcitationcount"] == influential[number]
        assert paper["referencecount"] == listed[number]


def test_shares_of_full_text(tmp_path: Path) -> None:
    world = list(World(CONFIG).papers())
    surveys = {corpus_id(paper["id"]) for paper in world if paper["is_survey"]}
    for full, of_surveys in ((0.0, 1.0), (1.0, 0.0)):
        shares = {"full_text": full, "survey_full_text": of_surveys}
        simulate(CONFIG, tmp_path / f"{full}", shards=2, workers=1, **shares)
        texts = {row["corpusid"] for row in rows(tmp_path / f"{full}", "s2orc")}
        assert texts == (surveys if of_surveys else {corpus_id(p["id"]) for p in world} - surveys)


# --- nothing is lost -----------------------------------------------------------------------------


def as_the_format_has_it(release: Path) -> tuple[Memory, dict[str, Any]]:
    """Return the world's records, less what a release cannot tell; and its papers by id.

    No day is known of a date on the first of a month, since real releases write that for a month.
    """
    listed = {str(row["corpusid"]): row["referencecount"] for row in rows(release, "papers")}
    papers, surveys = [], []
    for paper in World(CONFIG).papers():
        date = paper["date"]
        if date is not None and date.endswith("-01") and len(date) == len("2024-02-06"):
            date = date[:7]
        references = [{**r, "id": str(corpus_id(r["id"]))} for r in paper["references"]]
        told = {**paper, "id": str(corpus_id(paper["id"])), "date": date, "references": references}
        papers.append({**told, "sections": []})
        if paper["is_survey"]:
            keys = ("id", "title", "date", "references")
            total = listed[told["id"]]
            surveys.append({**{key: told[key] for key in keys}, "n_references_total": total})
    sections = {str(corpus_id(paper["id"])): paper["sections"] for paper in World(CONFIG).papers()}
    return Memory(papers, surveys), sections


def build_release(release: Path, output: Path, *more: str, workers: int = 1) -> None:
    changes = ["full_text_only=false", "surveys.judge=all", f"surveys.title={TITLES}", *more]
    options = [part for change in changes for part in ("--set", change)]
    command = ["build", "s2orc", "--input", release, "--output", output, "--workers", workers]
    assert main([*map(str, command), "--memory", "2GB", *options]) == 0
    assert verify(output)["problems"] == {}


SAME = ("papers.parquet", "references.parquet", "tasks/gold.parquet", "tasks/surveys.parquet",
        "lookup/cited.npy", "lookup/citing.npy", "lookup/days.npy", "index/bm25/terms.bin",
        "index/bm25/docs.npy", "index/bm25/pair_tfs.npy")  # fmt: skip


def same_texts(corpus: Path, release: Path, sections: dict[str, Any], dataset: str) -> None:
    """Check the sections of `corpus`, but for the marks of citations and for paragraphs."""
    ids = pq.read_table(corpus / "papers.parquet").to_pylist()
    texts = {str(row["corpusid"]) for row in rows(release, dataset) if row["corpusid"] < 1 << 41}
    expected = {
        paper["id"]: [(s["heading"], s["text"]) for s in sections[paper["id"]]]
        for paper in ids
        if paper["id"] in texts and not paper["is_survey"] and paper["id"] in sections
    }
    found: dict[str, list[tuple[str, str]]] = {}
    for row in pq.read_table(corpus / "sections.parquet").to_pylist():
        text = " ".join(re.sub(r" \[[\d?]+\]", "", row["text"]).split())
        found.setdefault(ids[row["document"]]["id"], []).append((row["heading"], text))
    assert found == expected and len(found) > 50


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_world_through_a_release_is_that_world(
    tmp_path: Path, release: Path, version: str
) -> None:
    if version == "v2":
        release = tmp_path / "release"
        simulate(CONFIG, release, shards=3, text_version="v2", workers=1)
    source, sections = as_the_format_has_it(release)
    assert {p["id"] for p in source._papers if re.search(TITLES, p["title"], re.I)} == {
        survey["id"] for survey in source._surveys
    }
    build(source, tmp_path / "direct", fields=("title", "abstract"))
    build_release(release, tmp_path / "staged")
    direct, staged = contents(tmp_path / "direct"), contents(tmp_path / "staged")
    for name in SAME:
        assert staged[name] == direct[name], name
    same_texts(tmp_path / "staged", release, sections, {"v1": "s2orc", "v2": "s2orc_v2"}[version])


def test_mentions_tell_what_is_influential(tmp_path: Path, release: Path) -> None:
    bare = tmp_path / "release"
    bare.mkdir()
    for dataset in ("papers", "abstracts", "s2orc"):
        (bare / dataset).symlink_to(release / dataset)
    build_release(release, tmp_path / "told")
    build_release(bare, tmp_path / "counted", "references.influential_mentions=3")
    texts = {row["corpusid"] for row in rows(release, "s2orc")}
    told, counted = (
        {
            (row["survey"], row["reference"]): row["influential"]
            for row in pq.read_table(tmp_path / name / "tasks" / "gold.parquet").to_pylist()
        }
        for name in ("told", "counted")
    )
    assert texts >= {
        corpus_id(paper["id"]) for paper in World(CONFIG).papers() if paper["is_survey"]
    }
    assert told == counted and 0 < sum(told.values()) < len(told)


def test_bad_records_leave_the_others_as_they_are(tmp_path: Path, release: Path) -> None:
    bad = tmp_path / "bad"
    report = simulate(CONFIG, bad, shards=3, bad=0.15, workers=1)
    build_release(release, tmp_path / "clean")
    build_release(bad, tmp_path / "staged", "max_rejected=0.5")
    kinds_told = {kind.split(": ")[1] for kind in report["bad"]}
    assert kinds_told == {
        "no JSON", "told twice", "year 2099", "year 1", "no title", "NUL in a title", "NUL bytes",
        "Latin-1", "NUL in a text", "of no paper", "to itself", "to an unknown paper",
        "id no number", "annotations out of range", "annotations no JSON", "50 MB of text",
        "a survey that cites itself",
    }  # fmt: skip

    def papers(corpus: Path) -> dict[str, Any]:
        rows = pq.read_table(tmp_path / corpus / "papers.parquet").to_pylist()
        return {row["id"]: row for row in rows if int(row["id"]) < FIRST_EXTRA >> 1}

    def gold(corpus: Path) -> set[Any]:
        rows = pq.read_table(tmp_path / corpus / "tasks" / "gold.parquet").to_pylist()
        return {
            (row["survey"], row["reference"], row["influential"], row["status"])
            for row in rows
            if int(row["survey"]) < FIRST_EXTRA >> 1 and int(row["reference"]) < FIRST_EXTRA >> 1
        }

    assert papers(Path("staged")) == papers(Path("clean"))
    assert gold(Path("staged")) == gold(Path("clean"))
    rejects = Counter(
        (entry["shard"].split("/")[0], entry["reason"])
        for line in (tmp_path / "staged.stages" / "parse" / "rejects.jsonl")
        .read_text()
        .splitlines()
        for entry in [json.loads(line)]
    )
    told = report["bad"]
    assert rejects["citations", "cites itself"] == told["citations: to itself"] + 1
    assert rejects["papers", "no title"] == told["papers: no title"]
    for dataset in ("papers", "abstracts"):
        assert rejects[dataset, "duplicate id"] == told[f"{dataset}: told twice"]
    assert rejects["s2orc", "text too long"] == 1
    assert sum(n for (_, reason), n in rejects.items() if reason == "date implausible") >= 1


# --- the directory -------------------------------------------------------------------------------


def test_same_knobs_same_bytes(tmp_path: Path, release: Path) -> None:
    simulate(CONFIG, tmp_path / "other", shards=3, workers=2)
    assert contents(tmp_path / "other") == contents(release)
    simulate(CONFIG, tmp_path / "more", shards=4, workers=1)
    for dataset in ("papers", "abstracts", "citations", "s2orc"):
        one, other = (
            sorted(json.dumps(row) for row in rows(place, dataset))
            for place in (release, tmp_path / "more")
        )
        assert one == other, "the number of shards changes nothing but the files"


def test_it_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "simulate", "--papers", "40000",
               "--surveys", "20", "--shards", "4", "--output", str(tmp_path / "r")]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not list(tmp_path.glob(".r.simulating/new-*/*/*.gz")) and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "r").exists()
    small = ["simulate", "--papers", "300", "--shards", "2", "--output"]
    deadline = time.monotonic() + 60
    while simulate_command([*small, str(tmp_path / "r")]) == 2 and time.monotonic() < deadline:
        time.sleep(0.1)  # the processes of the killed one hold no lock, but they end first
    assert names(tmp_path) == ["r"]


def test_replacing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "--papers", "300", "--shards", "2", "--workers", "1",
               "--output", str(tmp_path / "r")]  # fmt: skip
    assert simulate_command(command) == 0
    assert simulate_command(command) == 2
    assert "already holds a release. Pass --overwrite" in capsys.readouterr().err
    old = contents(tmp_path / "r")
    assert simulate_command([*command, "--seed", "8", "--overwrite"]) == 0
    assert contents(tmp_path / "r") != old
    (tmp_path / "r" / "mine.txt").write_text("mine")
    assert simulate_command([*command, "--overwrite"]) == 2
    assert "holds other files, 'mine.txt'" in capsys.readouterr().err
    assert names(tmp_path) == ["r"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"release": "2024-2-6"}, "--release '2024-2-6': give a day"),
        ({"shards": 0}, "--shards 0: give a number from 1 to 700"),
        ({"shards": 701}, "--shards 701: give a number from 1 to 700"),
        ({"full_text": 1.5}, "--full-text 1.5: give a number from 0 to 1"),
        ({"bad": float("nan")}, "--bad nan: give a number from 0 to 0.5"),
    ],
)
def test_refusals(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        simulate(CONFIG, tmp_path / "r", **change)
    assert names(tmp_path) == []


def test_an_unknown_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "--output", str(tmp_path / "r"), "--text-version", "v3"]
    with pytest.raises(SystemExit):
        simulate_command(command)
    assert "unknown 'v3'. Did you mean" in capsys.readouterr().err


def test_a_world_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No dated paper stands before"):
        simulate(WorldConfig(papers=60, surveys=2, undated=1.0), tmp_path / "r", workers=2)
    with pytest.raises(CorpusError, match="is a file"):
        (tmp_path / "f").write_text("")
        simulate(CONFIG, tmp_path / "f")
    assert names(tmp_path) == ["f"]


# --- parts of a world ----------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(
    st.builds(
        WorldConfig,
        seed=st.integers(0, 2**63 - 1),
        papers=st.integers(60, 1400),
        surveys=st.integers(0, 6),
        influential=st.floats(0, 1),
    )
)
def test_links_and_blocks_are_those_of_the_papers(config: WorldConfig) -> None:
    world = World(config)
    papers = list(world.papers())
    parts = [list(world.papers(range(block, block + 1))) for block in range(world.blocks)]
    assert [paper for part in parts for paper in part] == papers
    ids = [paper["id"] for paper in papers]
    assert [int(name.rpartition("-")[2], 16) for name in ids] == world.numbers.tolist()
    links = [
        (ids[citing], ids[cited], mark)
        for block in world.links()
        for citing, cited, mark in zip(*(column.tolist() for column in block), strict=True)
    ]
    expected = [(p["id"], r["id"], r["influential"]) for p in papers for r in p["references"]]
    assert sorted(links) == sorted(expected)
