"""The blocks of a Markdown text that a mind-map can come from: headings, list items, fences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from arena.mindmap._building import MAX_DEPTH

_SETEXT = re.compile(r" {0,3}(=+|-{2,})\s*")
_MAX_SETEXT = 200  # a longer line above a rule is a paragraph
_FENCE = re.compile(r"(`{3,}|~{3,})\s*([^`]*)$")
_ITEM = re.compile(r"([-*+•◦▪‣]|\d{1,9}[.)])(?:\s+|$)(.*)", re.DOTALL)
_SUBITEM = re.compile(r"(\d{1,2}(?:\.\d{1,2})+)[.)]?\s+(.*)", re.DOTALL)
_RULES = {"-", "*", "_"}
_BLANKS = " \t\u00a0\u3000"  # before a line; the last is the space of Chinese, two columns wide
_WIDE = str.maketrans({"\u00a0": " ", "\u3000": "  "})


@dataclass(slots=True)
class Block:
    """A heading or a list item: `level` is 0 for ``#``; lines of one item are joined."""

    level: int
    lines: list[str]
    is_item: bool

    @property
    def text(self) -> str:
        """The text, with its white space collapsed."""
        return " ".join(" ".join(self.lines).split())


@dataclass(slots=True)
class Document:
    """What a text holds, in order."""

    blocks: list[Block] = field(default_factory=list)
    paragraphs: list[list[str]] = field(default_factory=list)
    fences: list[tuple[str, list[str]]] = field(default_factory=list)  # language, lines
    front_matter: bool = False

    @property
    def headings(self) -> int:
        """How many headings there are."""
        return sum(not block.is_item for block in self.blocks)


def blocks(text: str) -> Document:
    """Return the blocks of a text, in time linear in its length.

    Other than in CommonMark: two columns more than the item above make a deeper item whatever the
    marker; a list may begin with any number and at any indentation; ``•◦▪‣`` are markers, and
    so is ``2.1`` below an item 2, wherever it begins, and ``2.2`` after that; seven ``#`` and more
    are a heading; a rule under a paragraph of several lines makes no heading of it.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    reader = _Reader()
    after = _front_matter(lines)
    reader.found.front_matter = after > 0
    for line in lines[after:]:
        reader.take(line)
    return reader.found


def _front_matter(lines: list[str]) -> int:
    """Return how many lines at the top are front matter."""
    if len(lines) > 2 and lines[0].rstrip() == "---" and ":" in lines[1]:
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == "---":
                return number + 1
    return 0


class _Reader:
    def __init__(self) -> None:
        self.found = Document()
        self._heading = 0  # level of what stands under the last heading, less that of the text
        self._indents: list[int] = []
        self._numbers: list[str] = []  # of the same items, "" for a bullet
        self._open: list[str] | None = None  # lines of the item or paragraph that may go on
        self._paragraph = False
        self._fence = ""

    def take(self, line: str) -> None:
        stripped = line.strip()
        if self._fence:
            self._inside_fence(line, stripped)
        elif not stripped:
            self._open = None
        elif fence := _FENCE.match(stripped):
            self._open, self._fence = None, fence[1]
            self.found.fences.append((fence[2].strip().lower(), []))
        elif heading := _atx(line, stripped):
            self._add_heading(*heading)
        elif self._is_underline(line):
            title = self.found.paragraphs.pop()[0]
            self._add_heading(0 if stripped[0] == "=" else 1, title)
        elif _is_rule(stripped):
            self._open = None
        elif (item := _ITEM.match(stripped)) and not self._is_text(item[1]):
            self._add_item(line, item[2], item[1].rstrip(".)") if item[1][0].isdigit() else "")
        elif (item := _SUBITEM.match(stripped)) and self._goes_on(item[1], line):
            self._add_item(line, item[2], item[1])
        elif self._open is not None:
            self._open.append(stripped)
        else:
            if line[0] not in _BLANKS:
                self._indents.clear()
                self._numbers.clear()
            self._open, self._paragraph = [stripped], True
            self.found.paragraphs.append(self._open)

    def _inside_fence(self, line: str, stripped: str) -> None:
        mark = self._fence[0]
        if stripped.startswith(self._fence) and not stripped.strip(mark):
            self._fence = ""
        else:
            self.found.fences[-1][1].append(line)

    def _is_text(self, marker: str) -> bool:
        """Return whether a line of a paragraph begins with a number by chance."""
        in_paragraph = self._open is not None and self._paragraph
        return in_paragraph and marker[0].isdigit() and int(marker[:-1]) != 1

    def _is_underline(self, line: str) -> bool:
        return (
            self._open is not None
            and self._paragraph
            and len(self._open) == 1
            and len(self._open[0]) <= _MAX_SETEXT
            and _SETEXT.fullmatch(line) is not None
        )

    def _add_heading(self, level: int, text: str) -> None:
        self.found.blocks.append(Block(level, [text], False))
        self._heading, self._open = level, None
        self._indents.clear()
        self._numbers.clear()

    def _goes_on(self, number: str, line: str) -> bool:
        """Return whether 2.1 stands below an item 2, or 2.2 after an item 2.1."""
        in_bullet = self._open is not None and self._numbers and not self._numbers[-1]
        if in_bullet and _indent(line) >= self._indents[-1] + 2:
            return False  # the bullet's next line
        above, _, last = number.rpartition(".")
        before = f"{above}.{int(last) - 1}"
        among = self._numbers[:MAX_DEPTH]  # a deeper map is refused, and long lists take time
        return before in among or (last == "1" and above in among)

    def _add_item(self, line: str, text: str, number: str) -> None:
        indent = _indent(line)
        above = number.rpartition(".")[0]
        if above and above in self._numbers[:MAX_DEPTH]:
            while self._numbers[-1] != above:
                self._close()
            indent = max(indent, self._indents[-1])  # many do not indent what is numbered
        else:
            while self._indents and indent < self._indents[-1] + 2:
                self._close()
        self._indents.append(indent)
        self._numbers.append(number)
        self._open, self._paragraph = [text], False
        level = self._heading + len(self._indents)
        self.found.blocks.append(Block(level, self._open, True))

    def _close(self) -> None:
        self._indents.pop()
        self._numbers.pop()


def _indent(line: str) -> int:
    blanks = line[: len(line) - len(line.lstrip(_BLANKS))]
    return len(blanks.translate(_WIDE).expandtabs(4))


def _atx(line: str, stripped: str) -> tuple[int, str] | None:
    if stripped[0] != "#" or line[:4].isspace() or line[0] == "\t":
        return None
    text = stripped.lstrip("#")
    level = len(stripped) - len(text) - 1
    if text and not text[0].isspace():
        return None
    closed = text.rstrip("#")
    if not closed or closed[-1].isspace():
        text = closed
    return level, text.strip()


def _is_rule(stripped: str) -> bool:
    if stripped[0] not in _RULES or len(stripped) < 3:
        return False
    marks = "".join(stripped.split())
    return len(marks) >= 3 and not marks.strip(marks[0])
