"""Texts with a mind-map: which of the forms one is in."""

from __future__ import annotations

import itertools
from dataclasses import replace

import arena.counted as re
from arena.errors import DataError
from arena.mindmap.builder import Builder, Notes, describe
from arena.mindmap.reading import begins_like_json, parse_json, read_value
from arena.mindmap.tree import MindMap
from arena.text.cleaning import read_entities
from arena_suites.maps._markdown import (
    Document,
    note_dropped,
    parse_document,
    read_document,
    with_breaks,
)
from arena_suites.maps.outlines import OutlineEntry, grow

_OPEN, _CLOSE = "<typology>", "</typology>"


def read_text(text: str, tree: Builder) -> tuple[MindMap, list[str]] | None:
    """Read a text: a tagged typology, a diagram of Mermaid, fenced JSON, or Markdown."""
    text = with_breaks(text, tree)
    if _OPEN in text and _CLOSE in text:
        inside = _tagged(text, tree.notes)
        as_json = begins_like_json(inside)
        return read_value(parse_json(inside), tree) if as_json else read_text(inside, tree)
    document = parse_document(text)
    if not document.headings:
        if diagram := _read_mermaid(text, tree):
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


# Mindmap diagrams of Mermaid, as language models and `arena_suites.maps.formats` write them

_FENCE = r"^[ \t]*+```"
_DIAGRAM = re.compile(
    rf"(?:\A|{_FENCE}[ \t]*+mermaid[^\n]*+\n)\s*+(?:%%[^\n]*+\n\s*+)*+mindmap[ \t]*+\n",
    re.MULTILINE,
)
_END = re.compile(_FENCE, re.MULTILINE)
_PASSED_OVER = re.compile(r"(?:%%|::icon\(|:::).*|")
_SHAPE = re.compile(  # id((label)), id["label"], id)label(, id{{label}}
    r"[^\s()\[\]{}\"]*(?:\(\(|\)\)|\{\{|[(\[)])(.*?)(?:\)\)|\(\(|\}\}|[)\](])(?::::.*)?"
)


def _read_mermaid(text: str, tree: Builder) -> tuple[MindMap, list[str]] | None:
    """Return the map of a diagram that a text is, or has between fences; None without one."""
    if (diagram := _DIAGRAM.search(text)) is None:
        return None
    end = _END.search(text, diagram.end())
    around = text[: diagram.start()] + (text[end.end() :] if end else "")
    if around.strip():
        tree.notes.add("text around the diagram dropped", " ".join(around[:200].split()))
    columns: list[int] = []
    entries = []
    for line in text[diagram.end() : end.start() if end else None].expandtabs(4).split("\n"):
        said = line.partition(":::")[0].strip()
        if _PASSED_OVER.fullmatch(said):
            continue
        column = len(line) - len(line.lstrip())
        while columns and columns[-1] >= column:
            columns.pop()
        shape = _SHAPE.fullmatch(said)
        label = re.sub(r"<br ?/?>", " ", (shape[1] if shape else said).strip('"`'))
        label = re.sub("#([A-Za-z]+;)", r"&\1", re.sub(r"#(\d+;)", r"&#\1", label))
        entries.append(OutlineEntry(len(columns), read_entities(label), literal=True))
        columns.append(column)
    return grow(entries, tree)
