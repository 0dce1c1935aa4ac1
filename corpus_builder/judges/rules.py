"""Rules: weighted patterns in title and abstract decide, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corpus_builder.judges._rule_table import ABSTRACT, FORM, RULES, SILENCE, TITLE, Rule
from corpus_builder.judges.base import JUDGES, OTHER, SURVEY, UNREAD, Candidate, Verdict

_CHARACTERS = 10_000  # of a text; what is longer is no title and no abstract


@JUDGES.register("rules")
class Rules:
    """Rules over title and abstract, each with a weight; the sign of the sum decides.

    A stand-in for the model of the paper (section 3.1) that costs nothing. Where nothing speaks for
    either side, or both alike, the verdict is ``unread``; and so it is where only the form of the
    title speaks for it, and an abstract says nothing. The reason is the heaviest rule of the
    side that won. docs/survey-selection.md says how far it agrees with a reader.
    """

    batch = 4096

    @property
    def config(self) -> dict[str, Any]:
        """The rules."""
        return {
            "rules": [[r.name, r.where, r.weight, r.pattern.pattern] for r in RULES],
            "silence": [SILENCE, FORM],
        }

    def judge(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Return the verdict on each."""
        return [_judge(candidate) for candidate in candidates]


def _judge(candidate: Candidate) -> Verdict:
    rules = fired(candidate.title, candidate.abstract)
    total = sum(rule.weight for rule in rules)
    if not total:
        return Verdict(UNREAD, "as much for it as against it" if rules else "no rule speaks")
    silent = len(candidate.abstract) >= SILENCE and all(r.where != ABSTRACT for r in rules)
    if 0 < total <= FORM and silent:
        return Verdict(UNREAD, "the abstract says nothing of it")
    strongest = max(rules, key=lambda rule: rule.weight if total > 0 else -rule.weight)
    return Verdict(SURVEY if total > 0 else OTHER, f"{strongest.where}: {strongest.name}")


def fired(title: str, abstract: str = "") -> list[Rule]:
    """Return the rules that match, in the order of the table.

    >>> [rule.name for rule in fired("The Sloan Digital Sky Survey: Technical Summary")]
    ['sky', 'called by name']
    """
    title, abstract = (" ".join(text[:_CHARACTERS].split()) for text in (title, abstract))
    return [r for r in RULES if r.pattern.search(title if r.where == TITLE else abstract)]
