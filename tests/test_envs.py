"""The environments: Gymnasium's contract, every kind of bad action, budgets, scores."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pyarrow.parquet as pq
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import arena
from arena._register import ENVIRONMENTS
from arena.envs import TextSpace, ToolCallSpace
from arena.envs.episode import PAGE, TOOLS
from arena.errors import DataError, UnknownNameError


def make(world: Path, name: str = "arena/Discovery-v0", **options: Any) -> gymnasium.Env:
    return gymnasium.make(name, corpus=world, **options)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def result(step: tuple[Any, ...]) -> dict[str, Any]:
    return json.loads(step[0]["result"])


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_check_env(world, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(world, name).unwrapped)


def test_importing_arena_is_enough_and_light(world):
    code = (
        "import arena, gymnasium, sys; "
        "assert not {'numba', 'pyarrow', 'duckdb', 'arena.envs'} & set(sys.modules); "
        f"env = gymnasium.make('arena/Selection-v0', corpus={str(world)!r}); "
        "print(sorted(env.reset(seed=1)[0]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['budget', 'cutoff', 'result', 'topic']"


def test_an_episode(world):
    env = make(world)
    observation, info = env.reset(seed=3)
    survey = arena_surveys(world)[info["survey"]]
    assert observation["topic"] == survey["title"].lower()
    assert observation["cutoff"] == survey["date"].isoformat()
    assert "message" in json.loads(observation["result"])
    assert observation["budget"] == {"steps": 100, "searches": 50}

    step = env.step(call("search", query=observation["topic"], k=100))
    ids = [hit["id"] for hit in result(step)["hits"]]
    assert step[1:4] == (0.0, False, False)
    assert step[0]["budget"] == {"steps": 99, "searches": 49}

    observation, reward, terminated, truncated, info = env.step(call("submit", paper_ids=ids))
    gold = gold_of(world, info["survey"])
    assert (terminated, truncated) == (True, False)
    assert info["submitted"] == ids
    # Recall and precision by their definition, from an independent reading of the labels.
    assert info["metrics"]["recall@100"] == pytest.approx(len(gold & set(ids)) / len(gold))
    assert info["metrics"]["precision@10"] == pytest.approx(len(gold & set(ids[:10])) / 10)
    assert reward == info["metrics"]["recall@100"] > 0


def test_selection_rewards_the_order(world):
    rewards = []
    for backwards in (False, True):
        env = make(world, "arena/Selection-v0")
        observation, info = env.reset(seed=3)
        hits = result(env.step(call("search", query=observation["topic"], k=100)))["hits"]
        gold = gold_of(world, info["survey"])
        ids = sorted((h["id"] for h in hits), key=lambda i: (i in gold) == backwards)
        rewards.append(env.step(call("submit", paper_ids=ids))[1])
    assert rewards[0] > rewards[1] > 0


def arena_surveys(world: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in pq.read_table(world / "tasks/surveys.parquet").to_pylist()}


def gold_of(world: Path, survey: str) -> set[str]:
    """The reachable references, from the Parquet files alone."""
    papers = pq.read_table(world / "papers.parquet").to_pylist()
    date = arena_surveys(world)[survey]["date"]
    reachable = {p["id"] for p in papers if p["date"] and p["date"] < date and not p["is_survey"]}
    rows = pq.read_table(world / "tasks/gold.parquet").to_pylist()
    return {r["reference"] for r in rows if r["survey"] == survey} & reachable


BAD_ACTIONS = [
    (None, "is no object"),
    (7, "is no object"),
    ([], "is no object"),
    ("", "is no JSON"),
    ("search for cats", "is no JSON"),
    (b"\xff\xfe", "is no JSON"),
    ("[" * 100_000, "is no JSON"),
    ('"search"', "is no object"),
    ({}, "no tool None"),
    ({"tool": "serach", "arguments": {}}, "Did you mean 'search'"),
    ({"tool": ["search"]}, "no tool"),
    ({"tool": 10**5000}, "no tool a int"),
    ({"tool": "search", "args": {}}, "no key 'args'"),
    ({"tool": "search", "arguments": "cats"}, "is no object"),
    (call("search"), "needs the argument 'query'"),
    (call("search", query=5), "query=5 is not a string"),
    (call("search", query=["cats"]), "is not a string"),
    (call("search", query="cats", k="5"), "k='5' is not an integer"),
    (call("search", query="cats", k=5.0), "is not an integer"),
    (call("search", query="cats", k=True), "is not an integer"),
    (call("search", query="cats", k=0), "Give k from 1 to 100"),
    (call("search", query="cats", k=-3), "Give k from 1 to 100"),
    (call("search", query="cats", k=101), "Give k from 1 to 100"),
    (call("search", query="cats", k=10**5000), "Give k from 1 to 100"),
    (call("search", query="cats", limit=3), "takes no argument 'limit'"),
    (call("search", query="c" * 1_000_000), "has 1000000 characters"),
    (call("read", paper_id="nothing"), "no paper 'nothing' here"),
    (call("read", paper_id="\ud800" * 100), "no paper"),
    (call("read", paper_id="x" * 1_000_000), "no paper"),
    (call("read", paper_id=None), "is not a string"),
    (call("submit", paper_ids="w7-1"), "is not a list of strings"),
    (call("submit", paper_ids=[1, 2]), "is not a list of strings"),
    (call("submit", paper_ids={"a": 1}), "is not a list of strings"),
    (call("submit", paper_ids=["nothing"]), "no paper 'nothing' here (1 of 1 ids)"),
    (call("submit", paper_ids=[str(n) for n in range(1001)]), "1001 ids are too many"),
    (call("open", path="/etc/passwd"), "no tool 'open'"),
]


@pytest.mark.parametrize(("action", "message"), BAD_ACTIONS, ids=range(len(BAD_ACTIONS)))
def test_a_bad_action_is_answered(world, action, message):
    env = make(world)
    env.reset(seed=1)
    step = env.step(action)
    assert message in result(step)["error"]
    assert len(step[0]["result"]) < 600
    assert step[1:4] == (0.0, False, False)
    assert step[0]["budget"] == {"steps": 99, "searches": 50}  # a step, not a search
    assert env.observation_space.contains(step[0])
    assert result(env.step(call("search", query="membrane")))["hits"]  # it goes on


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
nearly = st.fixed_dictionaries(
    {"tool": st.sampled_from([*TOOLS, "organize"]) | junk},
    optional={
        "arguments": st.dictionaries(
            st.sampled_from(["query", "k", "paper_id", "section", "page", "paper_ids"]), junk
        )
        | junk
    },
)


@settings(max_examples=300, deadline=None)
@given(action=junk | nearly, as_text=st.booleans())
def test_no_action_breaks_an_episode(world_env, action, as_text):
    world_env.reset(seed=1)
    if as_text:
        action = json.dumps(action)
    observation, _, terminated, truncated, _ = world_env.step(action)
    assert world_env.observation_space.contains(observation)
    assert not truncated
    if not terminated:  # an empty submission is a submission
        world_env.step(call("search", query="membrane"))


@pytest.fixture(scope="module")
def world_env(world):
    return make(world)


def test_an_action_may_be_text(world):
    env = make(world)
    env.reset(seed=1)
    as_object = env.step(call("search", query="membrane", k=3))
    env.reset(seed=1)
    as_text = env.step('{"tool": "search", "arguments": {"query": "membrane", "k": 3}}')
    assert as_text == as_object


def test_hidden_papers_are_unknown(world):
    env = make(world)
    _, info = env.reset(seed=1)
    papers = pq.read_table(world / "papers.parquet").to_pylist()
    cutoff = arena_surveys(world)[info["survey"]]["date"]
    hidden = [
        next(p["id"] for p in papers if p["date"] and p["date"] > cutoff and not p["is_survey"]),
        next(p["id"] for p in papers if p["date"] is None),
        next(p["id"] for p in papers if p["is_survey"] and p["date"] < cutoff),
        info["survey"],
    ]
    expected = result(env.step(call("read", paper_id="w0-0000000000")))["error"]
    for paper_id in hidden:
        for action in (call("read", paper_id=paper_id), call("submit", paper_ids=[paper_id])):
            answer = env.step(action)
            assert set(result(answer)) == {"error"}
            if action["tool"] == "read":
                assert result(answer)["error"] == expected.replace("w0-0000000000", paper_id)


def test_the_steps_are_a_budget(world):
    env = make(world, max_steps=2)
    env.reset(seed=1)
    assert env.step(None)[2:4] == (False, False)
    *_, reward, terminated, truncated, info = env.step(call("search", query="membrane"))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["submitted"] == []
    assert set(info["metrics"].values()) == {0.0}


def test_a_submission_with_the_last_step_counts(world):
    env = make(world, max_steps=1)
    env.reset(seed=1)
    assert env.step(call("submit", paper_ids=[]))[2:4] == (True, False)


def test_the_searches_are_a_budget(world):
    env = make(world, max_searches=1)
    env.reset(seed=1)
    step = env.step(call("search", query="membrane"))
    assert step[0]["budget"]["searches"] == 0
    assert not step[3]  # the last search may still be used
    step = env.step(call("search", query="membrane"))
    assert step[3]
    assert "no searches are left" in result(step)["error"]


def test_after_the_end_it_asks_for_a_reset(world):
    env = make(world)
    with pytest.raises(ResetNeeded):
        env.step(call("submit", paper_ids=[]))
    env.reset(seed=1)
    env.step(call("submit", paper_ids=[]))
    with pytest.raises(ResetNeeded):
        env.step(call("submit", paper_ids=[]))
    env.reset()
    env.step(call("search", query="membrane"))


def test_a_repeated_id_counts_once(world):
    env = make(world)
    env.reset(seed=1)
    ids = [hit["id"] for hit in result(env.step(call("search", query="membrane", k=2)))["hits"]]
    info = env.step(call("submit", paper_ids=[ids[0], ids[1], ids[0]]))[4]
    assert info["submitted"] == ids


class Forged(str):
    """A string that is equal to nothing but itself, and to anything it is asked about."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return self is other if isinstance(other, Forged) else str.__eq__(self, other)


