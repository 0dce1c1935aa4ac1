"""Markdown: the title a heading, the rest nested bullets, escaped where it looks like more."""

from __future__ import annotations

import re

from arena.mindmap.formats import FORMATS, Format
from arena.mindmap.tree import MindMap
from arena.text.display import shown

_LONG = 120  # what `read_mind_map` takes for the label of a bullet that is not bold
_MARKS = re.compile(r"[\\`*_\[\]<$~]|&(?=#?\w+;)|^[-+=>#{]|#(?=#*$)")
_NUMBER = re.compile(r"\(?(?:\d{1,9}(?=[\s.):–—-]|$)|(?:[A-Za-z]|[IVXivx]+)(?=[.):]))")
_TAG = re.compile(r"\\<(?=/?typology>)")  # what `read_mind_map` looks for in any text
_KEY = re.compile(r"""(["']?(?:label|name|children|subtopics)["']?\s*):""")  # of YAML


def markdown(tree: MindMap) -> str:
    """The root as a heading, the rest as nested bullets; papers are left out."""
    lines = []
    # With no heading above it, a bullet that stands alone would be read as the root.
    if shown(tree.label) or len(tree.children) == 1:
        lines.append(f"# {escaped(tree.label)}".rstrip() + "\n")
        lines += ["\n"] if tree.children else []
    waiting = [(child, 0) for child in reversed(tree.children)]
    while waiting:
        node, level = waiting.pop()
        label = escaped(node.label)
        if len(label) > _LONG:
            label = f"**{label}**"
        lines.append(f"{'  ' * level}- {label}".rstrip() + "\n")
        waiting.extend((child, level + 1) for child in reversed(node.children))
    return "".join(lines)


def escaped(label: str) -> str:
    """Return a label that Markdown shows as it is, and that is read back as it is."""
    text = shown(label)
    number = _NUMBER.match(text)
    body, colon = (text[:-1], "&#58;") if text.endswith(":") else (text, "")
    body = _TAG.sub("&lt;", _MARKS.sub(r"\\\g<0>", body))
    text = _KEY.sub(r"\1\\:", body, count=1) if _KEY.match(body) else body
    text += colon
    if number is None:
        return text
    # Else it would be a section's, or a list in the list.
    end = number.end()
    if end <= 4 and text[end : end + 1] in (".", ")"):
        return f"{text[:end]}\\{text[end:]}"
    return f"&#{ord(text[0])};{text[1:]}"


FORMATS.register("markdown")(Format(markdown, (".md", ".markdown")))
