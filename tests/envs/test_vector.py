"""Vector environments: the same trajectories as scalar ones and as Gymnasium's own vectors."""

from __future__ import annotations

import json
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from helpers import arena_topics, build_synthetic, call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import arena
from arena.envs import ResearchVectorEnv
from arena.errors import DataError, UnknownNameError
from arena.tasks import environment_ids

MODES = [mode.value for mode in AutoresetMode]
RETRIEVERS = ("bm25", "dense", "hybrid(bm25,dense)")
LIMITS = ("steps", "searches", "reads", "characters")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> arena.Corpus:
    """The synthetic corpus of conftest.py with two engines, opened once for many environments."""
    place = tmp_path_factory.mktemp("vector") / "corpus"
    return arena.Corpus.open(build_synthetic(place, 600, 8, engines=("bm25", "dense")))


@pytest.fixture(scope="session")
def ids(corpus: arena.Corpus) -> list[str]:
    """Papers of all times, and some that never were."""
    view = corpus.at("2030")
    found = {hit.id for query in ("membrane", "knots") for hit in view.search(query, 15)}
    return [*sorted(found), *arena_topics(corpus.directory), "nowhere", ""]


def vector(corpus: Any, name: str = "arena/Discovery-v0", num_envs: int = 3, **options: Any) -> Any:
    """Ours."""
    return gymnasium.make_vec(name, num_envs=num_envs, corpus=corpus, **options)


def sync(corpus: Any, name: str, num_envs: int, mode: str, **options: Any) -> Any:
    """Gymnasium's, over scalar environments."""
    return gymnasium.make_vec(
        name,
        num_envs=num_envs,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        corpus=corpus,
        **options,
    )


