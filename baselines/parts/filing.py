"""File numbered papers in the leaves of a tree that a model makes."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from arena.llm import ParseError
from arena.mindmap.tree import MAX_HEADINGS, MindMap
from baselines.parts.trees import Node, Tree, read_tree

OTHER = "Other"
"""Leaf of the papers that the model filed nowhere."""
GENERAL = "General"
"""Leaf of the papers that the model filed under a heading with others below it."""

_NUMBERS = re.compile(
    r"\W{0,9}(?:(?:papers?|no|p)\W{0,3})?[0-9]{1,9}(?:[\s,;\[\]]{1,9}[0-9]{1,9})*\W{0,9}", re.I
)
_LED = re.compile(r"\W{0,3}(?:paper\s{0,3})?([0-9]{1,9})\s{0,3}[\].:)]", re.I)
_WORDS = re.compile(r"\w+")


def batches(
    numbers: Sequence[int], sizes: Sequence[int], most: int, characters: int
) -> list[list[int]]:
    """Deal numbers, as cards, into about as few batches as can hold them.

    So every batch is a sample of all papers; contiguous batches of papers in the order of their
    dates would put the oldest into the first one.

    Args:
        numbers: Numbers of papers, from 1.
        sizes: Characters of paper 1, 2, ....
        most: Most numbers of a batch, >= 1.
        characters: Most characters of a batch; one number alone may have more.
    """
    total = sum(sizes[number - 1] for number in numbers)
    count = max(math.ceil(len(numbers) / most), math.ceil(total / characters), 1)
    dealt: list[list[int]] = [[] for _ in range(count)]
    filled = [0] * count
    for turn, number in enumerate(numbers):
        size = sizes[number - 1]
        for step in range(count):
            place = (turn + step) % count
            fits = len(dealt[place]) < most and filled[place] + size <= characters
            if fits or not dealt[place]:
                break
        else:
            dealt.append([])
            filled.append(0)
            place, count = count, count + 1
        dealt[place].append(number)
        filled[place] += size
    return [batch for batch in dealt if batch]


class Filing:
    """A tree of headings and the papers filed in it.

    Args:
        topic: Label of the root.
        titles: Titles of the papers 1, 2, ....

    Attributes:
        root: Root of the tree; it has no heading at first.
        doubled: Numbers that one answer filed in several places.
        unknown: Entries of answers that are not papers.
    """

    def __init__(self, topic: str, titles: Sequence[str]) -> None:
        self.root = Node("")
        self.doubled: set[int] = set()
        self.unknown: list[str] = []
        self._count = len(titles)
        self._titles: dict[str, int] = {}
        for number, title in enumerate(titles, 1):
            self._titles.setdefault(_bare(title), number)
        self._titles.pop("", None)
        self._topic = topic
        self._names = {topic.casefold()}  # of the root, in what the model wrote
        self._places: dict[int, Node] = {}

    @property
    def lost(self) -> list[int]:
        """Numbers that are filed nowhere."""
        return [number for number in range(1, self._count + 1) if number not in self._places]

    def read(self, value: Any, asked: Collection[int]) -> Tree:
        """Return the tree in the JSON of an answer.

        Raises:
            ParseError: It has no heading, or none of the papers in `asked`.
        """
        tree = read_tree(value, self._papers)
        nodes = tree.root.levels()
        if len(nodes) == 1 and self._beginning(tree) is self.root:
            raise ParseError("There is no heading in it.")
        if not any(number in asked for node in nodes for number in node.papers):
            raise ParseError("None of the papers is filed in it, by its number.")
        return tree

    def take(self, tree: Tree, asked: Collection[int]) -> None:
        """File the papers in `asked` as in the tree of an answer, each at its first place there.

        A heading of the answer is the heading of the tree with the same label and parent. A
        heading at the top of the answer that is not at the top of the tree, and once further down,
        is that one. Other papers stay where they are.
        """
        top, begun = tree.root, bool(self.root.children)
        waiting = [(top, self._beginning(tree))]
        self.unknown += tree.unknown
        if tree.label and not begun:
            self._names.add(tree.label.casefold())
        elif not begun and not top.papers and len(top.children) == 1:
            (only,) = top.children.values()
            if only.children:  # one heading above all others: the root
                self._names.add(only.label.casefold())
                top = only
                waiting = [(top, self.root)]
        seen: set[int] = set()
        known = self.root.levels()
        while waiting:
            node, place = waiting.pop()
            for number in node.papers:
                if number in seen:
                    if self._places[number] is not place:
                        self.doubled.add(number)
                elif number in asked:
                    seen.add(number)
                    self._put(number, place)
                elif number > self._count or number < 1:
                    self.unknown.append(str(number))
            places = []
            for child in node.children.values():
                at_top = begun and place is self.root
                below = self._known(child.label, known) if at_top else None
                places.append((child, below or place.child(child.label)))
            waiting.extend(reversed(places))

    def mind_map(self, ids: Sequence[str]) -> MindMap:
        """Return the map, each paper in exactly one leaf, at most 500 headings.

        Lost papers are in a leaf "Other", those of a heading with others below it in a leaf
        "General" below it; headings without papers are left out. Of more than 500 headings the
        lowest are removed, the last ones first: their papers go to the heading above, and those
        of leaves at the top to "Other".

        Args:
            ids: Ids of the papers 1, 2, ....
        """
        root = self.root.duplicate()
        if lost := self.lost:
            root.child(OTHER).papers += lost
        for node in reversed(root.levels()):
            node.children = {k: c for k, c in node.children.items() if c.children or c.papers}
        for node in root.levels():
            if node.children and node.papers:
                node.child(GENERAL).papers += node.papers
                node.papers = []
        _fold(root)
        return root.mind_map(self._topic, ids)

    def _papers(self, item: object, listed: bool) -> list[int]:
        if isinstance(item, float):
            return [int(item)] if item.is_integer() else []
        if isinstance(item, int):
            return [item]
        text = str(item)
        if number := self._titles.get(_bare(text)):
            return [number]
        if _NUMBERS.fullmatch(text):
            return [int(digits) for digits in re.findall(r"[0-9]+", text)]
        led = _LED.match(text) if listed else None
        return [int(led[1])] if led else []

    def _put(self, number: int, place: Node) -> None:
        before = self._places.get(number)
        if before is not None:
            before.papers.remove(number)
        place.papers.append(number)
        self._places[number] = place

    def _beginning(self, tree: Tree) -> Node:
        """Return the node that the root of an answer names: the root or a heading."""
        if not tree.label or tree.label.casefold() in self._names:
            return self.root
        return self._known(tree.label, self.root.levels()) or self.root

    def _known(self, label: str, known: Sequence[Node]) -> Node | None:
        """Return the heading that a label at the top of an answer names; None if it is new."""
        name = label.casefold()
        if name in self.root.children:
            return self.root.children[name]
        if name in self._names:
            return self.root
        alike = [node for node in known if node.level and node.label.casefold() == name]
        return alike[0] if len(alike) == 1 else None


def _bare(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


def _fold(root: Node) -> None:
    """Remove headings beyond the most that a map may have, the lowest and last ones first."""
    nodes = root.levels()
    size = len(nodes) - 1
    for node in reversed(nodes[1:]):  # everything below it was removed before
        if size <= MAX_HEADINGS:
            return
        size -= len(node.children)
        for child in node.children.values():
            node.papers += child.papers
        node.children = {}
    if size > MAX_HEADINGS:
        other = root.children.pop(OTHER.casefold(), None) or Node(OTHER, 1)
        for name in list(root.children)[MAX_HEADINGS - 1 :]:
            other.papers += root.children.pop(name).papers
        root.children[OTHER.casefold()] = other
