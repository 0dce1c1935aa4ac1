"""The tools one by one: results worked out by hand, and other readings of the files."""

from __future__ import annotations

import json
import math
import pickle
from typing import Annotated

import pyarrow.parquet as pq
import pytest
from annotated_types import Ge
from helpers import act, arena_topics, build_synthetic, call, links, playing, result, within_reach
from hypothesis import given
from hypothesis import strategies as st

import arena
from arena.errors import DataError
from arena.tasks import TaskSet
from arena.tools import Tool

# In the episode of sv:1, whose day is 2022-06-15, nine papers of `mini` exist (conftest.MINI):
# p:old p:leap p:day Z:tie p:month é:tie p:year 12345 p:last.
SURVEY = "sv:1"


@pytest.fixture
def env(mini):
    return playing(mini, SURVEY)


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    """A synthetic corpus with three indexes: of words in all fields, of titles, of vectors."""
    from corpus_builder.index import build_index

    directory = build_synthetic(tmp_path_factory.mktemp("engines") / "corpus", 300, 3)
    build_index(directory, "bm25", name="titles", fields=["title"])
    build_index(directory, "dense", options={"encoder": "static"})
    return directory


# search


def test_search_by_hand(env):
    # "index" is in three titles. Of nine papers with 36 terms in all, two of those have two terms,
    # the third has three: idf ln(1 + 6.5 / 3.5), average length 4, k1 0.9, b 0.4.
    def score(length):
        return math.log(1 + 6.5 / 3.5) / (1 + 0.9 * (0.6 + 0.4 * length / 4))

    found = act(env, "search", query="indexes")
    assert list(found) == ["hits"]
    assert [(h["id"], h["title"], h["date"]) for h in found["hits"]] == [
        ("p:old", "Early Indexing", "1969-12-31"),
        ("Z:tie", "Index Compression", "2020-03-31"),
        ("é:tie", "Étude des index", "2020-03-31"),
    ]
    assert [h["score"] for h in found["hits"]] == pytest.approx([score(2), score(2), score(3)])


def test_what_search_passes_over(env):
    first, second, third = (h["id"] for h in act(env, "search", query="index")["hits"])
    assert [h["id"] for h in act(env, "search", query="index", k=1)["hits"]] == [first]
    assert [h["id"] for h in act(env, "search", query="index", k=1, offset=1)["hits"]] == [second]
    assert [h["id"] for h in act(env, "search", query="index", k=9, offset=2)["hits"]] == [third]
    assert act(env, "search", query="index", offset=3) == {
        "hits": [],
        "message": "No more papers match.",
    }
    nothing = {"hits": [], "message": "Nothing matches. Try other words."}
    assert act(env, "search", query="zirconium") == nothing  # only topics have it
    assert act(env, "search", query="dense later", k=9)["hits"][0]["id"] == "p:day"
    assert act(env, "search", query="  ") == nothing


@pytest.fixture(scope="module", params=["bm25", "titles", "dense", "hybrid(bm25,dense)"])
def searching(engines, request):
    """An environment for all examples of an engine."""
    topic = sorted(arena_topics(engines))[0]
    return playing(engines, topic, retriever=request.param, max_steps=1000, max_searches=1000)


@given(data=st.data())
def test_pages_of_a_search_are_one_long_search(engines, searching, data):
    env, topic = searching, sorted(arena_topics(engines))[0]
    words = env.reset(options={"topic_id": topic})[0]["topic"].split()
    query = " ".join(data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=4)))
    k = data.draw(st.integers(1, 40))
    long = act(env, "search", query=query, k=40)["hits"]
    pages = []
    for offset in range(0, 40, k):
        pages += act(env, "search", query=query, k=k, offset=offset)["hits"]
    assert pages[: len(long)] == long


def test_the_retriever_may_be_named(engines):
    names = ["titles", "hybrid(bm25,titles)", "dense"]
    topic, row = sorted(arena_topics(engines).items())[0]
    env = playing(engines, topic, retrievers=names, max_searches=100)
    corpus, query = arena.Corpus.open(engines), row["title"]
    for name in [None, "bm25", *names]:
        view = corpus.at(row["date"].isoformat(), exclude=[topic], retriever=name or "bm25")
        found = act(env, "search", query=query, k=20, retriever=name)["hits"]
        assert [tuple(hit.values()) for hit in found] == view.search(query, 20)
    papers = {p["id"]: p for p in pq.read_table(engines / "papers.parquet").to_pylist()}
    word = next(  # in an abstract and in no title
        word
        for paper in within_reach(engines, topic)
        for word in papers[paper]["abstract"].lower().rstrip(".").split()
        if word.isalpha()
        and len(word) > 7
        and not any(word[:4] in p["title"].lower() for p in papers.values())
    )
    assert act(env, "search", query=word)["hits"]
    assert act(env, "search", query=word, retriever="titles")["hits"] == []
    wrong = act(env, "search", query=word, retriever="titels")["error"]
    assert wrong == "no retriever 'titels'. Did you mean 'titles'?"
    assert (
        "no retriever 'titles'"
        in act(playing(engines, topic), "search", query=word, retriever="titles")["error"]
    )


