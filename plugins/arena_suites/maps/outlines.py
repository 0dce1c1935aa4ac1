"""Outlines: headings with their levels made a tree, whoever wrote them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeGuard

import arena.counted as re
from arena.errors import DataError
from arena.mindmap.builder import Branch, Builder, describe
from arena.mindmap.tree import MindMap

_DECIMAL = re.compile(r"\(?(\d{1,2}(?:\.\d{1,2})*)([.):]*)(?:\s*[-–—])?\s+(?=\S)")
_LETTER = re.compile(r"\(?([A-Za-z])(?:((?:\.\d{1,2})+)[.):]*|[.):])\s+(?=\S)")
_ROMAN = re.compile(r"\(?([IVX]{1,7}|[ivx]{1,7})[.):]\s+(?=\S)")
_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMANS = {"x" * tens + ones: 10 * tens + i for tens in range(4) for i, ones in enumerate(_ONES)}

_Stem = tuple[object, ...]


class OutlineEntry(NamedTuple):
    """A heading of an outline; one of a higher `level`, any integer, is below.

    A `text` of None makes no node, and what is below moves up; with a `paper` that is filed under
    what is above. A `literal` heading has no section number, whatever it looks like; one that
    `is_item` of a list is a title only if alone on its level.
    """

    level: int
    text: str | None
    literal: bool = False
    is_item: bool = False
    paper: str | None = None


def read_outline(entries: Iterable[tuple[int, str]]) -> tuple[MindMap, list[str]]:
    """Make a mind-map of headings with their levels.

    A heading stands below the last one before it that has a lower level. The first heading is the
    root's label if no other has its level, and others follow or its level is 0; if not, the root
    has an empty label. Headings such as "Introduction" and "References" are kept.

    Returns:
        The tree, and one sentence for each kind of thing that was repaired: section numbers in
        front of headings ("2.1 ", "IV. ", "A. ") stripped where they count up, skipped levels
        closed up, a repeated title left out, and the repairs of labels as in `read_mind_map`.

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
    read: list[OutlineEntry] = []
    for entry in entries:
        if not is_pair(entry):
            raise DataError(
                f"entry {len(read) + 1} of the outline is {describe(entry)}: expected a pair such "
                'as [2, "2.1 Heading"].'
            )
        read.append(OutlineEntry(*entry))
    return grow(read, tree)


def is_pair(entry: object) -> TypeGuard[tuple[int, str]]:
    """Return whether this is a level and a heading."""
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return False
    return type(entry[0]) is int and isinstance(entry[1], str)


def grow(entries: list[OutlineEntry], tree: Builder) -> tuple[MindMap, list[str]]:
    """Make the tree of an outline; the builder notes the repairs."""
    if all(entry.paper is not None for entry in entries):
        raise DataError("the outline has no heading: give it at least one.")
    entries = _without_numbers(entries, tree)
    headings = [entry for entry in entries if entry.paper is None]
    least = min(entry.level for entry in headings)
    title = _title(headings, least)
    above: list[tuple[int, Branch]] = [(least if title is not None else least - 1, tree.root)]
    if title is not None:
        tree.root.label = tree.label(title)
    for place, entry in enumerate(entries):
        if title is not None and entry.level == least and entry.paper is None:
            del above[1:]
            if place:
                tree.notes.add("titles that stand twice left out", entry.text)
            continue
        while len(above) > 1 and above[-1][0] >= entry.level:
            above.pop()
        level, parent = above[-1]
        if entry.paper is not None:
            tree.file(entry.paper, parent)
            continue
        node = parent
        if entry.text is not None:
            node = tree.add(entry.text, parent)
            if entry.level > level + 1:
                tree.notes.add("levels skipped, closed up", node.label, parent.label)
        above.append((entry.level, node))
    return tree.finish(), tree.notes.sentences()


def _title(entries: list[OutlineEntry], least: int) -> str | None:
    uppermost = [entry.text for entry in entries if entry.level == least]
    first = entries[0]
    if first.level != least or None in uppermost or (len(uppermost) > 1 and first.is_item):
        return None
    if len({" ".join((text or "").split()) for text in uppermost}) > 1:
        return None
    return first.text if least == 0 or len(uppermost) < len(entries) else None


# Section numbers before headings, as opposed to headings that begin with a number


class _Number(NamedTuple):
    """A number that a heading may begin with: the last part of it, its length, and its place."""

    place: int
    last: int
    length: int
    marked: bool  # with a full stop, bracket or colon after it


def _without_numbers(entries: list[OutlineEntry], tree: Builder) -> list[OutlineEntry]:
    """Strip the section numbers. A heading only has one if its siblings have one.

    The last parts of the numbers with a common beginning, k different ones, begin with 0 or 1 (or
    the beginning is a number itself) and end at 2k + 1 or before. One number alone must have a mark
    after it, or numbers below it; one letter alone is none.
    """
    groups: dict[_Stem, list[_Number]] = defaultdict(list)
    for place, entry in enumerate(entries):
        if entry.text is not None and not entry.literal:
            for stem, number in _numbers(place, entry.level, entry.text.lstrip()):
                groups[stem].append(number)
    known: set[_Stem] = set()
    beginnings = {(stem[0], *stem[2:]) for stem in groups}
    lengths = [0] * len(entries)
    for stem in sorted(groups, key=len):  # numbers above before those below
        beginning = (stem[0], *stem[2:])
        if _is_sequence(groups[stem], stem, beginning in known, beginnings):
            for number in groups[stem]:
                lengths[number.place] = max(lengths[number.place], number.length)
                known.add((*beginning, number.last))
    made = []
    for entry, length in zip(entries, lengths, strict=True):
        if length and entry.text is not None:
            text = entry.text.lstrip()
            tree.notes.add("section numbers stripped", text)
            entry = entry._replace(text=text[length:])
        made.append(entry)
    return made


def _numbers(place: int, level: int, heading: str) -> Iterator[tuple[_Stem, _Number]]:
    """Yield the numbers that a heading may begin with, each after what it has in common.

    That is (style, level or None, parts without the last): numbers of one part are compared within
    a level, since each list counts from 1; those of several parts say where they belong.
    """
    if match := _DECIMAL.match(heading):
        *above, last = map(int, match[1].split("."))
        stem = ("decimal", None if above else level, *above)
        yield stem, _Number(place, last, match.end(), bool(match[2]))
    elif match := _LETTER.match(heading):
        case = "upper" if match[1].isupper() else "lower"
        parts = [ord(match[1].lower()) - ord("a") + 1, *map(int, (match[2] or "").split(".")[1:])]
        stem = (case, None if match[2] else level, *parts[:-1])
        yield stem, _Number(place, parts[-1], match.end(), bool(match[2]))
    if (match := _ROMAN.match(heading)) and (value := ROMANS.get(match[1].lower())):
        yield ("roman", level), _Number(place, value, match.end(), False)


def _is_sequence(
    numbers: list[_Number], stem: _Stem, is_below: bool, beginnings: set[_Stem]
) -> bool:
    values = {number.last for number in numbers}
    if max(values) > 2 * len(values) + 1:
        return False
    if len(stem) > 2 and is_below:
        return True
    if min(values) > 1 or len(values) > 1:
        return min(values) <= 1
    marked = all(number.marked for number in numbers)
    return stem[0] == "decimal" and (marked or ("decimal", *values) in beginnings)
