"""The benchmark of many episodes at once: nothing is lost, and nothing stays open."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import DataError
from benchmarks import many

pytest.importorskip("mcp")


def test_every_door_answers_every_call(world: Path) -> None:
    settings = many.ManySettings(sessions="1,3", searches=2, episodes=3, k=2, idle=1.0)
    results = many.measure(world, settings)
    assert [(row["door"], row["sessions"]) for row in results["rows"]] == [
        (door, number)
        for number in (1, 3)
        for door in (
            "plain environment",
            "sessions in threads",
            "mcp over HTTP",
            "/retrieve",
        )
    ]
    for row in results["rows"]:
        assert len(row["calls"]) == 6
        assert row["lost"] == 0
        assert row["left"] in (0, None)
    assert "mcp over HTTP" in many.show(results)


def test_a_door_with_its_own_client(world: Path) -> None:
    settings = many.ManySettings(sessions="2", searches=2, episodes=3, doors="mcp, trl", idle=1.0)
    rows = many.measure(world, settings)["rows"]
    assert [row["door"] for row in rows] == ["mcp, its own client", "trl, its own client"]
    assert [(len(row["calls"]), row["lost"]) for row in rows] == [(6, 0), (6, 0)]


def test_bad_numbers_are_refused(world: Path) -> None:
    with pytest.raises(DataError, match="--sessions '1,x'"):
        many.measure(world, many.ManySettings(sessions="1,x"))
    with pytest.raises(DataError, match="sessions 0"):
        many.measure(world, many.ManySettings(sessions="0"))
