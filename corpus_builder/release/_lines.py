"""The lines of one shard, plain or gzip, in bounded memory and hashed on the way."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from corpus_builder._packed import MAX_LINE, Packed

__all__ = ["MAX_LINE", "Lines"]


class Lines:
    """The lines of a file.

    Attributes:
        sha256: of the bytes of the file, once all lines were read.
        damage: what is wrong with the file, if its lines end early.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.sha256 = ""
        self.damage: str | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield (number from 1, line) of every line that is not blank; None for one too long."""
        number = 0
        with self._path.open("rb") as opened:
            packed = Packed(opened)
            try:
                while line := packed.lines.readline(MAX_LINE):
                    number += 1
                    if len(line) == MAX_LINE and not line.endswith(b"\n"):
                        while line and not line.endswith(b"\n"):
                            line = packed.lines.readline(MAX_LINE)
                        yield number, None
                        continue
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    if line.strip():
                        yield number, line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.damage = str(error)
            self.sha256 = packed.sha256()
            if not packed.count:
                self.damage = "the file is empty"
