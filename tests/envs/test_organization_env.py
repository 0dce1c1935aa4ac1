"""The environment Organization: what it begins with, trees of every kind, and how it ends."""

from __future__ import annotations

import json

import gymnasium
import pyarrow.parquet as pq
import pytest
from helpers import (
    SMALL,
    Memory,
    act,
    arena_topics,
    call,
    gold_of,
    make_env,
    playing,
    result,
    within_reach,
)
from hypothesis import given
from hypothesis import strategies as st

import arena
from arena.errors import DataError
from arena.papers import LARGEST_READ, MAX_LISTED

NAME = "arena/Organization-v0"


def first(env, topic):
    """The first result of an episode."""
    return json.loads(env.reset(seed=0, options={"topic_id": topic})[0]["result"])


# What an episode begins with


@pytest.fixture(scope="module")
def expert(tmp_path_factory):
    """A corpus whose topic files papers of every date, a topic, itself, and an unknown one."""
    from corpus_builder.build import build

    titles = ("Early", "Late", "Undated", "A Topic of Edges", "Not filed", "The Survey of Graphs!")
    dates = ("2019", "2021", None, "2018", "2018", "2020-06")
    papers = [
        {"id": title[0].lower(), "title": title, "date": date, "abstract": f"{title} 2021-12-24."}
        for title, date in zip(titles, dates, strict=True)
    ]
    tree = {"label": "Graphs", "children": [
        {"label": "Old", "papers": ["u", "e"]}, {"label": "New", "papers": ["l", "t", "gone"]},
        {"label": "Topics", "papers": ["a", "s"]},
    ]}  # fmt: skip
    topic = {"id": "s", "title": "The survey of graphs", "date": "2020-06", "mind_map": tree}
    other = {"id": "a", "title": "A survey of edges", "date": "2018", "references": ["n"]}
    directory = tmp_path_factory.mktemp("expert") / "corpus"
    build(Memory(papers, [topic | {"references": ["e"], "citations": []}, other]), directory)
    return directory


def test_the_experts_papers_are_given_whatever_their_dates(expert, tmp_path):
    env = playing(expert, "s", NAME, references="expert")
    observed = first(env, "s")
    assert observed["message"].count("Only the listed papers exist") == 1
    assert "before the cutoff" not in observed["message"]
    # By date, the undated one last; neither what the corpus lacks nor the survey itself.
    titles = {"a": "A Topic of Edges", "e": "Early", "l": "Late", "u": "Undated"}
    assert observed["references"] == [{"id": i, "title": t, "date": ""} for i, t in titles.items()]
    assert set(env.action_space.tools) == {"read", "organize", "finish"}
    read = result(env.step(call("read", paper_id="u")))
    assert (read["text"], read["date"], "cited_by" in read) == ("Undated 2021-12-24.", "", False)
    for hidden in ("n", "t", "s", "gone"):
        assert "no paper" in result(env.step(call("read", paper_id=hidden)))["error"]
    assert "no tool" in result(env.step(call("search", query="graphs")))["error"]
    env.close()
    arena.run(expert, "organization", "oracle", tmp_path / "run", references="expert")
    scores = arena.rescore(tmp_path / "run", expert, ["ari", "leaf_recall"])
    # Of the tree's papers 4 of 7 can be submitted. In reach at the date is one.
    assert scores["mean"] == scores["ceiling"]
    assert scores["mean"]["leaf_recall"] == 4 / 7
    assert scores["papers"] == "experts' papers, undated"
    arena.run(expert, "organization", "oracle", tmp_path / "dated")
    assert (
        arena.rescore(tmp_path / "dated", expert, ["leaf_recall"])["mean"]["leaf_recall"] == 1 / 7
    )


def test_the_experts_papers_alone_can_be_offered(expert):
    with pytest.raises(DataError, match="offers no other tools"):
        make_env(expert, NAME, references="expert", tools=["search"])
    with pytest.raises(DataError, match="goes with references='run', not with 'expert'"):
        make_env(expert, NAME, references="expert", start_from={})


def test_every_paper_of_an_expert_can_be_read(expert):
    """1,000 papers with a long abstract each: the default budget lasts."""
    budget = playing(expert, "s", NAME, references="expert").unwrapped.config.limits
    assert budget["max_reads"] == MAX_LISTED < budget["max_steps"]
    assert budget["max_characters"] >= MAX_LISTED * LARGEST_READ
    assert budget["max_searches"] == 0