def test_ids_with_an_equality_of_their_own_count_once(world):
    env = make(world)
    env.reset(seed=1)
    hit = result(env.step(call("search", query="membrane", k=1)))["hits"][0]
    info = env.step(call("submit", paper_ids=[Forged(hit["id"]) for _ in range(900)]))[4]
    assert info["submitted"] == [hit["id"]]
    assert type(info["submitted"][0]) is str
    assert max(info["metrics"].values()) <= 1


def test_reading_gives_the_whole_text_in_pages(world, monkeypatch):
    monkeypatch.setattr("arena.envs.episode.PAGE", 100)
    env = make(world, max_steps=1000)
    observation, _ = env.reset(seed=1)
    hit = result(env.step(call("search", query="membrane", k=1)))["hits"][0]
    view = arena.Corpus.open(world).at(observation["cutoff"])
    first = result(env.step(call("read", paper_id=hit["id"])))
    assert first["sections"] == ["Abstract", *(s.heading for s in view.sections(hit["id"]))]
    assert (first["title"], first["date"]) == (hit["title"], hit["date"])
    assert first["citations"] == view.citation_count(hit["id"])
    texts = [view.paper(hit["id"]).abstract, *(s.text for s in view.sections(hit["id"]))]
    for section, text in enumerate(texts):
        pages, page = [], 1
        while True:
            found = result(env.step(call("read", paper_id=hit["id"], section=section, page=page)))
            pages.append(found["text"])
            assert len(found["text"]) <= 100 < PAGE
            if page == found["pages"]:
                break
            page += 1
        assert "".join(pages) == text
    beyond = result(env.step(call("read", paper_id=hit["id"], section=len(texts))))
    assert f"has sections 0 to {len(texts) - 1}" in beyond["error"]
    assert "pages 1 to" in result(env.step(call("read", paper_id=hit["id"], page=99)))["error"]


