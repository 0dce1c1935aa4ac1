"""Read a mind-map from any of its forms, and note what was repaired."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from arena.counted import reading
from arena.errors import DataError, clip
from arena.mindmap.builder import Branch, Builder, describe
from arena.mindmap.readers import mind_map_readers
from arena.mindmap.tree import MAX_DEPTH, MindMap

_NO_HEADINGS = frozenset(
    {
        "id", "level", "edges", "links", "nodes", "text", "title", "topic", "paper_ids", "parent",
        "parent_id",
    }
)  # fmt: skip
"""Keys of objects that describe nodes: two of them in one object are no headings."""
_NOISE = frozenset({"example", "examples", "e.g."})


def read_mind_map(value: object) -> tuple[MindMap, list[str]]:
    """Read a mind-map.

    Args:
        value: One of these:

            - ``{"label": ..., "children": [...], "papers": [...]}``, as `MindMap.to_json` writes;
            - ``{"name": ..., "subtopics": [...], "papers": [...]}``, as in TaxoBench and the
              synthetic corpora. In both, a child may be a string, lists may be absent or null,
              and the keys of one may stand for those of the other;
            - ResearchArena's typology: an object from labels to what is below them (null, a
              string, a list or an object). It has no root: it gets one with an empty label;
            - an outline as in Bloom-Eval, a list of [level, heading] pairs;
            - a list of objects of the first three forms, and of labels: trees that get a common
              root with an empty label; the only node with keys of its own is the root itself;
            - the JSON text of one of these;
            - a Markdown text with headings or list items: see `read_markdown`;
            - a mindmap diagram of Mermaid, alone or in a fenced block.

            An object is of the first two forms if ``label`` or ``name`` stands in it with
            ``children`` or ``subtopics``, or is a string that stands alone or with ``papers``.

            A text that begins with ``{`` or ``[`` is JSON. In any other, the map is what
            is in ``<typology>...</typology>``, if that is there; or the one fenced block of
            JSON, if the text has no Markdown heading.

    Returns:
        The tree, and one sentence for each kind of thing that was dropped or repaired: whitespace
        collapsed, entities (``&amp;``) decoded, children of an empty label lifted to its parent,
        siblings of one label merged (in the place of the first), a paper listed twice at one node
        kept once, halves of surrogate pairs replaced by U+FFFD, unknown keys dropped; in a
        typology, the keys ``example``, ``examples`` and ``e.g.`` dropped where they contain no
        object, numbers made labels, booleans dropped, and nulls in lists dropped; text around the
        map dropped; trees given a common root.

    Example:
        >>> tree, notes = read_mind_map('{"A": {"example": "x", "B": null}, "C ": ["D", "D"]}')
        >>> [(node.label, len(node.children)) for node in tree.nodes()]
        [('', 2), ('A', 1), ('B', 0), ('C', 1), ('D', 0)]
        >>> for sentence in notes:
        ...     print(sentence)
        noise keys dropped (1): 'example' under 'A'.
        whitespace in labels collapsed (1): 'C '.
        siblings of one label merged (1): 'D' under 'C'.
    """
    tree = Builder()
    with reading(value if isinstance(value, str) else None):
        try:
            return _read_text(value, tree) if isinstance(value, str) else read_value(value, tree)
        except RecursionError:
            problem = f"the mind-map nests deeper than {MAX_DEPTH} levels of labels."
            raise DataError(problem) from None


# Texts


def _read_text(text: str, tree: Builder) -> tuple[MindMap, list[str]]:
    text = text.removeprefix("\ufeff")
    if not begins_like_json(text):
        for reader in mind_map_readers():
            if found := reader.read_text(text, tree):
                return found
    return read_value(parse_json(text), tree)


def begins_like_json(text: str) -> bool:
    """Return whether a text is to be read as JSON and as nothing else."""
    return text.lstrip()[:1] in ("{", "[")


class _Repeats(dict[str, Any]):
    """An object whose text repeats a key; `pairs` has every occurrence."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; an object keeps its repeated keys."""

    def refuse(constant: str) -> NoReturn:
        raise json.JSONDecodeError(f"{constant} is not a JSON value", text, text.find(constant))

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        return value if len(value) == len(pairs) else _Repeats(pairs)

    try:
        return json.loads(text, object_pairs_hook=keep, parse_constant=refuse)
    except RecursionError:
        problem = "it nests too deep"
    except json.JSONDecodeError as error:
        problem = str(error)
    except ValueError:
        problem = "it has an integer of thousands of digits"
    raise DataError(f"the mind-map {clip(text)} cannot be read as JSON: {problem}.")


# Objects and lists


def read_value(value: object, tree: Builder) -> tuple[MindMap, list[str]]:
    """Read a mind-map from an object or a list, see `read_mind_map`."""
    if not isinstance(value, dict | list | tuple):
        raise DataError(
            f"a mind-map is a JSON object, not {describe(value)}; give one such as "
            '{"label": "...", "children": [], "papers": []}.'
        )
    other: Any = value
    for reader in mind_map_readers():
        other = reader.reshaped(other)
    if other is not value:
        keys = sorted(value if isinstance(value, dict) else value[0])
        tree.notes.add("another shape of objects read", ", ".join(keys))
        value = other if isinstance(other, list) else dict(other)
    if not isinstance(value, dict):
        for reader in mind_map_readers():
            if found := reader.read_list(value, tree):
                return found
        for place, element in enumerate(value, 1):
            if not isinstance(element, dict | str):
                raise DataError(
                    f"element {place} of the list is {describe(element)}: a mind-map is an object, "
                    "a list of objects and labels, or a list of [level, heading] pairs."
                )
        if len(value) == 1 and isinstance(value[0], dict) and is_node(value[0]):
            tree.notes.add("a list around the only tree dropped", "[...]")
            value = value[0]
        elif value:
            what = "trees without a common root given one without a label"
            tree.notes.add(what, len(value))
    if isinstance(value, dict) and is_node(value):
        tree.root.label = tree.label(_label(value, tree.root))
        _read_node(tree, value, tree.root)
    else:
        _read_typology(tree, value, tree.root)
    return tree.finish(), tree.notes.sentences()


def is_node(value: dict[Any, Any]) -> bool:
    """Return whether an object is a node with keys of its own, and no typology."""
    labels = [key for key in ("label", "name") if key in value]
    if not labels or "children" in value or "subtopics" in value:
        return bool(labels)
    # "name" may also be a heading, with other headings: those must not be lost as unknown keys.
    lone = len(value) == len(labels) or "papers" in value
    return lone and any(isinstance(value[key], str) for key in labels)


def _read_node(tree: Builder, value: dict[Any, Any], node: Branch) -> None:
    """Read the children and papers of ``{"label": "...", "children": [...], "papers": []}``."""
    label = "label" if "label" in value else "name"
    below = "children" if "children" in value else "subtopics"
    for key in value:
        if key not in (label, below, "papers"):
            tree.notes.add("unknown keys dropped", key, node.label)
    if isinstance(value, _Repeats):
        what = "keys that stand twice in an object: the last counts"
        tree.notes.add(what, node.label)
    for paper in _list(value, "papers", node):
        tree.file(paper, node)
    for child in _list(value, below, node):
        _read_child(tree, child, node)


def _read_child(tree: Builder, value: object, parent: Branch) -> None:
    if isinstance(value, str):
        tree.add(value, parent)
    elif isinstance(value, dict):
        _read_node(tree, value, tree.add(_label(value, parent), parent))
    else:
        raise DataError(
            f"under {parent} there is {describe(value)}: a node is a string or an object such "
            'as {"label": "...", "children": [], "papers": []}.'
        )


def _read_typology(tree: Builder, value: object, node: Branch) -> None:
    """Read what is below a label: null, a label, a number, a list or an object of labels."""
    if isinstance(value, dict) and is_node(value):
        _read_child(tree, value, node)
    elif isinstance(value, list | tuple):
        for element in value:
            _read_typology(tree, element, node)
    elif isinstance(value, dict):
        if len(keys := _NO_HEADINGS & value.keys()) > 1:
            raise DataError(
                f"under {node} there is an object with the keys {', '.join(sorted(keys))}, which "
                'are no headings: give {"label": "...", "children": [], "papers": []}.'
            )
        for key, below in value.pairs if isinstance(value, _Repeats) else value.items():
            _read_entry(tree, key, below, node)
    elif isinstance(value, str):
        tree.add(value, node)
    elif value is None or isinstance(value, bool):
        tree.notes.add("nulls in lists and booleans dropped", value, node.label)
    else:
        tree.notes.add("numbers made labels", value, node.label)
        tree.add(str(value), node)


def _read_entry(tree: Builder, key: str, value: object, node: Branch) -> None:
    inside = value if isinstance(value, list | tuple) else ()
    if key.strip().casefold() in _NOISE and not (
        isinstance(value, dict) or any(isinstance(v, dict | list | tuple) for v in inside)
    ):
        tree.notes.add("noise keys dropped", key, node.label)
    # A heading "children" has other headings below it, and no list of nodes.
    elif key in ("children", "subtopics") and any(isinstance(v, dict) for v in inside):
        raise DataError(
            f"under {node} there are {key!r}, but no 'label' or 'name' with them: every node "
            "needs one."
        )
    else:
        made = tree.add(key, node)
        if value is not None:
            _read_typology(tree, value, made)


def _label(value: dict[Any, Any], parent: Branch) -> str:
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


def _list(value: dict[Any, Any], key: str, node: Branch) -> list[Any] | tuple[Any, ...]:
    values = value.get(key)
    if values is not None and not isinstance(values, list | tuple):
        raise DataError(f"the {key} of {node} are {describe(values)}: expected a list.")
    return values or ()