def test_the_references_are_given(mini):
    observed = first(make_env(mini, NAME), "sv:1")
    assert list(observed) == ["message", "references"]
    assert observed["message"].startswith("Draw a mind-map of this topic")
    # The gold of sv:1 in order of the dates, and nothing that tells p:leap, which is influential.
    assert observed["references"] == [
        {"id": "p:leap", "title": "Encoders in a Leap Year", "date": "2020-02-29"},
        {"id": "p:day", "title": "Dense Retrieval with Encoders", "date": "2020-03-05"},
        {"id": "12345", "title": "A Paper with a Number", "date": "2021-01-01"},
        {"id": "p:last", "title": "The Day Before", "date": "2022-06-14"},
    ]
    assert first(make_env(mini, NAME), "sv:3")["references"] == []


def test_the_references_are_in_document_order(synthetic):
    """Neither in that of the topic nor by their gains: their order tells nothing but dates."""
    order = pq.read_table(synthetic / "papers.parquet")["id"].to_pylist()
    env = make_env(synthetic, NAME)
    for topic in arena_topics(synthetic):
        observed = first(env, topic)["references"]
        ids = [paper["id"] for paper in observed]
        assert ids == sorted(gold_of(synthetic, topic), key=order.index)
        assert {tuple(paper) for paper in observed} == {("id", "title", "date")}


def test_an_episode_starts_with_the_papers_of_a_run_instead(mini):
    found = {"sv:1": ["p:last", "p:same", "nowhere", "p:day", "p:last", "p:twin"]}
    env = make_env(mini, NAME, references="run", start_from=found)
    assert [p["id"] for p in first(env, "sv:1")["references"]] == ["p:last", "p:day"]
    assert first(env, "sv:2")["references"] == []
    found["sv:1"].clear()  # the environment has its own copy
    assert [p["id"] for p in first(env, "sv:1")["references"]] == ["p:last", "p:day"]
    nothing = make_env(mini, NAME, references="run")
    assert list(first(nothing, "sv:1")) == ["message"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"references": "orcale"}, r"references='orcale'. Did you mean 'oracle'"),
        ({"references": "oracle", "start_from": {}}, "goes with references='run'"),
        ({"references": "run", "start_from": "missing"}, "missing: no such file"),
        ({"references": "run", "start_from": 5}, "start_from=5: give a run, or a mapping"),
        (
            {"references": "run", "start_from": {"sv:1": "p:day"}},
            r"start_from\['sv:1'\]='p:day': give a list",
        ),
        ({"references": "run", "start_from": {"sv:9": ["p:day"]}}, "Did you mean 'sv:"),
    ],
)
def test_bad_arguments(mini, options, message):
    with pytest.raises(arena.errors.ArenaError, match=message):
        gymnasium.make(NAME, **{"corpus": mini} | options)


@pytest.mark.parametrize("name", [NAME, "arena/Pipeline-v0"])
def test_a_corpus_without_mind_maps_is_refused(tmp_path, name):
    from corpus_builder.build import build

    build(SMALL, tmp_path / "corpus")
    with pytest.raises(DataError, match=r"no topic of '.*' has a mind-map, which the task '"):
        make_env(tmp_path / "corpus", name)
    env = make_env(tmp_path / "corpus", name, topics=["s"])  # to play without that score
    env.reset()
    for action in [call("submit", paper_ids=["a"])] * 2 * (name != NAME):
        env.step(action)
    step = env.step(call("organize", mind_map={"label": "x", "children": ["y"]}))
    assert step[2]
    assert "heading_soft_recall" not in step[4]["metrics"]
    assert step[1] == {NAME: 0.0, "arena/Pipeline-v0": 1.0}[name]  # the mean of what can be scored


