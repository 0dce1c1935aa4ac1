"""CSV and TSV with a header, as Zotero, Scopus, Web of Science and spreadsheets write them."""

from __future__ import annotations

import csv
import re
from collections import deque
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
_SAMPLE = 1000  # rows that decide how the column of authors is written
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
    return head[:1] not in "{[@%" and any(map(_is_header, lines[: len(lines) if rest else None]))


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
    rows = _tab_rows(rest) if delimiter == "\t" else _csv_rows(file, rest, delimiter)
    sample, size = list[tuple[int, dict[str, str]]](), 0
    found = _fields(file, rows, _cells(header), above[at][0])
    for each in found:
        sample.append(each)
        size += sum(map(len, each[1].values()))
        if len(sample) == _SAMPLE or size > MAX_ENTRY:
            break
    people = authors_of([fields.get("author", "") for _, fields in sample])
    for line, fields in chain(sample, found):
        authors = people(fields.pop("author", ""))
        keywords = re.split(r"[;,|]", fields.pop("keywords", ""))
        if record := paper(fields, authors, keywords, file, line):
            yield line, record


Rows = Iterator[tuple[int, list[str]]]
"""Number of the last line, and cells, of each row."""


def _csv_rows(file: PaperFile, lines: Iterable[tuple[int, str]], delimiter: str) -> Rows:
    last = size = 0

    def texts() -> Iterator[str]:
        nonlocal last, size
        for number, line in lines:
            last = number
            size += len(line)
            if size > MAX_ENTRY:
                raise csv.Error(f"a row has {MAX_ENTRY >> 20} MiB or more")
            yield line.replace("\0", "")

    try:
        for row in csv.reader(texts(), delimiter=delimiter):
            yield last, row
            size = 0
    except csv.Error as error:
        raise _broken(file, last, str(error)) from None


def _broken(file: PaperFile, line: int, why: str) -> DataError:
    return DataError(
        f"{str(file.path)!r} cannot be read near line {line}: {why}. Is a quotation mark missing?"
    )


def _tab_rows(lines: Iterable[tuple[int, str]]) -> Rows:
    """Yield rows in which a quotation mark is a character, unless it quotes a cell as a whole."""
    waiting, rest = deque[tuple[int, str]](), iter(lines)
    while line := waiting.popleft() if waiting else next(rest, None):
        row, taken = line[1].rstrip("\r\n"), list[tuple[int, str]]()
        while (cell := row.rpartition("\t")[2])[:1] == '"' and not _QUOTED.fullmatch(cell):
            # Maybe a cell with line breaks: of its further lines only the last has tabs.
            more = waiting.popleft() if waiting else next(rest, None)
            taken += [more] if more else []
            text, tab, _ = more[1].rstrip("\r\n").partition("\t") if more else ("", "\t", "")
            if text.endswith('"'):
                between = "".join(text for _, text in taken)
                if not _QUOTED.fullmatch(f"{cell}\n{between}".rstrip("\r\n").partition("\t")[0]):
                    break
                row, line, taken = f"{row}\n{between}".rstrip("\r\n"), taken[-1], []
            elif tab or len(taken) > _LONG:
                break
        waiting.extendleft(reversed(taken))
        yield line[0], row.split("\t")


def _fields(
    file: PaperFile, rows: Rows, header: list[str], before: int
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line and named cells of each row; cells without text behind the last do not count."""
    columns = [_NAMES.get(cell, "") for cell in header]
    least = max(place for place, cell in enumerate(header, 1) if cell)
    for line, row in rows:
        before, height = line, line - before
        while len(row) > len(columns) and not row[-1].strip():
            row.pop()
        if not least <= len(row) <= len(columns):
            if height > _LONG:
                raise _broken(file, line, f"a cell of line {line - height + 1} does not end")
            file.lose("records", "more or fewer cells than columns", line, row[:1])
            continue
        fields: dict[str, str] = {}
        for name, cell in zip(columns, row, strict=False):
            cell = cell.strip()
            if quoted := _QUOTED.fullmatch(cell):  # between tabs
                cell = quoted[1].replace('""', '"').strip()
            cell = _LINK.sub(r"\1", cell)
            if cell.startswith("=") and name:
                file.lose("parts", "a cell with a formula", line, cell)
            elif name and cell:
                fields.setdefault(name, cell)
        yield line, fields


_INITIALS = re.compile(r"(?:[^\W\d_]\.[ -]?)+|[A-Z]{1,3}")
_SUFFIX = re.compile(r"(?:jr|sr)\.?|i{1,3}|iv", re.IGNORECASE)
_AND = re.compile(r",?\s+(?:and|&)\s+", re.IGNORECASE)
_NOBODY = re.compile(r"[\s,;]*(?:\bet\.? al\b\.?|…|\.{3})|\s*\(\d+\)", re.IGNORECASE)


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
    parted = [cell for cell in cells if re.search(r"[;|\n]", cell)]
    commas = [_parts(cell) for cell in cells if cell not in parted]
    later = [part for parts in commas for part in parts[1:]]
    initials = 4 * sum(bool(_INITIALS.fullmatch(part)) for part in later) >= len(later) > 0
    every = [part for parts in commas if parts[1:] for part in parts]
    whole = sum(" " in part or (not part.isascii() and len(part) < 5) for part in every)
    names = 3 * whole > 2 * len(every)
    surnames = not initials and any(
        len(_parts(cell)) % 2 for cell in cells if cell.count(",") > 1 and not _AND.search(cell)
    )

    def split(cell: str) -> list[str]:
        if found := re.findall(r"""(["'])(.+?)\1(?=\s*[,\]])""", cell) if cell[:1] == "[" else []:
            return [text for _, text in found]
        cell = _NOBODY.sub("", cell)
        if re.search(r"[;|\n]", cell):
            return re.split(r"[;|\n]+(?:\s*(?:and|&)\s)?", cell)
        if len(parted) > len([parts for parts in commas if len(parts) > 2]):
            return [cell]
        parts, people = _parts(cell), list[str]()
        if (names and not initials) or (surnames and not _AND.search(cell)):
            return [part.rstrip(".") for part in parts]
        if not initials:
            bits = [each.split(",") for each in _AND.split(cell)]
            parts = [",".join(each[at : at + 2]) for each in bits for at in range(0, len(each), 2)]
        for part in parts:
            if people and (_INITIALS.fullmatch(part) or _SUFFIX.fullmatch(part)):
                people[-1] += f", {part}"
            else:
                people.append(part)
        return people

    return split


def _parts(cell: str) -> list[str]:
    parts = (part for each in _AND.split(_NOBODY.sub("", cell)) for part in each.split(","))
    return [part.strip() for part in parts if part.strip()]


def _delimiter(header: str) -> str:
    return max("\t;,", key=header.count)


def _cells(header: str) -> list[str]:
    return [
        cell.strip().lower() for cell in next(csv.reader([header], delimiter=_delimiter(header)))
    ]
