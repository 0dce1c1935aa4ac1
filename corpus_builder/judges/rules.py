"""Rules: weighted patterns in title and abstract decide, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import yaml

from corpus_builder.judges import OTHER, SURVEY, UNREAD, Candidate, Verdict, judge

_CHARACTERS = 10_000  # of a text; a longer text is neither title nor abstract

SILENCE = 300
"""Characters of an abstract from which it would say that it is a survey's, were it one."""

FORM = 3
"""The weight of the usual form of a title; where an abstract is silent, that alone is too little:
"A survey of X" may be one of the literature on X, or of X."""


class Rule(NamedTuple):
    """One rule."""

    name: str
    where: str
    weight: int
    pattern: re.Pattern[str]
    reason: str


def _read_rules(path: Path) -> Iterator[Rule]:
    """Yield the rules of a file: patterns by text, with ``<name>`` for the words of that name."""
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    words = {f"<{name}>": text.replace("\n", "") for name, text in table["words"].items()}
    for where in ("title", "abstract"):
        for entry in table[where]:
            pattern = entry["pattern"].replace("\n", "")
            for name, text in words.items():
                pattern = pattern.replace(name, text)
            compiled = re.compile(pattern, 0 if entry.get("cased") else re.IGNORECASE)
            yield Rule(entry["name"], where, entry["weight"], compiled, entry["reason"])


RULES = tuple(_read_rules(Path(__file__).with_suffix(".yaml")))
"""All rules; of those worth the same, the first gives the reason."""


@judge("rules")
class Rules:
    """Rules over title and abstract, each with a weight; the sign of the sum decides.

    A stand-in for the model of the paper (section 3.1) that costs nothing. Where nothing speaks for
    either side, or both alike, the verdict is ``unread``; and so it is where only the form of the
    title speaks for it, and an abstract says nothing. The reason is the heaviest rule of the
    side that won. docs/surveys.md says how far it agrees with a reader.
    """

    batch = 4096
    config: ClassVar[dict[str, Any]] = {
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
    silent = len(candidate.abstract) >= SILENCE and all(r.where == "title" for r in rules)
    if 0 < total <= FORM and silent:
        return Verdict(UNREAD, "the abstract says nothing of it")
    strongest = max(rules, key=lambda rule: rule.weight if total > 0 else -rule.weight)
    return Verdict(SURVEY if total > 0 else OTHER, f"{strongest.where}: {strongest.name}")


def fired(title: str, abstract: str = "") -> list[Rule]:
    """Return the rules that match, in the order of the table.

    >>> [rule.name for rule in fired("The Sloan Digital Sky Survey: Technical Summary")]
    ['sky', 'called by name']
    """
    texts = {"title": title, "abstract": abstract}
    texts = {where: " ".join(text[:_CHARACTERS].split()) for where, text in texts.items()}
    return [rule for rule in RULES if rule.pattern.search(texts[rule.where])]
