"""What an audit checks, by id, and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CHECKS = {
    "files.dates": "a date in the files is not the last day that its precision allows",
    "files.order": "documents are not in the order of their days and ids",
    "files.surveys": "a survey is not flagged, or its text is stored",
    "files.links": "a link has an end that is undated, a survey or unknown, or is repeated",
    "files.gold": "the status of a reference, or a paper as a task, is not what the papers say",
    "contract.gymnasium": "Gymnasium's check_env fails or warns",
    "contract.space": "a space depends on more than its seed, or contains what it should not",
    "contract.schema": "a tool has no sound schema, or a call that satisfies it is refused",
    "contract.isolation": "what an agent writes into its tool schemas shows to the next one",
    "contract.determinism": "the same seeds and actions give other results the next time",
    "contract.pickling": "a pickled copy plays differently",
    "contract.vector": "the vector environment plays differently from single environments",
    "contract.rewards": "the terms of a reward do not add up to what is paid",
    "contract.reset": "a step before the first reset or after the end is carried out",
    "contract.bad-actions": "a wrong call raises an error, or costs more than a step",
    "contract.no-gold": "what an agent can see or reach depends on the labels",
    "leak.paper": "a paper out of reach was shown, listed, counted, quoted or accepted",
    "leak.survey-title": "a result has the title of a survey",
    "leak.date": "a date is not before the cutoff, or is not that of the file",
    "leak.decoy": "a hidden id was answered differently from an id that no paper has",
    "leak.refusal": "a call that must be refused was answered, or a refusal says more than that",
    "leak.info": "info has more than is documented, or something else",
    "answer.missing": "a paper or answer that is in reach was refused",
    "answer.title": "a title is not that of the file",
    "answer.text": "a text, heading, name or page is not that of the file",
    "answer.count": "a count is not that of the papers in reach",
    "answer.list": "a list of references, citations or sections is not that of the papers in reach",
    "answer.order": "hits are not in the order of their scores, repeat, or are too many",
    "answer.page": "hits are not those of one search of the view, from the offset on",
    "answer.score": "a BM25 score or ranking is not that of the papers in reach",
    "answer.budget": "a call has another cost, or the episode another end, than it should",
    "answer.observation": "an observation has other keys or values than documented",
    "answer.result": "a result has other keys than documented",
    "answer.instruction": "an instruction to the agent differs from survey to survey",
    "answer.crash": "an exception instead of an answer",
}
"""Id of a check -> what a finding of it means."""

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
    surveys: set[str] = field(default_factory=set)
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
        """Whether there is no finding."""
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
