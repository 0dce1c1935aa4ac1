"""Actions: every kind of bad one is answered and leaves no trace, and the spaces of good ones."""

from __future__ import annotations

import json
from types import MappingProxyType

import gymnasium
import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import arena_topics, call, make_env, playing, result, within_reach
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.results.messages import call_of
from arena.tools import TOOLS

BAD_ACTIONS = [
    (None, "is not an object"),
    ("search for cats", "is not JSON"),
    ("[" * 100_000, "is not JSON"),
    ({}, "no tool None"),
    ({"tool": "serach", "arguments": {}}, "Did you mean 'search' or 'select'"),
    ({"tool": "search", "args": {}}, "no key 'args'"),
    ({"tool": "search", "arguments": "cats"}, "arguments='cats' is not an object"),
    ({"tool": "search", "arguments": {"query": {1, 2}}}, "(JSON cannot hold a set)' is not JSON"),
    ('{"tool": "search", "arguments": {"query": "cats", "k": NaN}}', "k=nan is not an integer"),
    (call("search", query="cats", k=10**5000), "is out of range"),
    (call("search"), "needs the argument 'query'"),
    (call("search", query="cats", k="five"), "k='five' is not an integer"),
    ({"tool": "search", "name": "search"}, "no key 'name'"),
    (call("search", query="cats", k=101), "Give k from 1 to 100"),
    (call("search", query="cats", limit=3), "takes no argument 'limit'"),
    (call("search", query="c" * 100_000), "has 100000 characters"),
    (call("read", paper_id="nothing", section=-1), "section=-1 is out of range. Give section 0 or"),
    (call("read", paper_id="\ud800" * 100), "no paper"),
    (call("select", paper_ids=["nothing"]), "no paper 'nothing' here (1 of 1 ids)"),
    (call("organize", mind_map={"label": "x"}), "no tool 'organize'"),
    (call("submit", paper_ids="w7-1"), "is not a list of strings"),
    (call("submit", paper_ids=[str(n) for n in range(1001)]), "1001 ids are too many"),
]


def undisturbed(env, rest):
    """After a bad action an episode goes on as one without it, but for the step it took."""
    env.reset(seed=1)
    steps = [env.step(action) for action in rest][1:]
    for step in steps:
        step[0]["budget"]["steps"] -= 1
    return steps


def afterwards(env, action, rest):
    """Play an action and what comes after it; return the first step, and the others."""
    env.reset(seed=1)
    env.step(rest[0])
    first = env.step(action)
    return first, [env.step(later) for later in rest[1:]]


def rest_of(synthetic, env):
    """An episode that uses every tool; what it selects, shows and submits depends on its past."""
    topic = env.reset(seed=1)[1]["topic_id"]
    query, papers = arena_topics(synthetic)[topic]["title"], within_reach(synthetic, topic)
    return [
        call("select", paper_ids=papers[:2]),
        call("search", query=query),
        call("read", paper_id=papers[3]),
        call("references", paper_id=papers[-1]),
        call("citations", paper_id=papers[0]),
        call("select", paper_ids=papers[2:4]),
        call("finish"),
    ]


@pytest.fixture(scope="module")
def untouched(synthetic, synthetic_env):
    rest = rest_of(synthetic, synthetic_env)
    return rest, undisturbed(synthetic_env, rest)


@pytest.mark.parametrize(("action", "message"), BAD_ACTIONS, ids=range(len(BAD_ACTIONS)))
def test_a_bad_action_is_answered(synthetic_env, untouched, action, message):
    rest, expected = untouched
    step, others = afterwards(synthetic_env, action, rest)
    assert message in result(step)["error"]
    assert len(step[0]["result"]) < 600
    assert step[1:4] == (0.0, False, False)
    assert step[0]["budget"] == {
        "steps": 98, "searches": 50, "reads": 100, "characters": 2_000_000,
    }  # fmt: skip
    assert synthetic_env.observation_space.contains(step[0])
    assert others == expected  # it continues as if nothing had been


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)

ARGUMENT = st.sampled_from(
    ["query", "k", "offset", "retriever", "paper_id", "section", "page", "paper_ids", "mind_map"]
)
nearly = st.fixed_dictionaries(
    {"tool": st.sampled_from([*TOOLS.names(), "write"]) | junk},
    optional={"arguments": st.dictionaries(ARGUMENT, junk) | junk},
)


@settings(max_examples=100, deadline=None)
@given(action=junk | nearly, as_text=st.booleans())
def test_no_action_breaks_an_episode(whole_env, action, as_text):
    whole_env.reset(seed=1)
    if as_text:
        action = json.dumps(action)
    observation, _, terminated, truncated, _ = whole_env.step(action)
    assert whole_env.observation_space.contains(observation)
    assert not truncated
    if not terminated:  # finish() is an action like any other
        assert whole_env.step(call("search", query="membrane"))[0]["budget"]["searches"] >= 48


@pytest.fixture(scope="module")
def whole_env(synthetic):
    return make_env(synthetic, "arena/Pipeline-v0")


@pytest.fixture(scope="module")
def synthetic_env(synthetic):
    return make_env(synthetic)


