"""Family names of authors, as bibliographies write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from arena.text.identifiers import normal_title

_BETWEEN = re.compile(r"\s+and\s+|[&;]", re.IGNORECASE)
_NOBODY = re.compile(r"\b(?:others|et\s+al|anon(?:ymous)?|no authors? \w+)\b\W*$", re.IGNORECASE)
_WORD = re.compile(r"[^\s~‐-―-]+")
_SUFFIXES = {"", "jr", "sr", "ii", "iii", "iv", "phd", "md"}
_INITIALS = re.compile(r"(?:\w\.)+\w?|\w")
_CAPITALS = re.compile(r"[A-Z]{2,3}\.?")


def family_names(authors: Iterable[Any]) -> set[str]:
    """Return the family names of authors, in letters without case and accents.

    An author is a name or ``{"name": ...}``. The family name is the last word that is no initial
    and no suffix, before the first comma if there is one; of ``Low AB`` and ``Xi LI`` the last two
    words count, since either may be it.

    >>> sorted(family_names(["Low, Ada", "B. van der Berg", "Čech C.", "D. Doe Jr. and others"]))
    ['berg', 'cech', 'doe', 'low']
    >>> sorted(family_names([{"name": "Low AB"}, "others"]))
    ['ab', 'low']
    """
    found: set[str] = set()
    for author in authors:
        text = author.get("name") if isinstance(author, Mapping) else author
        for person in _BETWEEN.split(str(text or "")):
            found |= _family(_NOBODY.sub("", person))
    return found


def people_names(authors: Sequence[Any]) -> set[str]:
    """Return `family_names` and letters of whole names, in any order; ``ue`` stands for ``ü``."""
    texts = (each.get("name") if isinstance(each, Mapping) else each for each in authors)
    found = family_names(authors) | {_whole(str(text)) for text in texts if text}
    return {re.sub("(?<=[aou])e|(?<=a)a", "", name) for name in found if name}


@lru_cache(1 << 16)
def _whole(person: str) -> str:
    return "".join(sorted(normal_title(_NOBODY.sub("", person))))


@lru_cache(1 << 16)
def _family(person: str) -> frozenset[str]:
    for part in person.split(","):  # of "Jr., Hans von Tide" the second has it
        words = [word for word in _WORD.findall(part) if normal_title(word) not in _SUFFIXES]
        while words[1:] and _INITIALS.fullmatch(words[-1]):
            words.pop()
        if words[1:] and _CAPITALS.fullmatch(words[-1]) and not _INITIALS.fullmatch(words[-2]):
            return frozenset(map(normal_title, words[-2:]))
        if words:
            return frozenset([normal_title(words[-1])])
    return frozenset()
