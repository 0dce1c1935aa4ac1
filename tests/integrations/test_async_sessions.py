"""The async face of sessions: the same steps, in order, and an event loop that is not blocked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from arena.session import Sessions
from arena.tools import make_searches

SEARCH = {"tool": "search", "arguments": {"query": "nested lattice"}}
SLOW = '''
import time
from arena.tools import Tool

def wait(episode, number: int) -> dict:
    """Wait for a tenth of a second.

    Args:
        number: What to return.
    """
    time.sleep(0.1)
    return {"number": number}

slow = Tool.from_function(wait)
'''


@pytest.fixture
def slow(synthetic: Path, tmp_path: Path) -> Sessions:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    tool = f"{tmp_path / 'slow.py'}:slow"
    return Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic, tools=[tool]))


def wait(number: int) -> dict[str, Any]:
    return {"tool": "wait", "arguments": {"number": number}}


def test_the_same_steps(synthetic: Path) -> None:
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic))

    async def play() -> Any:
        session = await sessions.ajoin("async", seed=3)
        assert await sessions.ajoin("async", seed=4) is session
        step = await session.astep(SEARCH)
        totals = await session.afinish()
        assert await sessions.aclose("async") == totals
        return session.first, step, totals

    session = sessions.open("plain", seed=3)
    assert asyncio.run(play()) == (session.first, session.step(SEARCH), session.finish())
    assert len(sessions) == 1


def test_calls_of_an_episode_keep_their_order_and_hold_up_no_other(slow: Sessions) -> None:
    ended: list[Any] = []

    async def step(session: Any, action: Any) -> None:
        got = await session.astep(action)
        ended.append((session.key, got.observation["result"]))

    async def play() -> None:
        one, other = await slow.ajoin("one", seed=1), await slow.ajoin("other", seed=1)
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(step(one, wait(number)))
            group.create_task(step(other, SEARCH))

    asyncio.run(play())
    assert [text for key, text in ended if key == "one"] == [
        f'{{"number":{number}}}' for number in range(8)
    ]
    assert [key for key, _ in ended].index("other") < 3


def search(query: str) -> dict[str, Any]:
    return {"tool": "search", "arguments": {"query": query}}


def test_searches_that_arrive_together_are_made_in_batches(
    synthetic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with its own result; one that fails ends its own session alone."""
    sizes = []

    def counted(searches: Any) -> Any:
        sizes.append(len(searches))
        if any(each.queries == ("fails",) for each in searches):
            raise OSError("the disk")
        return make_searches(searches)

    monkeypatch.setattr("arena.session.make_searches", counted)
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic))
    words = ["nested", "lattice", "vapor", "fails", "erosion", "model"] * 4

    async def play(number: int) -> Any:
        session = await sessions.ajoin(f"{number}", seed=number)
        return [await session.astep(search(words[number])) for _ in range(2)]

    async def all_at_once() -> Any:
        return await asyncio.gather(*map(play, range(len(words))))

    for number, steps in enumerate(asyncio.run(all_at_once())):
        session = sessions.open(seed=number)
        assert steps == [session.step(search(words[number])) for _ in range(2)]
        assert sessions.get(f"{number}").totals() == session.totals()
        assert session.totals().valid == (words[number] != "fails")
    assert max(sizes) > 1


@pytest.mark.parametrize("late", [SEARCH, {"tool": "select", "arguments": {"paper_ids": []}}])
@pytest.mark.parametrize("turns", range(5))
def test_a_cancelled_call_is_never_carried_out_after_a_later_one(
    synthetic: Path, late: Any, turns: int
) -> None:
    """However far it came: waiting, in a batch, or given to a thread."""
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic))

    async def play(number: int) -> list[str]:
        session = await sessions.ajoin(f"{number}", seed=1)
        other = await sessions.ajoin(f"{number} too", seed=2)
        busy = asyncio.create_task(other.astep(SEARCH))
        await asyncio.sleep(0)
        task = asyncio.create_task(session.astep(late))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await session.astep({"tool": "unknown", "arguments": {}})
        await busy
        await asyncio.sleep(0.002)
        return [action["tool"] for action, _ in session.played]

    async def some() -> list[list[str]]:
        return [await play(number) for number in range(20)]

    for played in asyncio.run(some()):
        assert played in (["unknown"], [late["tool"], "unknown"])
