"""The environments: Gymnasium's contract, whole episodes, budgets, scores."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings

import gymnasium
import pyarrow.parquet as pq
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from helpers import arena_surveys, call, gold_of, make_env, result

import arena
from arena._register import ENVIRONMENTS
from arena.envs.episode import PAGE
from arena.errors import DataError, UnknownNameError


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_check_env(world, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make_env(world, name).unwrapped)


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
    env = make_env(world)
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
    listed = pq.read_table(world / "tasks/gold.parquet")["survey"].to_pylist()
    assert info["gold"] == len(gold)
    assert info["references"] == listed.count(info["survey"])
    assert info["references_total"] >= info["references"]


def test_selection_rewards_the_order(world):
    rewards = []
    for backwards in (False, True):
        env = make_env(world, "arena/Selection-v0")
        observation, info = env.reset(seed=3)
        hits = result(env.step(call("search", query=observation["topic"], k=100)))["hits"]
        gold = gold_of(world, info["survey"])
        ids = sorted((h["id"] for h in hits), key=lambda i: (i in gold) == backwards)
        rewards.append(env.step(call("submit", paper_ids=ids))[1])
    assert rewards[0] > rewards[1] > 0


def test_the_steps_are_a_budget(world):
    env = make_env(world, max_steps=2)
    env.reset(seed=1)
    assert env.step(None)[2:4] == (False, False)
    *_, reward, terminated, truncated, info = env.step(call("search", query="membrane"))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["submitted"] == []
    assert set(info["metrics"].values()) == {0.0}


def test_a_submission_with_the_last_step_counts(world):
    env = make_env(world, max_steps=1)
    env.reset(seed=1)
    assert env.step(call("submit", paper_ids=[]))[2:4] == (True, False)


def test_the_searches_are_a_budget(world):
    env = make_env(world, max_searches=1)
    env.reset(seed=1)
    step = env.step(call("search", query="membrane"))
    assert step[0]["budget"]["searches"] == 0
    assert not step[3]  # the last search may still be used
    step = env.step(call("search", query="membrane"))
    assert step[3]
    assert "no searches are left" in result(step)["error"]


def test_after_the_end_it_asks_for_a_reset(world):
    env = make_env(world)
    with pytest.raises(ResetNeeded):
        env.step(call("submit", paper_ids=[]))
    env.reset(seed=1)
    env.step(call("submit", paper_ids=[]))
    with pytest.raises(ResetNeeded):
        env.step(call("submit", paper_ids=[]))
    env.reset()
    env.step(call("search", query="membrane"))


def test_reading_gives_the_whole_text_in_pages(world, monkeypatch):
    monkeypatch.setattr("arena.envs.episode.PAGE", 100)
    env = make_env(world, max_steps=1000)
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
    env = make_env(world)
    first = env.reset(seed=5)
    assert env.reset(seed=5) == first
    assert make_env(world).reset(seed=5) == first
    assert len({env.reset(seed=seed)[1]["survey"] for seed in range(40)}) > 4


def test_a_survey_may_be_chosen(world):
    ids = sorted(arena_surveys(world))
    env = make_env(world)
    for survey_id in ids:
        assert env.reset(options={"survey": survey_id})[1]["survey"] == survey_id
    assert make_env(world, surveys=ids[2:3]).reset(seed=9)[1]["survey"] == ids[2]
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
        ({"surveys": []}, "no survey is named"),
        ({"retriever": "bm52"}, "Did you mean 'bm25'"),
        ({"retriever_options": {"statistics": "x"}}, "no statistics named 'x'"),
    ],
)
def test_bad_arguments(world, options, message):
    with pytest.raises((DataError, UnknownNameError), match=message):
        make_env(world, **options)


def test_a_survey_without_gold_can_be_played_but_not_scored(mini):
    tasks = arena_surveys(mini)
    unscored = [s for s in tasks if not gold_of(mini, s)]
    assert unscored, "the mini corpus has such a survey"
    env = make_env(mini)
    env.reset(options={"survey": unscored[0]})
    *_, reward, terminated, _, info = env.step(call("submit", paper_ids=[]))
    assert (reward, terminated, info["metrics"]) == (0.0, True, {})
    drawn = {env.reset(seed=seed)[1]["survey"] for seed in range(30)}
    assert not drawn & set(unscored)


def test_pickling_and_rendering(world):
    env = make_env(world, render_mode="ansi").unwrapped
    copy = pickle.loads(pickle.dumps(env))
    assert copy.reset(seed=2) == env.reset(seed=2)
    env.step(call("search", query="membrane"))
    assert "searches left 49" in env.render()


def test_vector_environments(world):
    """Gymnasium's own vector environments, in one process and in spawned ones."""
    actions = [call("search", query="membrane", k=2), call("search", query="erosion", k=2)]
    scalar = []
    for number, action in enumerate(actions):
        env = make_env(world)
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
