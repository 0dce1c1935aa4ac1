"""The evidence of the agent `scout`: votes and titles."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge

from arena.agents import Hit
from arena.text import analyze
from baselines.scout import PENALTY, Votes, regressed


def hits(**scores):
    return [Hit(name, name, "2020-01-01", score) for name, score in scores.items()]


# Votes


def test_trust_gives_weight_to_the_lists_of_good_papers():
    """By hand, with trust 1: the weights of a and b are as their scores, 1 on average.

    The topic gives a 1 and b 0.5. a's list gives c 1 and b's gives d 1, so neither changes the
    scores of a and b, and the weights are 4/3 and 2/3.
    """
    votes = Votes()
    votes.search(hits(a=2.0, b=1.0, z=0.0))
    votes.search(hits(c=1.0), source="a")
    votes.search(hits(d=1.0), source="b")
    assert votes.ids == ["a", "b", "z", "c", "d"]
    assert votes.scores(0).tolist() == [1, 0.5, 0, 1, 1]
    assert votes.scores(1) == pytest.approx([1, 0.5, 0, 4 / 3, 2 / 3])


# Titles

TITLES = [
    "Graph networks for text", "Networks of graphs", "Text classification", "Graph text networks",
    "Sea water", "Water of the sea", "Classification of water",
]  # fmt: skip


def test_expectations_are_those_of_kernel_ridge_regression():
    """Against scikit-learn, with its own TF-IDF, centred kernel and solver."""
    scores = np.array([5.0, 4.0, 3.0, 1.0, 0.5, 0.0, 2.0])
    tfidf = TfidfVectorizer(
        analyzer=lambda title: sorted(set(analyze(title))), min_df=2, smooth_idf=False
    )
    vectors = tfidf.fit_transform(TITLES).toarray()
    counts = (vectors > 0).sum(0)
    vectors = (vectors > 0) * np.log(len(TITLES) / counts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = vectors - vectors.mean(0)
    model = KernelRidge(alpha=PENALTY, kernel="linear").fit(centred, scores - scores.mean())
    assert regressed(scores, TITLES, None) == pytest.approx(model.predict(centred))


def test_equal_ranks_are_computed_once_and_are_the_callers_own():
    first = regressed(np.arange(7.0), TITLES, None)
    kept, first[0] = first.copy(), 9.0
    assert regressed(np.arange(7.0), TITLES, None).tobytes() == kept.tobytes()


def test_the_encoder_knows_words_that_are_alike():
    titles, scores = ["cars", "automobiles", "sea turtles"], np.array([3.0, 0.0, 0.0])
    words, both = (regressed(scores, titles, encoder) for encoder in (None, "static"))
    assert words[1] == pytest.approx(words[2])
    assert both[1] > both[2]
