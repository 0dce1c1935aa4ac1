"""The benchmark's oracle and its check: right answers pass, wrong ones do not."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.retrieval.base import Ranking
from benchmarks.collection import DatedTexts, TextPart, TextQuery, write
from benchmarks.engines import Convention, TimedEngine
from benchmarks.oracle import LexicalOracle, byte_lengths, dense_scores, first_difference

# Documents as term numbers; 9 occurs nowhere.
DOCUMENTS = [[0, 1, 2], [1, 1, 3, 4, 5], [0], [2, 2, 2, 2, 1, 0], [1, 3], [0], [7] * 45 + [1]]
QUERIES = [(1,), (0, 2), (1, 1, 3), (9,), (0, 1, 2, 3, 7)]


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    directory = tmp_path_factory.mktemp("oracle") / "collection"
    lengths = np.array([len(document) for document in DOCUMENTS])
    texts = [" ".join(f"t{n}" for n in document) for document in DOCUMENTS]
    parts = [
        TextPart(texts[low:high], np.concatenate(DOCUMENTS[low:high]), lengths[low:high])
        for low, high in pairwise([0, 3, 4, 7])  # as they come, in parts
    ]
    queries = [TextQuery(" ".join(f"t{n}" for n in terms), terms) for terms in QUERIES]
    write(directory, parts, np.arange(7, dtype=np.int32), queries, {})
    return DatedTexts(directory)


def by_formula(terms, end, convention):
    """Scores from the formula, in plain Python."""
    counted = DOCUMENTS[:end] if convention.statistics == "cutoff" else DOCUMENTS
    average = sum(map(len, counted)) / len(counted)
    scores = []
    for document in DOCUMENTS[:end]:
        score = 0.0
        for term, repeats in Counter(terms).items():
            df = sum(term in other for other in counted)
            idf = math.log(1 + (len(counted) - df + 0.5) / (df + 0.5))
            tf = document.count(term)
            norm = convention.k1 * (1 - convention.b + convention.b * len(document) / average)
            score += repeats * idf * convention.factor * tf / (tf + norm) if tf else 0
        scores.append(score)
    return scores


@pytest.mark.parametrize("statistics", ["cutoff", "corpus"])
@pytest.mark.parametrize(("k1", "b", "factor"), [(0.9, 0.4, 1.0), (1.2, 0.75, 2.2)])
@pytest.mark.parametrize("end", [1, 3, 6, 7])
def test_the_oracle_computes_the_formula(collection, statistics, k1, b, factor, end):
    convention = Convention(k1, b, factor, statistics)
    oracle = LexicalOracle(collection, convention)
    for number, terms in enumerate(QUERIES):
        expected = by_formula(terms, end, convention)
        np.testing.assert_allclose(oracle.scores(number, end), expected, rtol=1e-12)


def test_byte_lengths_are_those_of_lucene():
    # SmallFloat.byte4ToInt(b) for b = 0..79, from the description of the format: 24 free values,
    # then 24 + m * 2^e with 4 binary digits.
    known = [*range(24), *range(24, 40), *range(40, 56, 2), *range(56, 88, 4), *range(88, 152, 8)]
    known += [*range(152, 280, 16), *range(280, 536, 32)]
    lengths = np.arange(500)
    expected = [max(value for value in known if value <= length) for length in lengths]
    assert byte_lengths(lengths).tolist() == expected


def test_a_rounded_length_changes_the_score(tmp_path):
    lengths = np.array([46, 47, 5])
    tokens = np.zeros(98, np.int64)
    write(
        tmp_path / "c", [TextPart(["x"] * 3, tokens, lengths)], np.arange(3, dtype=np.int32),
        [TextQuery("t0", (0,))], {},
    )  # fmt: skip
    scores = LexicalOracle(DatedTexts(tmp_path / "c"), Convention(b=1.0, lengths="byte")).scores
    # idf = ln(1 + 0.5 / 3.5), the mean length 98 / 3 stays exact, 47 is rounded to 46.
    idf, average = math.log(1 + 0.5 / 3.5), 98 / 3
    expected = [idf * tf / (tf + 0.9 * n / average) for tf, n in ((46, 46), (47, 46), (5, 5))]
    np.testing.assert_allclose(scores(0, 3), expected, rtol=1e-12)


def test_dense_scores_are_inner_products():
    vectors = np.array([[1, 0], [0.5, 0.5], [0, 1]], np.float16)
    queries = np.array([[2, 1], [0, 1]], np.float32)
    assert dense_scores(vectors, queries, 2).tolist() == [[2, 1.5], [0, 0.5]]


class Lexical(TimedEngine):
    """Promises what the project's own engines promise."""

    tolerance = 1e-9
    breaks_ties = True


