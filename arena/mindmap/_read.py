"""Read a mind-map from any of the forms that are out there, and tell what was repaired."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.errors import DataError
from arena.mindmap._building import MAX_DEPTH, Builder, Node, shown, too_long
from arena.mindmap._json import Repeats, parse
from arena.mindmap.tree import MindMap

# What is dropped, merged or lifted makes no node, but must not go on for ever either: objects of
# Python that share parts can stand for more entries than there are atoms.
_MAX_NESTING = 200
_MAX_ENTRIES = 100_000
_ELEMENT = object()  # the key of a list's elements; None may be that of an object of Python
_NOISE = frozenset({"example", "examples", "e.g."})


def read_mind_map(value: object) -> tuple[MindMap, list[str]]:
    """Read a mind-map.

    Args:
        value: One of these, or its JSON text:

            - ``{"label": ..., "children": [...], "papers": [...]}``, as `MindMap.to_json` writes;
            - ``{"name": ..., "subtopics": [...], "papers": [...]}``, as in TaxoBench and the
              literature worlds. In both, a child may be a string, lists may be absent or null,
              and the keys of one may stand for those of the other;
            - ResearchArena's typology: an object from labels to what is below them (null, a
              string, a list or an object). It has no root: it gets one with an empty label.

            An object is of the first two forms if ``label`` or ``name`` stands in it beside
            ``children`` or ``subtopics``, or is a string that stands alone or beside ``papers``.

    Returns:
        The tree, and one sentence for each kind of thing that was dropped or repaired: whitespace
        collapsed, children of an empty label lifted to its parent, siblings of one label merged
        (in the place of the first), a paper listed twice at one node kept once, halves of
        surrogate pairs replaced by U+FFFD, unknown keys dropped; in a typology, the keys
        ``example``, ``examples`` and ``e.g.`` dropped where they hold no object, numbers made
        labels, booleans dropped, and nulls in lists dropped.

    Raises:
        DataError: It is none of these; is invalid JSON; has neither a node nor a label of the
            root; contains itself; is more than 64 levels deep below the root, or 10,000 nodes or
            100,000 entries large; a label is no string or longer than 500 characters; or a
            paper is no string.

    Example:
        >>> tree, told = read_mind_map('{"A": {"example": "x", "B": null}, "C ": ["D", "D"]}')
        >>> [(node.label, len(node.children)) for node in tree.nodes()]
        [('', 2), ('A', 1), ('B', 0), ('C', 1), ('D', 0)]
        >>> for sentence in told:
        ...     print(sentence)
        noise keys dropped (1): 'example' under 'A'.
        whitespace in labels collapsed (1): 'C '.
        siblings of one label merged (1): 'D' under 'C'.
    """
    if isinstance(value, str):
        value = parse(value)
    if not isinstance(value, dict):
        raise DataError(
            f"a mind-map is a JSON object, not {shown(value)}; several trees need a common root: "
            '{"label": "", "children": [...]}.'
        )
    return _Reader().read(value)


class _Frame(NamedTuple):
    """A container that is being read: what is left of it, and the node its entries belong to."""

    container: object
    entries: Iterator[tuple[Any, Any]]
    node: Node
    typology: bool


class _Reader:
    """Walks the value with a stack of its own: no input can exhaust Python's."""

    def __init__(self) -> None:
        self._tree = Builder()
        self._notes = self._tree.notes
        self._stack: list[_Frame] = []
        self._open: set[int] = set()
        self._entries = 0

    def read(self, value: dict[Any, Any]) -> tuple[MindMap, list[str]]:
        root = self._tree.root
        if _is_node(value):
            root.label = self._tree.label(_own_label(value, root))
            self._node(value, root)
        else:
            self._push(value, _pairs(value), root, True)
        while self._stack:
            frame = self._stack[-1]
            entry = next(frame.entries, None)
            if entry is None:
                self._stack.pop()
                self._open.discard(id(frame.container))
                continue
            self._count()
            if frame.typology:
                self._typology(*entry, frame.node)
            else:
                self._child(entry[1], frame.node)
        return self._tree.finish(), self._notes.sentences()

    # Objects with keys of their own: {"label": "...", "children": [...], "papers": [...]}

    def _child(self, entry: object, parent: Node) -> None:
        if isinstance(entry, str):
            self._tree.add(entry, parent)
        elif isinstance(entry, dict):
            self._node(entry, self._tree.add(_own_label(entry, parent), parent))
        else:
            raise DataError(
                f"under {parent} there is {shown(entry)}: a node is a string or an object such as "
                '{"label": "...", "children": [], "papers": []}.'
            )

    def _node(self, value: dict[Any, Any], node: Node) -> None:
        label = "label" if "label" in value else "name"
        below = "children" if "children" in value else "subtopics"
        for key in value:
            if key not in (label, below, "papers"):
                self._count()
                told = key if isinstance(key, str) else shown(key)
                self._notes.add("unknown keys dropped", told, node.label)
        if isinstance(value, Repeats):
            self._notes.add("keys that stand twice in an object: the last counts", node.label)
        for paper in _list(value, "papers", node):
            self._count()
            self._tree.file(paper, node)
        children = _list(value, below, node)
        self._push(value, ((_ELEMENT, child) for child in children), node, False)

    # The typology: {"label": null | "label" | [...] | {...}}

    def _typology(self, key: object, value: object, node: Node) -> None:
        if key is _ELEMENT:
            self._below(value, node)
        elif not isinstance(key, str):
            raise DataError(f"a label under {node} is {shown(key)}: expected a string.")
        elif key.strip().casefold() in _NOISE and not _holds_object(value):
            self._notes.add("noise keys dropped", key, node.label)
        else:
            made = self._tree.add(key, node)
            if value is not None:
                self._below(value, made)

    def _below(self, value: object, node: Node) -> None:
        if isinstance(value, dict) and _is_node(value):
            self._child(value, node)
        elif isinstance(value, dict):
            self._push(value, _pairs(value), node, True)
        elif isinstance(value, list | tuple):
            self._push(value, ((_ELEMENT, element) for element in value), node, True)
        elif isinstance(value, str):
            self._tree.add(value, node)
        elif value is None or isinstance(value, bool):
            self._notes.add("nulls in lists and booleans dropped", value, node.label)
        elif isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            self._notes.add("numbers made labels", value, node.label)
            self._tree.add(_digits(value), node)
        else:
            raise DataError(
                f"under {node} there is {shown(value)}: expected null, a label, a list or an "
                "object."
            )

    # Both

    def _push(
        self, container: object, entries: Iterator[tuple[Any, Any]], node: Node, typology: bool
    ) -> None:
        if id(container) in self._open:
            raise DataError(f"the mind-map contains itself, under {node}.")
        if len(self._stack) >= _MAX_NESTING:
            raise DataError(
                f"the mind-map nests more than {_MAX_NESTING} objects and lists, under {node}: it "
                f"may have at most {MAX_DEPTH} levels."
            )
        self._open.add(id(container))
        self._stack.append(_Frame(container, entries, node, typology))

    def _count(self) -> None:
        self._entries += 1
        if self._entries > _MAX_ENTRIES:
            raise DataError(
                f"the mind-map has more than {_MAX_ENTRIES:,} entries, papers included: give a "
                "smaller one."
            )