ARGUMENTS = '{"query": "membrane", "k": 3}'
FORMS = [
    {"tool": "search", "arguments": {"query": "membrane", "k": 3}},
    f'{{"tool": "search", "arguments": {ARGUMENTS}}}',
    {"tool": "search", "arguments": ARGUMENTS},
    json.dumps({"tool": "search", "arguments": ARGUMENTS}),
    {"name": "search", "arguments": {"query": "membrane", "k": 3}},
    {"name": "search", "arguments": ARGUMENTS},
    {"tool": "search", "arguments": {"query": "membrane", "k": "3"}},
    {"name": "search", "arguments": '{"query": "membrane", "k": "3"}'},
]


def test_an_action_may_have_the_form_that_models_write(synthetic):
    """The same step in a scalar and a vector environment, in a log, and in the space."""
    env = make_env(synthetic)
    many = gymnasium.make_vec("arena/Discovery-v0", len(FORMS), corpus=synthetic)
    topic = sorted(arena_topics(synthetic))[0]
    many.reset(options={"topic_id": topic})
    observations, rewards, *_ = many.step(FORMS)
    for number, action in enumerate(FORMS):
        env.reset(options={"topic_id": topic})
        observation, reward, *_ = env.step(action)
        assert len(json.loads(observation["result"])["hits"]) == 3
        assert env.action_space.contains(action)
        assert call_of(action)[0] == "search"
        assert (observations["result"][number], rewards[number]) == (observation["result"], reward)
        assert (observation["result"], reward) == (observations["result"][0], rewards[0])


def hidden_from(synthetic, topic):
    """One paper of every kind that does not exist in an episode."""
    papers = pq.read_table(synthetic / "papers.parquet").to_pylist()
    day = arena_topics(synthetic)[topic]["date"]
    kinds = {
        "too late": [p for p in papers if p["date"] and p["date"] > day and not p["is_survey"]],
        "of the day": [p for p in papers if p["date"] == day and not p["is_survey"]],
        "undated": [p for p in papers if p["date"] is None],
        "topic_id": [p for p in papers if p["is_survey"] and p["date"] and p["date"] < day],
    }
    return {kind: found[0]["id"] for kind, found in kinds.items() if found} | {"itself": topic}


@pytest.mark.parametrize("corpus", ["mini", "synthetic"])
@pytest.mark.parametrize(
    "tool", ["read", "references", "citations", "select", "submit", "organize"]
)
def test_hidden_papers_are_unknown(request, corpus, tool):
    """The answer is, word for word, that for an id that never existed."""
    directory = request.getfixturevalue(corpus)
    topic = "sv:1" if corpus == "mini" else sorted(arena_topics(directory))[0]
    found = hidden_from(directory, topic)
    assert len(found) == (5 if corpus == "mini" else 4)
    there = within_reach(directory, topic)[0]

    def asked(paper):
        arguments = {
            "select": {"paper_ids": [there, paper]},
            "submit": {"paper_ids": [there, paper]},
            "organize": {
                "mind_map": {"label": "x", "children": [{"label": "y", "papers": [paper]}]}
            },
        }.get(tool, {"paper_id": paper})
        name = "arena/Organization-v0" if tool == "organize" else "arena/Discovery-v0"
        step = playing(directory, topic, name).step(call(tool, **arguments))
        said = [*step[:4], step[4]["reward_terms"]]
        return json.loads(json.dumps(said).replace(paper, "THE ID"))

    expected = asked("never:was")
    assert "no paper 'THE ID' here" in json.loads(expected[0]["result"])["error"]
    for kind, paper in found.items():
        assert asked(paper) == expected, kind


def test_every_page_of_a_hidden_paper_is_unknown(synthetic):
    """Neither sections nor pages nor an empty budget tell it from an id that never was."""
    topic = sorted(arena_topics(synthetic))[0]
    late = hidden_from(synthetic, topic)["too late"]
    for options in ({}, {"max_reads": 0}, {"max_characters": 0}):
        for tool, more in (("read", "section"), ("read", "page"), ("references", "page")):
            answers = []
            for paper in (late, "never:was"):
                env = playing(synthetic, topic, **options)
                step = env.step(call(tool, paper_id=paper, **{more: 10**6}))
                assert step[1:4] == (0.0, False, False)
                answers.append((result(step)["error"].replace(paper, "?"), step[0]["budget"]))
            assert answers[0] == answers[1]


def test_a_repeated_id_counts_once(synthetic):
    env = make_env(synthetic)
    env.reset(seed=1)
    ids = [hit["id"] for hit in result(env.step(call("search", query="membrane", k=2)))["hits"]]
    info = env.step(call("submit", paper_ids=[ids[0], ids[1], ids[0]]))[4]
    assert info["answers"]["discovery"] == ids


def test_a_mapping_is_an_object(synthetic):
    env = make_env(synthetic)
    env.reset(seed=1)
    arguments = MappingProxyType({"query": "membrane", "k": np.int64(2)})
    action = MappingProxyType({"tool": "search", "arguments": arguments})
    assert len(result(env.step(action))["hits"]) == 2


def test_the_space_of_an_environment_knows_its_bounds(synthetic):
    space = make_env(synthetic, max_k=3, topics=1).action_space
    assert space.contains(call("search", query="x", k=3))
    assert not space.contains(call("search", query="x", k=4))
    assert not space.contains(call("search", query="x", retriever="dense"))
    space.seed(0)
    drawn = [s["arguments"] for s in (space.sample() for _ in range(400)) if s["tool"] == "search"]
    assert {arguments.get("k") for arguments in drawn} == {None, 1, 2, 3}
    assert {arguments.get("retriever") for arguments in drawn} == {None, "bm25"}
