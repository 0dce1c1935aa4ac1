"""Ranking metrics such as recall, nDCG and average precision, one a module.

A name is a metric with an optional cutoff: ``recall@10``, ``ndcg@30``, ``mrr``. Without a cutoff
the whole ranking counts. To add a metric, add a module to this package:

    @METRICS.register("hits")
    def hits(ranking, gains, k=None): ...

or declare an entry point of the group ``researcharena.metrics``.

Example:
    >>> from arena import metrics
    >>> metrics.evaluate(["a", "x", "b"], {"a": 2, "b": 1}, ["recall@1", "precision@2", "mrr"])
    {'recall@1': 0.5, 'precision@2': 0.5, 'mrr': 1.0}
"""

from arena.metrics.base import METRICS, Metric, checked, evaluate, get, mean, parse, resolve

__all__ = ["METRICS", "Metric", "checked", "evaluate", "get", "mean", "parse", "resolve"]
