"""Files of a run with another content: every command names the file and ends with 2."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from arena.cli import main


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_disk_names_the_directory(
    synthetic, tmp_path, capsys, monkeypatch, number
):
    def fails(self: Path, *args: Any, **options: Any) -> Any:
        if temporary in self.name:
            raise OSError(number, os.strerror(number), str(self))
        return opened(self, *args, **options)

    temporary, opened = ".atomic-write.tmp", Path.open
    monkeypatch.setattr(Path, "open", fails)
    output = tmp_path / "mine"
    command = ["run", "--corpus", str(synthetic), "--task", "discovery", "--agent", "title"]
    assert main([*command, "--output", str(output)]) == 2
    error = capsys.readouterr().err
    assert f"{str(output / 'manifest.json')!r}: {os.strerror(number)}" in error
    assert temporary not in error
