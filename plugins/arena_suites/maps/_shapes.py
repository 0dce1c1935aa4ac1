"""Mind-maps in the shapes that models and tools write, as ``{"label", "children", "papers"}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena.errors import DataError, clip

_LABEL = ("label", "name", "title", "text", "topic", "heading", "category")
_BELOW = ("children", "subtopics", "nodes", "topics", "subcategories", "sections", "branches")
_PAPERS = ("papers", "paper_ids", "references")
_AROUND = ("mind_map", "mindmap", "mind-map", "map", "root", "tree", "taxonomy")
_PARENT = ("parent", "parent_id")
_ENDS = (("source", "target"), ("from", "to"), ("parent", "child"))


def reshaped(value: Any) -> Any:
    """Return a map of another shape as objects with a label; any other value as it is.

    Known are objects with other keys, such as ``{"text", "nodes"}`` or ``{"topics": [{"topic",
    "papers"}]}``; ``{"mind_map": {...}}`` around a tree; lists of objects with a ``level`` or
    a ``parent``; and nodes with edges.

    Raises:
        DataError: Nodes share an id, have two parents, or are their own descendants; or an edge is
            no pair.

    >>> reshaped([{"id": 1, "title": "A"}, {"id": 2, "title": "B", "parent": 1}])
    {'label': 'A', 'children': [{'label': 'B', 'children': [], 'papers': []}], 'papers': []}
    """
    if isinstance(value, list | tuple) and value and all(map(_label, value)):
        if all(type(item.get("level")) is int for item in value):
            return _below_one([made for _, made in _by_level(value)])
        if all("id" in item for item in value) and any(_key(_PARENT, item) for item in value):
            edges = ((item.get(_key(_PARENT, item) or ""), item["id"]) for item in value)
            return _by_edges(value, edges)
        return value
    if not isinstance(value, Mapping):
        return value
    around = _key(_AROUND, value, dict)
    if around and len(value) == 1 and _label(value[around]) and _key(_BELOW, value[around], list):
        return reshaped(value[around])
    nodes, edges_of = value.get("nodes"), value.get("edges", value.get("links"))
    if isinstance(nodes, list) and isinstance(edges_of, list) and all(map(_label, nodes)):
        return _by_edges(nodes, map(_ends, edges_of))
    label, below = _label(value), _key(_BELOW, value, list)
    if label == "label" or (label == "name" and below in (None, "children", "subtopics")):
        return value
    if label and (below or _key(_PAPERS, value, list)):
        return _node(value)
    if below and len(value) == 1 and all(map(_label, value[below])):
        return _below_one([_node(item) for item in value[below]])
    return value


def _key(names: Sequence[str], value: Any, kind: type = object) -> str | None:
    """Return the first of these names that is a key with a value of a type."""
    return next(
        (name for name in names if isinstance(value.get(name), kind) and name in value), None
    )


def _label(value: Any) -> str | None:
    return _key(_LABEL, value, str) if isinstance(value, Mapping) else None


def _node(value: Any) -> Any:
    if (label := _label(value)) is None:
        return value
    keys = (_key(names, value, list) for names in (_BELOW, _PAPERS))
    below, papers = (value[key] if key else [] for key in keys)
    return {"label": value[label], "children": [*map(_node, below)], "papers": [*papers]}


def _ends(edge: Any) -> tuple[Any, Any]:
    """Return the node above and the node below of an edge."""
    if isinstance(edge, list | tuple) and len(edge) == 2:
        return edge[0], edge[1]
    for above, below in _ENDS if isinstance(edge, Mapping) else ():
        if above in edge and below in edge:
            return edge[above], edge[below]
    raise DataError(
        f"the edge {clip(edge)} of the mind-map is no pair of nodes: give [above, below] or "
        '{"source": above, "target": below}, each an id.'
    )


def _below_one(nodes: list[Any]) -> Any:
    return nodes[0] if len(nodes) == 1 else {"label": "", "children": nodes, "papers": []}


def _by_level(items: Iterable[Mapping[str, Any]]) -> list[tuple[int, Any]]:
    tops: list[tuple[int, Any]] = []
    path: list[tuple[int, Any]] = []
    for item in items:
        level, made = item["level"], _node(item)
        while path and path[-1][0] >= level:
            path.pop()
        if path:
            path[-1][1]["children"].append(made)
        else:
            tops.append((level, made))
        path.append((level, made))
    return tops


def _by_edges(items: Sequence[Mapping[str, Any]], edges: Iterable[tuple[Any, Any]]) -> Any:
    made: dict[str, Any] = {}
    for item in items:
        if made.setdefault(str(item.get("id")), new := _node(item)) is not new:
            raise DataError(f"two nodes of the mind-map have the id {clip(item.get('id'))}.")
    parents: dict[str, str] = {}
    for above, below in ((str(a), str(b)) for a, b in edges):
        if above in made and below in made:
            if below in parents:
                raise DataError(f"the node {below!r} of the mind-map has two parents: give a tree.")
            parents[below] = above
            made[above]["children"].append(made[below])
    checked = set[str]()
    for name in made:  # each must lead to a top
        seen = {name}
        while name in parents and name not in checked:
            name = parents[name]
            if name in seen:
                raise DataError(f"the node {name!r} of the mind-map is below itself: give a tree.")
            seen.add(name)
        checked.update(seen)
    return _below_one([node for name, node in made.items() if name not in parents])
