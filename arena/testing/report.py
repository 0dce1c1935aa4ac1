"""Outcomes of `arena check` and `arena audit`, and the checks by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.registry import Registry

if TYPE_CHECKING:
    from arena.testing.contract import Subject

LEAKS = {
    "stored dates": "a date in the files is not the last day that its precision allows",
    "stored order": "documents do not stand in the order of their days and ids",
    "stored surveys": "a survey is not flagged, or its text is stored",
    "stored links": "a link has an end that is undated, a survey or unknown, or stands twice",
    "stored gold": "the status of a reference, or a paper as a task, is not what the papers say",
    "hidden paper": "a paper out of reach was shown, listed, counted, quoted or accepted",
    "missing paper": "a paper or answer that is in reach was refused",
    "date": "a date is not that of the file, or not before the cutoff",
    "title": "a title is not that of the file",
    "text": "a text, heading, name or page is not that of the file",
    "count": "a count is not that of the papers in reach",
    "list": "a list of references, citations or sections is not that of the papers in reach",
    "survey title": "a result has the title of a survey",
    "order of hits": "hits are not in the order of their scores, repeat, or are too many",
    "paging": "offset does not give what one long search gives",
    "score": "a BM25 score or ranking is not that of the papers in reach",
    "error": "a call that must be refused was answered, or a refusal says more than an error",
    "indistinguishable": "a hidden id was answered otherwise than one that never was",
    "observation": "an observation has other keys or values than documented",
    "result": "a result has other keys than documented",
    "instruction": "an instruction to the agent differs from survey to survey",
    "info": "info holds more than is documented, or something else",
    "label": "a tool without an oracle shows headings of the mind-map, or references alone",
    "attribute": "a label can be reached by public attributes of the environment",
    "render": "a rendered state shows a label",
    "isolation": "what an agent does to its tool schemas shows in the next episode",
    "crash": "an exception instead of an answer",
}
"""Name of a leak -> what a finding of that name means."""

Reporter = Callable[[str, str], None]
"""Takes the name of a leak and what is wrong."""

_KEPT = 1_000


class Result(NamedTuple):
    """The outcome of one contract check of one environment.

    Attributes:
        environment: Gymnasium id.
        check: Name of the check.
        passed: Whether the environment passed.
        detail: One line: what was checked if it passed, else what is wrong.
    """

    environment: str
    check: str
    passed: bool
    detail: str


class CheckError(Exception):
    """A broken rule of the contract, described in one line."""


def require(condition: object, message: str) -> None:
    """Raise CheckError with `message` unless `condition` holds."""
    if not condition:
        raise CheckError(message)


CHECKS: Registry[Callable[[Subject], str]] = Registry(
    "check", packages=["arena.testing.checks"], entry_points="researcharena.checks"
)
"""Contract checks by name: functions of a `Subject`.

A check returns what it looked at, and raises `CheckError` (or anything else) if a rule is broken.
"""


def brief(value: object, limit: int = 300) -> str:
    """Return the ``repr`` of any value, cut to `limit` characters."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


class Finding(NamedTuple):
    """One leak: its name in `LEAKS`, the file, environment or view, the action, what is wrong."""

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

    Attributes:
        findings: The first 1,000 findings.
        by_check: Name of a leak -> number of findings.
        counts: What was checked -> how often.
        tools: Actions by tool.
        environments: Actions by environment.
        doors: Questions to views by method.
        refused: Ids that had to be refused, by the reason.
        hashes: SHA-256 of the corpus, the tasks, each index and the code.
        settings: Arguments of the audit, and what it could not compare.
        seconds: Duration.
        surveys: Ids of the surveys that were played.
        cutoffs: All cutoffs.
    """

    findings: list[Finding] = field(default_factory=list)
    by_check: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    environments: Counter[str] = field(default_factory=Counter)
    doors: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    hashes: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    surveys: set[str] = field(default_factory=set)
    cutoffs: set[str] = field(default_factory=set)

    def add(self, check: str, where: str, action: str, what: str) -> None:
        """Count a finding; keep the first 1,000."""
        if check not in LEAKS:
            raise KeyError(check)
        self.by_check[check] += 1
        if len(self.findings) < _KEPT:
            self.findings.append(Finding(check, where, action, what))

    @property
    def clean(self) -> bool:
        """Whether there is no finding."""
        return not self.by_check

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON can hold it, the counts sorted by name."""
        names = ("counts", "tools", "doors", "refused")
        return {
            "clean": self.clean,
            "findings_total": sum(self.by_check.values()),
            "findings_by_check": dict(sorted(self.by_check.items())),
            "findings": [finding._asdict() for finding in self.findings],
            **{name: dict(sorted(getattr(self, name).items())) for name in names},
            "environments": dict(self.environments),
            "hashes": self.hashes,
            "settings": self.settings,
            "seconds": round(self.seconds, 2),
        }
