"""The file of answers: an SQLite database that any number of processes may write.

SQLite keeps it whole after a kill and shares it between processes; there is no other file beside
it, so copying it is shipping it. Each row has the beginning of the SHA-256 of its record, so that a
changed byte never gives another answer. Of two answers to one request the first counts. Requests
are not kept: they hold the texts of papers, and a conversation's are many times as long as its
answers.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

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
_PATIENCE = 60.0
"""Seconds to wait for other processes that write."""


class Store:
    """Answers by the hash of their request.

    Every call opens the file anew: threads and forked processes share nothing, and a file that
    was replaced is read.

    Args:
        path: The file. The first answer that is written makes it. JSON lines, as releases before
            0.2 wrote them, are replaced by a database with the same answers.
        read_only: Refuse to write.

    Raises:
        LLMError: if the file holds something else or cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        self.path = Path(path)
        self._read_only = read_only
        if self.path.is_file():
            with self.path.open("rb") as file:
                if file.readline().startswith(_JSON_LINES):
                    self._import_lines()
        len(self)  # refuses another file now, not at the first answer

    def __len__(self) -> int:
        with self._open() as database:
            return int(database.execute("SELECT count(*) FROM answers").fetchone()[0])

    @property
    def models(self) -> set[str]:
        """The models whose answers are kept."""
        with self._open() as database:
            return {model for (model,) in database.execute("SELECT DISTINCT model FROM answers")}

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record of `key`, or None."""
        with self._open() as database:
            return self._get(database, key)

    def put(self, *records: dict[str, Any]) -> dict[str, Any]:
        """Write records to the disk; return the last one, or an earlier one of the same key.

        Raises:
            LLMError: if the file cannot be written.
        """
        if self._read_only:
            raise LLMError(f"{str(self.path)!r} was opened to be read only.")
        with self._open(write=True) as database:
            database.execute("BEGIN IMMEDIATE")
            if not database.execute("PRAGMA user_version").fetchone()[0]:
                for statement in _SCHEMA:
                    database.execute(statement)
            for record in records:
                text = json.dumps(record, allow_nan=False)
                row = (record["key"], record["model"], text, _sum(record["key"], text))
                database.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row)
            kept = self._get(database, records[-1]["key"])
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

    def _import_lines(self) -> None:
        """Replace a store of JSON lines by a database with its answers."""
        records = []
        for line in self.path.read_bytes().splitlines()[1:]:
            try:
                record = json.loads(line)
            except ValueError:  # the last line, by a killed writer
                continue
            if "key" in record:
                records.append({name: record[name] for name in record if name != "sum"})
        new = Store(self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}"))
        try:
            new.put(*records)
            new.path.replace(self.path)
        except OSError as error:
            raise self._refusal(
                f"holds JSON lines and cannot be replaced ({error.strerror})"
            ) from None
        finally:
            new.path.unlink(missing_ok=True)


def _sum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:16]
