"""Read a mind-map from any of its forms, and note what was repaired."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from arena.errors import DataError
from arena.mindmap._builder import Builder, Notes, describe
from arena.mindmap._markdown import Document, note_dropped, parse_document, read_document
from arena.mindmap._objects import is_node, parse_json, read_object
from arena.mindmap._outline import is_pair, read_pairs
from arena.mindmap.tree import MindMap

_OPEN, _CLOSE = "<typology>", "</typology>"


def read_mind_map(value: object) -> tuple[MindMap, list[str]]:
    """Read a mind-map.

    Args:
        value: One of these:

            - ``{"label": ..., "children": [...], "papers": [...]}``, as `MindMap.to_json` writes;
            - ``{"name": ..., "subtopics": [...], "papers": [...]}``, as in TaxoBench and the
              literature worlds. In both, a child may be a string, lists may be absent or null,
              and the keys of one may stand for those of the other;
            - ResearchArena's typology: an object from labels to what is below them (null, a
              string, a list or an object). It has no root: it gets one with an empty label;
            - an outline as in Bloom-Eval, a list of [level, heading] pairs: see `read_outline`;
            - a list of objects of the first three forms, and of labels: trees that get a common
              root with an empty label; the only node with keys of its own is the root itself;
            - the JSON text of one of these;
            - a Markdown text with headings or list items: see `read_markdown`.

            An object is of the first two forms if ``label`` or ``name`` stands in it beside
            ``children`` or ``subtopics``, or is a string that stands alone or beside ``papers``.

            A text that begins with ``{`` or ``[`` is JSON. In any other, the map is what
            is in ``<typology>...</typology>``, if that is there; or the one fenced block of
            JSON, if the text has no Markdown heading.

    Returns:
        The tree, and one sentence for each kind of thing that was dropped or repaired: whitespace
        collapsed, children of an empty label lifted to its parent, siblings of one label merged
        (in the place of the first), a paper listed twice at one node kept once, halves of
        surrogate pairs replaced by U+FFFD, unknown keys dropped; in a typology, the keys
        ``example``, ``examples`` and ``e.g.`` dropped where they hold no object, numbers made
        labels, booleans dropped, and nulls in lists dropped; text around the map dropped; trees
        given a common root.

    Raises:
        DataError: It is none of these; is invalid JSON; has neither a node nor a label of the
            root; contains itself; is more than 64 levels deep below the root, or 10,000 nodes or
            100,000 entries large; a label is no string or longer than 500 characters; or a
            paper is no string.

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
    if isinstance(value, str):
        return _read_text(value, Notes())
    return _read_value(value, Notes())


def _read_value(value: object, notes: Notes) -> tuple[MindMap, list[str]]:
    if not isinstance(value, dict | list | tuple):
        raise DataError(
            f"a mind-map is a JSON object, not {describe(value)}; give one such as "
            '{"label": "...", "children": [], "papers": []}.'
        )
    if not isinstance(value, dict) and value and is_pair(value[0]):
        return read_pairs(value, Builder(notes))
    tree = value if isinstance(value, dict) else _forest(value, notes)
    return read_object(tree, Builder(notes)), notes.sentences()


def _forest(value: Sequence[Any], notes: Notes) -> Any:
    for place, element in enumerate(value, 1):
        if not isinstance(element, dict | str):
            raise DataError(
                f"element {place} of the list is {describe(element)}: a mind-map is an object, a "
                "list of objects and labels, or a list of [level, heading] pairs."
            )
    if len(value) == 1 and isinstance(value[0], dict) and is_node(value[0]):
        notes.add("a list around the only tree dropped", "[...]")
        return value[0]
    if value:
        notes.add("trees without a common root given one without a label", len(value))
    return value


def _read_text(text: str, notes: Notes) -> tuple[MindMap, list[str]]:
    text = text.removeprefix("\ufeff")
    if begins_like_json(text):
        return _read_value(parse_json(text), notes)
    if text.count(_OPEN) and text.count(_CLOSE):
        return _read_tagged(text, notes)
    document = parse_document(text)
    if not document.headings:
        if json := _json_fence(document):
            note_dropped(Document(paragraphs=document.paragraphs), Builder(notes))
            for block in document.blocks:
                notes.add("list items beside the JSON dropped", block.text[:100])
            return _read_value(parse_json(json), notes)
        _refuse_bare_json(document)
    if document.blocks or len(document.fences) == 1:
        return read_document(document, Builder(notes))
    try:
        value = parse_json(text)
    except DataError as error:
        raise DataError(
            f"{str(error).removesuffix('.')}. Give an object; a text may also be a list of "
            "[level, heading] pairs, or Markdown with headings (#) or list items (-)."
        ) from None
    return _read_value(value, notes)


def _read_tagged(text: str, notes: Notes) -> tuple[MindMap, list[str]]:
    if text.count(_CLOSE) > 1:
        raise DataError(f"the text has {text.count(_CLOSE)} {_CLOSE} tags: give one mind-map.")
    before, _, after = text.partition(_CLOSE)
    # A model may name the tag before it uses it.
    before, opening, inside = before.rpartition(_OPEN)
    if not opening:
        raise DataError(f"the text has {_CLOSE} before {_OPEN}: put the mind-map between them.")
    for part in (before, after):
        if part.strip():
            notes.add("text around the tag dropped", " ".join(part[:200].split()))
    return _read_text(inside, notes)


def _json_fence(document: Document) -> str | None:
    contents = [
        content
        for language, content in document.fences
        if language.startswith("json") or begins_like_json(content)
    ]
    if len(contents) > 1:
        raise DataError(f"the text has {len(contents)} blocks of JSON: give one mind-map.")
    return contents[0] if contents else None


def _refuse_bare_json(document: Document) -> None:
    lines = itertools.chain(*document.paragraphs, *(block.lines for block in document.blocks))
    for line in lines:
        if line.startswith("{"):
            raise DataError(
                f"the text has JSON ({describe(line)}) after other text: give the JSON alone, in a "
                f"fenced block, or in {_OPEN}...{_CLOSE}."
            )


def begins_like_json(text: str) -> bool:
    """Return whether a text is to be read as JSON and as nothing else."""
    return text.lstrip()[:1] in ("{", "[")
