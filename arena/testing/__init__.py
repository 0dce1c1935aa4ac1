"""The audit: does an environment keep its contract, and does anything leak?

`audit` checks the contract of environments, attacks every tool of theirs, and compares the answers
with a second, independent reader of the files. It finds the tools through the environment: nothing
needs to be named here; docs/auditing.md.
"""

from arena.testing.auditor import audit
from arena.testing.report import CHECKS, AuditReport, Finding

__all__ = ["CHECKS", "AuditReport", "Finding", "audit"]
