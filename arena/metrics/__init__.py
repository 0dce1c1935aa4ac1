"""The metrics of rankings, maps, reports and topics by name; here those of rankings, one a module.

A metric is one function in one file, see docs/extending.md. It is found in this package, in
`arena.mindmap.metrics`, `arena.report.metrics`, in the packages ``metrics`` of `arena.suites`, and
in plug-ins, see `arena.plugins`. A ranking metric may have a cutoff: ``recall@10``, ``mrr``.
"""

from arena.metrics.base import (
    ENCODER,
    EXTRACTOR,
    METRICS,
    RANKING,
    Metric,
    Need,
    ScoreContext,
    accounts,
    checked,
    evaluate,
    mean,
    metric,
)

__all__ = [
    "ENCODER",
    "EXTRACTOR",
    "METRICS",
    "RANKING",
    "Metric",
    "Need",
    "ScoreContext",
    "accounts",
    "checked",
    "evaluate",
    "mean",
    "metric",
]
