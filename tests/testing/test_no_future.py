"""A fuzz of every door at thousands of cutoffs, against an independent reading of the papers."""

from __future__ import annotations

import bisect
import calendar
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import pyarrow.parquet as pq
import pytest

import arena
from arena.corpus.view import CorpusView
from arena.errors import UnknownPaperError
from arena.tools import TOOLS, Episode, Search, Shown, ToolError, make_searches
from corpus_builder.world import World, WorldConfig

PAIRS = 10_000
TRIED = (
    "search", "search", "read", "references", "citations", "select", "submit", "organize", "write",
    "submit_report", "view",
)  # fmt: skip


class Fact(NamedTuple):
    """What the source says of a paper; `day` is ISO text, resolved without the project's code."""

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


def fuzz(corpus: arena.Corpus, facts: dict[str, Fact], surveys: list[str], seed: int) -> dict:
    """Act `PAIRS` times at random cutoffs; fail at the first thing that should not exist."""
    rng = random.Random(seed)
    ids = sorted(facts)
    days = sorted({f.day for f in facts.values() if f.day})
    cited_by: dict[str, set[str]] = {}
    for paper_id, fact in facts.items():
        for reference in fact.references:
            cited_by.setdefault(reference, set()).add(paper_id)
    seen = dict.fromkeys(("papers", "refused", *TRIED), 0)
    for _ in range(PAIRS):
        cutoff = rng.choice(days)
        target = rng.choice([*surveys, rng.choice(ids)])
        view = corpus.at(cutoff, exclude=[target])

        def exists(paper_id: str, cutoff: str = cutoff, target: str = target) -> bool:
            fact = facts.get(paper_id)
            return bool(
                fact and fact.day and fact.day < cutoff and not fact.hidden and paper_id != target
            )

        tool = rng.choice(TRIED)
        seen[tool] += 1
        paper_id = rng.choice(ids)
        if tool == "view":
            check_links(view, paper_id, facts, cited_by, exists)
            continue
        # Words of any paper: a later one, a survey, the target itself.
        words = facts[rng.choice([paper_id, target if target in facts else paper_id])].title.split()
        arguments: dict[str, Any] = {
            "search": {"query": " ".join(rng.sample(words, min(4, len(words)))), "k": 20},
            "read": {"paper_id": paper_id},
            "references": {"paper_id": paper_id},
            "citations": {"paper_id": paper_id},
            "select": {"paper_ids": [paper_id]},
            "submit": {"paper_ids": [paper_id]},
            "organize": {"mind_map": {"label": "x", "papers": [paper_id]}},
            "write": {"heading": "x", "text": f"Known [@{{{paper_id}}}]."},
            "submit_report": {"text": f"Known [@{{{paper_id}}}]."},
        }[tool]
        answer = {"organize": "map", "write": "report", "submit_report": "report"}
        episode = episode_of(view, answer.get(tool, "ranking"))
        try:
            result = call(episode, tool, **arguments)
        except UnknownPaperError as error:
            assert tool in ("read", "references", "citations")
            assert not exists(paper_id)
            with pytest.raises(UnknownPaperError) as unknown:
                view.paper("zz")
            assert str(error) == str(unknown.value).replace("'zz'", repr(paper_id))
            seen["refused"] += 1
            continue
        except ToolError as error:
            assert tool in ("select", "submit", "organize")
            assert not exists(paper_id)
            assert str(error).startswith(f"no paper {paper_id!r} here (1 of 1 ids)")
            assert not episode.selected
            assert not episode.answers
            seen["refused"] += 1
            continue
        if tool in ("write", "submit_report"):
            assert (result["cited"], result["unknown"]) == (exists(paper_id), not exists(paper_id))
            continue
        shown = result["hits"] if tool == "search" else result.get(tool)
        listed = shown if isinstance(shown, list) else []
        for hit in listed:
            assert exists(hit["id"]), (cutoff, arguments, hit)
            assert hit["date"] == facts[hit["id"]].day < cutoff
            assert hit["title"] == " ".join(facts[hit["id"]].title.split())[:500]
            seen["papers"] += 1
        if tool != "search":
            assert exists(paper_id)
            seen["papers"] += 1
        citing = {c for c in cited_by.get(paper_id, ()) if exists(c) and c != paper_id}
        if tool == "read":
            assert result["id"] == paper_id
            assert result["date"] == facts[paper_id].day
            assert result["citations"] == len(citing)
        if tool == "citations":
            assert result["total"] == len(citing)
            assert {paper["id"] for paper in listed} == citing or len(citing) > 100
        if tool == "submit":
            assert episode.answers == {"stage": [paper_id]}
    return seen


def episode_of(view: CorpusView, answer: str = "ranking") -> Episode:
    """An episode of one stage, with budgets for one of each."""
    budget = {"steps": 1, "searches": 1, "reads": 1, "characters": 10**6, "written": 10**6}
    return Episode(view, lambda name: view, (("stage", answer),), ("Do it.",), budget)


