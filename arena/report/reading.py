"""Reading a report."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from arena.errors import DataError, clip
from arena.report import addresses, author_year, numbers, pandoc
from arena.report.addresses import mend_addresses
from arena.report.bibliography import is_bibliography, is_contents, part, read_bibliography
from arena.report.html import is_html, to_markdown
from arena.report.markdown import TextBlock, parse
from arena.report.model import BREAK, Bibliography, Inline, Mark, Report, ReportSection, Statement
from arena.report.sentences import MARK, split_sentences

STYLES = {
    "pandoc": pandoc.marks, "footnotes": addresses.labels, "links": addresses.marks,
    "numbers": numbers.marks, "author-year": author_year.marks, "exports": numbers.bare_marks,
}  # fmt: skip
"""Functions that find marks, by style; of marks that overlap, that of the first style counts."""

_FRONT_MATTER = re.compile(r"---[ \t]*\n.*:.*\n(?:.*\n)*?---[ \t]*(?:\n|\Z)")


def read_report(source: str | bytes | Path, styles: Collection[str] | None = None) -> Report:
    """Read a report in Markdown or HTML.

    Args:
        source: Text, bytes, or the path of a file; a str is always a text.
        styles: Names of the styles whose marks count, of `STYLES`; by default all.

    Raises:
        DataError: The bytes are no text.
        OSError: The file cannot be read.
    """
    if isinstance(source, Path):
        source = source.read_bytes()
    text = source if isinstance(source, str) else decode(source)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\x00", "").replace(MARK, "").replace(BREAK, "")
    text = mend_addresses(to_markdown(text) if is_html(text) else text)
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
    text = pandoc.unwrap(text)
    # Exports escape the brackets of their marks; who writes [@id] means what is escaped literally.
    blocks = parse(text, literal=bool(pandoc.cited_ids(text)))
    title, start = "", 0
    if blocks and blocks[0].level == 1 and not _is_list(blocks[0].inline.text):
        head = blocks.pop(0)
        title, start = _line(head.inline.text), head.end
    body, listed = part(blocks)
    bibliography = as_cited(read_bibliography(listed), [block.inline for block in body])
    lines = text.split("\n")
    shown = {block.line for block in body}
    for block in blocks:
        if block.line not in shown:  # of the reference list: no part of a section
            lines[block.line : block.end] = [""] * (block.end - block.line)
    ends = [block.line for block in blocks if block.level] + [len(lines)]
    sections = _sections(body, lines, start, ends)
    chosen = [style for style in STYLES if styles is None or style in styles]
    references = {each.key: each for each in bibliography.references}
    statements: list[Statement] = []
    used: set[str] = set()
    section = len(sections) - 1 - sum(block.level > 0 for block in body)
    for block in body:
        if block.level:
            section += 1
        elif not is_contents(sections[section].heading):
            marks = find_marks(block.inline, bibliography, chosen, used)
            for reference in (each for mark in marks for each in mark.references):
                references.setdefault(reference.key, reference)
            add_statements(statements, block.inline, marks, section)
    found = tuple(references.values())
    return Report(title, tuple(sections), tuple(statements), found, tuple(sorted(used)))


def as_cited(bibliography: Bibliography, texts: Sequence[Inline]) -> Bibliography:
    """Return the bibliography with the forms of marks that paragraphs of a report may use."""
    numbered = [name for name in bibliography.names if name.isdigit()]
    bracketed = any(
        True
        for each in texts
        for marks in (pandoc.marks, numbers.marks)
        for _ in marks(each, bibliography)
    )
    bare = bibliography.bare or (
        not bracketed
        and bool(numbered or not bibliography.references)
        and numbers.cites_bare_numbers(texts)
    )
    authors = not (numbered or bare or (bracketed and not bibliography.references))
    rounded = not (bracketed or bare) and numbers.cites_in_round_brackets(texts, numbered)
    return bibliography._replace(bare=bare, authors=authors, rounded=rounded)


def _is_list(heading: str) -> bool:
    return is_contents(heading) or is_bibliography(heading)


def decode(data: bytes) -> str:
    """Return the text of bytes: UTF-8, UTF-16 or UTF-32 with its mark, or else Latin-1.

    UTF-8 may have a few faults.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        if b"\x00" in data:
            raise DataError(f"{clip(data, 40)} is no text: give a report in UTF-8.") from None
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
    before = source(start) if blocks and not blocks[0].level else ""
    return [ReportSection("", 1, before)] * bool(before) + [
        ReportSection(_line(head.inline.text), head.level - top + 1, source(head.end))
        for head in heads
    ]


def find_marks(
    inline: Inline, bibliography: Bibliography, styles: Iterable[str], used: set[str]
) -> list[Mark]:
    """Return the marks in a paragraph, in order; add their styles to `used`."""
    marks: list[Mark] = []
    for style in styles:
        if new := _apart(STYLES[style](inline, bibliography), marks):
            used.add(style)
            marks = sorted([*marks, *new], key=_place)
    return marks


def add_statements(
    statements: list[Statement], inline: Inline, marks: Sequence[Mark], section: int
) -> None:
    """Add the sentences of a paragraph; marks without words belong to the sentence before."""
    pieces, at = [], 0
    for mark in marks:
        pieces += [inline.text[at : mark.end if mark.kept else mark.start], MARK]
        at = mark.end
    pieces.append(inline.text[at:])
    waiting = iter(marks)
    for sentence in split_sentences("".join(pieces)):
        cited = (next(waiting).references for _ in range(sentence.count(MARK)))
        keys = [reference.key for references in cited for reference in references]
        text = _clean(sentence)
        text = text if re.search(r"\w", text) else ""
        if text or (keys and not statements):
            text = text or _line(inline.text)
            statements.append(Statement(text, section, tuple(dict.fromkeys(keys))))
        elif keys:
            both = tuple(dict.fromkeys((*statements[-1].citations, *keys)))
            statements[-1] = statements[-1]._replace(citations=both)


def _apart(marks: Iterable[Mark], taken: Sequence[Mark]) -> list[Mark]:
    """Return the marks that overlap none of those taken and none before them, in order."""
    left: list[Mark] = []
    place = 0
    for mark in sorted(marks, key=_place):
        while place < len(taken) and taken[place].end <= mark.start:
            place += 1
        free = place == len(taken) or taken[place].start >= mark.end
        if free and not (left and left[-1].end > mark.start):
            left.append(mark)
    return left


def _place(mark: Mark) -> tuple[int, int]:
    return mark.start, mark.end


def _clean(sentence: str) -> str:
    """Return a sentence without marks and the blanks and brackets that they leave."""
    text = re.sub(rf"\s*[(\[]\s*(?:{MARK}[\s,;]*)+[)\]]", "", sentence)
    text = re.sub(rf"\s*(?:{MARK}\s*)+(?=[.,;:!?)\]])", "", text)
    text = text.replace(MARK, " ").replace(BREAK, " ")
    return _line(text)


def _line(text: str) -> str:
    return " ".join(text.split())
