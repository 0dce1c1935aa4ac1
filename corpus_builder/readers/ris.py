"""RIS, as reference managers export it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from arena.kit.lazy import load
from arena.text.identifiers import bibtex_keys
from corpus_builder.readers.base import PaperFile, Record, paper, reader
from corpus_builder.readers.tables import authors_of

_BEGINNING = re.compile(r"[ \t]{0,3}TY([ \t]{0,3})-")
_END = re.compile(r"^[ \t]{0,3}ER(?:[ \t]{0,3}-\s*$|\s*\Z)", re.MULTILINE)
_TAG = r"^[ \t]{{0,3}}([A-Z][A-Z0-9])[ \t]{{{},3}}-[ \t]*"
_MORE = {"BT": "book_title", "CT": "other_title", "DI": "other_doi", "L3": "related"}
_NAMES = {
    "title": "title primary_title translated_title short_title other_title book_title",
    "abstract": "abstract notes_abstract",
    "date": "date",
    "year": "year publication_year",
    "journal": "secondary_title book_title alternate_title3 journal_name alternate_title2"
    " alternate_title1 custom3",
    "doi": "doi",
    "volume": "volume",
}
_NOTES = "notes note accession_number custom7 type_of_work related other_doi"
_SEVERAL = re.compile(r"[;；、]|,.* and .*,|(?:,.*){3}")  # names in one field


@reader(
    "ris",
    recognises=lambda head: re.search(r"^[ \t]{0,3}TY[ \t]{0,3}-", head, re.MULTILINE) is not None,
)
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """RIS, as reference managers export it."""
    rispy = load("rispy", "RIS")
    parser = rispy.RisParser(mapping=rispy.config.TAG_KEY_MAPPING | _MORE, skip_unknown_tags=True)
    for line, match, text in file.blocks(_BEGINNING):
        text, *rest = _END.split(text, 1)
        if rest and rest[0].strip():
            file.skip("parts", "text between two records", line, rest[0].strip())
        # In a text that is wrapped, `ER - positive` is no tag unless the file writes tags so.
        tag = _TAG.format(min(len(match[1]), 2))
        text = re.sub(tag, r"\1  - ", text, flags=re.MULTILINE) + "\nER  - \n"
        (entry,) = file.attempt(line, partial(parser.parse, text)) or [None]
        if entry is None:
            continue
        fields = {
            name: " ".join(str(entry[key]).split())
            for name, keys in _NAMES.items()
            for key in reversed(keys.split())
            if isinstance(entry.get(key), str) and entry[key]
        }
        fields |= {"url": " ".join(entry.get("urls", ()))}
        texts = (entry.get(key, "") for key in _NOTES.split())
        notes = [note for text in texts for note in ([text] if isinstance(text, str) else text)]
        fields["note"] = next((note for note in notes if bibtex_keys({"note": note})), "")
        people = entry.get("authors") or entry.get("first_authors") or []
        people = [authors_of([each])(each) if _SEVERAL.search(each) else [each] for each in people]
        if record := paper(fields, [*chain(*people)], entry.get("keywords", []), file, line):
            yield line, record
