"""Heading soft F1: by hand, and against maps that win its parts without reading."""

from __future__ import annotations

import numpy as np
import pytest

from arena.mindmap import MindMap, evaluate
from arena.mindmap.metrics.heading_overlap import heading_soft_f1

VECTORS = {"a": (1, 0), "b": (0, 1), "a again": (1, 0), "between": (0.6, 0.8)}


class Plane:
    """Four labels whose cosines are known."""

    def queries(self, texts):
        return np.array([VECTORS[text] for text in texts], np.float64)


def flat(*labels):
    return MindMap("", tuple(MindMap(label) for label in labels))


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (flat("a"), flat("a"), 1.0),
        (flat("a"), flat("b"), 0.0),
        (flat("a"), flat("a", "b"), 2 / 3),  # s 1, R 1/2, P 1 / max(1, 1)
        (flat("a", "b"), flat("a"), 2 / 3),  # s 1, R 1, P 1 / max(2, 2)
        (flat("a", "a again"), flat("a"), 2 / 3),  # s 1, R 1, P 1 / max(1, 2): no reward for twins
        (flat("a", "a again"), flat("a", "b"), 1 / 2),  # s 1 + 2 - 2, R 1/2, P 1 / max(1, 2)
        (flat("a", "b"), flat("a", "a again"), 2 / 3),  # s 1, R 1, P 1 / max(2, 1)
        # c(between, a) = 2 / 1.6; s = 1 + 1 - 1.25 = 0.75, and both shares are that.
        (flat("between"), flat("a"), 0.75),
    ],
)
def test_by_hand(predicted, gold, expected):
    assert heading_soft_f1(predicted, gold, Plane()) == pytest.approx(expected, abs=1e-7)


GOLD = flat(
    "Dense retrieval", "Training of encoders", "Sparse retrieval", "Query expansion",
    "Evaluation", "Test collections", "Efficiency", "Index compression",
)  # fmt: skip


@pytest.mark.parametrize("encoder", ["static", "minilm"])
@pytest.mark.parametrize("count", [40, 100, 500])
def test_near_copies_do_not_win(encoder, count):
    """They win both parts as the paper has them: recall nears 1, precision exceeds it."""
    words = ("Approaches", "Challenges", "Applications", "Data", "Evaluation")
    copies = flat(*(f"{word} {number}" for number in range(count // 5) for word in words))
    names = ["heading_soft_recall", "heading_soft_precision", "heading_soft_f1"]
    recall, precision, f1 = evaluate(copies, GOLD, names, encoder).values()
    assert recall > 0.3 and precision > 0.3
    assert f1 < 0.4
    if count == 500:
        assert min(recall, precision) > 0.7 and f1 < 0.1


def test_the_gold_map_scores_exactly_one():
    for encoder in ("static", "minilm"):
        assert heading_soft_f1(GOLD, GOLD, encoder) == 1.0
