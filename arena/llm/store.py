"""The file of answers: lines that are only ever added, by any number of processes.

One file and no other beside it, so that copying it is shipping it. The first line tells the
version; each other one is an answer as a JSON object whose last entry, ``sum``, is the beginning
of the SHA-256 of what stands before it. A writer holds a lock on the file (`flock`) while it reads
what others have added and adds one line in one piece; a killed one leaves at most an incomplete
last line, which the next writer cuts off. Of two answers to one request the first counts. Requests
are not kept: they hold the texts of papers, and a conversation's are many times as long as its
answers.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena.errors import clip
from arena.llm.errors import LLMError

VERSION = 1
_FIRST = b'{"arena.llm":"answers","version":%d}\n' % VERSION
_SUM = b',"sum":"'
_DIGITS = 16


class Store:
    """Answers by the hash of their request.

    Args:
        path: of the file; it is made when the first answer is written.
        read_only: never write.

    Raises:
        LLMError: if the file is damaged, or of another version, or cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        self.path = Path(path)
        self.models: set[str] = set()
        self._read_only = read_only
        self._places: dict[str, tuple[int, int]] = {}
        self._read = self._lines = 0
        self._file: tuple[int, int] | None = None
        self._lock = threading.RLock()
        if self.path.exists():
            self.refresh()

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record kept under `key`, also if another process wrote it, or None."""
        with self._lock:
            if key not in self._places:
                self.refresh()
            place = self._places.get(key)
            if place is None:
                return None
            with self._open(os.O_RDONLY) as file:
                return self._parse(os.pread(file, place[1], place[0]), None)

    def put(self, record: dict[str, Any]) -> dict[str, Any]:
        """Add a record and see it to the disk; return it, or the one that was there before.

        Raises:
            LLMError: if the file cannot be written.
        """
        line = _line(record)
        with self._lock, self._open(os.O_RDWR | os.O_CREAT) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # freed when the file is closed, also by a kill
            end = self._load(file)
            if record["key"] in self._places:
                place = self._places[record["key"]]
                return self._parse(os.pread(file, place[1], place[0]), None)
            if not end:
                line = _FIRST + line
            try:
                os.ftruncate(file, end)
                written = 0
                while written < len(line):
                    written += os.pwrite(file, line[written:], end + written)
                os.fsync(file)
            except OSError as error:
                raise self._trouble(error, "be written") from None
            self._load(file)
        return record

    def refresh(self) -> None:
        """Read what was added since the last time."""
        with self._lock:
            if self.path.exists():
                with self._open(os.O_RDONLY) as file:
                    with suppress(OSError):  # a file system without locks has no writers either
                        fcntl.flock(file, fcntl.LOCK_SH)
                    self._load(file)

    @contextmanager
    def _open(self, flags: int) -> Iterator[int]:
        # Afresh each time: a lock belongs to an opening, and a forked child would share it.
        verb = "be read" if flags == os.O_RDONLY else "be written"
        if flags != os.O_RDONLY and self._read_only:
            raise LLMError(f"{str(self.path)!r} was opened to be read only.")
        try:
            file = os.open(self.path, flags | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise self._trouble(error, verb) from None
        try:
            yield file
        except OSError as error:
            raise self._trouble(error, "be read") from None
        finally:
            os.close(file)

    def _load(self, file: int) -> int:
        """Read complete lines that are not known yet; return where the last one ends."""
        state = os.fstat(file)
        if self._file != (state.st_dev, state.st_ino) or state.st_size < self._read:
            self._file, self._read, self._lines = (state.st_dev, state.st_ino), 0, 0
            self._places.clear()  # another file has taken its place
        rest = b""
        while block := os.pread(file, 1 << 22, self._read + len(rest)):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                self._lines += 1
                record = self._parse(line, self._lines)
                if "key" in record:
                    self._places.setdefault(record["key"], (self._read, len(line)))
                    self.models.add(record["model"])
                self._read += len(line) + 1
        if not self._read and not _FIRST.startswith(rest):  # would be cut off by the next writer
            raise LLMError(f"{str(self.path)!r} is no file of answers. Name another `store`.")
        return self._read

    def _parse(self, line: bytes, number: int | None) -> dict[str, Any]:
        """Return the record of a line, checked; a header may stand anywhere, so `cat` merges."""
        text = line.removesuffix(b"\r")
        head, mark, tail = text.rpartition(_SUM)
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            if record.get("arena.llm") == "answers" and number is not None:
                if record.get("version") == VERSION:
                    return {}
                raise LLMError(
                    f"{str(self.path)!r} is of version {clip(record.get('version'))}; this "
                    f"release reads version {VERSION}. Use the release that wrote it."
                )
            if mark and number != 1 and tail[:_DIGITS] == _sum(head):
                return record
        if number == 1:
            raise LLMError(f"{str(self.path)!r} is no file of answers. Name another `store`.")
        raise LLMError(
            f"{str(self.path)!r}{f' line {number}' if number else ''} is not as it was written. "
            "Restore the file, or delete that line: its answer is then asked for again."
        )

    def _trouble(self, error: OSError, verb: str) -> LLMError:
        return LLMError(
            f"the file of answers {str(self.path)!r} cannot {verb}: {error.strerror}. Name another "
            "`store`; mode='replay' needs to read it only."
        )


def _line(record: dict[str, Any]) -> bytes:
    head = json.dumps(record, separators=(",", ":"), allow_nan=False).encode("ascii")[:-1]
    return head + _SUM + _sum(head) + b'"}\n'


def _sum(head: bytes) -> bytes:
    return hashlib.sha256(head).hexdigest()[:_DIGITS].encode()
