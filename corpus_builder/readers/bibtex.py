"""BibTeX and BibLaTeX, as reference managers and digital libraries export them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from arena._internal.lazy import load
from corpus_builder.readers.base import PaperFile, Record, paper, plain, reader

_BEGINNING = re.compile(r"\s*@\s*(\w+)\s*[{(]")
_NO_ENTRY = {"comment", "preamble", "string"}
_AS_IS = {"doi", "eprint", "url"}  # where -- and ~ are what they are
_BRACES = re.compile(r"[{}\\]")
_NAME = re.compile(r"[=#]\s*([A-Za-z][\w:.+-]*)")  # of a @string


@reader(
    "bibtex",
    recognises=lambda head: re.search(r"^\s*@\s*\w+\s*[{(]", head, re.MULTILINE) is not None,
)
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """BibTeX and BibLaTeX."""
    # Each block is parsed alone, so that a broken one costs no other.
    parser = load("bibtexparser", "BibTeX")
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # losses are counted below
    strings: dict[str, str] = {}
    for line, match, block in file.blocks(_BEGINNING):
        kind = match[1].lower()
        if kind == "string" and (name := re.match(r"\s*@\s*\w+\s*[{(]\s*([^\s=]+)", block)):
            strings[name[1].lower()] = block
        if kind in _NO_ENTRY:
            continue
        used = {name.lower() for name in _NAME.findall(block)} & strings.keys()
        library = parser.parse_string("".join(strings[name] for name in sorted(used)) + block)
        if not library.entries or library.failed_blocks:
            file.lose("records", "a broken entry", line, block[:80])
            continue
        for entry in library.entries:
            fields = {
                name: _BRACES.sub("", value) if name in _AS_IS else plain(value)
                for name, value in ((f.key.lower(), str(f.value)) for f in entry.fields)
            }
            people = re.split(r"\s+and\s+", fields.get("author") or fields.get("editor") or "")
            keywords = re.split(r"\s*[,;]\s*", fields.get("keywords", ""))
            if record := paper(fields, people, keywords, file, line):
                yield line, record
