"""The blocks of a Markdown text, through markdown-it-py."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from arena.report.model import BREAK, HIDDEN, Inline, Link
from arena.report.pandoc import GROUP

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MATH = re.compile(
    r"\$\$(?P<display>.+?)\$\$"
    r"|\$(?P<inline>(?:[^$\\]|\\.){1,2000}?)\$(?!\d)"
    r"|\\\((?P<round>.{1,2000}?)\\\)"
    r"|\\\[(?P<square>(?!\s*\^?[\d,;\s–-]+\\\])[^\[\]]{1,5000}?)\\\]",
    re.DOTALL,
)
_RAISED = re.compile(r"\s*\{?\s*\}?\s*\^\s*(?:\{([\d\s,;–-]+)\}|(\d))\s*")
_MARK = re.compile(r"\s*(?:\d{1,3}(?:(?:\s|\\quad|,)+\d{1,3})*|\[\d{1,3} \+ [^\[\]]*\])\s*")
_CELL = re.compile(r"</?(?:p|div|td|th|tr|li|br)\b", re.IGNORECASE)
_TAG = re.compile(
    r"<!|</?(?:a|abbr|b|big|cite|del|details|em|font|h[1-6]|i|img|ins|kbd|mark|ol|q|s|small|span|strong"
    r"|sub|summary|table|tbody|tfoot|thead|u|ul)\b",
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(r"<(/?)sup\b[^>]*>", re.IGNORECASE)


class TextBlock(NamedTuple):
    """A heading, paragraph, list item, row of a table, or a block of HTML.

    Attributes:
        level: Level of a heading, from 1; 0 for anything else.
        line: Its first line, from 0.
        end: The line after its last.
        number: Number of a numbered list's item, whose first paragraph this is.
        is_item: Whether it is the first paragraph of a list item.
        inline: Its text.
    """

    level: int
    line: int
    end: int
    number: str
    is_item: bool
    inline: Inline


def parse(text: str, literal: bool = False) -> list[TextBlock]:
    """Return the blocks of a text in order; blocks of code are none.

    Args:
        text: Markdown.
        literal: Whether what a backslash escapes is hidden from the search for marks.
    """
    blocks: list[TextBlock] = []
    row: list[Inline] | None = None
    heading, number, is_item = 0, "", False
    for token in _parser().parse(text):
        kind = token.type
        if kind == "heading_open" and token.markup != "-":  # a rule
            heading = int(token.tag[1])
        elif kind == "heading_close":
            heading = 0
        elif kind == "list_item_open":
            number, is_item = token.info, True
        elif kind == "tr_open":
            row, place = [], token.map or (0, 0)
        elif kind == "tr_close" and row:
            blocks.append(TextBlock(0, place[0], place[1], "", False, _joined(row)))
            row = None
        elif kind == "inline" and token.map:
            inline = flatten(token.children or [], literal)
            if row is not None:
                row.append(inline)
            else:
                first, end = token.map
                blocks.append(TextBlock(heading, first, end, number, is_item, inline))
            number, is_item = "", False
    return blocks


def _joined(cells: Sequence[Inline]) -> Inline:
    text, bare, links = "", "", []
    for cell in cells:
        if text:
            text, bare = f"{text} | ", f"{bare} | "
        links += [Link(len(text) + a, len(text) + b, where) for a, b, where in cell.links]
        text, bare = text + cell.text, bare + cell.bare
    return Inline(text, bare, tuple(links))


def flatten(tokens: Sequence[Token], literal: bool) -> Inline:
    """Return the plain text of the tokens of a paragraph."""
    shown: list[str] = []
    bare: list[str] = []
    links: list[Link] = []
    opened: list[tuple[int, str]] = []
    size = 0
    for token in tokens:
        kind, content = token.type, token.content
        hidden = kind in ("code_inline", "math") or (literal and token.info == "escape")
        if kind in ("softbreak", "hardbreak"):
            content = "\n"
        elif kind == "html_inline":
            raised = _SUPERSCRIPT.fullmatch(content)
            cell = _CELL.match(content)
            if raised or cell or _TAG.match(content):
                content = ("}" if raised[1] else "^{") if raised else BREAK if cell else ""
        elif kind == "link_open":
            opened.append((size, str(token.attrs["href"])))
        elif kind == "link_close" and opened:
            links.append(Link(opened[-1][0], size, opened.pop()[1]))
        elif kind == "image":
            content = ""
        elif kind == "math" and (raised := _RAISED.fullmatch(token.meta["inside"])):
            content, hidden = f"^{{{raised[1] or raised[2]}}}", False
        elif kind == "math" and _MARK.fullmatch(token.meta["inside"]):  # as recognised text has it
            content, hidden = re.sub(r"\\\w+|[{}]", "", token.meta["inside"]).strip(), False
        shown.append(content)
        bare.append(HIDDEN * len(content) if hidden else content)
        size += len(content)
    return Inline("".join(shown), "".join(bare), tuple(links))


def _math(state: StateInline, silent: bool) -> bool:
    """Read a formula, so that no star or underscore in it sets a font."""
    if state.src[state.pos] not in "$\\" or not (match := MATH.match(state.src, state.pos)):
        return False
    if "[@" in match[0]:  # two prices with a citation between them
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = match[0]
        token.meta = {"inside": match[match.lastgroup or 0]}
    state.pos = match.end()
    return True


def _group(state: StateInline, silent: bool) -> bool:
    """Keep a group of Pandoc's as it is, whatever is in an id."""
    if state.src[state.pos] != "[" or not (match := GROUP.match(state.src, state.pos)):
        return False
    if not silent:
        state.push("text", "", 0).content = match[0]
    state.pos = match.end()
    return True


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # Models indent text more often than code; an address behind [1]: is an entry of a list.
    parser.disable(["code", "html_block", "reference", "text_join"])
    parser.inline.ruler.before("escape", "math", _math)
    parser.inline.ruler.before("math", "group", _group)
    return parser
