"""JSON lines, plain or gzip: the source named ``jsonl``."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, cast

from arena._progress import progress
from arena.errors import DataError, clip
from corpus_builder.sources.base import SOURCES, Located, Source

_EXPECTED = "Write one JSON object a line."
_MAX_LINE = 1 << 26  # a paper with its full text takes a few hundred kilobytes


@SOURCES.register("jsonl")
class JsonLines:
    """Papers and surveys from two files of JSON lines (plain or gzip)."""

    example: ClassVar[str] = "--papers papers.jsonl.gz --surveys surveys.jsonl"

    def __init__(self, papers: str | Path, surveys: str | Path) -> None:
        self._papers, self._surveys = Path(papers), Path(surveys)
        for path in (self._papers, self._surveys):
            if not path.is_file():
                problem = "does not exist"
                if path.exists():
                    problem = "is a directory" if path.is_dir() else "is no regular file"
                raise DataError(f"{str(path)!r} {problem}. Name a file of JSON lines.")
        self._sha256: dict[str, str] = {}

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add ``--papers`` and ``--surveys``."""
        parser.add_argument("--papers", required=True, metavar="FILE", help="papers, one a line")
        parser.add_argument("--surveys", required=True, metavar="FILE", help="surveys, one a line")

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Source:
        """Make the source from the parsed options."""
        return cls(arguments.papers, arguments.surveys)

    def papers(self) -> Iterator[Located]:
        """Yield every paper with its line."""
        return self._read("papers", self._papers)

    def surveys(self) -> Iterator[Located]:
        """Yield every survey with its line."""
        return self._read("surveys", self._surveys)

    def describe(self) -> dict[str, Any]:
        """Return the names and sha256s of the files as they were read."""
        files = {"papers": self._papers, "surveys": self._surveys}
        return {
            "source": "jsonl",
            "files": {
                role: {"name": _name(path), "sha256": self._sha256[role]}
                for role, path in files.items()
            },
        }

    def _read(self, role: str, path: Path) -> Iterator[Located]:
        name, found = _name(path), False
        for line, text in self._lines(role, path):
            if text.strip():
                found = True
                yield Located(_json(text, name, line), name, line)
        if not found:
            raise DataError(f"{str(path)!r} is empty: it holds no {role}. {_EXPECTED}")

    def _lines(self, role: str, path: Path) -> Iterator[tuple[int, bytes]]:
        line = 0
        try:
            with path.open("rb") as opened, _bar(path) as bar:
                raw = _HashingReader(opened)
                source = io.BufferedReader(raw, 1 << 20)
                packed = source.peek(2)[:2] == b"\x1f\x8b"
                stream = cast(BinaryIO, gzip.GzipFile(fileobj=source)) if packed else source
                while text := stream.readline(_MAX_LINE):
                    line += 1
                    if len(text) == _MAX_LINE:
                        raise DataError(
                            f"{_name(path)} line {line} has {_MAX_LINE >> 20} MiB or more. "
                            f"{_EXPECTED}"
                        )
                    if line % 1000 == 0:
                        bar.update(raw.count - bar.n)
                    yield line, text.removeprefix(b"\xef\xbb\xbf") if line == 1 else text
                while source.read(1 << 20):  # bytes behind the last member count for the hash
                    pass
                self._sha256[role] = raw.sha256.hexdigest()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                f"{str(path)!r} is damaged after line {line}: {error}. Get the file again."
            ) from None
        except OSError as error:
            raise DataError(
                f"{str(path)!r} cannot be read after line {line}: {error.strerror or error}. "
                "Name a file that can be read."
            ) from None


def _name(path: Path) -> str:
    return os.fsencode(path.name).decode("utf-8", "replace")


def _json(text: bytes, name: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{name} line {line} is no JSON ({clip(str(error))}): "
            f"{clip(text[:80].strip().decode('utf-8', 'replace'), 60)}. {_EXPECTED}"
        ) from None


def _bar(path: Path) -> Any:
    return progress(
        total=path.stat().st_size, desc=path.name, unit="B", unit_scale=True, unit_divisor=1024
    )


class _HashingReader(io.RawIOBase):
    """Pass bytes on and hash them, so that the file is read only once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.sha256.update(data)
        self.count += len(data)
        return len(data)
