"""Why an episode ended, and calls refused in a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import call, make_env, playing

from arena.envs import EnvConfig

SEARCH, BAD = call("search", query="encoders"), call("serch")


@pytest.mark.parametrize(
    ("word", "settings", "actions"),
    [
        ("submitted", {}, [SEARCH, call("submit", paper_ids=[])]),
        ("finished", {}, [call("finish")]),
        ("steps", {"max_steps": 2}, [SEARCH, BAD]),
        ("searches", {"max_searches": 1, "max_steps": 2}, [SEARCH, SEARCH]),
        ("reads", {"max_reads": 0}, [call("read", paper_id="p:day")]),
        ("characters", {"max_characters": 10}, [SEARCH]),
        ("refused", {"max_refused": 2}, [BAD, SEARCH, BAD, "no JSON"]),
        ("submitted", {"max_refused": 1}, [call("submit", paper_ids=[])]),
    ],
)
def test_the_last_info_says_why(
    mini: Path, word: str, settings: dict[str, int], actions: list[Any]
) -> None:
    env = playing(mini, "sv:1", **settings)
    *before, last = [env.step(action) for action in actions]
    assert not any(step[2] or step[3] or "termination" in step[4] for step in before)
    assert last[4]["termination"] == word
    assert last[2:4] == ((True, False) if word in ("submitted", "finished") else (False, True))


def test_a_count_of_refused_calls_is_part_of_the_saved_state(mini: Path) -> None:
    env = playing(mini, "sv:1", max_refused=2).unwrapped
    env.step(BAD)
    state = env.save()
    assert env.step(BAD)[3]
    env.restore(state)
    assert not env.step(SEARCH)[3]
    env.restore(state)
    assert env.step(BAD)[4]["termination"] == "refused"


def test_off_it_changes_nothing_that_is_recorded(mini: Path) -> None:
    plain, limited = EnvConfig(), EnvConfig(max_refused=3)
    assert "max_refused" not in plain.limits and limited.limits["max_refused"] == 3
    one, other = (make_env(mini, **c.limits).unwrapped for c in (plain, limited))
    assert one.reset(seed=1) == other.reset(seed=1)  # no budget that agents see
    assert one._factory.identity["settings"] != other._factory.identity["settings"]
    assert "refused" not in str(one.save().keys())
