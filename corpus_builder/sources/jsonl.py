"""JSON lines, plain or gzip: the source named ``jsonl``, and the files that other sources read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, clip
from arena.kit.files import sha256_file
from corpus_builder.files import MAX_LINE, Lines, printable_name
from corpus_builder.sources.base import LocatedRecord, source

EXPECTED = "Write one JSON object a line."
_OTHERS = " `arena-corpus build library` reads BibTeX, RIS, CSV, and JSON of OpenAlex and arXiv."


class JsonLinesFile:
    """A file of JSON lines; gzip is recognised by the content, not the name.

    `what` is a plural noun for its records, for messages.
    """

    def __init__(self, path: str | Path, what: str) -> None:
        self._path, self._what = Path(path), what
        self.name = printable_name(self._path, "JSON lines")
        self._sha256 = ""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file as it was read, or as it is if it has not been read."""
        return self._sha256 or sha256_file(self._path)

    def __iter__(self) -> Iterator[LocatedRecord]:
        """Yield the record of every line that is not blank."""
        lines, any_record = Lines(self._path), False
        for number, text in lines.read():
            if text is None:
                long = f"{MAX_LINE >> 20} MiB or more"
                raise DataError(f"{self.name} line {number} has {long}. {EXPECTED}")
            if number == 1 and (text[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in text):
                raise DataError(
                    f"{str(self._path)!r} is not UTF-8 text. {EXPECTED} Text in UTF-16 becomes "
                    "UTF-8 with `iconv -f UTF-16 -t UTF-8`."
                )
            any_record = True
            try:
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"{self.name} line {number} is not JSON ({clip(str(error))}): "
                    f"{clip(text[:80].strip().decode('utf-8', 'replace'), 60)}. {EXPECTED}"
                    f"{_OTHERS * (number == 1)}"
                ) from None
            yield LocatedRecord(value, self.name, number)
        if not any_record:
            raise DataError(
                f"{str(self._path)!r} is empty: it contains no {self._what}. {EXPECTED}"
            )
        self._sha256 = lines.sha256


@source("jsonl")
class JsonLines:
    """Papers and surveys from files of JSON lines (plain or gzip).

    Args:
        papers: Files of papers, one a line.
        surveys: Files of surveys, one a line; without one the corpus is for searching alone.
    """

    example: ClassVar[str] = "--papers papers.jsonl.gz --surveys surveys.jsonl"

    def __init__(
        self, papers: list[Path] | str | Path, surveys: list[Path] | str | Path | None = None
    ) -> None:
        given = {"papers": papers, "surveys": surveys or []}
        self._files = {
            what: [JsonLinesFile(p, what) for p in ([on] if isinstance(on, str | Path) else on)]
            for what, on in given.items()
        }

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper with its line."""
        return chain.from_iterable(self._files["papers"])

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every survey with its line."""
        return chain.from_iterable(self._files["surveys"])

    def describe(self) -> dict[str, Any]:
        """Return the names and sha256s of the files as they were read."""
        files = {
            what: [{"name": file.name, "sha256": file.sha256} for file in files]
            for what, files in self._files.items()
        }
        return {"source": "jsonl", "files": files}
