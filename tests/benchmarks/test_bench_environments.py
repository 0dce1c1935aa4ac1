"""`python -m benchmarks env`: what is asked, what is timed, and what follows from the times."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import arena
from arena.envs import SurveyVectorEnv
from arena.errors import ArenaError, DataError
from benchmarks import environments as bench_env
from benchmarks.__main__ import main
from benchmarks.environments import (
    SearchArm,
    StepArm,
    StepSettings,
    Time,
    make_vector,
    measure,
    queries_of,
    summary,
)

SMALL = StepSettings(num_envs=9, steps=20, rounds=2)


@pytest.fixture(scope="module")
def results(world) -> dict[str, Any]:
    return measure(world, SMALL)


def test_every_query_is_asked_once_and_is_made_of_titles(world):
    corpus = arena.Corpus.open(world)
    titles = [corpus._store.titles[n] for n in range(len(corpus._store.titles))]
    words = {word for title in titles for word in title.split()}
    found = list(islice(queries_of(corpus._store, 3), 20_000))  # more than there are titles
    assert len(set(found)) == len(found)
    assert {word for query in found for word in query.split()} <= words
    whole = [query for query in found[:500] if any(query in title for title in titles)]
    assert len(whole) > 400  # the others are pieces of more than one title
    assert all(3 <= len(query.split()) <= 6 for query in whole)
    assert list(islice(queries_of(corpus._store, 3), 50)) == found[:50]
    assert list(islice(queries_of(corpus._store, 4), 50)) != found[:50]


def test_what_is_measured(results):
    names = [
        "async spawn", "async fork", "scalar", "sync 9", "arena 1", "arena 8", "arena 9",
    ]  # fmt: skip
    searches = ["search 1", "search 8", "search 9"]
    assert [arm["name"] for arm in results["arms"]] == names + searches
    assert [arm["batch"] for arm in results["arms"]] == [2, 2, 1, 9, 1, 8, 9, 1, 8, 9]
    assert [arm["processes"] for arm in results["arms"]] == [2, 2] + [1] * 8
    for arm in results["arms"]:
        for kind in ("seconds", "cpu_seconds"):
            assert len(arm[kind]) == 2
            assert min(arm[kind]) > 0
    # Ten hits or so in every kind alike, for the same number of hits.
    for arm in results["arms"][:7]:
        assert arm["characters"] == pytest.approx(bench_env.CHARACTERS, rel=0.2)
    assert results["settings"]["k"] > 1
    assert results["hashes"].keys() == {"corpus", "index", "code", "commit"}
    assert results["machine"]["cores"] >= 1
    json.dumps(results, allow_nan=False)


def test_the_environments_are_what_they_are_called(world):
    corpus = arena.Corpus.open(world)
    for mode, kind in (("sync", SyncVectorEnv), (None, SurveyVectorEnv)):
        assert isinstance(make_vector(corpus, "bm25", 2, mode, {}), kind)
    env = make_vector(corpus, "bm25", 2, "async", {"shared_memory": False, "context": "fork"})
    assert isinstance(env, AsyncVectorEnv)
    env.close()


def test_what_follows_from_the_times():
    """Expected values by hand."""
    arms = [
        {"name": "async spawn", "processes": 2, "batch": 2, "characters": 100.0,
         "seconds": [0.5, 0.25, 1.0], "cpu_seconds": [None, None, None]},
        {"name": "async fork", "processes": 2, "batch": 2, "skipped": "no"},
        {"name": "scalar", "processes": 1, "batch": 1, "characters": 120.0,
         "seconds": [0.2, 0.3, 0.1], "cpu_seconds": [0.2, 0.3, 0.1]},
        {"name": "arena 8", "processes": 1, "batch": 8, "characters": 110.0,
         "seconds": [0.05, 0.05, 0.06], "cpu_seconds": [0.04, 0.05, 0.06]},
        {"name": "search 1", "processes": 1, "batch": 1, "seconds": [0.1, 0.1, 0.09],
         "cpu_seconds": [0.1, 0.1, 0.09]},
        {"name": "search 8", "processes": 1, "batch": 8, "seconds": [0.01, 0.02, 0.03],
         "cpu_seconds": [0.01, 0.01, 0.03]},
    ]  # fmt: skip
    found = summary(arms)
    assert found["steps_per_second"] == {
        "async spawn": 2.0,
        "scalar": 5.0,
        "arena 8": 20.0,
    }
    assert found["search_us"] == pytest.approx({"search 1": 1e5, "search 8": 2e4})
    assert found["cpu_us"] == pytest.approx(
        {"scalar": 2e5, "arena 8": 5e4, "search 1": 1e5, "search 8": 1e4}
    )
    # Of the differences in each round: 0.1, 0.2, 0.01 and 0.03, 0.04, 0.03.
    assert found["overhead_us"] == pytest.approx({"scalar": 1e5, "arena 8": 3e4})
    assert (found["async"], found["characters"]) == ("async spawn", 110.0)
    assert found["ratio"] == {
        "async spawn": 1.0,
        "scalar": 2.5,
        "arena 8": 10.0,
    }


def test_an_arm_searches_what_it_is_given(world, monkeypatch):
    corpus = arena.Corpus.open(world)
    asked: list[str] = []
    kind = type(corpus.retriever())
    batch, alone = kind.search_batch, kind.search
    monkeypatch.setattr(
        kind,
        "search_batch",
        lambda engine, asks: asked.extend(a.query for a in asks) or batch(engine, asks),
    )
    monkeypatch.setattr(
        kind,
        "search",
        lambda engine, query, k, scope: asked.append(query) or alone(engine, query, k, scope),
    )
    queries = [f"membrane {number}" for number in range(100)]
    for arm, count in (
        (StepArm("a", make_vector(corpus, "bm25", 4, None, {})), 12),
        (SearchArm("b", 4, corpus, "bm25"), 12),
        (SearchArm("c", 1, corpus, "bm25"), 10),
    ):
        asked.clear()
        assert arm.time(iter(queries), 10, 3, 0).wall > 0
        assert sorted(set(asked)) == sorted(queries[:count])  # whole batches


def test_what_an_engine_refuses_is_skipped(world, monkeypatch):
    def refuse(arm: Any, *_: Any) -> Time:
        if arm.name == "async fork":
            raise ArenaError("Java does not survive a fork.")
        return Time(0.001, None)

    monkeypatch.setattr(StepArm, "_shown", lambda *_: 10.0)
    times = bench_env._times
    monkeypatch.setattr(StepArm, "time", refuse)
    arms = [StepArm(name, make_vector(arena.Corpus.open(world), "bm25", 1, None, {}))
            for name in ("async fork", "arena 1")]  # fmt: skip
    found = times(arms, SMALL, iter(()))
    assert found["async fork"] == {"skipped": "Java does not survive a fork."}
    assert found["arena 1"]["seconds"] == [0.001, 0.001]


def test_the_command(world, tmp_path, capsys):
    options = ("--corpus", world, "--num-envs", 3, "--steps", 6, "--rounds", 1, "--k", 4)
    path = tmp_path / "all.json"
    assert main(["env", *map(str, options), "--json", str(path)]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["steps", "envs"]
    assert [line.split("  ")[0] for line in lines[2:8]] == [
        "async spawn", "async fork", "scalar", "sync 3", "arena 1", "arena 3",
    ]  # fmt: skip
    assert "k=4" in out
    assert f"corpus {arena.Corpus.open(world).sha256[:12]}" in out
    found = json.loads(path.read_bytes())
    assert found["settings"] == {
        "retriever": "bm25", "num_envs": 3, "steps": 6, "rounds": 1, "k": 4, "seed": 0,
    }  # fmt: skip
    assert np.isfinite(list(found["summary"]["ratio"].values())).all()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--num-envs", 0), "num_envs=0: give an integer from 1 to 1000"),
        (("--steps", 0), "steps=0"),
        (("--rounds", -1), "rounds=-1"),
        (("--k", 1001), "k=1001: give an integer from 0 to 1000"),
        (("--retriever", "bm52"), "Did you mean 'bm25'"),
        (("--corpus", "nowhere"), "nowhere"),
    ],
)
def test_bad_input_is_one_line(world, capsys, option, message):
    status = main(["env", "--corpus", str(world), *map(str, option)])
    err = capsys.readouterr().err
    assert (status, err.count("\n")) == (2, 1)
    assert message in err


def test_settings_are_numbers():
    with pytest.raises(DataError, match="steps='5'"):
        StepSettings(steps="5").check()
    with pytest.raises(DataError, match="seed=-1"):
        StepSettings(seed=-1).check()
