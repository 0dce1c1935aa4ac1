"""Reading a report in Markdown: its blocks, its sections and the statements in them."""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING

import arena.counted as re
from arena.errors import DataError, clip
from arena.report.latex import from_latex
from arena.report.marks import GROUP, cited_ids, find_marks, unwrap
from arena.report.model import (
    BREAK,
    HIDDEN,
    MATH,
    Bibliography,
    Inline,
    Link,
    Report,
    ReportSection,
    TextBlock,
)
from arena.report.readers import ReportReader, report_reader_in_use
from arena.report.sentences import MARK, Draft, add_statements, as_statements
from arena.text.cleaning import with_line_breaks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"---[ \t]*\n[^:\n]*+:.*\n(?:.*\n)*?---[ \t]*(?:\n|\Z)")

_ANCHORED = re.compile(
    r"(?<!\[)\[(\d{1,4}(?:[,–-]\s?\d{1,4})*)\]\(<?#[^()\s]{0,99}\)"
)  # [1](#ref-1)


_LISTED = re.compile(  # "Sources:" right above the first entry
    r"^([^\w\n]*(?:sources|references|citations)\W*?)\n(?=\W{0,3}1\W)", re.MULTILINE | re.IGNORECASE
)


def read_report(source: str | bytes | Path, styles: Collection[str] | None = None) -> Report:
    """Read a report in Markdown, or in a form that a registered reader knows.

    Args:
        source: Text, bytes, or the path of a file; a str is always a text.
        styles: Names of the styles whose marks count, of `ReportReader.styles`; by default all.

    Raises:
        UnreadableError: The text is too complex, or a reader fails at it.
    """
    if isinstance(source, Path):
        source = source.read_bytes()
    text = source if isinstance(source, str) else decode(source)
    return _read(text, None if styles is None else frozenset(styles))


@functools.lru_cache(maxsize=4)  # it is checked when it is submitted, and then scored
def _read(text: str, styles: Collection[str] | None) -> Report:
    with re.reading(text):
        return _read_text(with_line_breaks(text), styles)


def _read_text(text: str, styles: Collection[str] | None) -> Report:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\x00", "").replace(MARK, "").replace(BREAK, "")
    reader = report_reader_in_use()
    text = reader.as_markdown(text)
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
    text = _LISTED.sub(r"\1\n\n", unwrap(text).replace("[cite_start]", ""))
    text = from_latex(_ANCHORED.sub(r"[\1]", text))
    # Exports escape the brackets of their marks; who writes [@id] means what is escaped literally.
    blocks = parse(text, literal=bool(cited_ids(text)))
    title, start = "", 0
    if blocks and blocks[0].level == 1:
        first = blocks[0].inline.text
        if not (reader.is_contents(first) or reader.is_list(first)):
            title, start = " ".join(first.split()), blocks.pop(0).end
    body, listed = reader.part(blocks)
    chapters = _chapters(body, listed, reader)
    lines = text.split("\n")
    shown = {block.line for block in body}
    for block in blocks:
        if block.line not in shown:  # of the reference list: no part of a section
            lines[block.line : block.end] = [""] * (block.end - block.line)
    ends = [block.line for block in blocks if block.level] + [len(lines)]
    sections = _sections(body, lines, start, ends)
    known = reader.styles()
    chosen = {name: known[name] for name in known if styles is None or name in styles}
    references = {each.key: each for _, chapter in chapters for each in chapter.references}
    drafts: list[Draft] = []
    used: set[str] = set()
    section = len(sections) - 1 - sum(block.level > 0 for block in body)
    for place, block in enumerate(body):
        if block.level:
            section += 1
        elif not reader.is_contents(sections[section].heading):
            bibliography = next(each for end, each in chapters if place < end)
            marks = find_marks(block.inline, bibliography, chosen, used)
            for reference in (each for mark in marks for each in mark.references):
                references.setdefault(reference.key, reference)
            add_statements(drafts, block.inline, marks, section)
    found = tuple(references.values())
    unread = ""
    if styles is None and listed and not any(keys for _, _, keys in drafts):
        entries = sum(bool(each.text) for each in found)
        unread = f"no citation in its text is recognised; entries of its list: {entries}"
    return Report(title, tuple(sections), as_statements(drafts), found, tuple(sorted(used)), unread)


