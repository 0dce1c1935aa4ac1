"""The checks of an audit, by id, and its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CHECKS = frozenset(
    f"{part}.{check}"
    for part, checks in {
        "files": "dates order surveys links gold",
        "contract": "gymnasium space schema isolation determinism pickling vector rewards reset "
        "bad-actions no-gold",
        "leak": "paper survey-title date decoy refusal info",
        "answer": "missing title text count list order page fusion score budget observation "
        "result instruction crash",
    }.items()
    for check in checks.split()
)
"""Ids of all checks; docs/auditing.md says what a finding of each means."""

Reporter = Callable[[str, str], None]
"""Takes the id of a check and what is wrong."""

_KEPT = 1_000


class CheckError(Exception):
    """A broken rule of the contract, described in one line."""


def require(condition: object, message: str) -> None:
    """Raise CheckError with `message` unless `condition` is true."""
    if not condition:
        raise CheckError(message)


class Finding(NamedTuple):
    """A fault: its id in `CHECKS`, the file, environment or view, the action, what is wrong."""

    check: str
    where: str
    action: str
    what: str

    def __str__(self) -> str:
        doing = f" {self.action}:" if self.action else ""
        return f"{self.check}: {self.where}:{doing} {self.what}"


@dataclass
class AuditReport:
    """The findings and counts of an audit, collected while it runs.

    `findings` are the first 1,000, and `by_check` counts all. `tools` and `environments` count
    actions; `hashes` are SHA-256 of the corpus, the tasks, each index and the code; `settings` are
    the arguments of the audit, and what it could not compare or play.
    """

    findings: list[Finding] = field(default_factory=list)
    by_check: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    environments: Counter[str] = field(default_factory=Counter)
    hashes: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    topics: set[str] = field(default_factory=set)
    cutoffs: set[str] = field(default_factory=set)

    def add(self, check: str, where: str, action: str, what: str) -> None:
        """Count a finding; keep the first 1,000."""
        if check not in CHECKS:
            raise KeyError(check)
        self.by_check[check] += 1
        if len(self.findings) < _KEPT:
            self.findings.append(Finding(check, where, action, what))

    @property
    def clean(self) -> bool:
        """Whether the audit passed."""
        return not self.by_check

    def to_json(self) -> dict[str, Any]:
        """Return the report as values of JSON, the counts sorted by name."""
        return {
            "clean": self.clean,
            "findings_total": sum(self.by_check.values()),
            "findings_by_check": dict(sorted(self.by_check.items())),
            "findings": [finding._asdict() for finding in self.findings],
            "counts": dict(sorted(self.counts.items())),
            "tools": dict(sorted(self.tools.items())),
            "environments": dict(self.environments),
            "hashes": self.hashes,
            "settings": self.settings,
            "seconds": round(self.seconds, 2),
        }
