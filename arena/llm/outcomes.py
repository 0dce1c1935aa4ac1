"""How the answers of a model were read: counted by kind and step, and said in sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from arena.errors import clip
from arena.llm.answers import Completion
from arena.text.display import count

KINDS = ("readable", "unreadable", "refused", "cut", "filtered")
"""An answer is of one kind. One that was cut or filtered and could be read all the same is
readable."""
UNREAD = "‡"
"""Mark of a run in which no answer of the model was readable: its scores are not the model's."""
_WARNING = (
    f"{UNREAD} Warning: no answer of the model was readable, so the scores are those of what the "
    "agent does without one."
)
FILTER = re.compile("filter|prohibited|safety|blocked|recitation", re.IGNORECASE)
"""In a server's words: an answer was withheld for its content."""


def kind_of(answer: Completion) -> str:
    """Return the kind of an answer that could not be read."""
    if FILTER.search(f"{answer.refused} {answer.finish_reason}"):
        return "filtered"
    if answer.refused:
        return "refused"
    return "cut" if answer.finish_reason.lower() in ("length", "max_tokens") else "unreadable"


def trouble_of(answer: Completion) -> str:
    """Return why an answer is taken for unreadable, where no reader says more; empty if not."""
    if answer.refused or not (answer.text.strip() or answer.tool_calls):
        return answer.refused or "it is empty"
    return "it was cut at its largest length" * (kind_of(answer) == "cut")


def count_answers(notes: Iterable[Mapping[str, Any]]) -> dict[str, int] | None:
    """Return ``asked`` and the number of each of `KINDS` in the notes of episodes.

    None where no notes are those of a `ModelSession` of this release.
    """
    kinds = Counter(kind for each in notes for kind, _, _ in _answers(each))
    return {"asked": kinds.total()} | {kind: kinds[kind] for kind in KINDS} if kinds else None


def is_unread(metrics: Mapping[str, Any]) -> bool:
    """Return whether a run asked a model, and none of its answers was readable."""
    counts = metrics.get("model")
    return isinstance(counts, dict) and bool(counts.get("asked")) and not counts.get("readable")


def describe_counts(metrics: Mapping[str, Any], kinds: str = "") -> list[str]:
    """Return what a reader of scores must know of a model's answers; empty if all were read.

    `kinds` says more than how many there were of each kind.
    """
    counts = metrics.get("model")
    if not isinstance(counts, dict) or counts["readable"] == counts["asked"]:
        return []
    kinds = kinds or ", ".join(f"{counts[kind]} {kind}" for kind in KINDS[1:] if counts[kind])
    bad, asked = counts["asked"] - counts["readable"], count(counts["asked"], "answer")
    said = [f"{bad} of {asked} of the model could not be used: {kinds}."]
    return [_WARNING, *said] if is_unread(metrics) else said


def describe_answers(notes: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return `describe_counts` with the steps of each kind, and one example.

    `notes` are those of episodes, each with its topic.
    """
    notes = list(notes)
    bad = [(topic, *a) for topic, own in notes for a in _answers(own) if a[0] != KINDS[0]]
    if not bad:
        return []
    by = Counter(f"{kind}{step and f' at {step}'}" for _, kind, step, _ in bad)
    kinds = ", ".join(f"{number} {where}" for where, number in by.items())
    topic, kind, step, why = bad[0]
    example = f"For example, topic {clip(topic)}{step and f', {step}'}: {kind}, {clip(why, 150)}"
    return [*describe_counts({"model": count_answers(own for _, own in notes)}, kinds), example]


def _answers(notes: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, step and why of each answer; notes are free in form, others have none."""
    usage = notes.get("llm")
    calls = usage.get("calls") if isinstance(usage, dict) else None
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("step"), str):
            kind, why = call.get("kind", KINDS[0]), str(call.get("why", ""))
            if kind in KINDS:
                yield kind, call["step"], why
