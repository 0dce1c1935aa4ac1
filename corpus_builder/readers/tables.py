"""CSV and TSV with a header, as Zotero, Scopus, Web of Science and spreadsheets write them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from arena.errors import DataError, clip
from corpus_builder.files import MAX_LINE
from corpus_builder.readers.base import MAX_ENTRY, PaperFile, Record, paper, reader

_COLUMNS = {
    "title": ("document title", "article title", "paper title", "item title", "ti", "display_name"),
    "abstract": ("abstract note", "summary", "ab"),
    "author": ("authors", "creators", "author names", "author full names", "author/s", "au",
               "authorships.author.display_name"),
    "date": ("publication date", "published", "publication_date", "publicationdate",
             "date published", "pubdate"),
    "year": ("publication year", "publication_year", "published year", "pubyear", "py"),
    "month": ("publication month", "published month", "pd"),
    "day": ("publication day",),
    "journal": ("publication title", "source title", "venue", "journal title", "book title", "so",
                "journal/book", "publication", "source",
                "primary_location.source.display_name"),
    "keywords": ("manual tags", "author keywords", "keyword", "tags", "fields", "de"),
    "doi": ("di", "doi link"),
    "url": ("link",),
    "eprint": ("arxiv", "arxiv_id", "arxiv id"),
    "note": ("extra", "notes"),
}  # fmt: skip
_LONG = 200  # lines of a row with a wrong number of cells, more than any abstract has
_ABOVE = 5  # lines that may stand above the header: `sep=;`, what an export is about
_SAMPLE = 100  # rows that decide how the column of authors is written
_NAMES = {other: name for name, others in _COLUMNS.items() for other in (name, *others)}
_LINK = re.compile(r"""=HYPERLINK\(\s*"[^"]*"\s*[,;]\s*"(.*)"\s*\)""", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"]|"")*)"', re.DOTALL)


def _is_header(line: str) -> bool:
    """Return whether a line has two columns or more of which one has a known name."""
    try:
        cells = _cells(line)
    except csv.Error:  # lines that end with a carriage return, or no text
        return False
    return len(cells) > 1 and any(cell in _NAMES for cell in cells)


def _recognises(head: str) -> bool:
    """Return whether one of the first lines is a header and has a line behind it."""
    *lines, rest = head.split("\n", _ABOVE + 1)
    is_other = head[:1] in "{[@%" or re.search(r"^[ \t]*TY[ \t]*-", head, re.MULTILINE)
    return not is_other and any(map(_is_header, lines[: len(lines) if rest else None]))


@reader("csv", recognises=_recognises)
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """CSV or TSV with a header."""
    csv.field_size_limit(MAX_LINE)
    lines = file.text_lines()
    above = list(islice(lines, _ABOVE + 1))
    at = next((n for n, (_, line) in enumerate(above) if _is_header(line)), 0)
    header = above[at][1]
    if "title" not in map(_NAMES.get, _cells(header)):
        raise DataError(
            f"{str(file.path)!r} has no column of titles. Its columns are "
            f"{clip(header.strip(), 200)}: name one `title`."
        )
    rest, delimiter = chain(above[at + 1 :], lines), _delimiter(header)
    names = _cells(header)
    rows = _tab_rows(rest, len(names)) if delimiter == "\t" else _csv_rows(rest, delimiter)
    found = _fields(file, rows, names, above[at][0])
    sample = list(islice(found, _SAMPLE))
    people = authors_of([fields.get("author", "") for _, fields in sample])
    for line, fields in chain(sample, found):
        authors = people(fields.pop("author", ""))
        keywords = re.split(r"[;,|]", fields.pop("keywords", ""))
        if record := paper(fields, authors, keywords, file, line):
            yield line, record


Rows = Iterator[tuple[int, list[str]]]
"""Number of the last line, and cells, of each row."""


def _csv_rows(lines: Iterable[tuple[int, str]], delimiter: str) -> Rows:
    last = size = 0

    def texts() -> Iterator[str]:
        nonlocal last, size
        for number, line in lines:
            last, size = number, size + len(line)
            if size > MAX_ENTRY:
                raise csv.Error(f"a row has {MAX_ENTRY >> 20} MiB or more")
            yield line.replace("\0", "")

    for row in csv.reader(texts(), delimiter=delimiter):
        yield last, row
        size = 0


def _tab_rows(lines: Iterable[tuple[int, str]], columns: int) -> Rows:
    """Yield rows in which a quotation mark is a character, unless it quotes a cell as a whole."""
    held, height = "", 0
    for number, line in lines:
        text = line.rstrip("\r\n")
        if held and text.count("\t") >= columns - 1:  # a row of its own
            yield number - 1, held.split("\t")
            held = ""
        held, height = f"{held}\n{text}" if held else text, height + 1 if held else 1
        cell = held.rpartition("\t")[2]
        if cell[:1] != '"' or _QUOTED.fullmatch(cell) or height > _LONG or len(held) > MAX_ENTRY:
            cells = (_QUOTED.fullmatch(cell) or cell for cell in held.split("\t"))
            yield number, [c if isinstance(c, str) else c[1].replace('""', '"') for c in cells]
            held = ""
    if held:
        yield number, held.split("\t")


