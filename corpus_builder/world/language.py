"""The words and sentences of made-up worlds, from ``language.yaml``.

The file says what each list is for. A concept has `WORDINGS` words of near meaning: one canonical,
the others its synonyms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_DATA: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)

WORDINGS = 4
"""Words of each concept, hence wordings of each topic."""

Words = tuple[str, ...]


def _concepts(kind: str) -> tuple[Words, ...]:
    return tuple(tuple(line.split()) for line in _DATA[kind].splitlines())


def _words(kind: str) -> Words:
    """Return the words of a text, or the entries of a list."""
    value = _DATA[kind]
    return tuple(value.split() if isinstance(value, str) else value)


OBJECTS, ADJECTIVES, PROCESSES = map(_concepts, ("objects", "adjectives", "processes"))
FIELDS, GIVEN_NAMES, FAMILY_NAMES = map(_words, ("fields", "given_names", "family_names"))
VIRTUES, COSTS, QUALITIES = map(_words, ("virtues", "costs", "qualities"))
TITLES, OPENINGS, BEARINGS = map(_words, ("titles", "openings", "bearings"))
ASIDES, PATTERNS, ALIASES = map(_words, ("asides", "patterns", "aliases"))
SURVEY_TITLES, SURVEY_ABSTRACT = map(_words, ("survey_titles", "survey_abstract"))
STATEMENTS = _words("statements")
PROMPTS: dict[str, str] = _DATA["prompts"]
PARTS_OF_A_LEAF: str = _DATA["parts_of_a_leaf"]
HEADINGS: tuple[Words, ...] = tuple(map(tuple, _DATA["headings"]))

MADE_UP = "This paper is made up."
"""The last sentence of every abstract."""

_BODY_ONLY = ("Figure", "Next we", "For readers", "The second")
SUMMARY = tuple("{0}" in p and not p.startswith(_BODY_ONLY) for p in PATTERNS)
"""Which of the patterns can stand in an abstract."""

KEPT_HEADINGS = {4: (0, 2, 3, 5), 5: (0, 1, 2, 3, 5), 6: (0, 1, 2, 3, 4, 5)}
"""Which of the headings a paper of 4, 5 or 6 sections has."""


def plural(noun: str) -> str:
    """Return the regular plural of an English noun.

    >>> plural("lattice"), plural("canopy"), plural("mesh"), plural("alley")
    ('lattices', 'canopies', 'meshes', 'alleys')
    """
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
