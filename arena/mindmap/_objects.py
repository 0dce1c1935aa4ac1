"""Mind-maps as objects of JSON: trees of nodes, typologies, and forests of both."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from arena.errors import DataError, clip
from arena.mindmap._builder import (
    MAX_ENTRIES,
    Builder,
    Node,
    describe,
    too_long,
    too_many_entries,
)
from arena.mindmap.tree import MAX_DEPTH, MindMap

_MAX_NESTING = 200
_ELEMENT = object()  # the key of a list's elements; None may be that of an object of Python
_NOISE = frozenset({"example", "examples", "e.g."})


# JSON text, with repeated keys kept


class _Repeats(dict[str, Any]):
    """An object whose text repeats a key; `pairs` has every occurrence."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; an object keeps its repeated keys.

    Raises:
        DataError: It is invalid JSON (NaN and Infinity are), or nests too deep to be parsed.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError:
        problem = "it nests too deep"
    except (json.JSONDecodeError, _NoJSONError) as error:
        problem = str(error)
    except ValueError:
        problem = "it holds an integer of thousands of digits"
    raise DataError(f"the mind-map {clip(text)} cannot be read as JSON: {problem}.")


class _NoJSONError(ValueError):
    """A constant that Python's parser takes and JSON does not have."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _Repeats(pairs)


def _refuse(constant: str) -> NoReturn:
    raise _NoJSONError(f"{constant} is no JSON value")


# Objects to trees


def read_object(value: dict[Any, Any] | list[Any] | tuple[Any, ...], tree: Builder) -> MindMap:
    """Return the tree of an object, or of a list of objects and labels, which has no root."""
    reader = _Reader(tree)
    if isinstance(value, dict) and is_node(value):
        tree.root.label = tree.label(_label(value, tree.root))
        reader.node(value, tree.root)
    else:
        reader.typology(value, tree.root)
    return tree.finish()


def is_node(value: dict[Any, Any]) -> bool:
    """Return whether an object is a node with keys of its own, and no typology."""
    labels = [key for key in ("label", "name") if key in value]
    if not labels or "children" in value or "subtopics" in value:
        return bool(labels)
    # "name" may also be a heading, with headings beside it: those must not be lost as unknown keys.
    lone = len(value) == len(labels) or "papers" in value
    return lone and any(isinstance(value[key], str) for key in labels)


class _Reader:
    def __init__(self, tree: Builder) -> None:
        self._tree = tree
        self._open: set[int] = set()
        self._entries = 0

    def node(self, value: dict[Any, Any], node: Node) -> None:
        """Read the children and papers of ``{"label": "...", "children": [...], "papers": []}``."""
        label = "label" if "label" in value else "name"
        below = "children" if "children" in value else "subtopics"
        for key in value:
            if key not in (label, below, "papers"):
                self._count()
                name = key if isinstance(key, str) else describe(key)
                self._tree.notes.add("unknown keys dropped", name, node.label)
        if isinstance(value, _Repeats):
            what = "keys that stand twice in an object: the last counts"
            self._tree.notes.add(what, node.label)
        for paper in _list(value, "papers", node):
            self._count()
            self._tree.file(paper, node)
        with self._inside(value, node):
            for child in _list(value, below, node):
                self._count()
                self._child(child, node)

    def _child(self, value: object, parent: Node) -> None:
        if isinstance(value, str):
            self._tree.add(value, parent)
        elif isinstance(value, dict):
            self.node(value, self._tree.add(_label(value, parent), parent))
        else:
            raise DataError(
                f"under {parent} there is {describe(value)}: a node is a string or an object such "
                'as {"label": "...", "children": [], "papers": []}.'
            )

    def typology(self, value: object, node: Node) -> None:
        """Read what is below a label: null, a label, a number, a list or an object of labels."""
        if isinstance(value, dict) and is_node(value) and self._open:
            self._child(value, node)
        elif isinstance(value, dict | list | tuple):
            with self._inside(value, node):
                for key, below in _pairs(value):
                    self._count()
                    self._entry(key, below, node)
        elif isinstance(value, str):
            self._tree.add(value, node)
        elif value is None or isinstance(value, bool):
            self._tree.notes.add("nulls in lists and booleans dropped", value, node.label)
        elif isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            self._tree.notes.add("numbers made labels", value, node.label)
            self._tree.add(_digits(value), node)
        else:
            raise DataError(
                f"under {node} there is {describe(value)}: expected null, a label, a list or an "
                "object."
            )

    def _entry(self, key: object, value: object, node: Node) -> None:
        if key is _ELEMENT:
            self.typology(value, node)
        elif not isinstance(key, str):
            raise DataError(f"a label under {node} is {describe(key)}: expected a string.")
        elif key.strip().casefold() in _NOISE and not _holds_object(value):
            self._tree.notes.add("noise keys dropped", key, node.label)
        elif key in ("children", "subtopics") and _holds_nodes(value):
            raise DataError(
                f"under {node} there are {key!r}, but no 'label' or 'name' beside them: every node "
                "needs one."
            )
        else:
            made = self._tree.add(key, node)
            if value is not None:
                self.typology(value, made)

    @contextmanager
    def _inside(self, container: object, node: Node) -> Iterator[None]:
        """Refuse what contains itself or nests so deep that Python's stack could overflow."""
        if id(container) in self._open:
            raise DataError(f"the mind-map contains itself, under {node}.")
        if len(self._open) >= _MAX_NESTING:
            raise DataError(
                f"the mind-map nests more than {_MAX_NESTING} objects and lists, under {node}: it "
                f"may have at most {MAX_DEPTH} levels."
            )
        self._open.add(id(container))
        yield
        self._open.remove(id(container))

    def _count(self) -> None:
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise too_many_entries()


def _label(value: dict[Any, Any], parent: Node) -> str:
    key = "label" if "label" in value else "name"
    if key not in value:
        raise DataError(
            f"under {parent} there is {describe(value)}, but none of them is 'label' or 'name': "
            "every node needs one."
        )
    label = value[key]
    if not isinstance(label, str):
        raise DataError(f"a label at or under {parent} is {describe(label)}: expected a string.")
    return label


def _list(value: dict[Any, Any], key: str, node: Node) -> list[Any] | tuple[Any, ...]:
    values = value.get(key)
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise DataError(f"the {key} of {node} are {describe(values)}: expected a list.")
    return values


def _pairs(value: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> Iterable[tuple[Any, Any]]:
    if not isinstance(value, dict):
        return ((_ELEMENT, element) for element in value)
    return value.pairs if isinstance(value, _Repeats) else value.items()


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
