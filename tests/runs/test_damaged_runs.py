"""Files of a run with another content: every command names the file and ends with 2."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import arena
import arena.cli
from arena.cli import main


@pytest.fixture(scope="module")
def small(world, tmp_path_factory):
    output = tmp_path_factory.mktemp("small") / "run"
    arena.run(world, "survey", "title", output, surveys=1)
    return output


def test_an_episode_with_another_last_action_is_not_shown_as_it_was(world, small, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(small, run)
    path = run / "trajectories.jsonl"
    episode = json.loads(path.read_text())
    episode["steps"][-1]["action"] = {"tool": "serach", "arguments": {}}
    path.write_text(json.dumps(episode) + "\n")
    command = ["show", str(run), "--corpus", str(world)]
    assert main(command) == 2
    assert "is not as the run left it" in capsys.readouterr().err
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest["files"]  # as of a run that is not finished
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert main(command) == 2
    assert "does not end with its last action" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_disk_names_the_directory(world, tmp_path, capsys, monkeypatch, number):
    def fails(self: Path, *args: Any, **options: Any) -> Any:
        if temporary in self.name:
            raise OSError(number, os.strerror(number), str(self))
        return opened(self, *args, **options)

    temporary, opened = ".atomic-write.tmp", Path.open
    monkeypatch.setattr(Path, "open", fails)
    output = tmp_path / "mine"
    command = ["run", "--corpus", str(world), "--task", "discovery", "--agent", "title"]
    assert main([*command, "--output", str(output)]) == 2
    error = capsys.readouterr().err
    assert f"{str(output / 'manifest.json')!r}: {os.strerror(number)}" in error
    assert temporary not in error
