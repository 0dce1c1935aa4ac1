"""Outlines: headings with their levels made a tree, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeGuard

from arena.errors import DataError
from arena.mindmap._building import MAX_ENTRIES, Builder, Node, shown, too_many_entries
from arena.mindmap._numbering import number_lengths
from arena.mindmap.tree import MindMap


class Entry(NamedTuple):
    """A heading; None makes no node, but what is below it moves up.

    Literal: it has no number. A list item is a title only if it is alone on its level.
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
        closed up, a title that stands twice, and what `read_mind_map` tells of labels.

    Raises:
        DataError: An entry is no such pair, there is none, or a limit of `read_mind_map` is passed.

    Example:
        >>> tree, told = read_outline([(0, "Search"), (1, "1 Index"), (3, "1.1 Size"), (1, "2 A")])
        >>> [(node.label, len(node.children)) for node in tree.nodes()]
        [('Search', 2), ('Index', 1), ('Size', 0), ('A', 0)]
        >>> for sentence in told:
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
                f"entry {len(read) + 1} of the outline is {shown(entry)}: expected a pair such as "
                '[2, "2.1 Heading"].'
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
    """Make the tree of an outline; what is repaired is told with the builder's other notes."""
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
