"""The async face of sessions: the same steps, in order, and an event loop that goes on."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from arena.session import Sessions

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

slow = Tool.of(wait)
'''


@pytest.fixture
def slow(world: Path, tmp_path: Path) -> Sessions:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    tool = f"{tmp_path / 'slow.py'}:slow"
    return Sessions(gymnasium.make("arena/Discovery-v0", corpus=world, tools=[tool]))


def wait(number: int) -> dict[str, Any]:
    return {"tool": "wait", "arguments": {"number": number}}


def test_the_same_steps(world: Path) -> None:
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=world))

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


def test_the_event_loop_goes_on(slow: Sessions) -> None:
    """It waits for a small part of the time that a step takes, or for all of a plain one."""

    async def longest_wait(step: Any) -> float:
        """Return the longest time between two turns of the loop, in steps."""
        longest, done = 0.0, False

        async def watch() -> None:
            nonlocal longest
            while not done:
                before = time.perf_counter()
                await asyncio.sleep(0)
                longest = max(longest, time.perf_counter() - before)

        watching = asyncio.create_task(watch())
        started = time.perf_counter()
        await asyncio.sleep(0)
        await step()
        took, done = time.perf_counter() - started, True
        await watching
        return longest / took

    async def play() -> tuple[float, float]:
        session = await slow.ajoin("one", seed=1)

        async def plain() -> None:
            session.step(wait(1))

        return await longest_wait(lambda: session.astep(wait(1))), await longest_wait(plain)

    free, blocked = asyncio.run(play())
    assert free < 0.5 < blocked


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
