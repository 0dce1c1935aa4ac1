"""The best report: the survey's own article, or a sentence for each reference."""

from __future__ import annotations

import pytest
from helpers import Memory

import arena
from arena.metrics import ScoreContext
from arena.tasks import TaskSet, open_task
from corpus_builder.build import build

ARTICLE = "# Reefs\n\nFish [@a; @late] swim [@s]. Corals [@b] stay, and `[@late]` too [@nobody]."
PAPERS = [
    {"id": name, "title": f"Paper {name}", "date": date}
    for name, date in [("a", "2019"), ("b", "2019"), ("c", "2019"), ("d", "2019"), ("late", "2022")]
]
SURVEY = {"id": "s", "title": "Reefs", "date": "2020-06-01", "references": ["a", "b", "c", "late"]}


@pytest.mark.parametrize(
    ("article", "report"),
    [
        (
            ARTICLE,
            "# Reefs\n\nFish [@a] swim . Corals [@b] stay, and `[@late]` too .\n\n"
            "The survey cites [@c].",
        ),
        (
            None,
            "The survey cites [@a].\n\nThe survey cites [@b].\n\nThe survey cites [@c].",
        ),
    ],
)
def test_the_best_report(article, report, tmp_path):
    build(Memory(PAPERS, [SURVEY | {"article": article}]), tmp_path / "corpus")
    tasks = TaskSet(tmp_path / "corpus")
    task = open_task("report")
    ideal = task.ideal(tasks, "s")
    assert ideal == {"report": report}
    scores = task.evaluate(ideal, ScoreContext(tasks=tasks, topic_id="s"))
    assert (scores["reference_f1"], scores["reference_count"], scores["late_rate"]) == (1, 3, 0)
    summary = arena.run(tmp_path / "corpus", "report", "oracle", tmp_path / "run")
    assert summary["mean"]["reference_f1"] == 1
    options = {"max_written": 30}
    summary = arena.run(tmp_path / "corpus", "report", "oracle", tmp_path / "cut", **options)
    assert summary["mean"]["reference_recall"] == 1 / 3
