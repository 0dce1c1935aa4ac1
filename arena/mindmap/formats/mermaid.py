"""Mermaid, which GitHub, GitLab and many editors draw."""

from __future__ import annotations

import re

from arena.mindmap.formats import FORMATS, Format
from arena.mindmap.tree import MindMap
from arena.text.display import shown

# Mermaid takes labels for Markdown, and parts of them for its own directives, icons, comments or
# formulas. All that is no letter, digit or mark of plain prose goes in as a character code, and so
# do dots and hyphens where they make a list or a link.
_PLAIN = re.compile(r"[^\w ,.()/'?\-\u200c\u200d]|_")
_LIST = re.compile(r"^(\d+)([.)])|^-")
_LINK = re.compile(r"(?<=www)\.", re.IGNORECASE)


def mermaid(tree: MindMap) -> str:
    """A mindmap diagram of Mermaid 11; papers are left out."""
    lines = ["mindmap\n"]
    waiting = [(tree, 0)]
    while waiting:
        node, level = waiting.pop()
        opening, closing = ("((", "))") if level == 0 else ("(", ")") if level == 1 else ("[", "]")
        name = f"n{len(lines) - 1}"
        lines.append(f'{"  " * (level + 1)}{name}{opening}"{encoded(node.label)}"{closing}\n')
        waiting.extend((child, level + 1) for child in reversed(node.children))
    return "".join(lines)


def encoded(label: str) -> str:
    """Return a label as it stands between quotes in Mermaid; a blank one for an empty one."""
    text = shown(label) or "\u00a0"
    text = _PLAIN.sub(lambda match: _code(match[0]), text)
    text = _LIST.sub(lambda f: f"{f[1]}{_code(f[2])}" if f[1] else _code("-"), text)
    return _LINK.sub(_code("."), text)


def _code(character: str) -> str:
    return f"#{ord(character)};"


FORMATS.register("mermaid")(Format(mermaid, (".mmd", ".mermaid")))
