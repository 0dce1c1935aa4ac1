"""Files of a run with another content: every command names the file and ends with 2."""

from __future__ import annotations

import errno
import functools
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import arena
import arena.cli
from arena.cli import main
from arena.runs import environment, runner, scoring

WRONG: list[Any] = [None, 7, "x", [], [7], {}, {"x": 1}, True]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all parts of a JSON value."""
    inner = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value[:1])
    return [at, *(place for key, part in inner for place in places(part, (*at, key)))]


def changed(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = json.loads(json.dumps(value))
    inside = copy
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = new
    return copy


@pytest.fixture(scope="module")
def small(world, tmp_path_factory):
    output = tmp_path_factory.mktemp("small") / "run"
    arena.run(world, "survey", "title", output, surveys=1)
    return output


@pytest.mark.slow
@pytest.mark.parametrize("name", ["manifest.json", "trajectories.jsonl"])
def test_values_of_another_type(world, small, tmp_path, capsys, monkeypatch, name):
    # Neither the code nor the options change between thousands of commands.
    for module in (runner, environment, scoring):
        monkeypatch.setattr(module, "code_sha256", functools.cache(module.code_sha256))
    monkeypatch.setattr(arena.cli, "make_parser", functools.cache(arena.cli.make_parser))
    run = tmp_path / "run"
    shutil.copytree(small, run)
    path = run / name
    content = json.loads(path.read_text())
    [survey] = json.loads((small / "manifest.json").read_text())["surveys"]
    for command in (
        ["replay", str(run)],
        ["rescore", str(run), "--metric", "mrr"],
        ["score", str(run), "--task", "discovery"],
        ["show", str(run), "--survey", survey],
        ["run", "--task", "survey", "--agent", "title", "--surveys", "1", "--output", str(run)],
    ):
        wrong = ["finished"]
        for place in places(content):
            for value in WRONG:
                path.write_text(json.dumps(changed(content, place, value)) + "\n")
                try:
                    status = main([*command, "--corpus", str(world)])
                except SystemExit as difference:  # found by a replay
                    status = 0 if command[0] == "replay" and difference.code == 1 else 1
                error = capsys.readouterr().err
                if status not in (0, 2) or (
                    status == 2 and str(run) not in error and "no task named" not in error
                ):
                    wrong.append(f"{command[0]} {place} {value!r}: {status} {error}")
        shutil.rmtree(run)
        shutil.copytree(small, run)
        assert wrong == ["finished"], "\n".join(wrong)


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
