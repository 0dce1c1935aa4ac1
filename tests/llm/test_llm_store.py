"""The file of answers: real processes, killed, side by side, and without the right to write."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from arena.llm.client import Client
from arena.llm.errors import LLMError
from arena.llm.store import Store


def record(key: str, text: str = "text") -> dict[str, object]:
    return {"key": key, "model": "m", "text": text}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


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
    lines = path.read_bytes().splitlines()
    assert json.loads(lines[0]) == {"arena.llm": "answers", "version": 1}
    assert len(lines) == 3
    assert sorted(item.name for item in path.parent.iterdir()) == ["answers.jsonl"]  # one file


def test_a_writer_that_is_killed_in_the_middle_of_a_line(path):
    """It writes a half and is killed by the system; the next writer goes on."""
    code = """
store = Store(sys.argv[1])
store.put(record("a", "kept"))
write = os.pwrite
def half(file, data, at):
    write(file, data[:len(data) // 2], at)
    os.kill(os.getpid(), signal.SIGKILL)
os.pwrite = half
store.put(record("b", "x" * 1000))
"""
    process = child(code, path)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    torn = path.read_bytes()
    assert not torn.endswith(b"\n")
    assert Store(path, read_only=True).get("b") is None
    assert path.read_bytes() == torn  # a reader changes nothing
    store = Store(path)
    store.put(record("b", "new"))
    assert [Store(path).get(key)["text"] for key in "ab"] == ["kept", "new"]
    assert path.read_bytes().endswith(b"\n")


def test_writers_that_are_killed_at_any_moment(path):
    """Every answer that was acknowledged is there, after eight kills."""
    code = """
store = Store(sys.argv[1])
for n in range(10**6):
    store.put(record(f"{sys.argv[2]}-{n}", "x" * 100_000))
    print(n, flush=True)
"""
    said: set[str] = set()
    for number in range(8):
        process = child(code, path, number)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(0.01 * number)
        process.kill()
        lines = [first, *process.stdout.read().splitlines()]
        said |= {f"{number}-{line.strip()}" for line in lines if line.strip()}
        process.communicate()
    store = Store(path)
    assert len(said) >= 8
    assert all(store.get(key) is not None for key in said)


def test_two_processes_write_the_same_requests_at_the_same_time(path):
    """Both end up with one answer to each, and it is the same for both."""
    code = """
import hashlib
store, name = Store(sys.argv[1]), sys.argv[2]

own = range(0, 300) if name == "one" else range(150, 450)
order = own if name == "one" else reversed(own)
texts = {n: store.put(record(str(n), f"{name} {n}"))["text"] for n in order}
print(hashlib.sha256(repr([texts[n] for n in range(150, 300)]).encode()).hexdigest())
"""
    processes = [child(code, path, name) for name in ("one", "two")]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    hashes = [out.splitlines()[-1] for out, _ in outputs]
    assert hashes[0] == hashes[1]
    lines = path.read_bytes().splitlines()
    keys = [json.loads(line)["key"] for line in lines[1:]]
    assert sorted(map(int, keys)) == list(range(450))
    assert len(Store(path)) == 450


def test_a_store_sees_what_another_process_adds(path):
    store = Store(path)
    store.put(record("a"))
    process = child('Store(sys.argv[1]).put(record("b", "from afar"))', path)
    process.communicate()
    assert store.get("b")["text"] == "from afar"


def test_a_store_in_a_directory_where_nothing_may_be_written():
    """A process without any rights reads it; what it may not write, it says."""
    directory = Path(tempfile.mkdtemp())
    try:
        path = directory / "answers.jsonl"
        Store(path).put(record("a", "there"))
        directory.chmod(0o555)
        path.chmod(0o444)
        code = """
import arena.llm.errors
if os.getuid() == 0:
    os.setuid(65534)
assert not os.access(sys.argv[1], os.W_OK) and not os.access(os.path.dirname(sys.argv[1]), os.W_OK)
print(Store(sys.argv[1], read_only=True).get("a")["text"])
try:
    Store(sys.argv[1]).put(record("b", ""))
except arena.llm.errors.LLMError as error:
    print(error)
"""
        process = child(code, path)
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert out.splitlines()[0] == "there"
        assert "cannot be written: Permission denied" in out
    finally:
        directory.chmod(0o755)
        shutil.rmtree(directory)


def test_any_byte_that_changes_is_told(path):
    store = Store(path)
    for key in ("a", "b", "c"):
        store.put(record(key, f"text of {key}"))
    whole = path.read_bytes()
    starts = [0]
    for line in whole.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for place in range(starts[1], len(whole) - 1):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(bytes(damaged))
        if damaged.count(b"\n") > whole.count(b"\n"):
            continue  # a newline in the middle: two broken lines, the same error
        with pytest.raises(LLMError, match=r"line \d is not as it was written"):
            Store(path)
    path.write_bytes(whole.replace(b"text of b", b"text of B"))
    with pytest.raises(LLMError, match="line 3"):
        Store(path)


def test_cut_off_anywhere_it_opens_and_goes_on(path):
    store = Store(path)
    for key in ("a", "b"):
        store.put(record(key, key * 20))
    whole = path.read_bytes()
    ends = [n + 1 for n, byte in enumerate(whole) if byte == 10]
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        cut = Store(path)
        complete = max(0, sum(end <= length for end in ends) - 1)
        assert len(cut) == complete
        cut.put(record("new"))
        assert len(Store(path)) == complete + 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"arena.llm":"answers","version":2}\n', "of version 2; this release reads version 1"),
        (b"id,title\na,b\n", "is no file of answers"),
        (b"a file of notes without an end of line", "is no file of answers"),
        (b"\x1f\x8b\x08" * 50, "is no file of answers"),
        (b'{"key":"a","model":"m","sum":"0"}\n', "is no file of answers"),
    ],
)
def test_other_files_are_refused_and_left_alone(content, message, path):
    path.write_bytes(content)
    with pytest.raises(LLMError, match=message):
        Store(path)
    assert path.read_bytes() == content


def test_a_directory_and_a_missing_file(path):
    assert Store(path, read_only=True).get("a") is None
    with pytest.raises(LLMError, match=r"there is no file of answers .* to replay"):
        Client("m", mode="replay", store=path).complete([{"role": "user", "content": "?"}])
    path.mkdir()
    with pytest.raises(LLMError, match="cannot be read: Is a directory"):
        Store(path)
    with pytest.raises(LLMError, match="cannot be written: No such file or directory"):
        Store(path.parent / "none" / "x.jsonl").put(record("a"))


def test_stores_are_merged_by_cat_and_survive_other_line_ends(path, tmp_path):
    other = tmp_path / "other.jsonl"
    Store(path).put(record("a", "mine"))
    Store(other).put(record("a", "yours"))
    Store(other).put(record("b", "yours"))
    both = path.read_bytes() + other.read_bytes()
    for data in (both, both.replace(b"\n", b"\r\n")):
        path.write_bytes(data)
        merged = Store(path)
        assert [merged.get(key)["text"] for key in "ab"] == ["mine", "yours"]


def test_a_file_that_is_replaced_or_removed_is_read_anew(path, tmp_path):
    store = Store(path)
    store.put(record("a"))
    path.unlink()
    store.put(record("b"))
    assert store.get("a") is None
    assert len(Store(path)) == 1
    other = Store(tmp_path / "other.jsonl")
    other.put(record("c", "other"))
    other.path.replace(path)
    assert store.get("c")["text"] == "other"


def test_a_full_disk_leaves_a_whole_file(path, monkeypatch):
    store = Store(path)
    store.put(record("a"))
    write = os.pwrite

    def full(file, data, at):
        if len(data) > 500:
            return write(file, data[:500], at)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(LLMError, match="cannot be written: No space left on device"):
        store.put(record("b", "x" * 700))
    monkeypatch.undo()
    assert len(Store(path)) == 1
    store.put(record("b"))
    assert len(Store(path)) == 2
