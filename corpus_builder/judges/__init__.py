"""Judges, which decide which candidates are surveys; one file each, registered by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from arena.plugins import Registry, make

SURVEY, OTHER, UNREAD = "survey", "other", "unread"
VERDICTS = (SURVEY, OTHER, UNREAD)
"""Verdicts. ``unread`` where no judgement could be had: such a paper is not a task, and nobody may
find it either, since it may be a survey."""


class Candidate(NamedTuple):
    """A paper that may be a survey; `flagged` if the release calls it one."""

    id: str
    title: str
    abstract: str = ""
    flagged: bool = False


class Verdict(NamedTuple):
    """One of `VERDICTS`, and a reason: a rule's name, or why there is none; one line."""

    verdict: str
    reason: str


class Judge(Protocol):
    """Decides which candidates are surveys; made by its registered factory from keyword options."""

    batch: int
    """Number of candidates to judge in one call."""

    @property
    def config(self) -> dict[str, Any]:
        """All that shapes verdicts, as JSON values, without any path."""
        ...

    def judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Return the verdict on each candidate; it must not depend on the others."""
        ...


JUDGES: Registry[Callable[..., Judge]] = Registry("judge", packages=["corpus_builder.judges"])
judge = JUDGES.register
"""Decorator: ``@judge("name")``."""


def make_judge(name: str, options: Mapping[str, Any]) -> Judge:
    """Return the judge registered as `name`."""
    return make(JUDGES, name, options)


@judge("all")
class All:
    """Every candidate is a survey."""

    batch = 4096
    config: ClassVar[dict[str, Any]] = {}

    def judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Return ``survey`` for each."""
        return [Verdict(SURVEY, "every candidate") for _ in candidates]
