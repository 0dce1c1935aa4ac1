"""CSV and TSV with a header, as Zotero, Scopus, Web of Science and spreadsheets write them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from arena.errors import DataError, clip
from corpus_builder.files import MAX_LINE
from corpus_builder.readers.base import PaperFile, Record, paper, reader

_COLUMNS = {
    "title": ("document title", "article title", "paper title", "item title", "ti"),
    "abstract": ("abstract note", "summary", "ab"),
    "author": ("authors", "creators", "author names", "author full names", "au"),
    "date": ("publication date", "published", "publication_date", "publicationdate"),
    "year": ("publication year", "publication_year", "py"),
    "journal": ("publication title", "source title", "venue", "journal title", "book title", "so"),
    "keywords": ("manual tags", "author keywords", "keyword", "tags", "fields", "de"),
    "doi": ("di", "doi link"),
    "url": ("link",),
    "eprint": ("arxiv", "arxiv_id", "arxiv id"),
    "note": ("extra", "notes"),
}
_LONG = 200  # lines of a row with a wrong number of cells, more than any abstract has
_NAMES = {other: name for name, others in _COLUMNS.items() for other in (name, *others)}
_LINK = re.compile(r"""=HYPERLINK\(\s*"[^"]*"\s*[,;]\s*"(.*)"\s*\)""", re.IGNORECASE | re.DOTALL)


def _recognises(head: str) -> bool:
    """Return whether the first line has two columns or more of which one has a known name."""
    header, more, _ = head.partition("\n")
    if header[:1] in "{[@%" or not more:
        return False
    try:
        cells = [cell.strip().lower() for cell in _cells(header)]
    except csv.Error:  # lines that end with a carriage return, or no text
        return False
    return len(cells) > 1 and any(cell in _NAMES for cell in cells)


@reader("csv", recognises=_recognises)
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """CSV or TSV with a header."""
    csv.field_size_limit(MAX_LINE)
    lines = file.text_lines()
    number, header = next(lines)
    at, line = [number], number

    def rest() -> Iterator[str]:
        for at[0], line in lines:
            yield line.replace("\0", "")

    delimiter = _delimiter(header)
    columns = [_NAMES.get(name.strip().lower(), "") for name in _cells(header)]
    if "title" not in columns:
        raise DataError(
            f"{str(file.path)!r} has no column of titles. Its columns are "
            f"{clip(header.strip(), 200)}: name one `title`."
        )
    try:
        for row in csv.reader(rest(), delimiter=delimiter):
            before, line = line, at[0]
            if len(row) != len(columns):
                if line - before > _LONG:
                    raise csv.Error(f"a cell of line {before + 1} does not end")
                file.lose("records", "more or fewer cells than columns", line, row[:1])
                continue
            fields: dict[str, str] = {}
            for name, cell in zip(columns, row, strict=True):
                cell = _LINK.sub(r"\1", cell.strip())
                if cell.startswith("=") and name:
                    file.lose("parts", "a cell with a formula", line, cell)
                elif name and cell:
                    fields.setdefault(name, cell)
            authors, separator = fields.pop("author", ""), ";"
            if ";" not in authors and authors.count(",") > 1:
                separator = ","
            keywords = re.split(r"[;,|]", fields.pop("keywords", ""))
            if record := paper(fields, authors.split(separator), keywords, file, line):
                yield line, record
    except csv.Error as error:
        raise DataError(
            f"{str(file.path)!r} cannot be read near line {at[0]}: {error}. Is a quotation mark "
            "missing?"
        ) from None


def _delimiter(header: str) -> str:
    return max("\t;,", key=header.count)


def _cells(header: str) -> list[str]:
    return next(csv.reader([header], delimiter=_delimiter(header)))
