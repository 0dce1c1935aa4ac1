"""ScholarGym's figures of searches, by hand and of a run."""

from __future__ import annotations

import arena
from arena.corpus import Corpus
from benchmarks.planning import figures_of_run, search_figures


def test_figures_by_hand():
    # a is found at rank 1, b at rank 50, c at rank 100, d never; a and x are submitted.
    found = {"a": 1, "b": 50, "c": 100, "x": 3, "y": 4}
    assert search_figures(["a", "b", "c", "d"], found, ["a", "x"]) == {
        "retrieval_recall": 3 / 4,
        "retrieval_precision": 3 / 5,
        "retrieval_f1": 6 / 9,
        "discard_rate": 2 / 3,
        "distance": (0.99 + 0.5) / 4,
    }
    nothing = search_figures(["a"], {}, [])
    assert nothing.pop("discard_rate") is None and not any(nothing.values())


def test_figures_of_a_run(world, tmp_path):
    arena.run(world, "question", "title", tmp_path / "run", surveys=3)
    corpus = Corpus(world)
    figures = figures_of_run(tmp_path / "run", corpus)
    per_survey = arena.runs.rescore(tmp_path / "run", corpus, ["recall"])["per_survey"]
    # the agent submits all that its only search finds
    for survey, of in figures.items():
        assert (of["retrieval_recall"], of["discard_rate"]) == (per_survey[survey]["recall"], 0)
        assert 0 < of["distance"] < of["retrieval_recall"]
    assert figures.keys() == per_survey.keys()
