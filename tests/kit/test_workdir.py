"""Output directories: whose they are, one writer, what a kill leaves."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import ArenaError, CorpusError
from arena.kit.files import atomic_write
from arena.kit.workdir import (
    LOCK,
    OutputKind,
    exclusive_lock,
    output_directory,
    staged_directory,
)

KIND = OutputKind("harvest", "harvest.json", {"field": str}, ("*.csv", "pictures/*.svg"))
LEFTOVER = ".0123456789abcdef.atomic-write.tmp"


def names(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*"))


def begin(output: Path, field: str = "wheat") -> None:
    with output_directory(output, KIND) as before:
        assert before is None
        atomic_write(output / "harvest.json", json.dumps({"field": field}))
        (output / "grain.csv").write_text("1\n")
        (output / "pictures").mkdir()
        (output / "pictures" / "a.svg").write_text("<svg/>")


def test_work_continues_where_it_stopped(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / LEFTOVER).write_text("half")
    begin(tmp_path / "out")
    (tmp_path / "out" / "pictures" / LEFTOVER).write_text("half")
    with output_directory(tmp_path / "out", KIND) as before:
        assert before == {"field": "wheat"}
        found = names(tmp_path / "out")
    assert found == [".lock", "grain.csv", "harvest.json", "pictures", "pictures/a.svg"]
    assert LOCK not in names(tmp_path / "out")


@pytest.mark.parametrize("content", [None, "{}", '{"field": 3}', "{"], ids=str)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "notes.txt").write_text("mine")
    if content is not None:
        (tmp_path / "harvest.json").write_text(content)
    before = names(tmp_path)
    with (
        pytest.raises(CorpusError, match="contains other files and no harvest"),
        output_directory(tmp_path, KIND, overwrite=True),
    ):
        raise AssertionError
    assert names(tmp_path) == before
    with (
        pytest.raises(CorpusError, match="is a file"),
        output_directory(tmp_path / "notes.txt", KIND),
    ):
        raise AssertionError


def test_one_writer_at_a_time_and_none_after_a_kill(tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from arena.kit.workdir import exclusive_lock\n"
        "with exclusive_lock(Path(sys.argv[1]), Path('output')):\n"
        "    print('locked', flush=True); time.sleep(60)\n"
    )
    lock = tmp_path / LOCK
    other = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"locked\n"
    with (
        pytest.raises(ArenaError, match="another process is writing"),
        exclusive_lock(lock, tmp_path),
    ):
        raise AssertionError
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    other.stdout.close()
    with exclusive_lock(lock, tmp_path):
        assert lock.exists()
    assert not lock.exists()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL])
def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch, code):
    def flock(descriptor, operation):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", flock)
    with (
        pytest.raises(
            ArenaError, match=rf"\.lock': its file system has no locks \({os.strerror(code)}"
        ),
        exclusive_lock(tmp_path / LOCK, tmp_path),
    ):
        raise AssertionError
    assert not (tmp_path / LOCK).exists()


def accept(output: Path) -> None:
    if output.exists() and not (output / "m.json").exists():
        raise CorpusError("not ours")


def stage(output: Path, text: str) -> None:
    with staged_directory(output, accept, manifest="m.json") as new:
        (new / "m.json").write_text(text)
        if text == "bad":
            raise ZeroDivisionError


def test_a_staged_directory_replaces_the_old_one_when_it_is_complete(tmp_path):
    for text in ("first", "second"):
        stage(tmp_path / "out", text)
    with pytest.raises(ZeroDivisionError):
        stage(tmp_path / "out", "bad")
    assert (tmp_path / "out" / "m.json").read_text() == "second"
    assert names(tmp_path) == ["out", "out/m.json"]


def test_work_that_can_be_resumed_is_kept(tmp_path):
    def work(shift: int, fails: bool) -> list[str]:
        options = {"manifest": "m.json", "work": {"shift": shift}}
        with staged_directory(tmp_path / "out", accept, **options) as new:
            found = names(new)
            (new / f"part{len(found)}").write_text("")
            if fails:
                raise ZeroDivisionError
        return found

    for shift in (1, 2):
        with pytest.raises(ZeroDivisionError):
            work(shift, True)
    assert work(1, False) == ["part0"]
    assert names(tmp_path) == ["out", "out/part0", "out/part1"]
