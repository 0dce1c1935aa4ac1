"""Atomic writes and content hashes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.errors import DataError
from arena.kit.files import atomic_write, write_json


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
