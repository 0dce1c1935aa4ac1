"""Markdown outlines and nested lists, as models and people write them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import arena.counted as re
from arena.errors import DataError, clip
from arena.mindmap.builder import Builder, Notes, too_long
from arena.mindmap.tree import MAX_DEPTH, MindMap
from arena.text.cleaning import with_line_breaks
from arena_suites.maps.formats import ID
from arena_suites.maps.outlines import ROMANS, OutlineEntry, grow

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_ITEM = 120
"""Longer list items are text: of 5,675 labels in 333 taxonomies of surveys, 4 are longer."""

_REPORT = 5_000
_LONGEST_READ = 1_000  # more of a list item can neither be its label nor contain the end of one
_MAX_UNDERLINED = 200  # a longer line above a rule is a paragraph
_NESTING = 100  # of lists and items in one line, quotations

# A line with # is a comment of YAML before a key, and a heading between two rules before all else.
_FRONT_MATTER = re.compile(
    r"\s*(?:\+{3}[ \t]*\n(?:.*\n)*?\+{3}"
    r"|---[ \t]*\n(?>(?:#.*\n)*+[^\s#:-][^:\n]*:"
    r"(?:[ \t]*\n(?:(?:-?[ \t].*)?\n)*+|.*\n(?:(?:[ \t\]}].*)?\n)*+))++"
    r"(?:#[ \t]?[\w-]+:.*\n)*+(?:---|\.{3}))[ \t]*\n"
)
_INDENT = re.compile(r"^[ \t\u00a0\u3000]+", re.MULTILINE)
_WIDE = str.maketrans({"\u00a0": " ", "\u3000": "  "})  # the blank of Chinese has two columns
_BULLET = re.compile(r"^(?:[•◦▪▫‣⁃●○■□◆▶➢➤–·](?=\s)|[①-⑳])", re.MULTILINE)
_LETTERED = re.compile(
    r"^([ \t\u00a0\u3000]*)\(?((?<=\()\d{1,2}(?=\))|[A-Za-z]|[IVX]{1,7}|[ivx]{1,7})"
    r"[.)][ \t]+(?=\S)",
    re.MULTILINE,
)
_STARRED = re.compile(r"^([*+-])\1{1,5}(?= [^\s*])", re.MULTILINE)
_STARS = re.compile(r"^([*+-])\1{0,5}(?= )", re.MULTILINE)
_SUBITEM = re.compile(r"((?:\d{1,2}|[A-Z])(?:\.\d{1,2})+)[.)]?\s+(.*)", re.DOTALL)

_ESCAPE_OR_CODE = r"\\.|(?<!`)(?P<ticks>`+)(?!`).{1,400}?(?<!`)(?P=ticks)(?!`)"
# The parser's own rule of links takes quadratic time where many brackets are left open.
_LINK = re.compile(
    rf"(?:{_ESCAPE_OR_CODE})"
    r"|!?\[(?P<text>(?:[^\[\]\\]|\\.)*)\]"
    r"""\((?:\\.|[^\\\s()]|\([^()\s]*\))*(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)""",
    re.DOTALL,
)
_LITERALLY = re.compile(
    rf"(?:{_ESCAPE_OR_CODE})|(?P<kept>\$[^$]+\$|(?<=[^\W_])\*(?=[^\W_]))", re.DOTALL
)
_COMMENT = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,}).*?(?:^[ \t]*(?P=fence)|\Z)"
    rf"|(?:{_ESCAPE_OR_CODE})|(?P<comment><!--(?:-?>|.*?(?:-->|\Z)))",
    re.DOTALL | re.MULTILINE,
)
_ATTRIBUTES = re.compile(r"(?<!\\)\{(?:-|:?\s*(?:#[\w-]|\.[^\W\d])[^{},]*)\}$")
_TAG = re.compile(r"</?(?:a|b|br|code|em|i|mark|small|span|strong|sub|sup|u)\b[^<>]*>", re.I)

_PAPER = re.compile(  # [p1] Title, **[p1]** Title, [@p1]
    r"(?P<bold>\*\*|__)?\[@?(?P<id>(?:[^\[\]\\]|\\.){1,2000})\](?(bold)(?P=bold))(?=[:\s]|$)"
)
_TASK = re.compile(r"\[[ xX]\]\s+")
_LEAD = re.compile(r"(\*\*|__)((?:[^*_\\]|\\.|\*(?!\*)|_(?!_))+)\1(.*)", re.DOTALL)
_AFTER_LEAD = re.compile(r"\s*(?:$|:|\.(?=\s|$)|[–—]|-\s)")
_PARTED = re.compile(r":\s|\s[-–—]\s")
_LITERAL = re.compile(r"[ *_]*\(?\w{0,4}[&\\]")  # who escapes what begins a label means it
_YAML = re.compile(r"""["']?(?:label|name|children|subtopics)["']?\s*:""")


_COUNTED = ("abcdefghijklmnopqrstuvwxyz", tuple(ROMANS)[1:], tuple(map(str, range(1, 100))))


def read_markdown(text: str, lists: bool | None = None) -> tuple[MindMap, list[str]]:
    r"""Read the headings and lists of a Markdown text as a mind-map.

    A list item stands below the heading before it, or below the item above it if it begins at least
    two columns further right (a tab reaches to the next multiple of four). The tree, its root and
    section numbers are those of `read_outline`, with level 0 for ``#``. Of a text of one
    fenced block, with or without sentences around it, the inside is read.

    The label of a list item is what it begins with in bold, if a colon, full stop, dash or nothing
    follows; otherwise the whole item if that has at most 120 characters; otherwise what stands
    before its first colon or dash if that has. Any other item is text: it makes no label, and what
    is below it moves up. The bold way keeps any label whole. A section number, or a colon at the
    end, stays where its first, or last, character is written as an entity (``&#49;``). An item that
    begins with an id in square brackets, ``[p1] Title``, is a paper of what is above.

    Args:
        text: Markdown text.
        lists: Whether list items count. By default they do, but not in a report: a text with two
            headings and more, and more than 5,000 characters of paragraphs.

    Returns:
        The tree, and one sentence for each kind of thing that was dropped or repaired: paragraphs
        (tables and quotations are some), code blocks, HTML comments, front matter (YAML or TOML),
        list items of a report or too long for a label, explanations after labels, marks of Markdown
        (``{#anchor}`` at the end is one) in labels, and the repairs of `read_outline`.

    Example:
        >>> tree, notes = read_markdown("# Search\n- **Sparse**: by words\n  1. BM25\n- Dense")
        >>> [(node.label, len(node.children)) for node in tree.nodes()]
        [('Search', 2), ('Sparse', 1), ('BM25', 0), ('Dense', 0)]
        >>> for sentence in notes:
        ...     print(sentence)
        marks of Markdown in labels removed (1): '**Sparse**:'.
        explanations after labels dropped (1): 'by words' under 'Sparse'.
    """
    tree = Builder()
    with re.reading(text):
        text = with_breaks(text.removeprefix("\ufeff"), tree)
        return read_document(parse_document(text), tree, lists)


def with_breaks(text: str, tree: Builder) -> str:
    r"""Return a text with the line breaks that it has as ``\n``; the builder notes that."""
    if (broken := with_line_breaks(text)) is not text:
        tree.notes.add("line breaks written as \\n read", text[:100])
    return broken


def read_document(
    document: Document, tree: Builder, lists: bool | None = None
) -> tuple[MindMap, list[str]]:
    """Make a mind-map of a parsed document; the builder notes what is dropped."""
    if not document.blocks and len(document.fences) == 1:
        note_dropped(replace(document, fences=[]), tree.notes)
        document = parse_document(document.fences[0][1])
    if not document.blocks:
        raise DataError(
            "the text has neither Markdown headings (# ...) nor list items (- ...): give at least "
            "one."
        )
    note_dropped(document, tree.notes)
    if lists is None:
        characters = sum(len(line) for lines in document.paragraphs for line in lines)
        lists = document.headings < 2 or characters <= _REPORT
    entries = []
    for block in document.blocks:
        if not block.is_item or lists:
            entries.append(_entry(block, tree))
        else:
            tree.notes.add("list items dropped, the text is a report", block.text[:100])
    return grow(entries, tree)


def note_dropped(document: Document, notes: Notes) -> None:
    """Note the parts of a document that make no node."""
    for lines in document.paragraphs:
        notes.add("paragraphs dropped", " ".join(" ".join(lines)[:200].split()))
    for language, content in document.fences:
        notes.add("code blocks dropped", language or content.partition("\n")[0])
    for what, case in document.apart:
        notes.add(what, case)


# Blocks


@dataclass(slots=True)
class Block:
    """A heading or a list item: `level` is 0 for ``#``."""

    level: int
    lines: list[str]
    is_item: bool

    @property
    def text(self) -> str:
        """The text, with its white space collapsed."""
        return " ".join(" ".join(self.lines).split())


@dataclass(slots=True)
class Document:
    """The blocks of a Markdown text, each kind in order.

    Attributes:
        fences: Language and content of each fenced block.
        apart: HTML comments and front matter, each a sentence of the notes and its case.
    """

    blocks: list[Block] = field(default_factory=list)
    paragraphs: list[list[str]] = field(default_factory=list)
    fences: list[tuple[str, str]] = field(default_factory=list)
    apart: list[tuple[str, str]] = field(default_factory=list)

    @property
    def headings(self) -> int:
        """The number of headings."""
        return sum(not block.is_item for block in self.blocks)


def parse_document(text: str) -> Document:
    """Return the blocks of a text.

    They are those of CommonMark without indentation. The columns of list items alone say which is
    below which: two columns more than the item above make a deeper item, whatever the marker.
    Bullets of Word, ``①`` and the like are markers; so are ``a.``, ``(B)``, ``iv)`` and ``(1)``
    where those of a column count up, and ``2.1`` below an item 2 (``A.1`` below A), wherever it
    begins, and ``2.2`` after that. A rule under a paragraph of several lines makes no
    heading of it. Without ``#``, ``**`` is one.
    """
    apart: list[tuple[str, str]] = []
    if _STARRED.search(text) and "\n#" not in f"\n{text}":
        text = _STARS.sub(lambda match: "#" * len(match[0]), text)

    def without(match: re.Match[str]) -> str:
        comment = match["comment"]
        if not comment or comment[-1] != ">":  # code, or a comment that does not end
            return match[0]
        apart.append(("HTML comments dropped", " ".join(comment[:200].split())))
        return "\n" * comment.count("\n")

    text = _COMMENT.sub(without, text.replace("\r\n", "\n").replace("\r", "\n") + "\n")
    if front_matter := _FRONT_MATTER.match(text):
        text = text[front_matter.end() :]
        apart.append(("front matter dropped", front_matter[0].lstrip()[:3]))
    blocks = _Blocks(text.split("\n"))
    blocks.take(_parser().parse(_BULLET.sub("- ", _INDENT.sub("", _with_bullets(text)))))
    blocks.document.apart = apart
    return blocks.document


def _with_bullets(text: str) -> str:
    """Return a text with a bullet before each letter or number that counts up in a column."""
    columns: dict[tuple[str, str], set[str]] = {}
    for blanks, number in _LETTERED.findall(text):
        columns.setdefault((blanks, _kind(number)), set()).add(number.lower())
    known = {
        key
        for key, found in columns.items()
        if len(found) > 1 and any(found == set(all_of[: len(found)]) for all_of in _COUNTED)
    }

    def marked(match: re.Match[str]) -> str:
        is_item = (match[1], _kind(match[2])) in known
        return f"{match[1]}- {match[0].lstrip()}" if is_item else match[0]

    return _LETTERED.sub(marked, text)


def _kind(number: str) -> str:
    return "1" if number.isdigit() else "A" if number.isupper() else "a"


class _Blocks:
    """Collects a document from the tokens of markdown-it."""

    def __init__(self, source: list[str]) -> None:
        self.document = Document()
        self._source = source
        self._heading = 0  # level of what stands under the last heading, less that of the text
        self._columns: list[int] = []  # of the open list items, outermost first
        self._numbers: list[str] = []  # of the same items, "" for a bullet

    def take(self, tokens: Sequence[Token]) -> None:
        quotations = 0
        label: list[str] | None = None  # lines of an item whose label comes next
        for before, token in pairwise([*tokens[:1], *tokens]):
            if token.type in ("blockquote_open", "blockquote_close"):
                quotations += token.nesting
            elif token.type == "fence" and token.map:
                first = token.map[0] + 1
                lines = self._source[first : first + token.content.count("\n")]
                self.document.fences.append((token.info.strip().lower(), "\n".join(lines)))
            elif quotations:
                if token.type == "inline":
                    self.document.paragraphs.append(token.content.split("\n"))
            elif token.type == "list_item_open" and token.map:
                if token.level >= _NESTING - 1:
                    raise DataError(f"a line nests {_NESTING // 2} list items: give one a line.")
                row = token.map[0]
                lettered = _LETTERED.match(self._source[row])
                number = token.info or (lettered[2] if lettered else "")
                label = self._add_item(self._column(row), number)
            elif token.type == "list_item_close":
                label = None
            elif token.type == "inline" and token.map:
                if before.type == "heading_open" and label is None and not _is_rule(before, token):
                    self._add_heading(int(before.tag[1]) - 1, token.content)
                else:
                    self._add_lines(token, label)
                label = None

    def _add_heading(self, level: int, text: str) -> None:
        self.document.blocks.append(Block(level, [text], False))
        self._heading = level
        self._close(0)

    def _add_item(self, column: int, number: str) -> list[str]:
        """Add a list item; return its lines, none yet."""
        above = number.rpartition(".")[0]
        if above and above in self._numbers[:MAX_DEPTH]:
            self._close(len(self._numbers) - self._numbers[::-1].index(above))
            column = max(column, self._columns[-1])  # many do not indent what is numbered
        else:
            while self._columns and column < self._columns[-1] + 2:
                self._close(len(self._columns) - 1)
        self._columns.append(column)
        self._numbers.append(number)
        lines: list[str] = []
        level = self._heading + len(self._columns)
        self.document.blocks.append(Block(level, lines, True))
        return lines

    def _add_lines(self, token: Token, label: list[str] | None) -> None:
        """Add lines of a paragraph to an item's label, or as a paragraph; some are items."""
        assert token.map is not None
        lines = label
        for place, line in enumerate(token.content.split("\n")):
            number = _SUBITEM.fullmatch(line)
            row = token.map[0] + place
            if number and (place or label is None) and self._continues(number[1], row):
                lines, line = self._add_item(self._column(row), number[1]), number[2]
            elif lines is None:
                lines = []
                self.document.paragraphs.append(lines)
                if token.level == 1 and not self._column(row):
                    self._close(0)
            lines.append(line)

    def _continues(self, number: str, row: int) -> bool:
        """Return whether 2.1 stands below an item 2, A.1 below A, or 2.2 after an item 2.1."""
        if self._numbers and not self._numbers[-1] and self._column(row) >= self._columns[-1] + 2:
            return False  # it is the next line of a bullet's text
        above, _, last = number.rpartition(".")
        among = self._numbers[:MAX_DEPTH]  # a deeper map is refused, and long lists take time
        return f"{above}.{int(last) - 1}" in among or (last == "1" and above in among)

    def _close(self, depth: int) -> None:
        """Close all items but the outermost `depth`."""
        del self._columns[depth:], self._numbers[depth:]

    def _column(self, row: int) -> int:
        blanks = _INDENT.match(self._source[row])
        return len(blanks[0].translate(_WIDE).expandtabs(4)) if blanks else 0


def _is_rule(opening: Token, title: Token) -> bool:
    """Return whether a line of - or = ends a paragraph rather than underlining a heading."""
    underlined = opening.markup in ("-", "=")
    return underlined and ("\n" in title.content or len(title.content) > _MAX_UNDERLINED)


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _NESTING})
    # What stands within a line is parsed for labels alone.
    parser.disable(["code", "html_block", "reference", "inline", "link", "image"])
    return parser.enable("strikethrough")


