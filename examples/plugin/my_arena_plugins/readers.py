"""EndNote's tagged files."""

import re
from collections.abc import Iterator

from corpus_builder.readers import PaperFile, Record, paper, reader

_BEGINNING = re.compile(r"%0 ")
_NAMES = {"T": "title", "D": "year", "J": "journal", "R": "doi", "X": "abstract"}


@reader("endnote", recognises=lambda head: _BEGINNING.match(head) is not None)
def endnote(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """EndNote's tagged format, .enw."""
    for line, _, text in file.blocks(_BEGINNING):
        tagged = re.findall(r"^%(\S) (.*)$", text, re.MULTILINE)
        fields = {_NAMES[tag]: value.strip() for tag, value in tagged if tag in _NAMES}
        authors = [value.strip() for tag, value in tagged if tag == "A"]
        if record := paper(fields, authors, [], file, line):
            yield line, record
