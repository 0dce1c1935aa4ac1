"""The evidence of the agent `scout`: votes and titles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge

from arena.agents import Hit
from arena.text import analyze
from baselines.scout import PENALTY, Votes, regressed


def hits(**scores):
    return [Hit(name, name, "2020-01-01", score) for name, score in scores.items()]


# Votes


def test_a_paper_does_not_hide_its_neighbours():
    """Scaled with itself b would get 0.1; the best of the others gets 1."""
    votes = Votes()
    votes.search(hits(a=10.0, b=1.0, c=0.5, d=0.0), source="a")
    assert votes.scores(0, {}).tolist() == [1.0, 1.0, 0.5, 0.0]
    alone = Votes()
    alone.search(hits(a=10.0), source="a")
    assert alone.scores(2, {}).tolist() == [1.0]


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
    assert votes.scores(0, {}).tolist() == [1, 0.5, 0, 1, 1]
    assert votes.scores(1, {}) == pytest.approx([1, 0.5, 0, 4 / 3, 2 / 3])
    assert votes.scores(1, {"a": 0.5}) == pytest.approx([1, 0.5, 0, 1, 1])
    assert votes.scores(1, {"a": 0.0}) == pytest.approx([1, 0.5, 0, 0, 2])
    assert votes.scores(1, {"a": 0.0, "b": 0.0}) == pytest.approx([1, 0.5, 0, 0, 0])


LISTS = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(-1e6, 1e6)), max_size=8),
        st.sampled_from(["", "a", "b"]),
    ),
    max_size=6,
)


@example([([("a", 3.1e-243), ("b", 12507.0), ("c", 0.0)], ""), ([("d", 1.0)], "a")], 1.25)
@given(LISTS, st.floats(0, 10))
def test_scores_are_finite_and_no_larger_than_the_weights(lists, trust):
    votes = Votes()
    for found, source in lists:
        best = dict(sorted(found, key=lambda pair: -pair[1]))
        ordered = sorted(best.items(), key=lambda pair: -pair[1])
        votes.search([Hit(i, i, "", score) for i, score in ordered], source=source)
    scores = votes.scores(trust, {})
    assert len(scores) == len(votes.ids) == len(set(votes.ids))
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    # The mean weight of the papers is 1, so that of one is at most their number.
    assert (scores <= 2 * len(lists)).all()


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


def test_the_encoder_knows_words_that_are_alike():
    titles, scores = ["cars", "automobiles", "sea turtles"], np.array([3.0, 0.0, 0.0])
    words, both = (regressed(scores, titles, encoder) for encoder in (None, "static"))
    assert words[1] == pytest.approx(words[2])
    assert both[1] > both[2]