# Labels


@functools.lru_cache(maxsize=4)  # an item is measured before it becomes a label
def plain(text: str) -> str:
    r"""Return `text` without emphasis, links, code marks, escapes, entities and a few HTML tags.

    As CommonMark, but that a star between two letters or digits is left alone, and so is what
    stands between two dollar signs.

    >>> plain(r"**Dense** [retrieval](http://x.y), `f_1` \*, $a_i b_j$ and 2*3*4 &amp; A*")
    'Dense retrieval, f_1 *, $a_i b_j$ and 2*3*4 & A*'
    """
    for _ in range(2):  # an image may stand in a link
        text = _LINK.sub(lambda m: m[0] if m["text"] is None else m["text"], text)
    text = _LITERALLY.sub(
        lambda m: re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", m["kept"]) if m["kept"] else m[0], text
    )
    tokens: list[Token] = []
    _parser().inline.parse(text, _parser(), {}, tokens)
    return "".join(_texts(tokens))


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "html_inline" and _TAG.fullmatch(token.content):
            yield " " if token.content[:3].lower() == "<br" else ""
        else:
            yield token.content


def _entry(block: Block, tree: Builder) -> OutlineEntry:
    """Return the heading that a block makes, without marks; with none if it is too long an item."""
    raw, rest = block.text, ""
    if not block.is_item:
        if len(raw) > _LONGEST_READ:
            raise too_long(raw)
        label, whole = raw, raw
    else:
        if (paper := _PAPER.match(raw)) and ID.search(paper["id"]):
            return OutlineEntry(block.level, None, is_item=True, paper=plain(paper["id"]))
        whole = _TASK.sub("", raw[:_LONGEST_READ], count=1)
        if _YAML.match(whole):
            raise DataError(
                f"the list item {clip(whole, 60)} looks like YAML: give a mind-map as JSON, as an "
                'object such as {"label": "...", "children": []}, or as plain headings and lists.'
            )
        label, rest = _parted(whole)
        if _is_long(label) and _lead(whole) is None:
            tree.notes.add("list items too long for a label dropped", raw[:100])
            return OutlineEntry(block.level, None)
        whole = whole[: len(whole) - len(rest)].rstrip()
    label = _ATTRIBUTES.sub("", label).rstrip()
    heading = " ".join(plain(label).split())
    if heading != whole:
        tree.notes.add("marks of Markdown in labels removed", whole)
    if rest:
        tree.notes.add("explanations after labels dropped", rest[:100], heading)
    return OutlineEntry(block.level, heading, _LITERAL.match(label) is not None, block.is_item)


def _lead(raw: str) -> tuple[str, str] | None:
    """Return the bold beginning of an item and what follows it, if that is a label."""
    bold = _LEAD.match(raw)
    if bold is None or not (_AFTER_LEAD.match(bold[3]) or bold[2].rstrip().endswith(":")):
        return None
    return bold[2], bold[3]


def _parted(raw: str) -> tuple[str, str]:
    """Return the part of an item that is its label, with marks, and the explanation after it."""
    if lead := _lead(raw):
        return lead[0].strip().removesuffix(":"), lead[1].lstrip(" :.–—-")
    if _is_long(raw) and (mark := _PARTED.search(raw)):
        return raw[: mark.start()], raw[mark.end() :].strip()
    return raw.rstrip().removesuffix(":"), ""


def _is_long(raw: str) -> bool:
    return len(raw) > MAX_ITEM and len(plain(raw)) > MAX_ITEM