def call(episode: Episode, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool shows, once its search, if it makes one, has been made."""
    found = TOOLS.get(tool).function(episode, **arguments)
    if isinstance(found, Search):
        (found,) = make_searches([found])
    result = found.result if isinstance(found, Shown) else found
    return json.loads(result) if isinstance(result, str) else result


def check_links(view: CorpusView, paper_id: str, facts: dict, cited_by: dict, exists: Any) -> None:
    if not exists(paper_id):
        for ask in (view.references, view.citations, view.citation_count, view.sections):
            with pytest.raises(UnknownPaperError):
                ask(paper_id)
        assert paper_id not in view
        return
    references = {r for r in facts[paper_id].references if exists(r) and r != paper_id}
    citations = {c for c in cited_by.get(paper_id, ()) if exists(c) and c != paper_id}
    assert set(view.references(paper_id)) == references
    assert set(view.citations(paper_id)) == citations
    assert view.citation_count(paper_id) == len(citations)


def check_len(corpus: arena.Corpus, facts: Iterable[Fact]) -> None:
    """The number of papers before each day, counted from the source."""
    days = sorted(f.day for f in facts if f.day and not f.hidden)
    for cutoff in sorted(set(days))[::37]:
        assert len(corpus.at(cutoff)) == bisect.bisect_left(days, cutoff)


def world_facts() -> tuple[dict[str, Fact], list[str]]:
    """The world of conftest.py as its generator says it, before any builder saw it."""
    made = World(WorldConfig(seed=7, papers=600, surveys=8))
    facts = {
        p["id"]: Fact(
            p["title"],
            resolve(p["date"]),
            p["is_survey"],
            frozenset(r["id"] for r in p["references"]),
        )
        for p in made.papers()
    }
    return facts, [survey["id"] for survey in made.surveys()]


def test_the_world(world):
    facts, surveys = world_facts()
    corpus = arena.Corpus.open(world)
    seen = fuzz(corpus, facts, surveys, seed=1)
    assert seen["papers"] > 10_000
    assert seen["refused"] > 1_000
    assert min(seen.values()) > 800
    check_len(corpus, facts.values())


def test_the_real_papers(real_data, real_corpus: Path):
    records = real_data.read()
    facts = {
        p["id"]: Fact(p["title"], resolve(p["date"]), bool(p["is_survey_title"]), frozenset())
        for p in records.papers
    }
    corpus = arena.Corpus.open(real_corpus)
    seen = fuzz(corpus, facts, [s["id"] for s in records.surveys], seed=2)
    assert seen["papers"] > 10_000
    assert seen["refused"] > 1_000
    assert min(seen.values()) > 800
    check_len(corpus, facts.values())


def test_the_fuzz_finds_a_broken_view(world, monkeypatch):
    """A check that cannot fail is none: let one paper of the cutoff's own day through."""
    from arena.corpus.store import CorpusStore

    monkeypatch.setattr(CorpusStore, "end", lambda self, day: end(self, day + 1))
    monkeypatch.setattr("arena.corpus.view._in_scope", lambda *_: True)  # it compares dates, too
    with pytest.raises(AssertionError):
        test_the_world(world)


def end(store: Any, day: int) -> int:
    import numpy as np

    return int(np.searchsorted(store.days, np.int32(day)))


def test_no_text_of_a_survey_is_stored(world):
    """The abstract and sections of every survey are absent from the whole directory."""
    papers = pq.read_table(world / "papers.parquet").to_pylist()
    surveys = {n for n, p in enumerate(papers) if p["is_survey"]}
    assert surveys
    assert all(papers[n]["abstract"] == "" for n in surveys)
    sections = pq.read_table(world / "sections.parquet", columns=["document"])["document"]
    assert not surveys & set(sections.to_pylist())
    links = pq.read_table(world / "references.parquet").to_pylist()
    assert not surveys & {n for row in links for n in (row["document"], row["cited"])}


@pytest.mark.parametrize(
    ("tool", "keys", "inside"),
    [
        ("search", {"hits"}, {"id", "title", "date", "score"}),
        ("references", {"id", "total", "page", "pages", "references"}, {"id", "title", "date"}),
        ("citations", {"id", "total", "page", "pages", "citations"}, {"id", "title", "date"}),
        (
            "read",
            {"id", "title", "date", "citations", "sections", "section", "heading", "characters",
             "page", "pages", "text"},
            None,
        ),
        ("select", {"selected"}, None),
        ("submit", {"submitted"}, None),
        ("organize", {"organized", "filed"}, None),
        ("finish", {"submitted"}, None),
    ],
)  # fmt: skip
def test_results_are_json_of_known_keys(tool, keys, inside, world):
    """A new key in a result is a new door: whoever adds one has to think of it here."""
    view = arena.Corpus.open(world).at("2030")
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


@pytest.mark.parametrize("vector", [False, True])
def test_of_papers_found_elsewhere_only_those_of_the_day_are_given(vector, world):
    """A run of another system may hold anything: later papers, surveys, what never was."""
    facts, surveys = world_facts()
    ids = ["nowhere", *sorted(facts), "W7-X"]
    arguments = {"corpus": world, "references": "found", "found": dict.fromkeys(surveys, ids)}
    name = "arena/Organization-v0"
    dates = {row["id"]: row["date"].isoformat() for row in
             pq.read_table(world / "tasks/surveys.parquet").to_pylist()}  # fmt: skip
    for survey in surveys:
        if vector:
            env = gymnasium.make_vec(name, num_envs=2, **arguments)
            observation, _ = env.reset(seed=1, options={"survey": survey})
            results = list(observation["result"])
        else:
            observation, _ = gymnasium.make(name, **arguments).reset(options={"survey": survey})
            results = [observation["result"]]
        for result in results:
            given = [paper["id"] for paper in json.loads(result)["references"]]
            assert given == [
                paper_id for paper_id in ids if (fact := facts.get(paper_id))
                and fact.day and fact.day < dates[survey] and not fact.hidden
            ][:1_000]  # fmt: skip
