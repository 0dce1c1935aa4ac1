"""What an audit found, and how much it looked at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CHECKS = {
    "stored dates": "a date in the files is not the last day that its precision allows",
    "stored order": "documents do not stand in the order of their days and ids",
    "stored surveys": "a survey is not flagged, or its text is stored",
    "stored links": "a link has an end that is undated, a survey or unknown, or stands twice",
    "stored gold": "the status of a reference is not what the papers say",
    "hidden paper": "a paper that does not exist here was shown, listed, counted or taken",
    "missing paper": "a paper or answer that is in reach was refused",
    "date": "a date is not that of the file",
    "title": "a title is not that of the file",
    "text": "a text, heading, name or page is not that of the file",
    "count": "a count is not that of the papers in reach",
    "list": "a list of references, citations or sections is not that of the papers in reach",
    "survey title": "the title of a survey came back as a title or heading",
    "order of hits": "hits are not in the order of their scores, repeat, or are too many",
    "paging": "offset does not give what one long search gives",
    "score": "a BM25 score or ranking is not that of the papers in reach",
    "error": "a call that must be refused was answered, or a refusal says more than an error",
    "indistinguishable": "a hidden id was answered otherwise than one that never was",
    "observation": "an observation has other keys or values than documented",
    "result": "a result has other keys than documented",
    "instruction": "what the agent is told differs from survey to survey",
    "info": "info holds more than is documented, or something else",
    "attribute": "a label can be reached by public attributes of the environment",
    "render": "a rendered state shows a label",
    "crash": "an exception instead of an answer",
}
"""Name -> what a finding of that name means."""

_KEPT = 1_000


def brief(value: object, limit: int = 300) -> str:
    """Return the ``repr`` of anything, cut to `limit` characters."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


class Finding(NamedTuple):
    """One thing that was wrong.

    Attributes:
        check: a name of `CHECKS`.
        where: the file, environment or view.
        action: what was done there; empty for a file.
        what: what was wrong.
    """

    check: str
    where: str
    action: str
    what: str

    def __str__(self) -> str:
        doing = f" {self.action}:" if self.action else ""
        return f"{self.check}: {self.where}:{doing} {self.what}"


@dataclass
class Log:
    """Collects findings and counts while an audit goes on."""

    findings: list[Finding] = field(default_factory=list)
    by_check: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    environments: Counter[str] = field(default_factory=Counter)
    doors: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    surveys: set[str] = field(default_factory=set)
    cutoffs: set[str] = field(default_factory=set)

    def add(self, check: str, where: str, action: str, what: str) -> None:
        """Keep a finding; of very many only the first."""
        if check not in CHECKS:
            raise KeyError(check)
        self.by_check[check] += 1
        if len(self.findings) < _KEPT:
            self.findings.append(Finding(check, where, action, what))


@dataclass(frozen=True)
class Report:
    """The outcome of an audit.

    Attributes:
        findings: the first 1,000.
        by_check: check -> number of findings.
        counts: what was looked at -> how often.
        tools, environments, doors, refused: actions by tool, by environment and by door of a
            view, and ids that were to be refused by what is wrong with them.
        hashes: of corpus, tasks, each index, and code.
        settings: actions, seed and retrievers as asked for, and what could not be compared.
        seconds: how long it took.
    """

    findings: tuple[Finding, ...]
    by_check: dict[str, int]
    counts: dict[str, int]
    tools: dict[str, int]
    environments: dict[str, int]
    doors: dict[str, int]
    refused: dict[str, int]
    hashes: dict[str, str]
    settings: dict[str, Any]
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.by_check

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {
            "clean": self.clean,
            "findings_total": sum(self.by_check.values()),
            "findings_by_check": self.by_check,
            "findings": [finding._asdict() for finding in self.findings],
            "counts": self.counts,
            "tools": self.tools,
            "environments": self.environments,
            "doors": self.doors,
            "refused": self.refused,
            "hashes": self.hashes,
            "settings": self.settings,
            "seconds": round(self.seconds, 2),
        }
