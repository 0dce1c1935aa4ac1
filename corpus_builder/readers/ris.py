"""RIS, as reference managers export it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena._internal.lazy import load
from corpus_builder.readers.base import PaperFile, Record, paper, reader

_BEGINNING = re.compile(r"TY\s\s?-")
_END = re.compile(r"^ER\s\s?-.*", re.MULTILINE)
_NAMES = {
    "title": ("title", "primary_title"),
    "abstract": ("abstract", "notes_abstract"),
    "date": ("date",),
    "year": ("year", "publication_year"),
    "journal": ("secondary_title", "journal_name", "alternate_title3", "alternate_title1"),
    "doi": ("doi",),
    "note": ("notes", "note"),
}


@reader("ris", recognises=lambda head: re.search(r"^TY\s\s?-", head, re.MULTILINE) is not None)
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """RIS, as reference managers export it."""
    parser = load("rispy", "RIS")
    for line, _, text in file.blocks(_BEGINNING):
        try:
            (entry,) = parser.loads(_END.sub("", text) + "\nER  - \n")
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
