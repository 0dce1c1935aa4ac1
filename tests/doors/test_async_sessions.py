"""The async face of sessions: the same steps, in order, and an event loop that is not blocked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


def search(query: str) -> dict[str, Any]:
    return {"tool": "search", "arguments": {"query": query}}


def test_searches_that_arrive_together_are_made_in_batches(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with its own result; one that fails ends its own session alone."""
    sizes = []

    def counted(searches: Any) -> Any:
        sizes.append(len(searches))
        if any(each.queries == ("fails",) for each in searches):
            raise OSError("the disk")
        return make_searches(searches)

    monkeypatch.setattr("arena.session.make_searches", counted)
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=world))
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


def test_calls_that_are_cancelled_hold_nothing_up(slow: Sessions) -> None:
    async def play() -> Any:
        session, other = await slow.ajoin("one", seed=1), await slow.ajoin("other", seed=1)
        with slow_searches():
            busy = asyncio.create_task(other.astep(SEARCH))
            await asyncio.sleep(0.02)
            for query in ("first", "second"):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(session.astep(search(query)), 0.01)
            last = await session.astep(search("third"))
            await busy
        return last, session.played

    last, played = asyncio.run(asyncio.wait_for(play(), 30))
    assert not last.failed
    assert [action["arguments"]["query"] for action, _ in played] == ["third"]


@contextmanager
def slow_searches() -> Iterator[None]:
    def slowly(searches: Any) -> Any:
        time.sleep(0.1)
        return make_searches(searches)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.session.make_searches", slowly)
        yield


@pytest.mark.parametrize("late", [SEARCH, {"tool": "select", "arguments": {"paper_ids": []}}])
@pytest.mark.parametrize("turns", range(5))
def test_a_cancelled_call_is_never_carried_out_after_a_later_one(
    world: Path, late: Any, turns: int
) -> None:
    """However far it came: waiting, in a batch, or given to a thread."""
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=world))

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
