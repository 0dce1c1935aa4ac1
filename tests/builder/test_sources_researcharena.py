"""The published ResearchArena data set, from a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_sources_joins import write

import arena
from arena.tasks import TaskSet
from corpus_builder.card import write_card
from corpus_builder.cli import main
from corpus_builder.sources.researcharena import ResearchArena

# In the form of the two published records: typology as text, noise keys, numbers as strings.
SURVEY = {
    "id": 56895323, "title": "A Survey on Chains", "abstract": "Of chains.",
    "publicationDate": "2018-05-07", "referenceCount": "247", "subjects": ["business"],
    "references": {"influential": [11, 12], "relevant": [13, 99, 11]},
    "typology": '{"Consensus": {"Proofs": {"examples": "(e.g., [24])"}, "Hybrid": null}}',
}  # fmt: skip
OTHER = {
    "id": 7, "title": "A survey of patients", "publicationDate": "2023-10-04", "typology": None,
    "referenceCount": "52", "references": {"influential": [], "relevant": [98]}, "subjects": None,
}  # fmt: skip
PUBLIC = [
    {"id": 11, "title": "Proof of work", "abstract": "Coins.", "publicationDate": "2008-10-31",
     "subjects": ["economics"], "references": {"influential": [12], "relevant": []}},
    {"id": 12, "title": "Stakes", "abstract": None, "date": "2012"},
    {"corpusid": 13, "title": "Ledgers", "year": 2018},
    {"id": 56895323, "title": "A Survey on Chains", "publicationDate": "2018-05-07"},
]  # fmt: skip
TEXTS = [
    {"id": 12, "text": "A stake is held."},
    {"id": 13, "content": [{"heading": "Intro", "text": "A ledger."}, "More."]},
    {"id": 77, "text": "Nobody knows its title."},
    {"id": 78, "title": "Found in the texts", "text": "Alone.", "publicationDate": "2001-01-01"},
]


def data_set(folder: Path, **changes: list[Any]) -> Path:
    folder.mkdir()
    write(folder / "survey.jsonl.gz", changes.get("surveys", [SURVEY, OTHER]))
    write(folder / "public_00.jsonl.gz", changes.get("public", PUBLIC)[:2])
    write(folder / "public_01.jsonl.gz", changes.get("public", PUBLIC)[2:])
    write(folder / "corpus_019b4979.jsonl.gz", changes.get("texts", TEXTS))
    return folder


def build(folder: Path, output: Path, *options: str) -> arena.Corpus:
    assert main(["build", "researcharena", *options, "--output", str(output)]) == 0
    return arena.Corpus.open(output)


def test_from_a_folder(tmp_path, capsys):
    folder = data_set(tmp_path / "data")
    corpus = build(folder, tmp_path / "corpus", "--input", str(folder))
    assert "6 listed by 2 surveys: 3 found by id, 0 by title, 2 not found, 1 repeat" in (
        capsys.readouterr().out
    )
    tasks = TaskSet(tmp_path / "corpus")
    gold = tasks.gold("56895323")
    assert gold.gains == {"11": 2, "12": 2}  # 13 has only a year, which ends after the survey
    tree = tasks.mind_map("56895323")
    assert tree.labels() == ["Consensus", "Proofs", "Hybrid"]  # no "examples"
    assert tasks.mind_map("7") is None
    view = corpus.at("2024")
    assert [section.text for section in view.sections("12")] == ["A stake is held."]
    assert [s.heading for s in view.sections("13")] == ["Intro", ""]
    assert view.references("11") == ["12"] and view.paper("78").title == "Found in the texts"
    manifest = json.loads((tmp_path / "corpus" / "manifest.json").read_text())
    assert manifest["source"]["texts_without_paper"] == 1
    assert manifest["source"]["yield"]["per_survey"]["56895323"]["in_collection"] == 1
    assert manifest["counts"]["survey_papers"] == 2  # one of them is not among the papers
    # The subjects of 7 are unknown; those of the other stand with the survey alone.
    write_card(tmp_path / "corpus")
    assert "1 of 2 survey tasks" in (tmp_path / "corpus/card/README.md").read_text()


def test_dates_come_from_a_file_by_corpus_id(tmp_path):
    """As published no paper has a date: none can be found without the file."""
    keys = ("date", "year", "publicationDate")
    public = [{k: v for k, v in paper.items() if k not in keys} for paper in PUBLIC]
    folder = data_set(tmp_path / "data", public=public, surveys=[SURVEY])
    without = build(folder, tmp_path / "without", "--input", str(folder))
    assert [len(without.at("2030")), TaskSet(without).gold("56895323").gains] == [1, {}]
    dates = tmp_path / "dates.csv"
    dates.write_text("id,date\n11,2008-10-31\n12,2012\n13,2018-05-01\n56895323,2018-06\n5,2000\n")
    corpus = build(folder, tmp_path / "with", "--input", str(folder), "--dates", str(dates))
    tasks = TaskSet(corpus)
    assert tasks.gold("56895323").gains == {"11": 2, "12": 2, "13": 1}
    assert tasks.topic("56895323").date == "2018-06-30"  # before that of its own record
    assert corpus.at("2030").paper("12").date == "2012-12-31"


def test_the_total_is_the_published_one(tmp_path):
    source = ResearchArena(data_set(tmp_path / "data"))
    totals = {p.record["id"]: p.record["n_references_total"] for p in source.surveys()}
    assert totals == {"56895323": 247, "7": 52}


def test_without_texts(tmp_path):
    folder = data_set(tmp_path / "data")
    corpus = build(folder, tmp_path / "corpus", "--input", str(folder), "--no-full-text")
    assert corpus.at("2024").sections("12") == []


def test_texts_alone_with_titles(tmp_path):
    folder = data_set(tmp_path / "data", texts=[TEXTS[3]])
    for path in folder.glob("public*"):
        path.unlink()
    corpus = build(folder, tmp_path / "corpus", "--input", str(folder))
    assert [hit.id for hit in corpus.at("2024").search("alone", 9)] == ["78"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"surveys": [SURVEY | {"references": "11"}]}, "survey.jsonl.gz line 1: references: "),
        ({"surveys": [OTHER, SURVEY | {"referenceCount": "x"}]}, "line 2: referenceCount='x'"),
        ({"surveys": [[]]}, "line 1: [] is not a JSON object: this is not ResearchArena."),
        ({"public": [*PUBLIC[:3], {"title": "x"}]}, "public_01.jsonl.gz line 2: id=None"),
        ({"texts": [{"id": 12, "text": 5}]}, "public_00.jsonl.gz line 2: full text 5: expected"),
        ({"public": [{"id": 11}, *PUBLIC[1:]]}, "public_00.jsonl.gz line 1: title=None"),
    ],
)  # fmt: skip
def test_records_that_are_refused(tmp_path, capsys, changes, message):
    folder = data_set(tmp_path / "data", **changes)
    options = ["--input", str(folder), "--output", str(tmp_path / "out")]
    assert main(["build", "researcharena", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_typology_that_is_none_is_counted(tmp_path, capsys):
    folder = data_set(tmp_path / "data", surveys=[SURVEY | {"typology": "{broken"}])
    build(folder, tmp_path / "out", "--input", str(folder))
    assert "1 mind-maps cannot be read" in capsys.readouterr().out
