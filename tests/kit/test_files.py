"""Atomic writes and content hashes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path

import pytest

from arena.errors import DataError
from arena.kit.files import atomic_write, sha256_file, sha256_json, write_json


def test_writes_text_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    atomic_write(path, "é\r\n\n")
    assert path.read_bytes() == b"\xc3\xa9\r\n\n"
    atomic_write(str(path), b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failing_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os if step == "fsync" else Path, step, fail)
    with pytest.raises(type(error)):
        atomic_write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_refused_text_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(DataError, match="UTF-8"):
        atomic_write(path, "\ud800")
    with pytest.raises(DataError, match="JSON"):
        write_json(path, {"score": float("nan")})
    with pytest.raises(TypeError):
        write_json(path, {"score": object()})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions(tmp_path: Path) -> None:
    plain, written = tmp_path / "plain", tmp_path / "written"
    plain.write_text("")
    atomic_write(written, "")
    assert written.stat().st_mode == plain.stat().st_mode  # as any new file
    written.chmod(0o640)
    atomic_write(written, "new")
    assert written.stat().st_mode & 0o777 == 0o640


def test_follows_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "a"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    atomic_write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_refuses_what_it_cannot_replace(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a regular file"):
        atomic_write(tmp_path, "")
    with pytest.raises(DataError, match="not a regular file"):
        atomic_write("/dev/null", "")
    with pytest.raises(DataError, match="no directory"):
        atomic_write(tmp_path / "absent" / "a", "")


def test_write_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"b": [1.5], "a": "é"})
    assert path.read_bytes() == b'{\n  "a": "\\u00e9",\n  "b": [\n    1.5\n  ]\n}\n'
    assert json.loads(path.read_text()) == {"a": "é", "b": [1.5]}


def test_sha256_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_file(path) == expected
    with pytest.raises(DataError, match="no such file"):
        sha256_file(tmp_path / "absent")
    with pytest.raises(DataError, match="directory"):
        sha256_file(tmp_path)


def test_sha256_json() -> None:
    assert sha256_json({"b": 1, "a": "é"}) == hashlib.sha256(b'{"a":"\\u00e9","b":1}').hexdigest()
    assert sha256_json({"a": [1, 2]}) != sha256_json({"a": [2, 1]})
    with pytest.raises(DataError, match="JSON"):
        sha256_json([float("inf")])


def test_an_error_of_the_system_names_the_path_that_was_given(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: 'page\.html'"):
        atomic_write("page.html", "text")
    assert not list(tmp_path.iterdir())
