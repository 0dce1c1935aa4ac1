"""Clusters: topics that depend on each other, such as surveys of one subject.

Whole clusters are resampled and flipped: as single topics, 120 topics on 23 subjects would reject
about every sixth true null hypothesis at 5 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.text.display import count

CLUSTERS = ("cluster", "domain")
FEWEST = 7
"""Clusters that a test needs: of six, no result but the most extreme one could be significant."""


def clusters_of(topics: Mapping[str, Mapping[str, Any]], by: str = CLUSTERS[0]) -> dict[str, str]:
    """Return topic -> its cluster, of the rows of ``per_topic`` in ``metrics.json``.

    By default surveys of one subject of a synthetic corpus are a cluster, and questions of one
    paper that asks; every other topic is its own. By ``"domain"`` those of one domain are.
    """
    if by not in CLUSTERS:
        raise UnknownNameError(f"no clusters by {clip(by)}.{did_you_mean(by, CLUSTERS)}")
    if by != CLUSTERS[0] and not any(row.get(by) for row in topics.values()):
        raise DataError(f"clusters={clip(by)}: no topic of these runs has a {by}.")
    return {topic: str(row.get(by) or topic) for topic, row in topics.items()}


def numbered(clusters: Iterable[str]) -> NDArray[np.int64]:
    """Return the number of each topic's cluster, from 0, as `bootstrap` and tests take them."""
    return np.unique(list(clusters), return_inverse=True)[1].astype(np.int64)


def in_clusters(topics: int, clusters: int, unit: str = "topic") -> str:
    """Return how many topics there are, and in how many clusters if these are fewer.

    >>> in_clusters(120, 23), in_clusters(8, 8, "question")
    ('120 topics in 23 clusters', '8 questions')
    """
    inside = f" in {count(clusters, 'cluster')}" if clusters < topics else ""
    return count(topics, unit) + inside
