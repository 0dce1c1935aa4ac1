"""The file of answers: an SQLite database that any number of processes may write.

SQLite keeps it whole after a kill and shares it between processes; there is no other file next to
it, so copying it is shipping it. Each row has the beginning of the SHA-256 of its record, so that a
changed byte never gives another answer. The first of two answers to one request counts. Messages of
requests are kept for readers, packed and each once: those of a conversation begin alike. A file of
an earlier release has none.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from arena.llm.answers import LLMError

VERSION = 2
_APPLICATION = int.from_bytes(b"aLLM", "big")
_SCHEMA = (
    "CREATE TABLE answers (key TEXT PRIMARY KEY, model TEXT, record TEXT, sum TEXT) WITHOUT ROWID",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_REQUESTS = (
    "CREATE TABLE IF NOT EXISTS requests (key TEXT PRIMARY KEY, messages TEXT)",
    "CREATE TABLE IF NOT EXISTS messages (sum TEXT PRIMARY KEY, message BLOB)",
)
_IDENTITY = (
    "SELECT (SELECT count(*) FROM sqlite_master), application_id, user_version "
    "FROM pragma_application_id, pragma_user_version"
)
_PATIENCE = 60.0  # seconds to wait for other processes that write


class Store:
    """Answers by the hash of their request.

    Every call opens the file again: threads and forked processes share nothing, and a file that
    was replaced is read. The first answer that is written makes it.
    """

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        self.path = Path(path)
        self._read_only = read_only
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

    def asked(self, key: str) -> list[dict[str, Any]] | None:
        """Return the messages of the request `key`, or None."""
        with self._open() as database, suppress(sqlite3.OperationalError):
            row = database.execute("SELECT messages FROM requests WHERE key = ?", (key,)).fetchone()
            query = "SELECT message FROM messages WHERE sum = ?"
            sums = row[0].split() if row else ()
            found = [database.execute(query, (each,)).fetchone()[0] for each in sums]
            return [json.loads(zlib.decompress(each)) for each in found] or None
        return None  # of an earlier release

    def put(
        self, record: dict[str, Any], messages: Sequence[Mapping[str, Any]] = ()
    ) -> dict[str, Any]:
        """Write a record, and the messages of its request, to the disk.

        Return it, or an earlier one of the same key.
        """
        if self._read_only:
            raise LLMError(f"{str(self.path)!r} was opened to be read only.")
        with self._open(write=True) as database:
            database.execute("BEGIN IMMEDIATE")
            if not database.execute("PRAGMA user_version").fetchone()[0]:
                for statement in _SCHEMA:
                    database.execute(statement)
            key, text = record["key"], json.dumps(record, allow_nan=False)
            row = (key, record["model"], text, _sum(key, text))
            database.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row)
            texts = [json.dumps(message) for message in messages]
            sums = [_sum("", text) for text in texts]
            for statement in _REQUESTS:
                database.execute(statement)
            packed = [(s, zlib.compress(t.encode())) for s, t in zip(sums, texts, strict=True)]
            database.executemany("INSERT OR IGNORE INTO messages VALUES (?, ?)", packed)
            database.execute("INSERT OR IGNORE INTO requests VALUES (?, ?)", (key, " ".join(sums)))
            kept = self._get(database, key)
            database.execute("COMMIT")
        assert kept is not None
        return kept

    def check(self) -> None:
        """Raise LLMError if an answer could not be written now."""
        if self.path.exists():
            with self._open(write=True) as database:
                database.execute("BEGIN IMMEDIATE")
                database.execute("ROLLBACK")
        elif not os.access(self.path.absolute().parent, os.W_OK):
            raise LLMError(
                f"the file of answers {str(self.path)!r} cannot be written into its directory. "
                "Name another `store`."
            )

    def _get(self, database: sqlite3.Connection, key: str) -> dict[str, Any] | None:
        row = database.execute("SELECT record, sum FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if _sum(key, row[0]) != row[1]:
            raise self._refusal(f"contains an answer that is not as it was written ({key[:12]})")
        record: dict[str, Any] = json.loads(row[0])
        return record

    @contextmanager
    def _open(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the file; one that is empty or does not exist is read as an empty store."""
        exists = write or (self.path.exists() and self.path.stat().st_size != 0)
        # Not mode=ro, with which SQLite could not undo what a killed process left half done.
        address = f"{self.path.absolute().as_uri()}?mode={'rwc' if write else 'rw'}"
        try:
            with closing(
                sqlite3.connect(
                    address if exists else ":memory:", _PATIENCE, isolation_level=None, uri=True
                )
            ) as database:
                tables, application, version = database.execute(_IDENTITY).fetchone()
                if tables and application != _APPLICATION:
                    raise self._refusal("is not a file of answers")
                if tables and version != VERSION:
                    raise self._refusal(f"is of version {version}, not {VERSION}")
                if not tables and not write:
                    database.execute(_SCHEMA[0].replace("TABLE", "TEMP TABLE"))
                yield database
        except sqlite3.OperationalError as error:
            raise LLMError(
                f"the file of answers {str(self.path)!r} cannot be "
                f"{'written' if write else 'read'}: {error}. Name another `store`; mode='replay' "
                "only reads it."
            ) from None
        except sqlite3.DatabaseError as error:
            raise self._refusal(f"is not a file of answers, or is damaged ({error})") from None

    def _refusal(self, problem: str) -> LLMError:
        return LLMError(f"{str(self.path)!r} {problem}. Restore it, or name another `store`.")


def _sum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:16]
