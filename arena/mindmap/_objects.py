"""Mind-maps as objects of JSON: trees of nodes, typologies, and forests of both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.errors import DataError
from arena.mindmap._building import (
    MAX_DEPTH,
    MAX_ENTRIES,
    Builder,
    Node,
    shown,
    too_long,
    too_many_entries,
)
from arena.mindmap._json import Repeats
from arena.mindmap.tree import MindMap

_MAX_NESTING = 200
_ELEMENT = object()  # the key of a list's elements; None may be that of an object of Python
_NOISE = frozenset({"example", "examples", "e.g."})


class _Frame(NamedTuple):
    """A container that is being read: what is left of it, and the node its entries belong to."""

    container: object
    entries: Iterator[tuple[Any, Any]]
    node: Node
    typology: bool


class ObjectReader:
    """Reads trees of objects; walks them with a stack of its own: no input can exhaust Python's."""

    def __init__(self, tree: Builder) -> None:
        self._tree = tree
        self._notes = self._tree.notes
        self._stack: list[_Frame] = []
        self._open: set[int] = set()
        self._entries = 0

    def read(self, value: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> MindMap:
        """Return the tree of an object, or of a list of objects and labels, without a root."""
        root = self._tree.root
        if not isinstance(value, dict):
            self._push(value, ((_ELEMENT, element) for element in value), root, True)
        elif is_node(value):
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
        return self._tree.finish()

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
        elif key in ("children", "subtopics") and _holds_nodes(value):
            raise DataError(
                f"under {node} there are {key!r}, but no 'label' or 'name' beside them: every node "
                "needs one."
            )
        else:
            made = self._tree.add(key, node)
            if value is not None:
                self._below(value, made)

    def _below(self, value: object, node: Node) -> None:
        if isinstance(value, dict) and is_node(value):
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
        if self._entries > MAX_ENTRIES:
            raise too_many_entries()


def is_node(value: dict[Any, Any]) -> bool:
    """Return whether an object is a node with keys of its own, and no typology."""
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


def _holds_nodes(value: object) -> bool:
    """Return whether this is a list of nodes; a heading "children" has other headings below it."""
    return isinstance(value, list | tuple) and any(isinstance(v, dict) for v in value)


def _digits(number: float) -> str:
    try:
        return str(number)
    except ValueError:  # Python prints no integer of more than 4,300 digits
        raise too_long(number) from None
