"""The file of answers: an SQLite database that any number of processes may write.

SQLite keeps it whole after a kill and shares it between processes; there is no other file beside
it, so copying it is shipping it. Each row has the beginning of the SHA-256 of its record, so that a
changed byte never gives another answer. Of two answers to one request the first counts. Requests
are not kept: they hold the texts of papers, and a conversation's are many times as long as its
answers.

Releases before 0.2 wrote JSON lines: a header, and one answer a line with a checksum as its last
entry. Every checksum is verified before such a file is used. A store that may write replaces the
file by a database, under the lock (`flock`) that the writers of those releases take; a store that
only reads leaves the file as it is and holds its answers in memory.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from arena.llm.errors import LLMError

VERSION = 2
_APPLICATION = int.from_bytes(b"aLLM", "big")
_SCHEMA = (
    "CREATE TABLE answers (key TEXT PRIMARY KEY, model TEXT, record TEXT, sum TEXT) WITHOUT ROWID",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_IDENTITY = (
    "SELECT (SELECT count(*) FROM sqlite_master), application_id, user_version "
    "FROM pragma_application_id, pragma_user_version"
)
_JSON_LINES = b'{"arena.llm":"answers","version":1}'
_LINE_SUM = b',"sum":"'
_PATIENCE = 60.0
"""Seconds to wait for other processes that write."""


class Store:
    """Answers by the hash of their request.

    Every call opens the file anew: threads and forked processes share nothing, and a file that
    was replaced is read.

    Args:
        path: The file. The first answer that is written makes it. JSON lines, as releases before
            0.2 wrote them, are replaced by a database with the same answers, unless `read_only`.
        read_only: Refuse to write, and leave the file as it is.

    Raises:
        LLMError: if the file holds something else, a JSON line is not as it was written, or the
            file cannot be read, or be replaced where it must be.
    """

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        self.path = Path(path)
        self._read_only = read_only
        self._lines: dict[str, _Row] | None = None  # by key, of JSON lines that stay as they are
        with suppress(LLMError):
            len(self)
            return
        if self.path.is_file():
            self._take_lines()
        len(self)  # refuses another file now, not at the first answer

    def __len__(self) -> int:
        if self._lines is not None:
            return len(self._lines)
        with self._open() as database:
            return int(database.execute("SELECT count(*) FROM answers").fetchone()[0])

    @property
    def models(self) -> set[str]:
        """The models whose answers are kept."""
        if self._lines is not None:
            return {row.model for row in self._lines.values()}
        with self._open() as database:
            return {model for (model,) in database.execute("SELECT DISTINCT model FROM answers")}

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record of `key`, or None."""
        if self._lines is not None:
            return json.loads(self._lines[key].text) if key in self._lines else None
        with self._open() as database:
            return self._get(database, key)

    def put(self, record: dict[str, Any]) -> dict[str, Any]:
        """Write a record to the disk; return it, or an earlier one of the same key.

        Raises:
            LLMError: if the file cannot be written.
        """
        if self._read_only:
            raise LLMError(f"{str(self.path)!r} was opened to be read only.")
        row = _Row(record["key"], record["model"], json.dumps(record, allow_nan=False))
        with self._open(write=True) as database:
            database.execute("BEGIN IMMEDIATE")
            _insert(database, row)
            kept = self._get(database, row.key)
            database.execute("COMMIT")
        assert kept is not None
        return kept

    def _get(self, database: sqlite3.Connection, key: str) -> dict[str, Any] | None:
        row = database.execute("SELECT record, sum FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if _sum(key, row[0]) != row[1]:
            raise self._refusal(f"holds an answer that is not as it was written ({key[:12]})")
        record: dict[str, Any] = json.loads(row[0])
        return record

    @contextmanager
    def _open(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connect(write)) as database:
                yield database
        except sqlite3.OperationalError as error:
            raise LLMError(
                f"the file of answers {str(self.path)!r} cannot be "
                f"{'written' if write else 'read'}: {error}. Name another `store`; mode='replay' "
                "only reads it."
            ) from None
        except sqlite3.DatabaseError as error:
            raise self._refusal(f"is no file of answers, or is damaged ({error})") from None

    def _connect(self, write: bool) -> sqlite3.Connection:
        """Open the file; one that is empty or does not exist is read as an empty store."""
        if write or self.path.exists():
            # Not mode=ro, with which SQLite could not undo what a killed process left half done.
            address = f"{self.path.absolute().as_uri()}?mode={'rwc' if write else 'rw'}"
            database = sqlite3.connect(address, _PATIENCE, isolation_level=None, uri=True)
            try:
                found = database.execute(_IDENTITY).fetchone()
                if found[0] and found[1:] != (_APPLICATION, VERSION):
                    if found[1] != _APPLICATION:
                        raise self._refusal("is no file of answers")
                    raise self._refusal(f"is of version {found[2]}, not {VERSION}")
            except BaseException:
                database.close()
                raise
            if write or found[0]:
                return database
            database.close()
        database = sqlite3.connect(":memory:")
        database.execute(_SCHEMA[0])
        return database

    def _refusal(self, problem: str) -> LLMError:
        return LLMError(f"{str(self.path)!r} {problem}. Restore it, or name another `store`.")

    def _take_lines(self) -> None:
        """Replace JSON lines by a database, or hold their answers if the store only reads."""
        try:
            while self._has_lines():
                with self.path.open("rb" if self._read_only else "r+b") as file:
                    if self._read_only:
                        self._lines = self._parse_lines(file.read())
                        return
                    fcntl.flock(file, fcntl.LOCK_EX)
                    if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                        self._replace_lines(self._parse_lines(file.read()))
        except OSError as error:
            raise LLMError(
                f"{str(self.path)!r} holds JSON lines of an earlier release and cannot be "
                f"{'read' if self._read_only else 'replaced by a database'} ({error.strerror}). "
                "Name another `store`; mode='replay' leaves the file as it is."
            ) from None

    def _has_lines(self) -> bool:
        try:
            with self.path.open("rb") as file:
                head = file.read(len(_JSON_LINES))
        except OSError:  # SQLite says why
            return False
        return head != b"" and _JSON_LINES.startswith(head)

    def _replace_lines(self, rows: dict[str, _Row]) -> None:
        target = self.path.resolve()
        new = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        try:
            new.touch(exist_ok=False)
            shutil.copymode(target, new)
            with Store(new)._open(write=True) as database:
                database.execute("BEGIN IMMEDIATE")
                _insert(database, *rows.values())
                database.execute("COMMIT")
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)

    def _parse_lines(self, content: bytes) -> dict[str, _Row]:
        """Return the answers of JSON lines; only the last line may be cut off, by a killed writer.

        A header may stand anywhere, because such files were merged by `cat`.
        """
        rows: dict[str, _Row] = {}
        *lines, rest = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            text = line.removesuffix(b"\r")
            if text == _JSON_LINES:
                continue
            row = _row_of_line(text) if number > 1 else None
            if row is None:
                raise LLMError(
                    f"{str(self.path)!r} line {number} is not as it was written. Restore the file, "
                    "or delete that line: its answer is then asked for again."
                )
            rows.setdefault(row.key, row)
        if lines and (row := _row_of_line(rest)):
            rows.setdefault(row.key, row)
        return rows


class _Row(NamedTuple):
    """An answer as the database holds it, less its checksum."""

    key: str
    model: str
    text: str


def _insert(database: sqlite3.Connection, *rows: _Row) -> None:
    """Add rows within a transaction, to a database that may be empty."""
    if not database.execute("PRAGMA user_version").fetchone()[0]:
        for statement in _SCHEMA:
            database.execute(statement)
    for row in rows:
        values = (*row, _sum(row.key, row.text))
        database.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", values)


def _row_of_line(line: bytes) -> _Row | None:
    """Return the answer in a JSON line, or None if the line is not as it was written."""
    head, mark, tail = line.rpartition(_LINE_SUM)
    if not mark or tail != hashlib.sha256(head).hexdigest()[:16].encode() + b'"}':
        return None
    try:
        text = head.decode("ascii") + "}"
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    key, model = record.get("key"), record.get("model")
    return _Row(key, model, text) if isinstance(key, str) and isinstance(model, str) else None


def _sum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:16]
