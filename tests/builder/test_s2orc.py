"""The source ``s2orc``: records of papers, abstracts and citations, folders, the real samples."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from release_helpers import citation, paper, read_shard, write_shard

from arena.errors import DataError
from corpus_builder.release import RecordLimits, Shard
from corpus_builder.sources.s2orc import S2orc


def day(text: str) -> int:
    return (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days


def outcome(tmp_path: Path, dataset: str, *lines: Any, **options: Any) -> Any:
    """Read lines as a shard of `dataset`."""
    write_shard(tmp_path / "r" / "papers" / "p.gz", [paper()])
    write_shard(tmp_path / "r" / dataset / "a.gz", lines)
    if dataset == "papers":
        (tmp_path / "r" / "papers" / "p.gz").unlink()
    limits = options.pop("limits", RecordLimits(last_year=2024))
    release = S2orc(tmp_path / "r", **options)
    return read_shard(release, f"{dataset}/a.gz", tmp_path / "read", limits)


def test_a_paper(tmp_path):
    record = paper(12, title=" On\n Reefs ", referencecount="4", citationcount=781)
    told = outcome(tmp_path, "papers", record)
    assert told.rows["papers"] == [
        ("12", "On Reefs", "onreefs", day("2018-05-17"), "day", False, 4, "Reefs", ["Ada Low"],
         ["Biology", "Geology"], None, None, 781)
    ]  # fmt: skip
    assert told.report["rejected"] == told.report["flaws"] == {}


def test_a_paper_of_which_little_is_known(tmp_path):
    told = outcome(tmp_path, "papers", {"corpusid": "12", "title": "R"})
    row = ("12", "R", "r", None, None, False, None, None, [], [])
    assert told.rows["papers"] == [(*row, None, None, None)]
    assert told.report["flaws"] == {}


@pytest.mark.parametrize(
    ("date", "year", "resolved", "precision", "flaw"),
    [
        ("2018-05-17", 2018, "2018-05-17", "day", None),
        (None, 2018, "2018-12-31", "year", None),
        # The first of a month is what is written where only the month is known.
        ("2018-05-01", 2018, "2018-05-31", "month", None),
        ("2018-05", 2018, "2018-05-31", "month", None),
        # Where two years are told, the later counts.
        ("2017-05-17", 2018, "2018-12-31", "year", "date and year disagree"),
        ("2018-05-17", 2017, "2018-05-17", "day", "date and year disagree"),
        # A year that cannot be makes the date doubtful, too.
        ("2018-05-17", 2099, None, None, "date implausible"),
        ("2018-05-17", 0, None, None, "date unreadable"),
        ("0001-01-01", 2018, None, None, "date implausible"),
        ("2099-03-05", 2018, None, None, "date implausible"),
        (None, 2099, None, None, "date implausible"),
        ("2018-02-30", 2018, None, None, "date unreadable"),
        ({"y": 2018}, None, None, None, "date unreadable"),
        (None, None, None, None, None),
    ],
)
def test_dates(tmp_path, date, year, resolved, precision, flaw):
    told = outcome(tmp_path, "papers", paper(publicationdate=date, year=year))
    (row,) = told.rows["papers"]
    assert row[3:5] == (None if resolved is None else day(resolved), precision)
    assert told.report["flaws"] == ({} if flaw is None else {flaw: 1})
    assert told.report["rejected"] == {}


@pytest.mark.parametrize(
    ("changes", "flaw"),
    [
        ({"authors": [{"name": None}, {"name": "Ada Low"}]}, "authors unreadable"),
        ({"authors": ["x", {"name": "Ada Low"}]}, "authors unreadable"),
        ({"referencecount": -1}, "referencecount unreadable"),
        ({"s2fieldsofstudy": "Biology"}, "s2fieldsofstudy unreadable"),
    ],
)
def test_parts_of_a_paper_that_are_left_out(tmp_path, changes, flaw):
    told = outcome(tmp_path, "papers", paper(**changes))
    (row,) = told.rows["papers"]
    assert row[8] == ["Ada Low"]
    assert told.report["flaws"] == {flaw: 1}
    (entry,) = told.rejects
    assert (entry["shard"], entry["line"], entry["kept"]) == ("papers/a.gz", 1, True)


def test_reviews_are_surveys_if_asked_for(tmp_path):
    lines = [paper(1, publicationtypes=["Review"]), paper(2, publicationtypes=["JournalArticle"]),
             paper(3, publicationtypes="Review")]  # fmt: skip
    told = outcome(tmp_path, "papers", *lines)
    assert [row[5] for row in told.rows["papers"]] == [False, False, False]
    told = outcome(tmp_path, "papers", *lines, reviews=True)
    assert [row[5] for row in told.rows["papers"]] == [True, False, False]


def test_citations(tmp_path):
    told = outcome(
        tmp_path,
        "citations",
        citation("1", "2"),
        citation(1, 3, isinfluential=True, citationid=9, intents=[["background"]]),
        citation("1", None),
        citation(None, "1"),
        citation("5", 5),
        citation("5", "x y"),
        citation(5, 6, isinfluential=None),
        citation(5, 7, isinfluential="yes"),
    )
    assert told.rows["citations"] == [
        ("1", "2", False), ("1", "3", True), ("5", "6", False), ("5", "7", False)
    ]  # fmt: skip
    assert told.report["skipped"] == {"cited paper unknown": 1, "citing paper unknown": 1}
    assert told.report["rejected"] == {"cites itself": 1, "no id": 1}
    assert told.report["flaws"] == {"isinfluential unreadable": 1}
    assert [(entry["line"], entry["reason"]) for entry in told.rejects] == [
        (5, "cites itself"), (6, "no id"), (8, "isinfluential unreadable")
    ]  # fmt: skip


def test_abstracts(tmp_path):
    lines = [
        {"corpusid": 3, "abstract": "We\0 dive."},
        {"corpusid": 4, "abstract": " "},
        {"corpusid": 5, "abstract": None},
        {"corpusid": 6, "model": "tldr", "text": "t"},
    ]
    told = outcome(tmp_path, "abstracts", *lines)
    assert told.rows["abstracts"] == [("3", "We\ufffd dive.")]
    assert told.report["rejected"] == {"no abstract": 2, "of another dataset": 1}


# ------------------------------------------------------------------------------------- the folder


def names(release: S2orc) -> list[str]:
    return [shard.name for shard in release.shards()]


def make_folder(directory: Path, *files: str) -> Path:
    for name in files:
        dataset = (name.split("/")[0] if "/" in name else name.split("-")[0]).split(".")[0]
        record = {"papers": paper(), "citations": citation()}.get(dataset, {})
        write_shard(directory / name, [record])
    return directory


def test_both_layouts(tmp_path):
    inner = make_folder(
        tmp_path / "a", "papers/1.gz", "papers/0.jsonl", "citations/x.json", "papers/README.txt",
        "papers/.2.gz", "authors/1.gz", "papers/1.gz.part",
    )  # fmt: skip
    assert names(S2orc(inner)) == ["citations/x.json", "papers/0.jsonl", "papers/1.gz"]
    flat = make_folder(
        tmp_path / "b", "papers-sample.jsonl", "paper-ids-sample.jsonl", "citations-1.jsonl.gz",
        "citations-0.jsonl", "s2orc_v2020_metadata_sample.jsonl", "papers-README.txt",
    )  # fmt: skip
    assert names(S2orc(flat)) == [
        "citations/citations-0.jsonl",
        "citations/citations-1.jsonl.gz",
        "papers/papers-sample.jsonl",
    ]
    shards = S2orc(flat).shards()
    assert shards[2] == Shard(
        "papers",
        "papers/papers-sample.jsonl",
        (flat / "papers-sample.jsonl").resolve(),
        (flat / "papers-sample.jsonl").stat().st_size,
    )
    make_folder(flat, "papers/1.gz")
    with pytest.raises(
        DataError, match=r"contains papers twice: 1 file in papers/ and 'papers-sam"
    ):
        S2orc(flat).shards()


def test_two_releases_mixed(tmp_path):
    first, second = "20240206_070000_00000_aa.gz", "20240213_070000_00000_bb.gz"
    folder = make_folder(tmp_path, f"papers/{first}", f"citations/{second}")
    assert S2orc(folder).describe()["release"] == "2024-02-13"  # each dataset is exported apart
    assert S2orc(folder).year == 2024
    assert "note" not in S2orc(folder).describe()
    late = make_folder(
        tmp_path / "late", f"papers/{first}", f"citations/{second[:4]}03{second[6:]}"
    )
    assert S2orc(late).describe()["note"] == (
        "the datasets are of different months, and may not fit together: "
        "citations 2024-03-13, papers 2024-02-06"
    )
    make_folder(tmp_path, f"papers/{second}")
    with pytest.raises(DataError, match=f"mixes two releases, '{first}' and '{second}'"):
        S2orc(folder).shards()


def release_json(folder: Path, release: str = "2024-02-06", **extra: Any) -> Path:
    """Write what a download would leave."""
    datasets = {
        dataset.name: [
            {"name": file.name, "bytes": file.stat().st_size, "md5": None}
            for file in sorted(dataset.iterdir())
        ]
        for dataset in sorted(folder.iterdir())
        if dataset.is_dir()
    }
    told = {"release": release, "datasets": datasets, **extra}
    (folder / "release.json").write_text(json.dumps(told))
    return folder


def test_a_download_must_be_whole(tmp_path):
    folder = release_json(make_folder(tmp_path, "papers/1.gz", "papers/2.gz", "tldrs/1.gz"))
    release = S2orc(folder)
    assert names(release) == ["papers/1.gz", "papers/2.gz"]
    assert release.year == 2024
    assert release.describe()["release"] == "2024-02-06"
    command = (
        "arena-corpus download s2orc --release 2024-02-06 --datasets papers,tldrs "
        f"--output {tmp_path}"
    )
    whole = (folder / "papers" / "2.gz").read_bytes()
    (folder / "papers" / "2.gz").write_bytes(whole[:-1])
    with pytest.raises(DataError) as error:
        release.shards()
    assert "1 of 2 shards of release 2024-02-06 are missing or not whole" in str(error.value)
    assert f"papers/2.gz ({len(whole) - 1} of {len(whole)} bytes)" in str(error.value)
    assert str(error.value).endswith(command)
    (folder / "papers" / "2.gz").unlink()
    with pytest.raises(DataError, match=r"papers/2.gz for one"):
        release.shards()
    (folder / "papers" / "2.gz").write_bytes(whole)
    write_shard(folder / "papers" / "3.gz", [paper(3)])
    with pytest.raises(DataError, match=r"has no papers/'3.gz': this file is of another release"):
        release.shards()
    (folder / "papers" / "3.gz").unlink()
    make_folder(folder, "citations/1.gz")  # a dataset that was not part of the download
    with pytest.raises(DataError, match="another release"):
        release.shards()


# ----------------------------------------------------------------------------- the real samples


@pytest.fixture(scope="module")
def samples(real_data) -> Path:
    directory = real_data.directory / "semantic_scholar"
    if not directory.is_dir():
        pytest.skip("the samples of Semantic Scholar are not here")
    return directory


def test_the_official_samples(samples, tmp_path):
    release = S2orc(samples)
    assert names(release) == [
        "abstracts/abstracts-sample.jsonl",
        "citations/citations-sample.jsonl",
        "papers/papers-sample.jsonl",
        "s2orc/s2orc-sample.jsonl",
    ]
    read = {
        name.split("/")[0]: read_shard(release, name, tmp_path / name.split("/")[0])
        for name in names(release)
    }
    for told in read.values():
        assert told.report["rejected"] == told.report["flaws"] == {}
        assert told.report["damage"] is None
        assert told.rejects == []
    papers = read["papers"].rows["papers"]
    assert len(papers) == 100
    precisions = [row[4] for row in papers]
    # 65 have no publicationdate, 3 of them no year; 11 of the other 35 name the first of a month.
    assert {p: precisions.count(p) for p in set(precisions)} == {
        "year": 62, None: 3, "day": 24, "month": 11
    }  # fmt: skip
    assert papers[0][0] == "108228682"
    assert papers[0][9] == ["Agricultural And Food Sciences", "Chemistry"]
    assert len(read["abstracts"].rows["abstracts"]) == 100
    assert len(read["citations"].rows["citations"]) == 77
    assert read["citations"].report["skipped"] == {"cited paper unknown": 23}
    assert sum(row[2] for row in read["citations"].rows["citations"]) == 2


def test_the_real_full_texts(samples, tmp_path):
    told = read_shard(S2orc(samples), "s2orc/s2orc-sample.jsonl", tmp_path / "s2orc")
    erratum, economics, citesee = told.rows["texts"]
    assert [row[0] for row in told.rows["texts"]] == ["256867980", "256868338", "256868353"]
    assert [row[3] for row in told.rows["texts"]] == [0, 47, 66]
    headings = [part["heading"] for part in economics[2]]
    assert headings == [
        "Introduction", "Preliminaries", "Sharing problems", "Coalition formation problems",
        "The benchmark analysis", "Applications", "Ranking problems", "Other related problems",
        "Final remarks", "Appendix: Proof of Theorem 1",
    ]  # fmt: skip
    assert economics[1].startswith("Agents may form coalitions. Each coalition shares its")
    assert economics[2][0]["text"].startswith("According to the Merriam-Webster Dictionary")
    assert economics[2][1] == {"heading": "Preliminaries", "text": ""}
    assert citesee[2][0]["heading"] == ""
    assert [part["heading"] for part in citesee[2]][1:4] == [
        "INTRODUCTION", "RELATED WORK", "Scientific Paper Reading Interfaces"
    ]  # fmt: skip
    assert [part["heading"] for part in erratum[2]] == ["", "Ivyspring"]
    assert not any(
        part["heading"].startswith("Figure") for row in told.rows["texts"] for part in row[2]
    )
    # Counted in the file itself, apart from this code.
    with (samples / "s2orc-sample.jsonl").open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    expected = []
    for record in records:
        annotations = record["content"]["annotations"]
        entries = json.loads(annotations["bibentry"] or "[]")
        keys = [r.get("attributes", {}).get("ref_id")
                for r in json.loads(annotations["bibref"] or "[]")]  # fmt: skip
        expected += [
            (str(record["corpusid"]), str(e["attributes"]["matched_paper_id"]),
             keys.count(e["attributes"]["id"]))
            for e in entries if "matched_paper_id" in e["attributes"]
        ]  # fmt: skip
    assert told.rows["bibliography"] == expected
    assert len(expected) == 93
    # All that stands in a paragraph outside of figures stands in a section.
    text = records[1]["content"]["text"]
    paragraphs = json.loads(records[1]["content"]["annotations"]["paragraph"])
    whole = "\n\n".join(part["text"] for part in economics[2])
    assert all(text[p["start"] : p["end"]].strip() in whole for p in paragraphs)
