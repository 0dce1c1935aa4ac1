"""Synthetic corpora whose citations are fitted to a real network."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus


def network(citations):
    """Return year and references of each paper that is no survey."""
    config = SyntheticConfig(
        papers=3000, surveys=3, depth=2, year_only=1.0, undated=0.0, years=15, citations=citations
    )
    papers = [paper for paper in SyntheticCorpus(config).papers() if not paper["is_survey"]]
    return {p["id"]: (int(p["date"]), [r["id"] for r in p["references"]]) for p in papers}


@pytest.fixture(scope="module")
def measured():
    return network("measured")


def test_few_papers_receive_most_citations_and_references_cite_each_other(measured):
    """In the ACL Anthology Network to 2007: .68, .087 and .82; the even one has .45, .50, .80."""
    received = Counter(paper for _, cited in measured.values() for paper in cited)
    most = sorted(received.values(), reverse=True)[: len(measured) // 10]
    assert 0.6 < sum(most) / received.total() < 0.75
    long = [set(cited) for _, cited in measured.values() if len(cited) >= 10]
    assert 0.05 < len(long) / len(measured) < 0.12
    linked = []
    for cited in long:
        inner = [
            (paper, other) for paper in cited for other in measured[paper][1] if other in cited
        ]
        linked.append(len({paper for pair in inner for paper in pair}) / len(cited))
    assert 0.75 < np.mean(linked) < 0.95
