"""Parts of readers: a file and what is skipped, dates and texts as bibliographies write them.

A reader turns the lines of a `PaperFile` into records of papers; `corpus_builder.records` lists
their keys. A record need not have an id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from arena.dates import parse_date
from arena.errors import DataError, clip, returned
from arena.kit.lazy import load
from arena.plugins import Registry, mirror
from arena.text.cleaning import clean_text
from arena.text.identifiers import arxiv_month, bibtex_keys
from arena.text.latex import NAMES, read_latex
from corpus_builder.files import MAX_LINE, Lines, printable_name
from corpus_builder.readers.dates import read_date
from corpus_builder.records import parse_paper
from corpus_builder.sources.matching import identifiers_of

Record = dict[str, Any]
T = TypeVar("T")

MAX_ENTRY = 1 << 22
"""Characters; what is longer is no entry of a bibliography, and parsers take many times as many."""


Read = Callable[["PaperFile"], Iterator[tuple[int, Record]]]


@dataclass(frozen=True)
class Reader:
    """A format of papers: whether the beginning of a file is of it, and its records.

    Attributes:
        read: Yields the records of a file with their lines; its docstring names the format.
        recognises: Whether the first 16 KiB of a file are of this format.
    """

    read: Read
    recognises: Callable[[str], bool]

    def __post_init__(self) -> None:
        mirror(self, self.read)


READERS: Registry[Reader] = Registry("reader", packages=["corpus_builder.readers"], base=Reader)
"""The formats by name; the first that recognises a file reads it, and plug-ins are asked last."""


def reader(name: str, *, recognises: Callable[[str], bool]) -> Callable[[Read], Read]:
    """Return a decorator that registers a function as the `read` of a `Reader`.

    A format that another reader recognises, too, is read by the first of them: those of this
    project before those of plug-ins, each by name.
    """

    def register(read: Read) -> Read:
        READERS.register(name)(Reader(read, recognises))
        return read

    return register


class PaperFile:
    """A file of papers, plain or gzip, read once.

    `lost` has the reasons why records (``records``) or parts of them (``parts``) are left out, each
    with the number of times, the first line, and what stands there. `sha256` is that of the file,
    once its lines have been read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = printable_name(self.path, "papers")
        self.sha256, self.read = "", 0
        self.skipped: dict[str, dict[str, list[Any]]] = {}
        self.format = _recognised(self.path)

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield every usable record with its line, without what is null."""
        self.read = 0
        self.skipped = {"records": {}, "parts": {}}
        read = READERS.get(self.format).read(self)
        if not isinstance(read, Iterable):
            raise returned(
                f"the reader {self.format}", read, "pairs of line and record: yield them"
            )
        for line, found in read:
            record = {key: value for key, value in found.items() if value is not None}
            try:
                parse_paper({"id": "made", **record})
            except DataError as error:
                self.skip("records", "not a usable record", line, str(error))
                continue
            self.read += 1
            yield line, record
        if not self.read:
            lost = next(iter(self.skipped["records"].items()), None)
            why = f": {lost[0]}, line {lost[1][1]}: {lost[1][2]}".rstrip(": ") if lost else ""
            raise DataError(f"{str(self.path)!r} has no paper that can be used{why}.")

    def describe(self) -> dict[str, Any]:
        """Return what the file was when it was read, and what of it was lost."""
        known = {"name": self.name, "format": self.format, "papers": self.read}
        return {**known, "sha256": self.sha256, "lost": self.skipped}

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of every line that is not blank."""
        lines = Lines(self.path)
        for number, line in lines.read():
            if line is None:
                self.skip("records", f"a line of {MAX_LINE >> 20} MiB or more", number)
            else:
                yield number, line
        self.sha256 = lines.sha256

    def text_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines as text: UTF-8, and Windows-1252 where a line is none."""
        for number, line in self.lines():
            try:
                yield number, line.decode()
            except UnicodeDecodeError:
                self.skip("parts", "not UTF-8, read as Windows-1252", number)
                yield number, line.decode("cp1252", "replace")

    def blocks(self, beginning: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str], str]]:
        """Yield number and match of each line that begins a block, and the text of the block.

        A block of more than `MAX_ENTRY` characters is lost.
        """
        start, first, lines, size = 0, None, list[str](), 0
        for number, line in chain(self.text_lines(), [(0, "")]):
            found = beginning.match(line)
            if found or not number:
                if first and size > MAX_ENTRY:
                    self.skip("records", f"an entry of {MAX_ENTRY >> 20} MiB or more", start)
                elif first:
                    yield start, first, "".join(lines)
                start, first, lines, size = number, found, [], 0
            size += len(line)
            if size <= MAX_ENTRY:
                lines.append(line)

    def attempt(self, line: int, read: Callable[[], T]) -> T | None:
        """Return what `read` makes of a record; None, and a loss, whatever it raises."""
        try:
            return read()
        except Exception as error:  # of a library of others
            self.skip("records", "a broken entry", line, f"{type(error).__name__}: {error}")
            return None

    def skip(self, what: str, reason: str, line: int, detail: object = "") -> None:
        """Count a record, or a part of one, that is left out."""
        entry = self.skipped[what].setdefault(reason, [0, line, clip(detail) if detail else ""])
        entry[0] += 1


_NO_PAPERS = {
    "%PDF": "is a PDF. No PDF is read: export the papers from your reference manager as BibTeX, "
    "RIS or CSV",
    "PAR1": "is a Parquet file. Write its rows as CSV or JSON lines",
    "PK\x03\x04": "is a ZIP archive or a spreadsheet. Unpack it, or save the sheet as CSV",
    "<": "is HTML or XML, often a page that tells of an error. Export BibTeX, RIS or CSV, or get "
    "the file again",
    "\ufffd\ufffd": "is not UTF-8 text; it looks like UTF-16. Save it as UTF-8",
}


def _recognised(path: Path) -> str:
    """Return the name of the format that a file is in.

    The formats of this project are asked first, then those of plug-ins, each by name.
    """
    head, lines = b"", Lines(path)
    for _, line in lines:
        head += (line or b"")[: 1 << 16]
        if len(head) > 1 << 14:
            break
    text = head.decode("utf-8", "replace").lstrip()
    refusals = [what for beginning, what in _NO_PAPERS.items() if text.startswith(beginning)]
    own = READERS.own_names()
    added = [name for name in READERS.names() if name not in own]
    for name in [*([] if refusals else own), *added]:
        if READERS.get(name).recognises(text):
            return name
    if refusals:
        raise DataError(f"{str(path)!r} {refusals[0]}.")
    if not text:
        raise DataError(f"{str(path)!r} has no text: {lines.damage}. Get the file again.")
    raise DataError(
        f"{str(path)!r} is of no known format: it begins with {clip(text[:80], 60)}. Give BibTeX, "
        "RIS, CSV or TSV with a header, JSON of OpenAlex or arXiv, or JSON lines."
    )


ENTRY_YEARS = "entry_years"
"""Key of the years that entries name, where the date of a paper is of another one."""
ENTRY_DATE = "entry_date"
"""Key of the date that an entry names, where that of a paper is the month of its arXiv id."""

_FORMULA = re.compile(r"(?<!\\)(\$[^$]{1,500}\$)")
_MEANT = {"textless": "<", "textgreater": ">", "textbar": "|", "textunderscore": "_", "S": "§",
          "degree": "°", "euro": "€", "pounds": "£", "copyright": "©", "slash": "/", "lq": "‘",
          "glqq": "„", "grqq": "“", "ddag": "‡", "SS": "ẞ", "LaTeXe": "LaTeX2e",
          "rq": "’", "celsius": "°C", "degreeCelsius": "°C", **{n: n for n in NAMES}}  # fmt: skip


def plain(text: str) -> str:
    r"""Return a text of BibTeX as `read_latex` does; accents become letters, formulas stay.

    >>> plain(r"{D}eep {IBM} \& {\v{C}}ech: 95\% of $O(n^{2})$, 5\textdegree")
    'Deep IBM & Čech: 95% of $O(n^{2})$, 5°'
    """
    if not re.search(r"[\\{}~\n&<]|--|``", text):
        return text.strip()
    if name := re.fullmatch(r"\s*\{?\\([a-z]+)\}?\s*", text):  # of a journal, as ADS writes it
        return _sign(name[1]) or name[1]
    parts = _FORMULA.split(clean_text(text))
    for place in range(0, len(parts), 2):
        part = re.sub(r"(?<!\\)~", " ", parts[place]).replace("---", "—").replace("--", "–")
        part = part.replace("``", "“").replace("''", "”") if "``" in part else part
        part = re.sub(r"(?<=\w)\\'(?=[st]\b)", "'", part)  # it\'s
        parts[place] = re.sub(r"(?<=\d)\\textsuperscript(?=\{[-\d])", "^", part)
    return " ".join(read_latex("".join(parts), _sign).split())


@lru_cache(1 << 12)
def _sign(name: str) -> str:
    """Return the sign that a command of LaTeX stands for; an empty text if it has none."""
    if name in _MEANT:
        return _MEANT[name]
    signs = load("pylatexenc.latex2text", "BibTeX").get_default_latex_context_db()
    for each in (name, name.removeprefix("text")):
        sign = getattr(signs.get_macro_spec(each), "simplify_repl", None)
        if isinstance(sign, str) and (sign.isalpha() or (each == name and len(sign) == 1)):
            return sign
    return name if len(name) == 1 else ""


def paper(
    fields: Mapping[str, str], authors: list[str], keywords: list[str], file: PaperFile, line: int
) -> Record | None:
    """Return the record of fields that are called as in BibTeX; None, and a loss, without a title.

    An arXiv identifier names the month of the first version, which counts if it is earlier than
    the date; then the record has `ENTRY_DATE`, and `ENTRY_YEARS` if it is of another year.
    """
    if not fields.get("title"):
        file.skip("records", "no title", line, fields)
        return None
    keys = bibtex_keys(fields)
    parts = [fields.get(name, "") for name in ("year", "month", "day")]
    if (months := re.findall(r"\d+", parts[1])) and not re.search(r"[^\W\d_]", parts[1]):
        parts[1] = max((each for each in months if 0 < int(each) <= 12), key=int, default="")
    parts = parts if parts[1].isdigit() else parts[::-1]  # 2010-5-3, 3 may 2010
    between = "-" if parts[1].isdigit() else " "
    # Of two fields, too, the later year counts.
    date = read_date(f"{fields.get('date', '')}; {between.join(filter(None, parts))}")
    arxiv_id, doi = identifiers_of(keys)
    months = [month for key in keys if (month := arxiv_month(key))]
    dates = [each for each in (date, *months) if each]
    first = min(dates, key=lambda each: parse_date(each).day, default=None)
    venue = fields.get("journal") or fields.get("journaltitle") or fields.get("booktitle")
    record = {
        "title": fields["title"],
        "abstract": fields.get("abstract"),
        "date": first,
        "venue": venue,
        "authors": [*filter(None, map(turned, authors))],
        "fields": [*filter(None, map(str.strip, keywords))],
        "arxiv_id": arxiv_id,
        "doi": doi,
        ENTRY_YEARS: [int(date[:4])] if date and first and date[:4] != first[:4] else None,
        ENTRY_DATE: (date or "") if first != date else None,
    }
    return {key: value for key, value in record.items() if value or key == ENTRY_DATE}


_OTHERS = re.compile(r"(?:and )?others|et\.? al\.?", re.IGNORECASE)
SUFFIX = re.compile(r"(?:[js]r|inc|ltd|llc|esq)\.?|ii|iii|iv|\d(?:nd|rd|th)|ph\.?\s?d\.?", re.I)


def turned(name: str) -> str:
    """Return ``Ada Low Jr.`` of ``Low, Ada, Jr.`` and ``Low, Jr., Ada``; others are nobody."""
    family, *rest = (part.strip() for part in name.split(","))
    given = ", ".join(part for part in rest if not SUFFIX.fullmatch(part))
    parts = given, family, *(part for part in rest if SUFFIX.fullmatch(part))
    return "" if _OTHERS.fullmatch(family) else " ".join(filter(None, parts))
