"""Prompts: their level, the cutoff that they name, titles that they contain; flags in a corpus."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from arena.corpus import layout
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.prompt_writing import check_prompt, cutoff_in
from corpus_builder.records import level_of
from corpus_builder.sources.jsonl import JsonLines


@pytest.mark.parametrize(
    ("prompt", "level"),
    [
        ("Write on nets, e.g. deep ones, by A. Smith et al. and others", "sentence"),
        ("Write on nets. Cite papers.", "paragraph"),
        ("Write on nets.\n\n1. Past", "detailed"),
        ("Nets. " * 150, "paragraph"),
        ("Nets. " * 151, "detailed"),
    ],
)
def test_levels(prompt, level):
    assert level_of(prompt) == level


@pytest.mark.parametrize(
    ("prompt", "cutoff"),
    [
        ("papers published before April 2025 count", "2025-04"),
        ("before 3 May 2019", "2019-05-03"),
        ("prior to Sep. 3rd, 2020", "2020-09-03"),
        ("before the end of 2019", "2019"),
        ("until 2019-02", "2019-02"),
        ("before deep learning, in March 2020", None),
        ("developed by 2020 people", None),
    ],
)
def test_cutoffs(prompt, cutoff):
    assert cutoff_in(prompt) == cutoff


def test_flags():
    flags = check_prompt(
        "sentence",
        "Survey neural nets: a review of Deep-Learning for plants before May 2020.",
        "Neural Nets, a Review",
        "2020-06-01",
        ["deep learning", "Deep Learning.", "plant", "review of", "", "?"],
    )
    assert [(flag.flag, flag.detail) for flag in flags] == [
        ("title", "Neural Nets, a Review"), ("reference_title", "deep learning"),
        ("reference_title", "review of"), ("other_cutoff", "2020-05"),
    ]  # fmt: skip
    assert [flag.flag for flag in check_prompt("sentence", "On X.", "Y", "2020", [])] == [
        "no_cutoff"
    ]
    assert not check_prompt("sentence", "On X before June 2020.", "Y", "2020-06-01", ["Z"])


def test_flags_of_a_corpus(tmp_path, capsys):
    """The titles are those that the source lists and those of papers of the corpus."""
    papers = [{"id": "a", "title": "Coral reefs", "date": "2019"}]
    surveys = [
        {"id": "s", "title": "Atolls", "date": "2020-01-02", "references": ["a"],
         "listed_titles": ["Lagoons"],
         "prompts": {"sentence": "On coral reefs.", "detailed": "On lagoons before 2 May 2020."}},
        {"id": "t", "title": "Dunes", "date": "2021-01-01", "references": [],
         "prompt": "On coral reefs before January 2021."},
        {"id": "u", "title": "Seas", "date": "2021-01-01", "references": []},
    ]  # fmt: skip
    for name, records in (("papers", papers), ("surveys", surveys)):
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    manifest = build(JsonLines(tmp_path / "papers", tmp_path / "surveys"), tmp_path / "c")
    counts = {key: n for key, n in manifest["counts"].items() if key.startswith("prompts")}
    assert counts == {
        "prompts": 2, "prompts_title": 0, "prompts_reference_title": 1, "prompts_no_cutoff": 1,
        "prompts_other_cutoff": 1,
    }  # fmt: skip
    rows = pq.read_table(tmp_path / "c" / layout.ARTICLES).to_pylist()
    assert [[tuple(flag.values()) for flag in row["prompt_flags"]] for row in rows] == [
        [("sentence", "reference_title", "Coral reefs"), ("sentence", "no_cutoff", ""),
         ("detailed", "reference_title", "Lagoons"), ("detailed", "other_cutoff", "2020-05-02")],
        [],
        [],
    ]  # fmt: skip
    main(["info", str(tmp_path / "c")])
    shown = capsys.readouterr().out
    assert (
        "of 2 survey tasks: 0 contain their survey's title, 1 contain a reference's title" in shown
    )
