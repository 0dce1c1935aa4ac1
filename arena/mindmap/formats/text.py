"""A tree for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from arena.mindmap.formats import FORMATS, Format
from arena.mindmap.tree import MindMap
from arena.text.display import columns, shown

_CAPTIONED = 64  # columns of a map that has another one to its right


def text(tree: MindMap) -> str:
    """A tree drawn with lines, the papers of each node counted."""
    return "".join(f"{line}\n" for line in _lines(tree))


def beside(
    maps: Sequence[MindMap], captions: Sequence[str], marks: Sequence[Mapping[str, int]]
) -> str:
    """Return maps in columns, matches marked ``=1``; lines of more than 64 characters are cut."""
    blocks = [
        [shown(caption), "", *_lines(tree, numbers)]
        for tree, caption, numbers in zip(maps, captions, marks, strict=True)
    ]
    # The last map has nothing to its right: it is neither cut nor padded.
    filled = [_padded([_cut(line) for line in block]) for block in blocks[:-1]]
    rows = zip_longest(*filled, blocks[-1], fillvalue=None)
    blanks = [*(" " * columns(block[0]) for block in filled), ""]
    return "".join(
        " | ".join(
            blank if cell is None else cell for cell, blank in zip(row, blanks, strict=True)
        ).rstrip()
        + "\n"
        for row in rows
    )


FORMATS.register("text")(Format(text, (".txt",), beside))


def _lines(tree: MindMap, marks: Mapping[str, int] | None = None) -> list[str]:
    lines = []
    waiting = [(tree, "", "")]
    while waiting:
        node, first, later = waiting.pop()
        mark = (marks or {}).get(node.label) if first else None
        lines.append(first + _described(node) + (f" ={mark}" if mark else ""))
        for number, child in enumerate(reversed(node.children)):
            last = number == 0
            waiting.append(
                (child, later + ("└── " if last else "├── "), later + ("    " if last else "│   "))
            )
    return lines


def _described(node: MindMap) -> str:
    label = shown(node.label) or "·"
    if not node.papers:
        return label
    return f"{label} ({len(node.papers):,} paper{'s' if len(node.papers) != 1 else ''})"


def _cut(line: str) -> str:
    if columns(line) <= _CAPTIONED:
        return line
    while columns(line) >= _CAPTIONED:
        line = line[:-1]
    return line + "…"


def _padded(lines: list[str]) -> list[str]:
    widest = max(map(columns, lines))
    return [line + " " * (widest - columns(line)) for line in lines]
