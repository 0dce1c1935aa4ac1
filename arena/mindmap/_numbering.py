"""Section numbers in front of headings, told from headings that begin with a number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_DECIMAL = re.compile(r"\(?(\d{1,2}(?:\.\d{1,2})*)([.):]*)(?:\s*[-–—])?\s+(?=\S)")
_LETTER = re.compile(r"\(?([A-Za-z])(?:((?:\.\d{1,2})+)[.):]*|[.):])\s+(?=\S)")
_ROMAN = re.compile(r"\(?([IVX]{1,7}|[ivx]{1,7})[.):]\s+(?=\S)")
_ROMANS = dict(zip("ivx", (1, 5, 10), strict=True))

_Number = tuple[object, ...]


class _Candidate(NamedTuple):
    """A heading that may be numbered: the number without its last part, that part, the length."""

    place: int
    stem: _Number
    last: int
    length: int
    marked: bool  # with a full stop, bracket or colon after it


def number_lengths(headings: Sequence[tuple[int, str | None]]) -> list[int]:
    """Return how many characters in front of each heading are its section number, 0 for none.

    Numbers are ``2``, ``2.``, ``(2)``, ``2.1``, ``2.1.3.``, ``IV.``, ``iv)``, ``A.``, ``b)`` and
    ``A.1``. A heading only has one if those beside it have: the last parts of the numbers with a
    common beginning, k different ones, begin with 0 or 1 (or the beginning is a number itself) and
    end at 2k + 1 or before. One number alone must have a mark after it, or numbers below it; one
    letter alone is none.

    Args:
        headings: (level, heading) pairs; None is none.

    Example:
        >>> number_lengths([(1, "1 Data"), (2, "1.1 Text"), (1, "2 Uses"), (1, "3D vision")])
        [2, 4, 2, 0]
    """
    groups: dict[_Number, list[_Candidate]] = defaultdict(list)
    for place, (level, heading) in enumerate(headings):
        for candidate in _candidates(place, level, heading or ""):
            groups[candidate.stem].append(candidate)
    numbers: set[_Number] = set()
    with_numbers_below = {(stem[0], *_below(stem)) for stem in groups}
    lengths = [0] * len(headings)
    for stem in sorted(groups, key=len):  # numbers above before those below
        members = groups[stem]
        if _is_sequence(stem, members, numbers, with_numbers_below):
            for member in members:
                lengths[member.place] = max(lengths[member.place], member.length)
                numbers.add((stem[0], *_below(stem), member.last))
    return lengths


def _candidates(place: int, level: int, heading: str) -> Iterable[_Candidate]:
    # A stem is (style, level or None, parts without the last): numbers of one part are compared
    # within a level, since lists begin anew; those of several say themselves where they belong.
    if found := _DECIMAL.match(heading):
        *above, last = map(int, found[1].split("."))
        stem = ("decimal", None, *above) if above else ("decimal", level)
        yield _Candidate(place, stem, last, found.end(), bool(found[2]))
    elif found := _LETTER.match(heading):
        case = "upper" if found[1].isupper() else "lower"
        letter = ord(found[1].lower()) - ord("a") + 1
        if found[2]:
            *above, last = letter, *map(int, found[2][1:].split("."))
            yield _Candidate(place, (case, None, *above), last, found.end(), True)
        else:
            yield _Candidate(place, (case, level), letter, found.end(), False)
    if (found := _ROMAN.match(heading)) and (value := _roman(found[1].lower())):
        yield _Candidate(place, ("roman", level), value, found.end(), False)


def _below(stem: _Number) -> _Number:
    return stem[2:]


def _is_sequence(
    stem: _Number,
    members: list[_Candidate],
    numbers: set[_Number],
    with_numbers_below: set[_Number],
) -> bool:
    values = {member.last for member in members}
    if max(values) > 2 * len(values) + 1:
        return False
    if len(stem) > 2 and (stem[0], *_below(stem)) in numbers:
        return True
    if min(values) > 1:
        return False
    if len(values) > 1:
        return True
    return stem[0] == "decimal" and (
        all(member.marked for member in members) or ("decimal", *values) in with_numbers_below
    )


def _roman(text: str) -> int:
    """Return the value of a Roman numeral up to 39, 0 if it is none."""
    values = [_ROMANS[letter] for letter in text]
    total = sum(
        -value if value < after else value
        for value, after in zip(values, [*values[1:], 0], strict=True)
    )
    tens, ones = divmod(total, 10)
    written = "x" * tens + ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"][ones]
    return total if written == text else 0
