"""How often paired tests reject true nulls: 120 topics in 23 clusters, as synthetic corpora have.

``python benchmarks/clusters.py [NULLS]`` prints, for shares of the variance that the topics of a
cluster have in common, and for clusters of nearly equal and of drawn sizes, how many of 2,000 null
hypotheses each test rejects at 5 %, by whole clusters and by single topics.
"""

from __future__ import annotations

import sys

import numpy as np

from arena.results.comparison.comparing import bootstrap, fisher, student

TOPICS, CLUSTERS = 120, 23


def rejected(nulls: np.ndarray, clusters: np.ndarray | None) -> tuple[float, ...]:
    """Return the share of columns that each test rejects; 0 outside of the interval is one, too."""
    ends = np.array(bootstrap(nulls, 0.95, clusters), float)
    outside = (ends[:, 0] > 0) | (ends[:, 1] < 0)
    tests = [np.array(test(nulls, clusters), float) <= 0.05 for test in (fisher, student)]
    return tuple(float(each.mean()) for each in (*tests, outside))


def main(number: int) -> None:
    """Print the table."""
    random = np.random.default_rng(2026)
    equal = np.sort(np.resize(np.arange(CLUSTERS), TOPICS))
    drawn = np.sort([*range(CLUSTERS), *random.integers(0, CLUSTERS, TOPICS - CLUSTERS)])
    print("sizes  shared  tested by  fisher  student  interval")
    for sizes, clusters in (("equal", equal), ("drawn", drawn)):
        for shared in (0.0, 0.25, 0.5):
            common = random.normal(size=(CLUSTERS, number))[clusters]
            own = random.normal(size=(TOPICS, number))
            nulls = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
            for by, groups in (("clusters", clusters), ("topics", None)):
                shares = "  ".join(f"{share:7.4f}" for share in rejected(nulls, groups))
                print(f"{sizes:5}  {shared:6}  {by:9}  {shares}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