def _is_node(value: dict[Any, Any]) -> bool:
    labels = [key for key in ("label", "name") if key in value]
    if not labels or "children" in value or "subtopics" in value:
        return bool(labels)
    # "name" may also be a heading, with headings beside it: those must not be lost as unknown keys.
    lone = len(value) == len(labels) or "papers" in value
    return lone and any(isinstance(value[key], str) for key in labels)


def _own_label(value: dict[Any, Any], parent: Node) -> str:
    key = "label" if "label" in value else "name"
    if key not in value:
        raise DataError(
            f"under {parent} there is {shown(value)}, but none of them is 'label' or 'name': "
            "every node needs one."
        )
    label = value[key]
    if not isinstance(label, str):
        raise DataError(f"a label at or under {parent} is {shown(label)}: expected a string.")
    return label


def _list(value: dict[Any, Any], key: str, node: Node) -> list[Any] | tuple[Any, ...]:
    found = value.get(key)
    if found is None:
        return ()
    if not isinstance(found, list | tuple):
        raise DataError(f"the {key} of {node} are {shown(found)}: expected a list.")
    return found


def _pairs(value: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    return iter(value.pairs if isinstance(value, Repeats) else value.items())


def _holds_object(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list | tuple) and any(isinstance(v, dict | list | tuple) for v in value)
    )


def _digits(number: float) -> str:
    try:
        return str(number)
    except ValueError:  # Python prints no integer of more than 4,300 digits
        raise too_long(number) from None
