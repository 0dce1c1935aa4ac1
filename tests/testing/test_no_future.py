"""Papers in reach at random cutoffs, against the papers as their source has them."""

from __future__ import annotations

import calendar
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

import arena
from arena.answers import ANSWERS
from arena.corpus.view import CorpusView
from arena.errors import UnknownPaperError
from arena.tasks import Stage
from arena.text.identifiers import normal_title
from arena.tools import TOOLS, Episode, Search, ToolResult, make_searches
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus


class Fact(NamedTuple):
    """A paper as the source has it; `day` is ISO text, resolved without the project's code."""

    title: str
    day: str | None
    hidden: bool
    references: frozenset[str]


def resolve(date: str | None) -> str | None:
    if date is None or len(date) == 10:
        return date
    if len(date) == 4:
        return f"{date}-12-31"
    year, month = date.split("-")
    return f"{date}-{calendar.monthrange(int(year), int(month))[1]}"


def check_views(
    corpus: arena.Corpus, facts: dict[str, Fact], topics: list[str], cutoffs: int
) -> int:
    """Compare views at random cutoffs with the source; return how many hits were looked at."""
    rng, seen = random.Random(1), 0
    days = sorted({fact.day for fact in facts.values() if fact.day})
    cited_by: dict[str, set[str]] = {}
    for paper_id, fact in facts.items():
        for reference in fact.references:
            cited_by.setdefault(reference, set()).add(paper_id)
    for _ in range(cutoffs):
        cutoff, target = rng.choice(days), rng.choice([*topics, rng.choice(sorted(facts))])
        view = corpus.at(cutoff, exclude=[target])
        existing = {
            paper_id
            for paper_id, fact in facts.items()
            if fact.day and fact.day < cutoff and not fact.hidden and paper_id != target
        }
        assert {paper_id for paper_id in (*facts, *topics) if paper_id in view} == existing
        assert len(view) == len(existing)
        paper_id = rng.choice(sorted(facts))  # a later one or a topic, often
        hits = view.search(facts[paper_id].title, 20)
        for hit in hits:
            assert hit.id in existing
            assert hit.date == facts[hit.id].day
            assert normal_title(hit.title) == normal_title(facts[hit.id].title)
        seen += len(hits)
        if paper_id not in existing:
            for ask in (view.paper, view.references, view.citations, view.sections):
                with pytest.raises(UnknownPaperError):
                    ask(paper_id)
            continue
        cited, citing = facts[paper_id].references, cited_by.get(paper_id, set())
        assert set(view.references(paper_id)) == (cited & existing) - {paper_id}
        assert set(view.citations(paper_id)) == (citing & existing) - {paper_id}
        assert view.citation_count(paper_id) == len(view.citations(paper_id))
    return seen


def episode_of(view: CorpusView, answer: str = "ranking") -> Episode:
    """An episode of one stage, with budgets for one of each."""
    budget = {"steps": 1, "searches": 1, "reads": 1, "characters": 10**6, "written": 10**6}
    stage = Stage("stage", ANSWERS.get(answer), (), (), "Do it.")
    tools = {name: TOOLS.get(name) for name in TOOLS.names()}
    return Episode(view, lambda name: view, (stage,), tools, (stage.instruction,), budget)


def call(episode: Episode, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool, once its search, if it makes one, has been made."""
    found = TOOLS.get(tool).function(episode, **arguments)
    if isinstance(found, Search):
        (found,) = make_searches([found])
    result = found.result if isinstance(found, ToolResult) else found
    return json.loads(result) if isinstance(result, str) else result


def synthetic_facts() -> tuple[dict[str, Fact], list[str]]:
    """The synthetic corpus of conftest.py as its generator says it, before any builder saw it."""
    made = SyntheticCorpus(SyntheticConfig(seed=7, papers=600, surveys=8))
    facts = {
        p["id"]: Fact(
            p["title"],
            resolve(p["date"]),
            p["is_survey"],
            frozenset(r["id"] for r in p["references"]),
        )
        for p in made.papers()
    }
    return facts, [topic["id"] for topic in made.surveys()]


def test_the_synthetic_corpus(synthetic):
    assert check_views(arena.Corpus.open(synthetic), *synthetic_facts(), 400) > 4_000


def test_the_real_papers(real_data, real_corpus: Path):
    records = real_data.read()
    facts = {
        p["id"]: Fact(p["title"], resolve(p["date"]), bool(p["is_survey_title"]), frozenset())
        for p in records.papers
    }
    topics = [topic["id"] for topic in records.surveys]
    assert check_views(arena.Corpus.open(real_corpus), facts, topics, 30) > 300


def test_a_broken_view_is_found(synthetic, monkeypatch):
    """A check that cannot fail proves nothing: let one paper of the cutoff's own day through."""
    from arena.corpus.store import CorpusStore

    monkeypatch.setattr(CorpusStore, "end", lambda self, day: end(self, day + 1))
    monkeypatch.setattr("arena.corpus.view._in_scope", lambda *_: True)  # it compares dates, too
    with pytest.raises(AssertionError):
        test_the_synthetic_corpus(synthetic)


def end(store: Any, day: int) -> int:
    import numpy as np

    return int(np.searchsorted(store.days, np.int32(day)))


def test_no_text_of_a_topic_is_stored(synthetic):
    """The abstract and sections of every topic are absent from the whole directory."""
    papers = pq.read_table(synthetic / "papers.parquet").to_pylist()
    topics = {n for n, p in enumerate(papers) if p["is_survey"]}
    assert topics
    assert all(papers[n]["abstract"] == "" for n in topics)
    sections = pq.read_table(synthetic / "sections.parquet", columns=["document"])["document"]
    assert not topics & set(sections.to_pylist())
    links = pq.read_table(synthetic / "references.parquet").to_pylist()
    assert not topics & {n for row in links for n in (row["document"], row["cited"])}


@pytest.mark.parametrize(
    ("tool", "keys", "inside"),
    [
        ("search", {"hits"}, {"id", "title", "date", "score"}),
        ("references", {"id", "total", "page", "pages", "references"}, {"id", "title", "date"}),
        ("citations", {"id", "total", "page", "pages", "citations"}, {"id", "title", "date"}),
        (
            "read",
            {"id", "title", "date", "cited_by", "sections", "section", "heading", "characters",
             "page", "pages", "text"},
            None,
        ),
        ("select", {"selected"}, None),
        ("submit", {"submitted"}, None),
        ("organize", {"organized", "filed"}, None),
        ("finish", {"submitted"}, None),
    ],
)  # fmt: skip
def test_results_are_json_of_known_keys(tool, keys, inside, synthetic):
    """A new key in a result is a new integration: whoever adds one has to think of it here."""
    view = arena.Corpus.open(synthetic).at("2030")
    paper_id = next(
        hit.id for hit in view.search("lattice", 50)
        if view.references(hit.id) and view.citations(hit.id)
    )  # fmt: skip
    arguments = {
        "search": {"query": "membrane"},
        "select": {"paper_ids": [paper_id]},
        "submit": {"paper_ids": [paper_id]},
        "organize": {"mind_map": {"label": "x", "children": ["y"], "papers": [paper_id]}},
        "finish": {},
    }.get(tool, {"paper_id": paper_id})
    result = call(episode_of(view, "map" if tool == "organize" else "ranking"), tool, **arguments)
    assert set(result) == keys
    json.dumps(result)
    if inside is not None:
        listed = result["hits" if tool == "search" else tool]
        assert listed
        assert all(set(paper) == inside for paper in listed)
