"""Trees in the making: labels checked, siblings merged, limits kept, repairs noted; outlines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeGuard

import arena.counted as re
from arena.errors import DataError, clip
from arena.mindmap.tree import MAX_DEPTH, MAX_LABEL, MindMap
from arena.text.cleaning import read_entities
from arena.text.display import replace_surrogates

MAX_NODES = 10_000

_SHOWN = 5  # cases of each kind of repair
_MERGED = "siblings of one label merged"
_BLANK = "empty labels left out, what is below lifted"


class Notes:
    """Counts repairs by kind, and keeps the first few cases of each."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._cases: dict[str, list[str]] = {}

    def add(self, what: str, case: object, under: str | None = None) -> None:
        """Note one case of `what`, a noun phrase and a participle: ``"empty labels skipped"``."""
        self.counts[what] = self.counts.get(what, 0) + 1
        cases = self._cases.setdefault(what, [])
        if len(cases) < _SHOWN:
            cases.append(clip(case, 60) + (f" under {clip(under, 60)}" if under else ""))

    def sentences(self) -> list[str]:
        """Return one sentence a kind, in the order of their first cases."""
        return [
            f"{what} ({count}): {', '.join(self._cases[what])}"
            f"{f' and {count - _SHOWN} more' if count > _SHOWN else ''}."
            for what, count in self.counts.items()
        ]


@dataclass(slots=True)
class Branch:
    """A node in the making; `level` is 0 for the root."""

    label: str
    level: int
    children: dict[str, Branch] = field(default_factory=dict)
    papers: dict[str, None] = field(default_factory=dict)

    def __str__(self) -> str:
        return clip(self.label) if self.label else "the root"

    def made(self) -> MindMap:
        """Return the tree from here down."""
        children = tuple(child.made() for child in self.children.values())
        return MindMap(self.label, children, tuple(self.papers))


class Builder:
    """Adds nodes under nodes and notes its repairs."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.root = Branch("", 0)
        self._nodes = 0

    def add(self, raw: str, parent: Branch) -> Branch:
        """Return the node labelled `raw` under `parent`, or `parent` if the label is empty."""
        label = self.label(raw)
        if not label:
            self.notes.add(_BLANK, raw, parent.label)
            return parent
        if label in parent.children:
            self.notes.add(_MERGED, label, parent.label)
            return parent.children[label]
        if parent.level >= MAX_DEPTH:
            raise DataError(
                f"{clip(label)} is {parent.level + 1} levels below the root: a mind-map has at "
                f"most {MAX_DEPTH}."
            )
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise DataError(f"the mind-map has more than {MAX_NODES:,} nodes: give a smaller one.")
        node = parent.children[label] = Branch(label, parent.level + 1)
        return node

    def file(self, paper: object, node: Branch) -> None:
        """File a paper under a node."""
        if not isinstance(paper, str):
            raise DataError(
                f"a paper under {node} is {describe(paper)}: papers are ids, as strings."
            )
        paper = self._whole(paper)
        if paper in node.papers:
            self.notes.add("papers listed twice kept once", paper, node.label)
        node.papers[paper] = None

    def label(self, raw: str) -> str:
        """Return a label with its whitespace collapsed and its entities decoded."""
        label = " ".join(raw.split())
        if len(label) > MAX_LABEL:
            raise too_long(raw)
        if label != raw and label:
            self.notes.add("whitespace in labels collapsed", raw)
        if (decoded := _decoded(label)) != label:
            self.notes.add("entities in labels decoded", label)
        return self._whole(decoded)

    def _whole(self, text: str) -> str:
        """Replace halves of surrogate pairs, which no file and no encoder takes."""
        whole = replace_surrogates(text)
        if whole != text:
            self.notes.add("halves of surrogate pairs replaced by U+FFFD", text)
        return whole

    def finish(self) -> MindMap:
        """Return the tree."""
        if not self._nodes and not self.root.label:
            raise DataError("the mind-map has no node: give it at least one label.")
        merged = sum(self.notes.counts.get(kind, 0) for kind in (_MERGED, _BLANK))
        return replace(self.root.made(), merged=merged)


def _decoded(label: str) -> str:
    return " ".join(read_entities(label).split())


def describe(value: object) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, dict):
        keys = list(value)[:5]
        return f"an object with keys such as {clip(keys)}" if keys else "an object without keys"
    return "a list" if isinstance(value, list | tuple) else clip(value)


def too_long(label: object) -> DataError:
    """Return the error for a label that is not a heading."""
    return DataError(
        f"the label {clip(label)} is longer than {MAX_LABEL} characters: a label is a heading."
    )


# Outlines: headings with their levels made a tree, whoever wrote them

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