def test_seeds(world):
    env = make(world)
    first = env.reset(seed=5)
    assert env.reset(seed=5) == first
    assert make(world).reset(seed=5) == first
    assert len({env.reset(seed=seed)[1]["survey"] for seed in range(40)}) > 4


def test_a_survey_may_be_chosen(world):
    ids = sorted(arena_surveys(world))
    env = make(world)
    for survey_id in ids:
        assert env.reset(options={"survey": survey_id})[1]["survey"] == survey_id
    assert make(world, surveys=ids[2:3]).reset(seed=9)[1]["survey"] == ids[2]
    with pytest.raises(UnknownNameError, match="no survey 'w7-' in this corpus"):
        env.reset(options={"survey": "w7-"})
    with pytest.raises(DataError, match=r"no option 'surveys'. Did you mean 'survey'"):
        env.reset(options={"surveys": ids[0]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_steps": 0}, "max_steps=0"),
        ({"max_searches": -1}, "max_searches=-1"),
        ({"max_k": "9"}, "max_k='9'"),
        ({"max_k": 1001}, "max_k=1001: give an integer from 1 to 1000"),
        ({"surveys": ["nope"]}, "no survey 'nope'"),
        ({"surveys": []}, "no survey to play"),
        ({"retriever": "bm52"}, "Did you mean 'bm25'"),
        ({"retriever_options": {"statistics": "x"}}, "no statistics named 'x'"),
    ],
)
def test_bad_arguments(world, options, message):
    with pytest.raises((DataError, UnknownNameError), match=message):
        make(world, **options)