# read


def test_read_by_hand(env):
    assert act(env, "read", paper_id="p:day") == {
        "id": "p:day",
        "title": "Dense Retrieval with Encoders",
        "date": "2020-03-05",
        "cited_by": 1,  # by 12345; p:null is undated
        "sections": ["Abstract", "1 Introduction", "2 Method"],
        "section": 0,
        "heading": "Abstract",
        "characters": 31,
        "page": 1,
        "pages": 1,
        "text": "We train encoders for passages.",
    }
    method = act(env, "read", paper_id="p:day", section=2)
    assert (method["heading"], method["text"]) == ("2 Method", "Two towers.\nOne loss.")
    bare = act(env, "read", paper_id="p:leap")
    assert (bare["text"], bare["characters"], bare["pages"]) == ("", 0, 1)
    assert bare["sections"] == ["Abstract"]
    assert act(env, "read", paper_id="12345")["cited_by"] == 0  # p:same is of the topic's day
    assert act(env, "read", paper_id="p:day", section=3)["error"] == (
        "section=3 does not exist. 'p:day' has sections 0 to 2."
    )
    assert act(env, "read", paper_id="p:day", page=2)["error"] == (
        "page=2 does not exist. Section 0 has pages 1 to 1."
    )


def test_reading_gives_the_whole_text_in_pages(synthetic, monkeypatch):
    monkeypatch.setattr("arena.tools.read.PAGE", 100)
    topic = sorted(arena_topics(synthetic))[0]
    env = playing(synthetic, topic, max_steps=10_000, max_reads=10_000)
    papers = pq.read_table(synthetic / "papers.parquet").to_pylist()
    sections = pq.read_table(synthetic / "sections.parquet").to_pylist()
    number = next(s["document"] for s in sections if papers[s["document"]]["searchable"])
    paper = papers[number]
    assert paper["id"] in within_reach(synthetic, topic)
    texts = [paper["abstract"], *(s["text"] for s in sections if s["document"] == number)]
    assert max(map(len, texts)) > 300
    for section, text in enumerate(texts):
        pages, page = [], 1
        while True:
            found = act(env, "read", paper_id=paper["id"], section=section, page=page)
            assert found["characters"] == len(text)
            assert len(found["text"]) <= 100
            pages.append(found["text"])
            if page == found["pages"]:
                break
            page += 1
        assert "".join(pages) == text


# references and citations


def test_references_by_hand(env):
    assert act(env, "references", paper_id="p:day") == {
        "id": "p:day",
        "total": 2,
        "page": 1,
        "pages": 1,
        "references": [
            {"id": "p:old", "title": "Early Indexing", "date": "1969-12-31"},
            {"id": "p:leap", "title": "Encoders in a Leap Year", "date": "2020-02-29"},
        ],
    }
    assert act(env, "citations", paper_id="p:day")["citations"] == [
        {"id": "12345", "title": "A Paper with a Number", "date": "2021-01-01"}
    ]
    # It cites p:day, and besides a survey, a task, an undated paper and an unknown one.
    assert [p["id"] for p in act(env, "references", paper_id="12345")["references"]] == ["p:day"]
    # p:same cites it, on the day of the topic.
    assert act(env, "citations", paper_id="12345") == {
        "id": "12345", "total": 0, "page": 1, "pages": 1, "citations": [],
    }  # fmt: skip
    assert act(env, "citations", paper_id="p:day", page=2)["error"] == (
        "page=2 does not exist. The list has pages 1 to 1."
    )


