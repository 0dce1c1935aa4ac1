"""Tests for environments, tools and tasks: does one keep its contract, and does anything leak?

`check_environment` (``arena check``) runs contract checks on one environment. `audit`
(``arena audit``) attacks every tool of every environment and compares the answers with the files
of the corpus. Both find the tools through the environment: nothing needs to be named here.

    >>> from arena.testing import audit, check_environment
    >>> results = check_environment("mine:mine/Reviews-v0", "demo/world")  # doctest: +SKIP
    >>> [result for result in results if not result.passed]                # doctest: +SKIP
    []
    >>> audit("demo/world", environments=["mine:mine/Reviews-v0"]).clean   # doctest: +SKIP
    True
"""

from arena.testing.auditor import audit
from arena.testing.contract import Subject, check_environment
from arena.testing.report import CHECKS, LEAKS, AuditReport, CheckError, Finding, Result, require

__all__ = [
    "CHECKS",
    "LEAKS",
    "AuditReport",
    "CheckError",
    "Finding",
    "Result",
    "Subject",
    "audit",
    "check_environment",
    "require",
]
