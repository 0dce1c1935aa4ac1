"""Texts with a mind-map: which of the forms one is in."""

from __future__ import annotations

import itertools
from dataclasses import replace

from arena.errors import DataError
from arena.mindmap.builder import Builder, Notes, describe
from arena.mindmap.reading import begins_like_json, parse_json, read_value
from arena.mindmap.tree import MindMap
from arena_suites.maps._markdown import (
    Document,
    note_dropped,
    parse_document,
    read_document,
    with_breaks,
)
from arena_suites.maps._mermaid import read_mermaid

_OPEN, _CLOSE = "<typology>", "</typology>"


def read_text(text: str, tree: Builder) -> tuple[MindMap, list[str]] | None:
    """Read a text: a tagged typology, a diagram of Mermaid, fenced JSON, or Markdown."""
    text = with_breaks(text, tree)
    if _OPEN in text and _CLOSE in text:
        return _read_inside(_tagged(text, tree.notes), tree)
    document = parse_document(text)
    if not document.headings:
        if diagram := read_mermaid(text, tree):
            return diagram
        if found := _json_fence(document):
            note_dropped(replace(document, fences=[]), tree.notes)
            for block in document.blocks:
                tree.notes.add("list items beside the JSON dropped", block.text[:100])
            return read_value(parse_json(found), tree)
        _refuse_bare_json(document)
    if document.blocks or len(document.fences) == 1:
        return read_document(document, tree)
    try:
        value = parse_json(text)
    except DataError as error:
        raise DataError(
            f"{str(error).removesuffix('.')}. Give an object; a text may also be a list of "
            "[level, heading] pairs, or Markdown with headings (#) or list items (-)."
        ) from None
    return read_value(value, tree)


def _read_inside(text: str, tree: Builder) -> tuple[MindMap, list[str]] | None:
    return read_value(parse_json(text), tree) if begins_like_json(text) else read_text(text, tree)


def _tagged(text: str, notes: Notes) -> str:
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
    return inside


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