@pytest.mark.parametrize("per_page", [100, 3])
def test_links_are_those_of_the_file_up_to_the_cutoff(synthetic, monkeypatch, per_page):
    monkeypatch.setattr("arena.tools.links.PER_PAGE", per_page)
    topic = sorted(arena_topics(synthetic))[3]
    env = playing(synthetic, topic, max_steps=10**5, max_reads=10**5)
    there, pairs = within_reach(synthetic, topic), links(synthetic)
    known = set(there)
    hidden = {paper for pair in pairs for paper in pair} - known
    assert hidden & {citing for citing, cited in pairs if cited in known}  # else this shows little
    for paper in there[:: max(1, len(there) // 60)]:
        for tool, own, other in (("references", 0, 1), ("citations", 1, 0)):
            expected = [
                pair[other] for pair in pairs if pair[own] == paper and pair[other] in known
            ]
            expected.sort(key=there.index)
            listed, page = [], 1
            while True:
                found = act(env, tool, paper_id=paper, page=page)
                assert found["total"] == len(expected)
                assert found["pages"] == max(1, math.ceil(len(expected) / per_page))
                assert len(found[tool]) <= per_page
                listed += [p["id"] for p in found[tool]]
                if page == found["pages"]:
                    break
                page += 1
            assert listed == expected


# select, submit, finish


@pytest.mark.parametrize("name", ["arena/Discovery-v0", "arena/Selection-v0"])
def test_finish_submits_what_was_selected(mini, name):
    env = playing(mini, SURVEY, name)
    assert act(env, "select", paper_ids=["p:last", "p:day"]) == {"selected": 2}
    assert act(env, "select", paper_ids=["p:old", "p:day"]) == {"selected": 3}
    assert act(env, "select", paper_ids=[]) == {"selected": 3}
    wrong = act(env, "select", paper_ids=["p:year", "p:same"])["error"]
    assert wrong == "no paper 'p:same' here (1 of 2 ids). Use ids that a search returned."
    step = env.step(call("finish"))
    assert result(step) == {"submitted": 3}
    assert step[2:4] == (True, False)
    assert list(step[4]["answers"].values()) == [["p:last", "p:day", "p:old"]]
    # Gold is p:leap (influential), p:day, 12345 and p:last.
    expected = {
        "arena/Discovery-v0": {"recall@100": 2 / 4, "precision@10": 2 / 10},
        "arena/Selection-v0": {
            "mrr": 1.0,
            "ndcg@10": (1 + 1 / math.log2(3))
            / (2 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)),
        },
    }[name]
    assert {k: step[4]["metrics"][k] for k in expected} == pytest.approx(expected)


def test_finish_without_a_selection_submits_nothing(mini):
    *_, info = playing(mini, SURVEY).step(call("finish"))
    assert info["answers"] == {"discovery": []}
    assert set(info["metrics"].values()) == {0.0}


def test_submit_by_hand(env):
    wrong = act(env, "submit", paper_ids=["p:leap", "nowhere:3", "p:same"])["error"]
    assert (
        wrong == "no paper 'nowhere:3', 'p:same' here (2 of 3 ids). Use ids that a search returned."
    )
    step = env.step(call("submit", paper_ids=["p:leap", "p:old", "p:leap", "12345"]))
    assert result(step) == {"submitted": 3}
    assert step[2:4] == (True, False)
    info = step[4]
    assert info["answers"] == {"discovery": ["p:leap", "p:old", "12345"]}
    assert info["metrics"] == {
        "recall@10": 0.5, "recall@100": 0.5, "precision@10": 0.2, "precision@100": 0.02,
    }  # fmt: skip
    assert (info["gold"], info["references"], info["references_total"]) == (4, 12, 40)


# Budgets


def test_each_budget_is_told_and_the_last_of_it_may_be_used(mini):
    uses = {
        "searches": [call("search", query="index")],
        "reads": [
            call("read", paper_id="p:day"),
            call("references", paper_id="p:day"),
            call("citations", paper_id="p:day"),
        ],
    }
    for what, calls in uses.items():
        for count in range(3):
            for used in calls:
                env = playing(mini, SURVEY, **{f"max_{what}": count})
                for left in range(count - 1, -1, -1):
                    step = env.step(used)
                    assert step[0]["budget"][what] == left
                    assert "error" not in result(step)
                    assert step[2:4] == (False, False)
                step = env.step(used)
                assert result(step) == {"error": f"no {what} are left, so the episode is over."}
                assert step[2:4] == (False, True)
                assert step[4]["answers"] == {}
                assert set(step[4]["metrics"].values()) == {0.0}


def test_a_call_that_cannot_be_carried_out_costs_a_step_alone(mini):
    env = playing(mini, SURVEY, max_searches=0, max_reads=0, max_characters=0)
    for action in (
        call("search"),
        call("search", query="x" * 10_001),
        call("read", paper_id="nowhere"),
        call("read", paper_id="p:day", section=9),
        call("references", paper_id="p:day", page=9),
    ):
        before = env.unwrapped._episode.observation()["budget"]
        step = env.step(action)
        assert step[2:4] == (False, False)
        assert step[0]["budget"] == before | {"steps": before["steps"] - 1}
    assert env.step(call("submit", paper_ids=["p:day"]))[2:4] == (True, False)


def test_the_characters_are_those_of_the_results_that_show_papers(mini):
    calls = [
        call("search", query="index"),
        call("search", query="zirconium"),
        call("read", paper_id="é:tie"),
        call("references", paper_id="p:day"),
        call("citations", paper_id="p:day"),
    ]
    for used in calls:
        length = len(playing(mini, SURVEY).step(used)[0]["result"])
        step = playing(mini, SURVEY, max_characters=length).step(used)
        assert step[0]["budget"]["characters"] == 0
        assert step[2:4] == (False, False)
        step = playing(mini, SURVEY, max_characters=length - 1, reward="gain").step(used)
        assert result(step) == {
            "error": f"the result has {length} characters and {length - 1} may still be shown, "
            "so the episode is over."
        }
        assert step[1:4] == (0.0, False, True)
        assert step[0]["budget"]["characters"] == length - 1
    env = playing(mini, SURVEY)
    for used in (call("select", paper_ids=["p:day"]), call("read", paper_id="nowhere"), None):
        assert env.step(used)[0]["budget"]["characters"] == 2_000_000


@given(most=st.integers(200, 2_000), paper=st.integers(0, 8))
def test_a_long_result_is_cut_before_it_is_paid(mini, most, paper):
    paper = within_reach(mini, SURVEY)[paper]
    for used in (
        call("search", query="the of a in", k=20),
        call("read", paper_id=paper),
        call("references", paper_id=paper),
    ):
        whole, short = playing(mini, SURVEY, reward="gain"), playing(
            mini, SURVEY, reward="gain", max_result_characters=most
        )  # fmt: skip
        (all_of_it, paid, *_), (cut, less, *_) = whole.step(used), short.step(used)
        if len(all_of_it["result"]) <= most:
            assert cut == all_of_it and less == paid
            continue
        shown = json.loads(cut["result"])
        assert len(cut["result"]) <= most and less <= paid
        assert 2_000_000 - cut["budget"]["characters"] == len(cut["result"])
        if "error" in shown:  # the frame of the result alone is too long
            assert less == 0 and f"{most} are shown at most" in shown["error"]
            continue
        gold = TaskSet(mini).gold(SURVEY).gains
        ids = {hit["id"] for hit in shown.get("hits", shown.get("references", [shown]))}
        assert less == len(ids & gold.keys()) / len(gold)
        name = next(name for name in ("hits", "references", "text") if name in shown)
        left, of = map(int, shown["cut"].split(" of "))
        assert left == len(shown[name]) < of == len(json.loads(all_of_it["result"])[name])


# What a tool is made of


def test_a_function_becomes_a_tool():
    def venue(episode, paper_id: str, depth: Annotated[int, Ge(1)] = 3, of: str | None = None):
        """Say where a paper appeared.

        More on this.

        Args:
            episode: the running episode.
            paper_id: an id that
                a search returned.
            depth: how deep.
            of: what of.

        Returns:
            Nothing.
        """

    tool = Tool.from_function(venue)
    assert tool.description == "Say where a paper appeared. More on this."
    assert tool.usage() == "venue(paper_id, depth?, of?)"
    assert tool.schema == {
        "type": "object",
        "properties": {
            "paper_id": {"type": "string", "description": "an id that a search returned."},
            "depth": {"type": "integer", "description": "how deep.", "minimum": 1, "default": 3},
            "of": {"type": "string", "description": "what of."},
        },
        "required": ["paper_id"],
        "additionalProperties": False,
    }
    read = arena.tools.TOOLS.get("read").narrowed({}, {})
    assert pickle.loads(pickle.dumps(read)) == read


def test_a_function_that_is_no_tool_is_refused():
    def odd(episode, paper: list[int]):
        """Do it.

        Args:
            paper: it.
        """

    def silent(episode, paper: str):
        """Nothing on it."""

    with pytest.raises(DataError, match=r"odd: paper is annotated list\[int\]\. Give one"):
        Tool.from_function(odd)
    with pytest.raises(DataError, match="silent: describe 'paper' under 'Args:'"):
        Tool.from_function(silent)
