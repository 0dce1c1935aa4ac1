"""Output directories where the file system has no locks."""

from __future__ import annotations

import errno
import os

import pytest

from arena.errors import ArenaError
from arena.kit.workdir import LOCK, exclusive_lock


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