def assert_same(one: Any, other: Any, order: type = list) -> None:
    """The same values of the same types, arrays bit for bit, keys in the same order."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert order(one) == order(other)
        for key in one:
            assert_same(one[key], other[key], order)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair, order)
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype == object:
            assert_same(one.tolist(), other.tolist(), order)
        else:
            assert one.tobytes() == other.tobytes()
    else:
        assert one == other


def actions_of(ids: list[str]) -> st.SearchStrategy[Any]:
    """Actions of every kind: good, bad, and none at all."""
    paper = st.sampled_from(ids)
    some = st.lists(paper, max_size=6)
    words = st.lists(
        st.sampled_from(["membrane", "knots", "seepage", "lattice", "the", "漢", "é"]), max_size=3
    ).map(" ".join)
    k, offset = st.integers(-1, 101), st.integers(-1, 40)
    engine = st.sampled_from([*RETRIEVERS, None, "bm52"])
    number = st.integers(-1, 3)
    leaf = st.fixed_dictionaries(
        {"label": st.sampled_from(["membranes", "knots", ""])}, optional={"papers": some}
    )
    tree = st.fixed_dictionaries(
        {"label": words, "children": st.lists(leaf, max_size=3)}, optional={"papers": some}
    )

    def calls(tool: str, optional: Any = None, **arguments: Any) -> st.SearchStrategy[Any]:
        made = st.fixed_dictionaries(arguments, optional=optional)
        return made.map(lambda given: {"tool": tool, "arguments": given})

    search = calls("search", {"k": k, "offset": offset, "retriever": engine}, query=words)
    good = st.one_of(
        search,
        search,
        search,
        calls("read", {"section": number, "page": number}, paper_id=paper),
        calls("references", {"page": number}, paper_id=paper),
        calls("citations", {"page": number}, paper_id=paper),
        calls("select", paper_ids=some),
        calls("submit", paper_ids=some),
        calls("organize", mind_map=tree),
        calls("finish"),
    )
    junk = st.sampled_from(
        [None, "", "{", b"[1]", 3, 2.5, [], {}, {"tool": 1}, {"tool": "finish", "x": 1},
         {"tool": "search"}, {"tool": "search", "arguments": {"query": None}},
         {"tool": "search", "arguments": {"query": "knots", "k": True}},
         {"tool": "submit", "arguments": {"paper_ids": "s"}},
         {"tool": "organize", "arguments": {"mind_map": {"label": "x", "children": 3}}}]
    )  # fmt: skip
    return st.one_of(good, good, good, good.map(json.dumps), junk)


@st.composite
def stories(draw: Any, ids: list[str]) -> dict[str, Any]:
    """Budgets, seeds, and the actions of some environments."""
    num_envs = draw(st.integers(1, 4))
    actions = st.lists(actions_of(ids), min_size=num_envs, max_size=num_envs)
    most = {"steps": 8, "searches": 5, "reads": 4, "characters": 9_000}
    budgets = st.fixed_dictionaries(
        {}, optional={f"max_{name}": st.integers(name == "steps", most[name]) for name in LIMITS}
    )
    return {
        "num_envs": num_envs,
        "seed": draw(st.integers(0, 99)),
        "budgets": draw(budgets),
        "reward": draw(st.sampled_from([None, "final", "shaped", "gain+cost"])),
        "retriever": draw(st.sampled_from(RETRIEVERS)),
        "steps": draw(st.lists(actions, min_size=1, max_size=10)),
    }


PROPERTY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", environment_ids())
@PROPERTY
@given(mode=st.sampled_from(MODES), data=st.data())
def test_as_the_vector_of_gymnasium(corpus, ids, name, mode, data):
    story = data.draw(stories(ids))
    options = {
        "retriever": story["retriever"],
        "retrievers": RETRIEVERS,
        "reward": story["reward"],
        "max_k": 100,
        **story["budgets"],
    }
    ours = vector(corpus, name, story["num_envs"], autoreset_mode=mode, **options)
    theirs = sync(corpus, name, story["num_envs"], mode, **options)
    assert isinstance(ours, ResearchVectorEnv)
    assert isinstance(theirs, SyncVectorEnv)
    begun = ours.reset(seed=story["seed"])
    assert_same(begun, theirs.reset(seed=story["seed"]))
    assert begun[0] in ours.observation_space
    over = np.zeros(story["num_envs"], np.bool_)
    for actions in story["steps"]:
        if mode == "Disabled" and over.any():
            assert_same(
                ours.reset(options={"reset_mask": over.copy()}),
                theirs.reset(options={"reset_mask": over.copy()}),
            )
        step = ours.step(actions)
        assert_same(step, theirs.step(tuple(actions)))
        assert step[0] in ours.observation_space
        over = step[2] | step[3]
    assert ours.render() == theirs.render()


def test_the_searches_of_a_step_are_one_batch(corpus, monkeypatch):
    asked = []
    kind = type(corpus.retriever())
    batch = kind.search_batch
    monkeypatch.setattr(
        kind, "search_batch", lambda engine, asks: asked.append(len(asks)) or batch(engine, asks)
    )
    env = vector(corpus, num_envs=5)
    env.reset(seed=0)
    env.step([call("search", query="knots")] * 3 + [call("finish"), None])
    assert asked == [3]


@pytest.mark.parametrize("mode", MODES)
def test_seeds_options_and_masks(corpus, mode):
    topic = list(arena_topics(corpus.directory))[2]
    ours, theirs = vector(corpus, autoreset_mode=mode), sync(corpus, "arena/Discovery-v0", 3, mode)
    for make in (
        lambda: {"seed": [5, 5, 7]},
        dict,
        lambda: {"seed": [None, 3, None], "options": {}},
        lambda: {"options": {"topic_id": topic}},
        lambda: {"seed": 9, "options": {"reset_mask": np.array([False, True, True])}},
        lambda: {"options": {"reset_mask": np.array([True, False, False]), "topic_id": topic}},
    ):
        assert_same(ours.reset(**make()), theirs.reset(**make()))
        actions = (call("search", query="knots"), call("finish"), None)
        if mode != "Disabled":
            for _ in range(2):
                assert_same(ours.step(actions), theirs.step(actions))
    assert_same(ours.np_random_seed, theirs.np_random_seed)
    draws = [tuple(rng.random() for rng in env.np_random) for env in (ours, theirs)]
    assert draws[0] == draws[1]


def test_an_unpickled_vector_continues(corpus):
    env = vector(corpus, num_envs=2, autoreset_mode="SameStep", max_steps=3, reward="final")
    env.reset(seed=0)
    env.step([call("search", query="membrane", k=3)] * 2)
    twin = pickle.loads(pickle.dumps(env))
    assert_same(twin.step([None] * 2), env.step([None] * 2))
    assert_same(twin.reset(seed=3), env.reset(seed=3))
    for _ in range(4):
        actions = [call("search", query="lattice", k=3), None]
        assert_same(twin.step(actions), env.step(actions))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs=0: give an integer >= 1"),
        ({"autoreset_mode": "nextstep"}, "autoreset_mode='nextstep': give one of 'NextStep'"),
        ({"max_steps": 0}, "max_steps=0"),
        ({"render_mode": "human"}, "render_mode='human'"),
    ],
)
def test_bad_arguments(corpus, options, message):
    with pytest.raises(DataError, match=message):
        vector(corpus, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": [1, 2]}, r"seed=\[1, 2\]: give an integer, or a list of 3"),
        ({"seed": [1, -2, 3]}, "seed=-2: give an integer >= 0"),
        ({"seed": 5, "options": {"topic_id": "nowhere"}}, "no topic 'nowhere'"),
        ({"seed": 5, "options": {"topic_ids": "x"}}, "topic_ids='x': give a list of 3 ids"),
        ({"options": {"reset_mask": np.array([True])}}, "a NumPy array of 3 booleans"),
    ],
)
def test_a_bad_reset_changes_nothing(corpus, arguments, message):
    env, twin = vector(corpus), vector(corpus)
    for each in (env, twin):
        each.reset(seed=0)
    with pytest.raises((ValueError, TypeError, UnknownNameError), match=message):
        env.reset(**arguments)
    assert env.np_random_seed == twin.np_random_seed == (0, 1, 2)
    with pytest.raises(UnknownNameError):
        env.reset(options={"topic_id": "nowhere"})
    actions = [call("search", query="knots"), call("finish"), None]
    for _ in range(2):  # the second draws a topic
        assert_same(env.step(actions), twin.step(actions))


def test_each_episode_may_play_a_topic_of_its_own(corpus):
    env, one = vector(corpus), vector(corpus, num_envs=1)
    ids = list(arena_topics(corpus.directory))[:2]
    _, infos = env.reset(seed=4, options={"topic_ids": [ids[1], None, ids[0]]})
    drawn = one.reset(seed=5)[1]["topic_id"][0]  # the second environment's seed
    assert infos["topic_id"].tolist() == [ids[1], drawn, ids[0]]
    masked = {"topic_ids": [ids[0]] * 3, "reset_mask": np.array([True, False, False])}
    assert env.reset(options=masked)[1]["topic_id"].tolist() == [ids[0], None, None]


@pytest.mark.parametrize("mode", MODES)
def test_after_a_step_that_raised_all_begin_again(corpus, monkeypatch, mode):
    """Some episodes are a step ahead by then, so none of them continues."""
    env = vector(corpus, num_envs=2, autoreset_mode=mode)
    before = env.reset(seed=0)
    with monkeypatch.context() as patch:
        fails = ZeroDivisionError("an engine of someone else")
        patch.setattr(type(corpus.retriever()), "search_batch", raises(fails))
        with pytest.raises(ZeroDivisionError):
            env.step([call("finish"), call("search", query="knots")])
    masked = {"reset_mask": np.array([True, False])}
    for refused in (
        lambda: env.step([call("submit", paper_ids=[])] * 2),
        lambda: env.reset(options=masked),
    ):
        with pytest.raises(ResetNeeded):
            refused()
    assert_same(env.reset(seed=0), before)
    assert env.step([call("submit", paper_ids=[]), None])[2].tolist() == [True, False]


def raises(error: Exception) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("actions", [[None], [None] * 4])
def test_other_than_an_action_for_each_is_refused(corpus, actions):
    env, twin = vector(corpus), vector(corpus)
    for each in (env, twin):
        each.reset(seed=0)
    with pytest.raises(DataError, match=r"3 actions|for 3 environments"):
        env.step(actions)
    good = [call("search", query="knots"), call("finish"), None]
    assert_same(env.step(good), twin.step(good))


# Gymnasium's worker processes.


def test_shared_memory_says_how_to_do_without(corpus):
    with pytest.raises(ValueError, match="shared_memory=False"):
        gymnasium.make_vec(
            "arena/Discovery-v0", num_envs=2, vectorization_mode="async", corpus=corpus
        )
