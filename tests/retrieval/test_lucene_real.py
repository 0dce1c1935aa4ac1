"""Lucene beside bm25 on the real papers: what differs, and that lengths are all that does."""

from __future__ import annotations

import lucene_helpers  # noqa: F401 - skips where Java is absent
import numpy as np
import pytest

import arena
from arena.tasks import TaskSet
from corpus_builder.build import build
from corpus_builder.sources.jsonl import JsonLines

pytestmark = pytest.mark.slow  # Java


@pytest.fixture(scope="module")
def corpus(real_data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("real") / "corpus"
    source = JsonLines(real_data.papers, real_data.surveys)
    build(source, directory, engines=("bm25", "lucene"))
    return arena.Corpus.open(directory)


@pytest.fixture(scope="module")
def searches(corpus):
    """(title, scope) of the 76 surveys."""
    tasks = TaskSet(corpus.directory)
    surveys = list(tasks.surveys.values())
    assert len(surveys) == 76
    return [
        (survey.title.lower(), corpus.at(survey.date, exclude=[survey.id])._scope)
        for survey in surveys
    ]


@pytest.mark.parametrize("statistics", ["cutoff", "corpus"])
def test_nearly_the_same_papers_as_bm25(corpus, searches, statistics):
    """The figures stand in docs/results/engines.md."""
    native = corpus.retriever("bm25", statistics=statistics)
    lucene = corpus.retriever("lucene", statistics=statistics)
    overlaps, differences = [], []
    for query, scope in searches:
        every = native.search(query, scope.end, scope)
        scores = dict(zip(every.documents.tolist(), every.scores.tolist(), strict=True))
        found = lucene.search(query, 100, scope)
        best = set(every.documents[:100].tolist())
        overlaps.append(len(best & set(found.documents.tolist())) / 100)
        exact = np.array([scores[document] for document in found.documents.tolist()])
        differences.append(np.abs(found.scores / exact - 1).max())
    assert len(found.documents) == 100
    assert round(np.mean(overlaps), 2) == 0.99
    assert min(overlaps) >= 0.96
    assert max(differences) < 0.036