def test_a_survey_without_gold_can_be_played_but_not_scored(mini):
    tasks = arena_surveys(mini)
    unscored = [s for s in tasks if not gold_of(mini, s)]
    assert unscored, "the mini corpus has such a survey"
    env = make(mini)
    env.reset(options={"survey": unscored[0]})
    *_, reward, terminated, _, info = env.step(call("submit", paper_ids=[]))
    assert (reward, terminated, info["metrics"]) == (0.0, True, {})
    drawn = {env.reset(seed=seed)[1]["survey"] for seed in range(30)}
    assert not drawn & set(unscored)


def test_pickling_and_rendering(world):
    env = make(world, render_mode="ansi").unwrapped
    copy = pickle.loads(pickle.dumps(env))
    assert copy.reset(seed=2) == env.reset(seed=2)
    env.step(call("search", query="membrane"))
    assert "searches left 49" in env.render()


def test_vector_environments(world):
    """Gymnasium's own vector environments, in one process and in spawned ones."""
    actions = [call("search", query="membrane", k=2), call("search", query="erosion", k=2)]
    scalar = []
    for number, action in enumerate(actions):
        env = make(world)
        env.reset(seed=number)
        scalar.append(env.step(action)[0])
    for vectors in (
        gymnasium.make_vec(
            "arena/Discovery-v0", num_envs=2, vectorization_mode="sync", corpus=world
        ),
        gymnasium.make_vec(
            "arena/Discovery-v0",
            num_envs=2,
            vectorization_mode="async",
            vector_kwargs={"shared_memory": False, "context": "spawn"},
            corpus=world,
        ),
    ):
        vectors.reset(seed=[0, 1])
        observation = vectors.step(actions)[0]
        assert list(observation["result"]) == [o["result"] for o in scalar]
        vectors.close()


def test_text_space():
    space = TextSpace(20_000)
    assert space.contains("é🜁\x00\ud800" * 5_000)
    assert not space.contains("x" * 20_001)
    assert not space.contains(b"bytes")
    space.seed(1)
    samples = [space.sample() for _ in range(50)]
    space.seed(1)
    assert samples == [space.sample() for _ in range(50)]
    assert all(space.contains(text) for text in samples)
    assert any(not text.isascii() for text in samples)
    assert space == TextSpace(20_000) != TextSpace(5)


def test_tool_call_space():
    space = ToolCallSpace(TOOLS)
    space.seed(1)
    samples = [space.sample() for _ in range(200)]
    space.seed(1)
    assert samples == [space.sample() for _ in range(200)]
    assert {sample["tool"] for sample in samples} == set(TOOLS)
    assert all(space.contains(s) and space.contains(json.dumps(s)) for s in samples)
    assert space.contains(call("search", query="x", k=np.int64(3)))
    for action, _ in BAD_ACTIONS[:24]:
        if not (isinstance(action, dict) and isinstance(action.get("arguments", {}), dict)):
            assert not space.contains(action)