@pytest.mark.parametrize(
    "mind_map", [{"label": "A root alone"}, {"label": "x", "children": "y"}, {}, None]
)
def test_a_map_that_cannot_be_scored_is_none(tmp_path, mind_map):
    """A survey whose labels are no tree with a heading has no mind-map."""
    from corpus_builder.build import build

    topic = {"id": "s", "title": "On graphs", "date": "2020-06", "references": ["a"]}
    paper = {"id": "a", "title": "Alpha", "date": "2019"}
    topics = [topic | {"mind_map": mind_map}, topic | {"id": "t", "mind_map": {"A": ["B"]}}]
    build(Memory([paper], topics), tmp_path / "corpus")
    env = make_env(tmp_path / "corpus", NAME)
    assert {env.reset(seed=seed)[1]["topic_id"] for seed in range(9)} == {"t"}
    env.reset(options={"topic_id": "s"})
    step = env.step(call("organize", mind_map={"label": "x", "children": ["y"]}))
    assert (step[1], step[2], step[4]["metrics"]) == (0.0, True, {})


# Trees


def test_what_was_repaired_is_told(mini):
    env = playing(mini, "sv:1", NAME)
    tree = {"label": "x", "children": ["a  b", "c", "c"], "note": 1}
    observed = act(env, "organize", mind_map=tree)
    assert observed["organized"] == 2
    assert observed["repairs"][0] == "the map files no paper" and len(observed["repairs"]) == 4


def test_organize_counts_how_papers_are_filed(mini):
    """The four references of sv:1: in two leaves, at an inner heading, in one leaf, nowhere."""
    tree = {
        "label": "x",
        "children": [
            {"label": "a", "papers": ["p:day"]},
            {
                "label": "b",
                "papers": ["p:leap", "p:old"],
                "children": [{"label": "c", "papers": ["p:day", "12345"]}],
            },
        ],
    }
    answer = act(playing(mini, "sv:1", NAME), "organize", mind_map=tree)
    counts = {"in_one_leaf": 1, "in_several": 1, "at_inner": 2, "left_out": 1}
    assert answer == {"organized": 3, "filed": counts}
    alone = playing(mini, "sv:1", NAME, references="run")  # which begins with no papers
    assert act(alone, "organize", mind_map=tree)["filed"] == counts | {"left_out": 0}


def test_finish_submits_nothing(mini):
    env = playing(mini, "sv:1", NAME)
    act(env, "select", paper_ids=["p:day"])
    step = env.step(call("finish"))
    assert result(step) == {"submitted": 0}
    assert (step[1], step[2], step[4]["answers"]) == (0.0, True, {})
    assert step[4]["metrics"] == {  # those of an empty map; the gold one has one heading
        "ari": 0.0, "heading_soft_recall": 0.0, "tree_edit_distance": 1.0,
        "tree_semantic_distance": 1.0,
    }  # fmt: skip


def test_starting_papers_are_within_reach(synthetic):
    """Also those of a run that was made with more of the corpus."""
    everything = pq.read_table(synthetic / "papers.parquet")["id"].to_pylist()
    topic = sorted(arena_topics(synthetic))[0]
    env = make_env(synthetic, NAME, references="run", start_from={topic: everything})
    observed = [paper["id"] for paper in first(env, topic)["references"]]
    assert observed == within_reach(synthetic, topic)


odd = st.text(max_size=12) | st.sampled_from(
    ["\x00", "\u200b", "\ufeff", "\ud800", "e\u0301", "🜁" * 9, "  "]
)
trees = st.recursive(
    odd | st.fixed_dictionaries({"label": odd}),
    lambda inner: (
        st.fixed_dictionaries({"label": odd, "children": st.lists(inner, max_size=4)})
        | st.dictionaries(odd, st.none() | inner | st.lists(inner, max_size=3), max_size=3)
    ),
    max_leaves=12,
)


@given(tree=trees, as_text=st.booleans())
def test_every_tree_is_scored_or_answered(mini, tree, as_text):
    """Labels of any script, of none, and of half characters."""
    env = playing(mini, "sv:1", NAME)
    step = env.step(call("organize", mind_map=json.dumps(tree) if as_text else tree))
    assert env.observation_space.contains(step[0])
    if step[2]:
        # Soft recall can exceed 1; what is 0 may come out as a rounding below it. No tree here
        # has more than 60 nodes.
        assert all(-1e-12 <= value < 100 for value in step[4]["metrics"].values())
        json.dumps(step[4]).encode()  # a trajectory can store it
        step[0]["result"].encode()
    else:
        assert set(result(step)) == {"error"}
