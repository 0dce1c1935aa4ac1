"""The file of answers: real processes, killed, side by side, and without the right to write."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from arena.llm.answers import LLMError
from arena.llm.client import Client
from arena.llm.store import Store


def record(key: str, text: str = "text") -> dict[str, object]:
    return {"key": key, "model": "m", "text": text}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.db"


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    prelude = (
        "import os, sys, signal\n"
        "from arena.llm.store import Store\n"
        "def record(key, text): return {'key': key, 'model': 'm', 'text': text}\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", prelude + code, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_what_is_put_is_got(path):
    store = Store(path)
    assert store.get("a") is None
    assert not path.exists()  # asking makes no file
    assert store.put(record("a", 'é "\n\u2028 \U0001f600')) == record("a", 'é "\n\u2028 \U0001f600')
    assert store.put(record("a", "another")) == Store(path).get("a")  # the first counts
    store.put(record("b"))
    for reader in (store, Store(path), Store(path, read_only=True)):
        kept = reader.get("a")
        assert kept is not None
        assert kept["text"] == 'é "\n\u2028 \U0001f600'
        assert len(reader) == 2
    assert store.models == {"m"}
    assert sorted(item.name for item in path.parent.iterdir()) == ["answers.db"]  # one file


def test_the_messages_of_requests_are_kept_each_once(path):
    begin, then = {"role": "user", "content": "a" * 3000}, {"role": "assistant", "content": "b"}
    store = Store(path)
    store.put(record("one"), [begin])
    store.put(record("two"), [begin, then, begin])
    store.put(record("two"), [then])  # the first counts
    for reader in (store, Store(path, read_only=True)):
        assert reader.asked("one") == [begin]
        assert reader.asked("two") == [begin, then, begin]
        assert reader.asked("three") is None
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM messages").fetchone() == (2,)
        database.execute("DROP TABLE requests")  # as an earlier release wrote it
    assert Store(path, read_only=True).asked("one") is None
    store.put(record("four"), [then])
    assert store.asked("four") == [then]


def test_writers_that_are_killed_at_any_moment(path):
    """Every answer that was acknowledged is there, after eight kills."""
    code = """
import time
store = Store(sys.argv[1])
for number in range(8):
    reader, writer = os.pipe()
    process = os.fork()
    for n in () if process else range(10**6):
        store.put(record(f"{number}-{n}", "x" * 100_000))
        os.write(writer, f"{number}-{n}\\n".encode())
    os.close(writer)
    first = os.read(reader, 100)
    time.sleep(0.01 * number)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    print((first + open(reader, "rb").read()).decode())
"""
    output, errors = child(code, path).communicate()
    said = output.split()
    assert {key[0] for key in said} == set("01234567"), errors
    store = Store(path)
    assert all(store.get(key) is not None for key in said)


def test_a_byte_that_changes_never_gives_another_answer(path):
    store = Store(path)
    for key in ("a", "b", "c"):
        store.put(record(key, f"text of {key}"))
    whole = path.read_bytes()
    troubles = 0
    for place in [n for n, byte in enumerate(whole) if byte]:
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(bytes(damaged))
        for key in ("a", "b", "c"):
            try:
                assert Store(path).get(key) in (record(key, f"text of {key}"), None)
            except LLMError as error:
                assert str(path) in str(error)
                troubles += 1
    assert troubles > 100
    path.write_bytes(whole.replace(b"text of b", b"text of B"))
    with pytest.raises(LLMError, match="is not as it was written"):
        Store(path).get("b")


def test_databases_of_others_and_of_later_versions_are_refused(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE answers (key TEXT)")
    with pytest.raises(LLMError, match="is not a file of answers"):
        Store(path)
    path.unlink()
    Store(path).put(record("a"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 3")
    with pytest.raises(LLMError, match="is of version 3, not 2"):
        Store(path)


def test_a_directory_and_a_missing_file(path):
    assert Store(path, read_only=True).get("a") is None
    with pytest.raises(LLMError, match=r"there is no file of answers .* to replay"):
        Client("m", mode="replay", store=path).complete([{"role": "user", "content": "?"}])
    path.mkdir()
    with pytest.raises(LLMError, match="cannot be read: unable to open database file"):
        Store(path)
    with pytest.raises(LLMError, match="cannot be written: unable to open database file"):
        Store(path.parent / "none" / "x.db").put(record("a"))
