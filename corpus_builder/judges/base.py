"""What every judge provides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arena.registry import Registry, make

SURVEY, OTHER, UNREAD = "survey", "other", "unread"
VERDICTS = (SURVEY, OTHER, UNREAD)
"""Verdicts. ``unread`` where no judgement could be had: such a paper is no task, and nobody may
find it either, since it may be a survey."""


class Candidate(NamedTuple):
    """A paper that may be a survey.

    Attributes:
        id: of the paper.
        title: as the release has it.
        abstract: its beginning; empty if the release has none.
        flagged: the release itself calls it a survey.
    """

    id: str
    title: str
    abstract: str = ""
    flagged: bool = False


class Verdict(NamedTuple):
    """A judgement.

    Attributes:
        verdict: one of `VERDICTS`.
        reason: in one line, the same for the same judgement: a rule's name, or why there is none.
    """

    verdict: str
    reason: str


class Judge(Protocol):
    """Says which candidates are surveys; made by its registered factory from keyword options."""

    batch: int
    """How many candidates it likes to be given at once."""

    @property
    def config(self) -> dict[str, Any]:
        """All that shapes verdicts, as JSON values, without any path."""
        ...

    def judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Return the verdict on each candidate; it must not depend on the others.

        Raises:
            ArenaError: if the judge cannot work; what it has asked of a model is kept.
        """
        ...


JUDGES: Registry[Callable[..., Judge]] = Registry(
    "judge", packages=["corpus_builder.judges"], entry_points="researcharena.judges"
)


def make_judge(name: str, options: Mapping[str, Any]) -> Judge:
    """Make the judge registered as `name`.

    Args:
        name: a registered judge.
        options: the judge's own, by name.

    Raises:
        UnknownNameError: if no judge has that name.
        DataError: if it has no such option, or an option is out of its range.
    """
    return make(JUDGES, name, options)