class Loose(TimedEngine):
    """Promises scores in single precision, and no order of ties."""

    tolerance = 1e-5


def right(oracle, k):
    documents = np.lexsort((np.arange(len(oracle)), -oracle))[: min(k, np.count_nonzero(oracle))]
    return Ranking(documents, oracle[documents])


scores = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]) | st.floats(0.1, 9), min_size=1, max_size=9)


@settings(max_examples=300, deadline=None)
@given(scores.map(np.array), st.integers(1, 12))
def test_the_right_answer_passes(oracle, k):
    alike = lambda document, others: others  # noqa: E731
    assert first_difference(right(oracle, k), oracle, k, Lexical, alike) is None


@settings(max_examples=300, deadline=None)
@given(scores.map(np.array), st.integers(1, 12), st.randoms())
def test_ties_may_change_places_where_nothing_is_promised(oracle, k, random):
    order = sorted(range(len(oracle)), key=lambda n: (-oracle[n], random.random()))
    documents = np.array(order)[: min(k, np.count_nonzero(oracle))]
    ranking = Ranking(documents, oracle[documents] * (1 + 1e-7))
    assert first_difference(ranking, oracle, k, Loose) is None


ORACLE = np.array([3.0, 0.0, 2.0, 2.0, 1.0, 1.0, 0.25])


@pytest.mark.parametrize(
    ("documents", "scores", "message"),
    [
        ([0, 2, 3], [3, 2, 2], "returns 3 documents, the oracle 4"),
        ([0, 2, 3, 4, 5], [3, 2, 2, 1, 1], "returns 5 documents"),
        ([0, 2, 3, 7], [3, 2, 2, 1], "document 7, the cutoff is at 7"),
        ([0, 2, 2, 4], [3, 2, 2, 1], "twice"),
        ([0, 2, 3, 6], [3, 2, 2, 0.25], "rank 4 document 6 has the score 0.25"),
        ([0, 2, 3, 6], [3, 2, 2, 1], "rank 4 document 6 has the true score 0.25"),
        ([2, 0, 3, 4], [3, 3, 2, 1], "rank 2 document 0 has the score 3, the oracle's best has 2"),
        ([2, 3, 0, 4], [3, 2, 2, 1], "rank 1 document 2 has the true score 2"),
        ([0, 2, 3, 4], [3, 2, 2, 1 + 1e-6], "rank 4 document 4 has the score 1.000001"),
        ([0, 2, 3, 4], [3, 2, 2, math.nan], "rank 4 document 4 has the score nan"),
        ([0, 3, 2, 4], [3, 2, 2, 1], "not by score and then by document"),
        ([0, 2, 3, 5], [3, 2, 2, 1], "document 4 ties with the last, 5, and is left out"),
        ([0, 2, 3, -1], [3, 2, 2, 1], "document -1"),
    ],
)
def test_a_wrong_answer_does_not_pass(documents, scores, message):
    ranking = Ranking(np.array(documents), np.array(scores, float))
    told = first_difference(ranking, ORACLE, 4, Lexical, lambda document, others: others)
    assert told is not None
    assert re.search(re.escape(message), told), told


def test_a_tie_at_the_cut_counts_only_between_documents_that_are_alike(collection):
    oracle = LexicalOracle(collection, Convention())
    # Documents 2 and 5 are both [0]; 0 has the term as well, but another length.
    assert oracle.alike(1, 5, np.array([0, 2, 3])).tolist() == [2]
