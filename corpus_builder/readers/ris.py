"""RIS, as reference managers export it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena._internal.lazy import load
from corpus_builder.readers.base import READERS, PaperFile, Reader, Record, paper

_NAMES = {
    "title": ("title", "primary_title"),
    "abstract": ("abstract", "notes_abstract"),
    "date": ("date",),
    "year": ("year", "publication_year"),
    "journal": ("secondary_title", "journal_name", "alternate_title3", "alternate_title1"),
    "doi": ("doi",),
    "note": ("notes", "note"),
}


def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    parser = load("rispy", "RIS")
    for line, text in _blocks(file):
        try:
            (entry,) = parser.loads(text)
        except (ValueError, OSError) as error:
            file.lose("records", "a broken entry", line, str(error))
            continue
        fields = {
            name: " ".join(str(entry[key]).split())
            for name, keys in _NAMES.items()
            for key in reversed(keys)
            if isinstance(entry.get(key), str)
        }
        fields |= {"url": " ".join(entry.get("urls", ()))}
        people = entry.get("authors") or entry.get("first_authors") or []
        if record := paper(fields, people, entry.get("keywords", []), file, line):
            yield line, record


def _blocks(file: PaperFile) -> Iterator[tuple[int, str]]:
    """Yield line and text of every entry, from ``TY`` on."""
    start, lines = 0, list[str]()
    for number, line in file.text_lines():
        if re.match(r"TY\s\s?-", line):
            if lines:
                yield start, "".join(lines) + "ER  - \n"
            start, lines = number, []
        if start and not re.match(r"ER\s\s?-", line):
            lines.append(line)
    if lines:
        yield start, "".join(lines) + "\nER  - \n"


READERS.register("ris")(
    Reader(lambda head: re.search(r"^TY\s\s?-", head, re.MULTILINE) is not None, _read)
)
