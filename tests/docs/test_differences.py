"""The tables "the paper / the released code / here": complete, and of pages that show them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from arena_suites.bloom_eval import survey_metrics
from arena_suites.experiments.config import read_experiment
from arena_suites.reportbench import REFERENCES
from arena_suites.taxobench.evaluate import NAMES

DOCS = Path(__file__).resolve().parents[2] / "docs"
_spec = importlib.util.spec_from_file_location("differences", DOCS / "differences.py")
differences = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(differences)

SCORES = {
    "bloom-eval.md": survey_metrics(),
    "taxobench.md": NAMES,
    "reportbench.md": (*REFERENCES, "match_rate", "factual_accuracy"),
    "experiments.md": [
        name
        for table in read_experiment("researcharena").tables.values()
        for name in (*table.metrics.values(), *table.noted.values())
    ],
}
"""The metrics of a benchmark, each of which must have a row."""


@pytest.mark.parametrize("page", differences.pages())
def test_no_cell_is_empty_and_the_page_shows_them(page):
    empty = [
        (name, column)
        for name, row in differences.rows(page).items()
        for column, text in row.items()
        if not text.strip()
    ]
    assert not empty
    assert set(SCORES.get(page, ())) <= differences.rows(page).keys()
    written = (DOCS / page).read_text(encoding="utf-8")
    assert written.count(f"\n\n{differences.MARK}\n") == 1
    assert differences.table(page).count("\n") == len(differences.rows(page)) + 1
