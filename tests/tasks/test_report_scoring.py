"""Reports of episodes: which citations count, and what they are to a topic."""

from __future__ import annotations

from arena.metrics import ScoreContext
from arena.tasks import TaskSet, open_task

NAMES = (
    "reference_precision", "reference_count", "cited_statements", "uncited_statements",
    "fabricated_rate", "self_rate", "unseen_rate",
)  # fmt: skip


def test_only_ids_cite(synthetic):
    tasks = TaskSet(synthetic)
    topic = next(iter(tasks.scorable))
    gold = next(iter(tasks.gold(topic).gains))
    text = (
        f"# Report\n\nKnown [@{gold}; @{topic}]. They “rank (Smith, 2020) best [3]”. "
        f"Made up [@{gold}-].\n\n## References\n\n[3] A paper. https://arxiv.org/abs/1706.03762\n"
    )
    context = ScoreContext(tasks=tasks, topic_id=topic, seen={gold})
    task = open_task("report")
    assert task.stages[0].score(text, task.find_metrics(NAMES), context) == {
        "reference_precision": 1 / 3, "reference_count": 3, "cited_statements": 2,
        "uncited_statements": 1, "fabricated_rate": 1 / 3, "self_rate": 1 / 3,
        "unseen_rate": 1 / 3,
    }  # fmt: skip
