"""Mindmap diagrams of Mermaid, as language models and `arena.mindmap.render` write them."""

from __future__ import annotations

import arena.counted as re
from arena.mindmap.builder import Builder
from arena.mindmap.tree import MindMap
from arena.text.cleaning import read_entities
from arena_suites.maps.outlines import OutlineEntry, grow

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


def read_mermaid(text: str, tree: Builder) -> tuple[MindMap, list[str]] | None:
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
