"""Outlines: headings with their levels made a tree, whoever wrote them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeGuard

from arena.errors import DataError
from arena.mindmap._builder import MAX_ENTRIES, Builder, Node, describe, too_many_entries
from arena.mindmap.tree import MindMap

_DECIMAL = re.compile(r"\(?(\d{1,2}(?:\.\d{1,2})*)([.):]*)(?:\s*[-–—])?\s+(?=\S)")
_LETTER = re.compile(r"\(?([A-Za-z])(?:((?:\.\d{1,2})+)[.):]*|[.):])\s+(?=\S)")
_ROMAN = re.compile(r"\(?([IVX]{1,7}|[ivx]{1,7})[.):]\s+(?=\S)")
_ROMANS = dict(zip("ivx", (1, 5, 10), strict=True))

_Number = tuple[object, ...]


class Entry(NamedTuple):
    """A heading of an outline.

    Attributes:
        level: Any integer; a heading of a higher level is below.
        heading: The text; None makes no node, and what is below moves up.
        literal: Whether the heading has no section number, whatever it looks like.
        is_item: Whether it is a list item, which is a title only if alone on its level.
    """

    level: int
    heading: str | None
    literal: bool = False
    is_item: bool = False


def read_outline(entries: Iterable[tuple[int, str]]) -> tuple[MindMap, list[str]]:
    """Make a mind-map of headings with their levels.

    A heading stands below the last one before it that has a lower level. The first heading is the
    root's label if no other has its level, and others follow or its level is 0; if not, the root
    has an empty label. Headings such as "Introduction" and "References" are kept.

    Args:
        entries: (level, heading) pairs, at most 100,000; any integers will do for levels.

    Returns:
        The tree, and one sentence for each kind of thing that was repaired: section numbers in
        front of headings ("2.1 ", "IV. ", "A. ") stripped where they count up, skipped levels
        closed up, a repeated title left out, and the repairs of labels as in `read_mind_map`.

    Raises:
        DataError: An entry is no such pair, there is none, or a limit of `read_mind_map` is passed.

    Example:
        >>> tree, notes = read_outline([(0, "Search"), (1, "1 Index"), (3, "1.1 Size"), (1, "2 A")])
        >>> [(node.label, len(node.children)) for node in tree.nodes()]
        [('Search', 2), ('Index', 1), ('Size', 0), ('A', 0)]
        >>> for sentence in notes:
        ...     print(sentence)
        section numbers stripped (3): '1 Index', '1.1 Size', '2 A'.
        levels skipped, closed up (1): 'Size' under 'Index'.
    """
    return read_pairs(entries, Builder())


def read_pairs(entries: Iterable[object], tree: Builder) -> tuple[MindMap, list[str]]:
    """Check that entries are levels and headings, and make their tree."""
    read: list[Entry] = []
    for entry in entries:
        if not is_pair(entry):
            raise DataError(
                f"entry {len(read) + 1} of the outline is {describe(entry)}: expected a pair such "
                'as [2, "2.1 Heading"].'
            )
        read.append(Entry(*entry))
        if len(read) > MAX_ENTRIES:
            raise too_many_entries()
    return grow(read, tree)


def is_pair(entry: object) -> TypeGuard[tuple[int, str]]:
    """Return whether this is a level and a heading."""
    return (
        isinstance(entry, list | tuple)
        and len(entry) == 2
        and isinstance(entry[0], int)
        and not isinstance(entry[0], bool)
        and isinstance(entry[1], str)
    )


def grow(entries: list[Entry], tree: Builder) -> tuple[MindMap, list[str]]:
    """Make the tree of an outline; the builder notes the repairs."""
    if not entries:
        raise DataError("the outline has no heading: give it at least one.")
    entries = _without_numbers(entries, tree)
    least = min(entry.level for entry in entries)
    title = _title(entries, least)
    above: list[tuple[int, Node]] = [(least if title is not None else least - 1, tree.root)]
    if title is not None:
        tree.root.label = tree.label(title)
    for place, entry in enumerate(entries):
        if title is not None and entry.level == least:
            del above[1:]
            if place:
                tree.notes.add("titles that stand twice left out", entry.heading)
            continue
        while above[-1][0] >= entry.level:
            above.pop()
        level, parent = above[-1]
        if entry.heading is None:
            above.append((entry.level, parent))
            continue
        node = tree.add(entry.heading, parent)
        if entry.level > level + 1:
            tree.notes.add("levels skipped, closed up", node.label, parent.label)
        above.append((entry.level, node))
    return tree.finish(), tree.notes.sentences()


def _title(entries: list[Entry], least: int) -> str | None:
    uppermost = [entry.heading for entry in entries if entry.level == least]
    if len(uppermost) > 1 and entries[0].is_item:
        return None
    if entries[0].level != least or entries[0].heading is None or None in uppermost:
        return None
    if len({" ".join((heading or "").split()) for heading in uppermost}) > 1:
        return None
    return entries[0].heading if least == 0 or len(uppermost) < len(entries) else None


def _without_numbers(entries: list[Entry], tree: Builder) -> list[Entry]:
    headings = [None if entry.heading is None else entry.heading.lstrip() for entry in entries]
    lengths = number_lengths(
        [
            (entry.level, None if entry.literal else heading)
            for entry, heading in zip(entries, headings, strict=True)
        ]
    )
    made = []
    for entry, heading, length in zip(entries, headings, lengths, strict=True):
        if length and heading is not None:
            tree.notes.add("section numbers stripped", heading)
            entry = entry._replace(heading=heading[length:])
        made.append(entry)
    return made


# Section numbers before headings, as opposed to headings that begin with a number


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
    if match := _DECIMAL.match(heading):
        *above, last = map(int, match[1].split("."))
        stem = ("decimal", None, *above) if above else ("decimal", level)
        yield _Candidate(place, stem, last, match.end(), bool(match[2]))
    elif match := _LETTER.match(heading):
        case = "upper" if match[1].isupper() else "lower"
        letter = ord(match[1].lower()) - ord("a") + 1
        if match[2]:
            *above, last = letter, *map(int, match[2][1:].split("."))
            yield _Candidate(place, (case, None, *above), last, match.end(), True)
        else:
            yield _Candidate(place, (case, level), letter, match.end(), False)
    if (match := _ROMAN.match(heading)) and (value := _roman(match[1].lower())):
        yield _Candidate(place, ("roman", level), value, match.end(), False)


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
