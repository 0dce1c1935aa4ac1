"""Recorded episodes: a disk that fails ends the recording, a kill costs one line."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest

from arena.session import ROLLOUTS, Sessions


def test_a_folder_that_cannot_be_written_ends_the_recording_alone(
    tiny: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    sessions = Sessions.make(tiny, record=tmp_path / "record", max_sessions=2, idle=10)
    sessions._clock = lambda: now[0]
    sessions.open("unused")
    sessions.open("closed")
    shutil.rmtree(tmp_path / "record")
    now[0] = 1e9
    with caplog.at_level(logging.ERROR):
        sessions.reap()
        sessions.open("next")
        assert sessions.close("next").over
    assert len(sessions) == 0
    (line,) = caplog.messages
    assert str(tmp_path / "record" / ROLLOUTS) in line and "No more episodes are recorded" in line


def test_what_a_kill_has_cut_is_removed_at_the_start(tiny: Path, tmp_path: Path) -> None:
    def play(*keys: str) -> None:
        sessions = Sessions.make(tiny, record=tmp_path)
        for key in keys:
            sessions.open(key, topic_id="s1").step({"tool": "read", "arguments": {"paper_id": key}})
            sessions.close(key)

    play("p1", "p2")
    file = tmp_path / ROLLOUTS
    file.write_bytes(file.read_bytes()[:-9])
    play("p3")
    actions = [json.loads(line)["actions"] for line in file.read_text().splitlines()]
    assert [each[0]["arguments"]["paper_id"] for each in actions] == ["p1", "p3"]
