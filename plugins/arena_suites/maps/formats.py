"""Formats in which mind-maps are written: text, JSON, Markdown, Mermaid, SVG."""

from __future__ import annotations

import json as standard
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from arena.errors import DataError, clip, did_you_mean
from arena.mindmap.pictures import draw
from arena.mindmap.tree import MindMap
from arena.plugins import Registry, mirror
from arena.text.display import count, shown

Write = TypeVar("Write", bound=Callable[[MindMap], str])


@dataclass(frozen=True)
class Format:
    """A way to write mind-maps: `write`, the first line of whose docstring describes the format.

    Suffixes have a dot and lower case, the usual one first.
    """

    write: Callable[[MindMap], str]
    suffixes: tuple[str, ...]

    def __post_init__(self) -> None:
        mirror(self, self.write)


FORMATS: Registry[Format] = Registry("mind-map format", base=Format)


def mind_map_format(name: str, *, suffixes: tuple[str, ...]) -> Callable[[Write], Write]:
    """Return a decorator that registers a function as the `write` of a `Format`."""

    def register(write: Write) -> Write:
        FORMATS.register(name)(Format(write, suffixes))
        return write

    return register


def render(tree: MindMap, format: str = "text") -> str:
    """Return a mind-map in a format: text, json, markdown, mermaid, svg or one of your own.

    The same map gives the same characters on every machine.

    Example:
        >>> from arena.mindmap import MindMap
        >>> tree = MindMap("Graphs", (MindMap("Search", papers=("p1",)), MindMap("Colouring")))
        >>> print(render(tree), end="")
        Graphs
        ├── Search (1 paper)
        └── Colouring
    """
    return FORMATS.find(format).write(tree)


def format_of(file_name: str) -> str:
    """Return the name of the format that a file's suffix stands for."""
    known = {s: name for name in FORMATS.names() for s in FORMATS.get(name).suffixes}
    suffix = next((s for s in known if file_name.lower().endswith(s)), None)
    if suffix is None:
        raise DataError(
            f"{clip(file_name)}: its suffix is that of no format."
            f"{did_you_mean('.' + file_name.rpartition('.')[2], known)} Or name one: --format."
        )
    return known[suffix]


@mind_map_format("svg", suffixes=(".svg",))
def svg(tree: MindMap) -> str:
    """A picture; the pointer over a label shows the whole of it."""
    return draw([tree])


@mind_map_format("text", suffixes=(".txt",))
def text(tree: MindMap) -> str:
    """A tree drawn with lines, the papers of each node counted."""
    lines = []
    waiting = [(tree, "", "")]
    while waiting:
        node, first, later = waiting.pop()
        lines.append(f"{first}{_described(node)}\n")
        for number, child in enumerate(reversed(node.children)):
            last = number == 0
            waiting.append(
                (child, later + ("└── " if last else "├── "), later + ("    " if last else "│   "))
            )
    return "".join(lines)


def _described(node: MindMap) -> str:
    label = shown(node.label) or "·"
    if not node.papers:
        return label
    return f"{label} ({count(len(node.papers), 'paper')})"


@mind_map_format("json", suffixes=(".json",))
def json(tree: MindMap) -> str:
    """Nested objects with label, children and papers; nothing is lost."""
    return standard.dumps(tree.to_json(), indent=2) + "\n"


# Markdown: the title a heading, the rest nested bullets, escaped where it looks like more

ID = re.compile(r"&#|\d{4}|[^\W\d]\D*+\d|\d[^\W\d]")  # no number, task or word: [1], [x], [NLP]
_LONG = 120  # what `read_mind_map` takes for the label of a bullet that is not bold
_MARKS = re.compile(r"[\\`*_\[\]<$~]|&(?=#?\w+;)|\{(?=[-:#.\s])|^[-+=>#{]|#(?=#*$)")
_NUMBER = re.compile(r"\(?(?:\d{1,9}(?=[\s.):–—-]|$)|(?:[A-Za-z]|[IVXivx]+)(?=[.):]))")
_TAG = re.compile(r"\\<(?=/?typology>)")  # what `read_mind_map` looks for in any text
_KEY = re.compile(r"""(["']?(?:label|name|children|subtopics)["']?\s*):""")  # of YAML


@mind_map_format("markdown", suffixes=(".md", ".markdown"))
def markdown(tree: MindMap) -> str:
    """The root as a heading, the rest as nested bullets; papers as ``- [id]``."""
    lines = []
    # With no heading above it, a bullet that stands alone would be read as the root.
    if shown(tree.label) or len(tree.children) == 1 or tree.papers:
        lines.append(f"# {_escaped(tree.label)}".rstrip() + "\n")
        lines += ["\n"] if tree.children or tree.papers else []
    for level, node in tree.levels():
        label = _escaped(node.label)
        if len(label) > _LONG:
            label = f"**{label}**"
        if level:
            lines.append(f"{'  ' * (level - 1)}- {label}".rstrip() + "\n")
        lines += [f"{'  ' * level}- [{_entities(paper)}]\n" for paper in node.papers if paper]
    return "".join(lines)


def _entities(paper: str) -> str:
    """Return an id as it stands in square brackets: entities for all but letters, digits, ``-./:``.

    The first character is one if the id could be a word, which in brackets begins a label.
    """
    text = re.sub(r"_|[^\w ./:-]|^ | $|(?<= ) ", lambda match: f"&#{ord(match[0])};", paper)
    return text if ID.search(text) else f"&#{ord(paper[0])};{text[1:]}"


def _escaped(label: str) -> str:
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


# Mermaid, which GitHub, GitLab and many editors draw

# Mermaid takes labels for Markdown, and parts of them for its own directives, icons, comments or
# formulas. All but letters, digits and marks of plain prose goes in as a character code, and so
# do dots and hyphens where they make a list or a link.
_PLAIN = re.compile(r"[^\w ,.()/'?\-\u200c\u200d]|_")
_LIST = re.compile(r"^(\d+)([.)])|^-")
_LINK = re.compile(r"(?<=www)\.", re.IGNORECASE)


@mind_map_format("mermaid", suffixes=(".mmd", ".mermaid"))
def mermaid(tree: MindMap) -> str:
    """A mindmap diagram of Mermaid 11; papers are left out."""
    lines = ["mindmap\n"]
    for number, (level, node) in enumerate(tree.levels()):
        opening, closing = ("((", "))") if level == 0 else ("(", ")") if level == 1 else ("[", "]")
        lines.append(f'{"  " * (level + 1)}n{number}{opening}"{_encoded(node.label)}"{closing}\n')
    return "".join(lines)


def _encoded(label: str) -> str:
    """Return a label as it stands between quotes in Mermaid; a blank one for an empty one."""
    text = shown(label) or "\u00a0"
    text = _PLAIN.sub(lambda match: _code(match[0]), text)
    text = _LIST.sub(lambda f: f"{f[1]}{_code(f[2])}" if f[1] else _code("-"), text)
    return _LINK.sub(_code("."), text)


def _code(character: str) -> str:
    return f"#{ord(character)};"
