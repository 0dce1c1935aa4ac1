"""`observation="pool"`: all papers found so far in place of the last list, within a length."""

from __future__ import annotations

import json

import gymnasium
import pytest
from helpers import arena_topics, call, gold_of, make_env, playing
from hypothesis import given
from hypothesis import strategies as st

import arena
from arena.envs._results import PaperPool
from arena.errors import DataError
from arena.runs import verify
from arena.session import Sessions
from arena.testing import AuditReport
from arena.testing.checked import CheckedEnv, random_play
from arena.testing.contract import check_contract

MOST = 2_000


def result(step):
    return json.loads(step[0]["result"])


def found(env, **asked):
    """Ids that a search of the corpus finds, in an episode without a pool."""
    return [hit["id"] for hit in result(env.step(call("search", **asked)))["hits"]]


def test_the_order_is_that_of_reciprocal_ranks_over_all_lists(synthetic):
    topic = min(arena_topics(synthetic))
    lists = playing(synthetic, topic)
    one, other = (found(lists, query="membrane", k=4, offset=n) for n in (0, 2))
    assert len({*one} & {*other}) == 2
    env = playing(synthetic, topic, observation="pool")
    env.step(call("search", query="membrane", k=4))
    shown = result(env.step(call("search", query="membrane", k=4, offset=2)))
    assert list(shown) == ["actions_total", "papers_total", "actions", "papers"]
    assert shown["actions"] == [
        "search(query='membrane', k=4): 4 new",
        "search(query='membrane', k=4, offset=2): 2 new",
    ]
    scores = {}
    for ranking in (one, other):
        for rank, paper in enumerate(ranking, 1):
            scores[paper] = scores.get(paper, 0) + 1 / (60 + rank)
    assert {paper["id"]: paper["score"] for paper in shown["papers"]} == {
        paper: round(score, 4) for paper, score in scores.items()
    }
    number = arena.Corpus.open(synthetic).document_number
    order = [paper["id"] for paper in shown["papers"]]
    assert order == sorted(scores, key=lambda paper: (-scores[paper], number(paper)))


def test_a_refused_call_shows_the_error_and_the_same_pool(synthetic):
    env = make_env(synthetic, observation="pool", max_result_characters=MOST)
    observation, _ = env.reset(seed=1)
    before = result(env.step(call("search", query=observation["topic"], k=50)))
    step = env.step(call("serach"))
    refused = result(step)
    assert next(iter(refused)) == "error" and step[4]["gain"] == 0
    assert refused["actions"] == before["actions"]
    fewer = refused["papers"]
    assert fewer == before["papers"][: len(fewer)] and refused["papers_total"] == 50


@pytest.fixture(scope="module")
def pooled(synthetic):
    return make_env(synthetic, max_steps=12, observation="pool", max_result_characters=MOST)


@given(seed=st.integers(0, 2**16))
def test_every_text_fits_and_only_ids_in_it_are_paid(pooled, synthetic, seed):
    observation, info = pooled.reset(seed=seed)
    gold, act, seen, over = (
        gold_of(synthetic, info["topic_id"]),
        random_play(pooled, seed, 12),
        set(),
        0,
    )
    while not over:
        observation, _, ended, cut, info = pooled.step(act(observation))
        assert len(observation["result"]) <= MOST
        shown = json.loads(observation["result"])
        listed = [*shown["papers"], *[shown] * ("text" in shown)]  # the paper that was read
        new = {paper["id"] for paper in listed} & gold - seen
        seen |= new
        assert info["gain"] == pytest.approx(len(new) / len(gold))
        over = ended or cut


def test_a_long_text_is_cut_at_half(synthetic):
    env = make_env(synthetic, observation="pool", max_result_characters=MOST)
    observation, _ = env.reset(seed=1)
    best = result(env.step(call("search", query=observation["topic"])))["papers"][0]["id"]
    read = result(env.step(call("read", paper_id=best, section=1)))
    assert read["id"] == best and read["papers"]
    whole = json.loads(
        playing(synthetic, env.unwrapped.save()["topic_id"]).step(
            call("read", paper_id=best, section=1)
        )[0]["result"]
    )["text"]
    assert whole.startswith(read["text"])
    if len(whole) > MOST:
        assert read["cut"] == f"{len(read['text'])} of {len(whole)}"


def test_the_contract_is_kept(synthetic):
    log = AuditReport()
    settings = {"corpus": str(synthetic), "observation": "pool", "max_result_characters": MOST}
    check_contract(CheckedEnv("arena/Pipeline-v0", settings), log)
    assert log.findings == []


def test_a_run_is_replayed(synthetic, tmp_path):
    played = arena.run(
        synthetic, "discovery", "title", tmp_path / "run", observation="pool",
        max_result_characters=50_000,
    )  # fmt: skip
    as_usual = arena.run(synthetic, "discovery", "title", tmp_path / "usual")
    assert played["mean"]["recall@100"] == as_usual["mean"]["recall@100"] > 0
    assert verify(tmp_path / "run", synthetic).difference is None


def test_a_session_reads_the_pool_and_continues_from_a_state(synthetic):
    sessions = Sessions.make(synthetic, observation="pool", max_result_characters=MOST)
    one, other = sessions.open(seed=1), sessions.open(seed=2)
    one.step(call("search", query=one.first["topic"], k=50))
    other.restore(one.save())
    search = call("search", query="membrane", k=50)
    assert one.step(search).text == other.step(search).text
    shown = json.loads(one.last.text)
    assert shown["result"]["actions_total"] == 2 and shown["result"]["papers"]


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        ("organization", {}, "takes no argument 'observation': its episodes start with papers"),
        ("discovery", {"max_result_characters": 1_999}, "=1999: a pool needs at least 2000"),
    ],
    ids=["given papers", "too few characters"],
)
def test_what_has_no_pool_is_refused(synthetic, task, settings, message):
    with pytest.raises(DataError, match=message):
        gymnasium.make(f"arena/{task.title()}-v0", corpus=synthetic, observation="pool", **settings)


def test_no_key_is_there_twice(mini):
    """A tool of a plug-in may call a list, here an empty one, as the pool does."""
    pool = PaperPool(arena.Corpus.open(mini).at("2022"), lambda paper: 0)
    text = pool.result({"papers": [], "actions": 3, "said": "yes"}, (), None).result
    names = [name for name, _ in json.loads(text, object_pairs_hook=list)]
    assert names == ["said", "actions_total", "papers_total", "actions", "papers"]
