"""Output directories: whose they are, one writer, leftovers of kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena._internal.files import atomic_write
from arena._internal.workdir import (
    LOCK,
    OutputKind,
    atomic_directory,
    clear_leftovers,
    only_writer,
    other_files,
    output_directory,
    put,
    take_back,
    whole_directory,
)
from arena.errors import ArenaError, CorpusError

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


def test_work_goes_on_where_it_stopped(tmp_path):
    begin(tmp_path / "out")
    (tmp_path / "out" / LEFTOVER).write_text("half")
    (tmp_path / "out" / "pictures" / LEFTOVER).write_text("half")
    with output_directory(tmp_path / "out", KIND) as before:
        assert before == {"field": "wheat"}
        held = names(tmp_path / "out")
    assert held == [".lock", "grain.csv", "harvest.json", "pictures", "pictures/a.svg"]
    assert LOCK not in names(tmp_path / "out")


def test_a_directory_with_only_a_leftover_is_new(tmp_path):
    (tmp_path / LEFTOVER).write_text("half")
    with output_directory(tmp_path, KIND) as before:
        assert before is None
    assert names(tmp_path) == []


def test_starting_anew_removes_files_of_the_kind_and_no_others(tmp_path):
    begin(tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with output_directory(tmp_path / "out", KIND, overwrite=True) as before:
        assert before is None
    assert names(tmp_path / "out") == ["notes.txt"]


@pytest.mark.parametrize(
    "content", [None, "[]", "{}", '{"field": 3}', "{", "[" * 100_000], ids=lambda c: str(c)[:12]
)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "notes.txt").write_text("mine")
    if content is not None:
        (tmp_path / "harvest.json").write_text(content)
    before = names(tmp_path)
    with (
        pytest.raises(CorpusError, match="holds other files, no harvest"),
        output_directory(tmp_path, KIND, overwrite=True),
    ):
        raise AssertionError
    assert names(tmp_path) == before


def test_a_file_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(CorpusError, match="is a file"), output_directory(tmp_path / "out", KIND):
        raise AssertionError


def test_one_writer_at_a_time_and_none_after_a_kill(tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from arena._internal.workdir import only_writer\n"
        "with only_writer(Path(sys.argv[1]), Path('output')):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    lock = tmp_path / LOCK
    other = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(ArenaError, match="another process is writing"), only_writer(lock, tmp_path):
        raise AssertionError
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    other.stdout.close()
    with only_writer(lock, tmp_path):
        assert lock.exists()
    assert not lock.exists()


def test_a_lock_with_content_is_somebody_elses(tmp_path):
    (tmp_path / LOCK).write_text("mine")
    with (
        pytest.raises(CorpusError, match="no lock of ours"),
        only_writer(tmp_path / LOCK, tmp_path),
    ):
        raise AssertionError
    assert (tmp_path / LOCK).read_text() == "mine"


def test_other_files_ignore_temporary_files_alone(tmp_path):
    for name in ("a.csv", "b.txt", LOCK, LEFTOVER):
        (tmp_path / name).write_text("")
    (tmp_path / f".folder{LEFTOVER}").mkdir()
    assert other_files(tmp_path, ["*.csv"]) == [f".folder{LEFTOVER}", LOCK, "b.txt"]


def test_the_directory_of_a_stage_is_cleared_at_any_depth(tmp_path):
    for name in ("a.csv", LEFTOVER, f"deep/{LEFTOVER}", "deep/.part.0a1b2c3d.making/x", "deep/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    clear_leftovers(tmp_path)
    assert names(tmp_path) == ["a.csv", "deep", "deep/y"]


def test_what_an_older_release_left_is_cleared(tmp_path):
    (tmp_path / ".out.building" / "corpus" / "half").mkdir(parents=True)
    with whole_directory(tmp_path / "out", accept, manifest="m.json") as new:
        (new / "m.json").write_text("first")
    assert names(tmp_path) == ["out", "out/m.json"]


def test_no_folder_of_a_user_is_removed(tmp_path):
    begin(tmp_path / "out")
    kept = [tmp_path / "out" / "keep" / ".work.making" / "f", tmp_path / "out" / "keep" / LEFTOVER]
    for path in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    for overwrite in (False, True):
        with output_directory(tmp_path / "out", KIND, overwrite=overwrite):
            assert all(path.read_text() == "mine" for path in kept)
    (tmp_path / "new" / ".mine.making").mkdir(parents=True)
    with pytest.raises(CorpusError, match="other files"), output_directory(tmp_path / "new", KIND):
        raise AssertionError


def accept(output: Path) -> None:
    if output.exists() and not (output / "m.json").exists():
        raise CorpusError("not ours")


def test_a_whole_directory_replaces_the_old_one(tmp_path):
    for text in ("first", "second"):
        with whole_directory(tmp_path / "out", accept, manifest="m.json") as new:
            (new / "m.json").write_text(text)
    assert (tmp_path / "out" / "m.json").read_text() == "second"
    assert names(tmp_path) == ["out", "out/m.json"]


def test_a_failure_leaves_the_old_one_and_nothing_else(tmp_path):
    with whole_directory(tmp_path / "out", accept, manifest="m.json") as new:
        (new / "m.json").write_text("first")
    with (
        pytest.raises(ZeroDivisionError),
        whole_directory(tmp_path / "out", accept, manifest="m.json") as new,
    ):
        (new / "m.json").write_text("second")
        raise ZeroDivisionError
    assert (tmp_path / "out" / "m.json").read_text() == "first"
    assert names(tmp_path) == ["out", "out/m.json"]


def test_what_a_kill_moved_away_comes_back(tmp_path):
    replaced = tmp_path / ".out.building" / "replaced"
    replaced.mkdir(parents=True)
    (replaced / "m.json").write_text("first")
    with (
        pytest.raises(ZeroDivisionError),
        whole_directory(tmp_path / "out", accept, manifest="m.json"),
    ):
        raise ZeroDivisionError
    assert (tmp_path / "out" / "m.json").read_text() == "first"


def test_files_of_others_in_the_building_place_are_kept(tmp_path):
    building = tmp_path / ".out.building"
    building.mkdir()
    (building / "thesis.tex").write_text("mine")
    with (
        pytest.raises(CorpusError, match=r"'thesis.tex' for one"),
        whole_directory(tmp_path / "out", accept, manifest="m.json"),
    ):
        raise AssertionError
    assert (building / "thesis.tex").read_text() == "mine"


def test_the_first_copy_of_a_task_wins(tmp_path):
    with atomic_directory(tmp_path / "part") as slow:
        with atomic_directory(tmp_path / "part") as fast:
            (fast / "x").write_text("fast")
        (slow / "x").write_text("slow")
    assert (tmp_path / "part" / "x").read_text() == "fast"
    assert names(tmp_path) == ["part", "part/x"]


@pytest.mark.parametrize("exchange", [True, False])
def test_put_and_take_back(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr("arena._internal.workdir._exchange", lambda first, second: False)
    new, output = tmp_path / "building" / "new", tmp_path / "out"
    for directory, text in ((new, "new"), (output, "old")):
        directory.mkdir(parents=True)
        (directory / "m.json").write_text(text)
    old = put(new, output)
    assert (output / "m.json").read_text() == "new"
    take_back(new, output, old)
    assert (output / "m.json").read_text() == "old"
    assert (new / "m.json").read_text() == "new"
