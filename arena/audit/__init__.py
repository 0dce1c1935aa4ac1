"""Proof that nothing leaks: every tool fuzzed and compared with the Parquet files themselves.

    >>> from arena.audit import audit
    >>> report = audit("demo/world", actions=10_000, seed=0)  # doctest: +SKIP
    >>> report.clean                                          # doctest: +SKIP
    True

What is compared is read and derived here again: nothing of `arena.corpus.view`, `arena.dates` or
the corpus' lookup files takes part in saying what an answer should be.
"""

from arena.audit._audit import audit
from arena.audit._report import CHECKS, Finding, Report

__all__ = ["CHECKS", "Finding", "Report", "audit"]