def _fields(
    file: PaperFile, rows: Rows, header: list[str], before: int
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line and named cells of each row; cells without text behind the last do not count."""
    columns = [_NAMES.get(cell, "") for cell in header]
    least = max(place for place, cell in enumerate(header, 1) if cell)
    line = before
    try:
        for line, row in rows:
            before, height = line, line - before
            if not any(map(str.strip, row)):
                continue
            while len(row) > len(columns) and not row[-1].strip():
                row.pop()
            if not least <= len(row) <= len(columns):
                if height > _LONG:
                    raise csv.Error(f"a cell of line {line - height + 1} does not end")
                file.skip("records", "more or fewer cells than columns", line, row[:1])
                continue
            fields: dict[str, str] = {}
            for name, cell in zip(columns, row, strict=False):
                cell = _LINK.sub(r"\1", cell.strip())
                if cell.startswith("=") and name:
                    file.skip("parts", "a cell with a formula", line, cell)
                elif name and cell:
                    fields.setdefault(name, cell)
            yield line, fields
    except csv.Error as error:
        raise DataError(
            f"{str(file.path)!r} cannot be read near line {line}: {error}. Is a quotation mark "
            "missing?"
        ) from None


_INITIALS = re.compile(r"(?:[^\W\d_]\.[ -]?)+|[A-Z]{1,3}|(?i:(?:jr|sr)\.?|i{1,3}|iv)")
_APART = re.compile(r"[;；、|\n]+(?:\s*(?:and|&)\s)?")
_AND = re.compile(r",?\s+(?:and|&)\s+", re.IGNORECASE)
_NOBODY = re.compile(
    r"[\s,;]*(?:\bet\.? al\b\.?|…|\.{3})|\s*\(\d+\)|\[no author[^]]*\]", re.IGNORECASE
)
_LISTED = re.compile(r"""["'](.+?)["'](?=\s*[,\]])""")
_NAMED = re.compile(r"""["'](?:name|display_name)["']\s*:\s*(?:"(.+?)"|'(.+?)')(?=\s*[,}])""")


def authors_of(cells: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what splits a cell into authors, by the form in which a column writes them.

    Between authors stand ``;``, ``|``, line breaks, ``and`` or commas. Behind a comma initials are
    of the name before (Scopus: ``Low, A.B., Ray, C.``); where most parts have two words, each is an
    author (PubMed: ``Low A, Ray BC.``); else it is a given name (``Low, Ada``).

    >>> authors_of(["Low, A.B., Ray, C."])("Low, A.B., Ray, C.")
    ['Low, A.B.', 'Ray, C.']
    >>> authors_of(["Low A, Ray B."])("Doe C., Ray B.")
    ['Doe C', 'Ray B']
    """
    rest = [cell for cell in cells if not _APART.search(cell)]
    several = [parts for parts in map(_parts, rest) if parts[1:]]
    later = [part for parts in several for part in parts[1:]]
    initials = 4 * sum(bool(_INITIALS.fullmatch(part)) for part in later) >= len(later) > 0
    every = [part for parts in several for part in parts]
    whole = sum(" " in part or (not part.isascii() and len(part) < 5) for part in every)
    alone = 3 * whole > 2 * len(every) or any(
        len(_parts(cell)) % 2 for cell in rest if cell.count(",") > 1 and not _AND.search(cell)
    )
    is_apart = len(cells) - len(rest) > sum(len(parts) > 2 for parts in several)

    def split(cell: str) -> list[str]:
        if cell[:1] in "[{" and (names := _NAMED.findall(cell)):
            return ["".join(name) for name in names]
        if cell[:1] == "[" and (found := _LISTED.findall(cell)):
            return found
        cell = _NOBODY.sub("", cell)
        if is_apart or _APART.search(cell):
            return _APART.split(cell)
        if alone and not initials:
            return [
                part.removesuffix(".") if part.count(".") == 1 else part for part in _parts(cell)
            ]
        if not initials:
            bits = (each.split(",") for each in _AND.split(cell))
            return [",".join(bit[at : at + 2]) for bit in bits for at in range(0, len(bit), 2)]
        people = list[str]()
        for part in _parts(cell):
            if people and _INITIALS.fullmatch(part):
                people[-1] += f", {part}"
            else:
                people.append(part)
        return people

    return split


def _parts(cell: str) -> list[str]:
    parts = (part.strip() for each in _AND.split(_NOBODY.sub("", cell)) for part in each.split(","))
    return [*filter(None, parts)]


def _delimiter(header: str) -> str:
    return max("\t;,", key=header.count)


def _cells(header: str) -> list[str]:
    row = next(csv.reader([header], delimiter=_delimiter(header)))
    return [cell.strip().lower() for cell in row]