def _chapters(
    body: Sequence[TextBlock], listed: Sequence[TextBlock], reader: ReportReader
) -> list[tuple[int, Bibliography]]:
    """Return the lists of a report, and before which of its blocks the text that cites each ends.

    Several lists are one, except where two begin with number 1: then each is its chapter's.
    """
    lines = [block.line for block in body]
    groups: dict[int, list[TextBlock]] = {}
    for block in listed:
        groups.setdefault(bisect_left(lines, block.line), []).append(block)
    lists = [reader.references(group) for group in groups.values()]
    if sum("1" in each.names for each in lists) < 2:
        groups, lists = {}, [reader.references(listed)]
    chapters: list[tuple[int, Bibliography]] = []
    taken, start = set[str](), 0
    for end, each in zip([*list(groups)[:-1], len(body)], lists, strict=True):
        new = {r: r._replace(key=f"{r.key} ({len(chapters) + 1})") for r in each.references}
        new = {r: new[r] if r.key in taken else r for r in each.references}
        taken |= {r.key for r in new.values()}
        each = each._replace(
            references=tuple(new.values()), names={name: new[r] for name, r in each.names.items()}
        )
        chapters.append((end, reader.as_cited(each, [block.inline for block in body[start:end]])))
        start = end
    return chapters


def decode(data: bytes) -> str:
    """Return the text of bytes: UTF-8, UTF-16 or UTF-32 with its mark, or else Latin-1.

    UTF-8 may have a few faults.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        if b"\x00" in data:
            raise DataError(f"{clip(data, 40)} is not text: give a report in UTF-8.") from None
        text = data.decode("utf-8", "replace")
        is_utf8 = 2 * text.count("\ufffd") < len(text) - sum(map(str.isascii, text))
        return text if is_utf8 else data.decode("cp1252", "replace")


_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def _sections(
    blocks: Sequence[TextBlock], lines: Sequence[str], start: int, ends: Sequence[int]
) -> list[ReportSection]:
    """Return the sections, which begin after `start` and end at one of `ends`."""

    def source(begin: int) -> str:
        return "\n".join(lines[begin : ends[bisect_left(ends, begin)]]).strip()

    heads = [block for block in blocks if block.level]
    top = min((block.level for block in heads), default=1)
    unnamed = [ReportSection("", 1, source(start))] if blocks and not blocks[0].level else []
    return unnamed + [
        ReportSection(" ".join(head.inline.text.split()), head.level - top + 1, source(head.end))
        for head in heads
    ]


# The blocks of Markdown, through markdown-it-py

_RAISED = re.compile(r"\s*+(?:\{\s*+)?(?:\}\s*+)?\^\s*+(?:\{([\d\s,;–-]+)\}|(\d))\s*")
_MARK = re.compile(r"\s*(?:\d{1,3}(?:(?:\s|\\quad|,)+\d{1,3})*|\[\d{1,3} \+ [^\[\]]*\])\s*")
_CELL = re.compile(r"</?(?:p|div|td|th|tr|li|br)\b", re.IGNORECASE)
_TAG = re.compile(
    r"<!|</?(?:a|abbr|b|big|cite|del|details|em|font|h[1-6]|i|img|ins|kbd|mark|ol|q|s|small|span|strong"
    r"|sub|summary|table|tbody|tfoot|thead|u|ul)\b",
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(r"<(/?)sup\b[^>]*>", re.IGNORECASE)


def parse(text: str, literal: bool = False) -> list[TextBlock]:
    """Return the blocks of Markdown in order; blocks of code are none.

    If `literal`, what a backslash escapes is hidden from the search for marks.
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
        elif kind == "inline" and token.map and (heading or row is not None or _shown(token)):
            inline = flatten(token.children or [], literal)
            if row is not None:
                row.append(inline)
            else:
                first, end = token.map
                blocks.append(TextBlock(heading, first, end, number, is_item, inline))
            number, is_item = "", False
    return blocks


def _shown(token: Token) -> bool:
    """Return whether a paragraph has more than blanks, as U+3000 is one."""
    return bool(token.content.strip())


def _joined(cells: Sequence[Inline]) -> Inline:
    cells = list(dropwhile(lambda cell: not cell.text, cells))
    links, size = [], 0
    for cell in cells:
        links += [Link(size + a, size + b, *more) for a, b, *more in cell.links]
        size += len(cell.text) + len(" | ")
    text, bare = " | ".join(cell.text for cell in cells), " | ".join(cell.bare for cell in cells)
    return Inline(text, bare, tuple(links))


def flatten(tokens: Sequence[Token], literal: bool) -> Inline:
    """Return the plain text of the tokens of a paragraph."""
    shown: list[str] = []
    bare: list[str] = []
    links: list[Link] = []
    opened: list[Link] = []
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
            opened.append(
                Link(size, size, str(token.attrs["href"]), str(token.attrs.get("title", "")))
            )
        elif kind == "link_close" and opened:
            links.append(opened.pop()._replace(end=size))
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
