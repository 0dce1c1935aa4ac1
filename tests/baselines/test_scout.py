"""The agent `scout`: its searches, its costs, and what a subclass may change."""

from __future__ import annotations

import gymnasium
import helpers
from helpers import Memory

import arena
from baselines.scout import Scout
from corpus_builder.build import build
from corpus_builder.index import build_index

TEXTS = {
    "p:reef": ("Coral reefs", "Fish live near coral."),
    "p:fish": ("Fish near coral", "Sharks hunt fish."),
    "p:shark": ("Sharks hunt", "Sharks have teeth."),
    "p:stone": ("Stones", "Granite."),
    "p:lime": ("Limestone", "Granite and stones."),
}


def corpus_of(directory, texts=TEXTS, links=None, title="Coral: a survey"):
    """A corpus of papers of one day; the topic cites all of them."""
    papers = [
        {"id": i, "title": t, "abstract": a, "date": "2019-01-01"}
        | {"references": (links or {}).get(i, [])}
        for i, (t, a) in texts.items()
    ]
    topic = {
        "id": "s", "title": title, "date": "2020-06-01", "references": list(texts),
        "taxonomy": {"name": "Coral", "subtopics": ["Reefs", "Fish"]},
    }  # fmt: skip
    build(Memory(papers, [topic]), directory)
    return directory


def played(agent, corpus, task="Discovery", topic=None, **options):
    env = gymnasium.make(f"arena/{task}-v0", corpus=corpus, **options)
    return helpers.played(env, agent, topic)


def queries(actions):
    return [a["arguments"]["query"] for a in actions if a["tool"] == "search"]


def text(paper_id):
    return "{}. {}".format(*TEXTS[paper_id])


# What it does


def test_it_searches_for_the_topic_and_then_for_papers(tmp_path):
    corpus = corpus_of(tmp_path / "corpus")
    agent = Scout()
    actions, info, _ = played(agent, corpus)
    # Stones and limestone share no word with what the others lead to.
    order = ["p:reef", "p:fish", "p:shark"]
    assert queries(actions) == ["coral: a survey", *[text(i) for i in order]]
    reads = [a["arguments"]["paper_id"] for a in actions if a["tool"] == "read"]
    assert reads == order
    assert sorted(info["answers"]["discovery"]) == sorted(order)
    assert agent.notes() == {"seeds": order, "links": False}


def test_without_abstracts_titles_are_searched_for(tmp_path):
    corpus = corpus_of(tmp_path / "corpus")
    for agent, budget in ((Scout(abstracts=False), {}), (Scout(), {"max_reads": 0})):
        actions, _, _ = played(agent, corpus, **budget)
        assert queries(actions)[1:3] == ["Coral reefs", "Fish near coral"]
        assert {a["tool"] for a in actions} <= {"search", "references", "citations", "submit"}


def test_every_engine_is_asked(tmp_path):
    corpus = corpus_of(tmp_path / "corpus")
    build_index(corpus, "bm25", name="titles", fields=["title"])
    engines = {"retriever": "bm25", "retrievers": ["titles"]}
    actions, _, _ = played(Scout(seeds=1), corpus, **engines)
    searches = [a["arguments"] for a in actions if a["tool"] == "search"]
    assert [(s["query"], s.get("retriever")) for s in searches] == [
        ("coral: a survey", "bm25"), ("coral: a survey", "titles"),
        (text("p:reef"), "bm25"), (text("p:reef"), "titles"),
    ]  # fmt: skip
    actions, _, _ = played(Scout(seeds=1, engines=False), corpus, **engines)
    assert queries(actions) == ["coral: a survey", text("p:reef")]
    assert not any("retriever" in a["arguments"] for a in actions)


def test_links_lead_to_papers_without_shared_words(tmp_path):
    corpus = corpus_of(
        tmp_path / "corpus", links={"p:fish": ["p:stone", "p:reef"], "p:lime": ["p:fish"]}
    )
    agent = Scout()
    actions, info, _ = played(agent, corpus)
    assert agent.notes()["links"]
    assert set(info["answers"]["discovery"]) == set(TEXTS)
    looked = [a["tool"] for a in actions if a["tool"] in ("references", "citations")]
    assert looked == ["references", "citations"] * 3  # of the papers that were ranked by then
    _, info, _ = played(Scout(links=0), corpus)
    assert set(info["answers"]["discovery"]) == {"p:reef", "p:fish", "p:shark"}
    _, info, _ = played(Scout(abstracts=False), corpus)
    assert "p:lime" in info["answers"]["discovery"]


def test_it_finds_more_than_the_title(synthetic, tmp_path):
    runs = {}
    for name, options in (("title", {}), ("scout", {}), ("scout", {"links": 0})):
        run = arena.run(
            synthetic, "discovery", name, tmp_path / f"{name}{options}", topics=3,
            agent_options=options,
        )  # fmt: skip
        runs[f"{name}{options}"] = run["mean"]["recall@100"]
    title, linked, unlinked = runs.values()
    assert title < unlinked < linked


# Mind-maps


def test_the_map_holds_the_starting_papers(tmp_path):
    corpus = corpus_of(tmp_path / "corpus")
    actions, info, _ = played(Scout(), corpus, "Organization")
    assert {a["tool"] for a in actions} == {"read", "organize"}
    assert papers_of(info["answers"]["organization"]) == sorted(TEXTS)


def papers_of(tree):
    own = list(tree.get("papers", []))
    return sorted(own + [paper for child in tree["children"] for paper in papers_of(child)])


def test_without_starting_papers_it_searches(tmp_path):
    corpus = corpus_of(tmp_path / "corpus")
    _, info, _ = played(Scout(), corpus, "Organization", references="run", start_from={})
    assert papers_of(info["answers"]["organization"]) == ["p:fish", "p:reef", "p:shark"]
