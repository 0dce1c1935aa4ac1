"""The class for TRL: what the model sees of it, its rows, its rewards, and what it leaves open."""

from __future__ import annotations

import gc
import inspect
from pathlib import Path
from typing import Any

import pytest

from arena.errors import DataError, UnknownNameError
from arena.session import Sessions
from arena.tasks import TaskSet
from arena.tools import ToolError
from arena_integrations.trl import environment_factory, kept_results, rows


def sessions_of(factory: type[Any]) -> Sessions:
    return factory._sessions  # type: ignore[attr-defined, no-any-return]


def test_the_functions_are_those_that_trl_looks_for(synthetic: Path) -> None:
    factory = environment_factory(synthetic, max_k=20)
    public = [name for name, _ in inspect.getmembers(factory, inspect.isfunction) if name[0] != "_"]
    assert public == [
        "citations", "finish", "get_reward", "read", "references", "reset", "search", "select",
        "submit",
    ]  # fmt: skip
    assert factory.__name__ == "Discovery"
    search = inspect.signature(factory().search)  # type: ignore[attr-defined]
    assert str(search) == (
        "(query: str | None = None, k: int = 10, offset: int = 0, "
        "retriever: Optional[Literal['bm25']] = None, queries: list[str] | None = None, "
        "fuse: bool = True) -> str"
    )
    document = factory.search.__doc__  # type: ignore[attr-defined]
    (k,) = [line for line in document.splitlines() if line.startswith("    k: ")]
    assert k.endswith(" (at least 1, at most 20, by default 10)")
    assert "Args:" not in factory.finish.__doc__  # type: ignore[attr-defined]


def test_a_rollout_whose_engine_failed_has_no_reward(synthetic: Path) -> None:
    rollout = environment_factory(synthetic)()
    rollout.reset(seed=1)
    rollout._session._env.start_step = lambda action: 1 / 0
    with pytest.raises(ToolError, match="no fault of the call"):
        rollout.search(query="x")
    assert rollout.get_reward() is None


def test_what_trl_dropped_is_not_paid(synthetic: Path) -> None:
    (topic,) = TaskSet(synthetic).scorable[:1]
    gold = sorted(TaskSet(synthetic).gold(topic).gains)
    rollout = environment_factory(synthetic, reward="gain")()

    def play(kept: int) -> float:
        rollout.reset(topic_id=topic)
        results = [rollout.read(paper_id=paper) for paper in gold[:2]]
        messages = [{"role": "assistant", "content": "", "tool_calls": []}]
        messages += [{"role": "tool", "name": "read", "content": each} for each in results[:kept]]
        assert kept_results(completions=[messages], environments=[rollout], prompts=[]) == [None]
        return float(rollout.get_reward())

    assert [play(0), play(1), play(2)] == [0, 1 / len(gold), pytest.approx(2 / len(gold))]
    rollout.reset(topic_id=topic)  # another rollout: what was dropped before does not count
    assert rollout._kept is None


def test_nothing_stays_open(synthetic: Path) -> None:
    factory = environment_factory(synthetic)
    sessions, pool = sessions_of(factory), [factory() for _ in range(3)]
    assert len(sessions) == 0
    for _ in range(3):
        for rollout in pool:
            rollout.reset(seed=1)
        assert len(sessions) == 3
    del rollout, pool
    gc.collect()
    assert len(sessions) == 0


def test_a_reset_without_a_topic_is_refused(synthetic: Path) -> None:
    rollout = environment_factory(synthetic)()
    with pytest.raises(DataError, match="no column 'topic_id'"):
        rollout.reset(prompt=[])
    with pytest.raises(UnknownNameError):
        rollout.reset(topic_id="nobody's")


def test_rows(synthetic: Path, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    scorable = TaskSet(synthetic).scorable
    every = rows(synthetic)
    assert every["topic_id"] == scorable
    assert every.column_names == ["prompt", "topic_id"]
    ((message,),) = rows(synthetic, topics=1)["prompt"]
    assert message["role"] == "user"
    assert message["content"].startswith("You research the literature")
    own = tmp_path / "own.txt"
    own.write_text("Find papers.\n", encoding="utf-8")
    (row,) = rows(synthetic, [scorable[1]], prompt=own, environment="easy")
    assert row == {
        "prompt": [{"role": "user", "content": "Find papers.\n"}],
        "topic_id": scorable[1],
        "environment": "easy",
    }
    with pytest.raises(DataError, match=r"no\.txt' cannot be read"):
        rows(synthetic, prompt=tmp_path / "no.txt")
