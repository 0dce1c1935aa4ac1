"""A tool or a task that one file adds is attacked without being named anywhere."""

from __future__ import annotations

import importlib
import sys

import pytest

import arena
from arena.corpus.view import CorpusView
from arena.tasks import TASKS, Task, environment_id
from arena.testing import audit, check_environment
from arena.tools import TOOLS

pytestmark = pytest.mark.usefixtures("read_once")
SELECTION = ["arena/Selection-v0"]
HONEST = {
    "venue": """
def venue(episode: Episode, paper_id: str) -> dict[str, Any]:
    return {"id": paper_id, "venue": episode.view.paper(paper_id).venue or "none"}
""",
    "abstracts": """
def abstracts(episode: Episode, paper_ids: list[str], first: int = 3) -> dict[str, Any]:
    papers = [episode.view.paper(paper_id) for paper_id in episode.papers(paper_ids)[:first]]
    return {"abstracts": [[p.title, p.date, f"{p.abstract} ({p.date[:4]})"] for p in papers]}
""",
    "similar": """
def similar(episode: Episode, paper_id: str) -> dict[str, Any]:
    hits = episode.view.search(episode.view.paper(paper_id).title, 4)
    return {"papers": [h.id for h in hits if h.id != paper_id]}
""",
    "outlines": """
def outlines(episode: Episode, paper_id: str) -> dict[str, Any]:
    parts = episode.view.sections(paper_id)
    return {"outline": [part.heading for part in parts], "first": [p.text for p in parts[:1]]}
""",
    "note": """
def note(episode: Episode, text: str) -> dict[str, Any]:
    notes = vars(episode).setdefault("notes", [])
    notes.append(text[:1000])
    return {"notes": notes[-3:]}
""",
}
LEAKING = {
    # what is out of reach, whatever the key
    "ids": ("hidden paper", 'return {"anything": {"next": [[later(episode).id]]}}'),
    "keys": ("hidden paper", 'return {later(episode).id: 1}'),
    "titles": ("hidden paper", 'return {"anything": later(episode).title.upper() + "!"}'),
    "sentences": ("hidden paper", 'return {"x": f"There is {later(episode).title} and more."}'),
    "mentions": ("hidden paper", 'return {"x": f"See {later(episode).id}, which is late."}'),
    "excerpts": ("hidden paper", 'return {"x": " ".join(later(episode).abstract.split()[3:25])}'),
    "dates": ("date", 'return {"newest": later(episode).date}'),
    "years": ("date", 'return {"last_year": int(later(episode).date[:4])}'),
    "months": ("date", 'return {"last_date": later(episode).date[:7] + "!"}'),
    "counts": ("date", 'return {"by_year": {later(episode).date[:4]: 2}}'),
    "days": ("date", 'return {"x": f"last cited on {later(episode).date} by one"}'),
    "surveys": ("survey title", 'return {"x": [SURVEYS[0]]}'),
    "cited": ("count", 'return {"n": WHOLE.citation_count(episode.view.paper(paper_id).id)}'),
    "matches": ("count", 'return {"about": {"n": len(WHOLE.search(query, 1000))}}'),
    "size": ("count", 'return {"papers": len(WHOLE)}'),
    "errors": ("hidden paper", 'raise ToolError(f"Not before {later(episode).title} is out.")'),
    "remembers": ("hidden paper", """
    SEEN.extend(hit.id for hit in episode.view.search(WORDS, 30))
    return {"x": RNG.choice(SEEN)}"""),  # in an episode before, which may be of a later day
    # what depends on whether an id will exist one day
    "exists": ("indistinguishable", 'return {"known": paper_id in WHOLE}'),
    "calls": (
        "indistinguishable",
        'return {"x": [{"known": paper_id in WHOLE, "call": next(CALLS)}], "at": next(CALLS)}',
    ),
    "costs": ("indistinguishable", """
    if paper_id in WHOLE and paper_id not in episode.view:
        episode.spend("reads")
    return {}"""),
    # what only the labels tell
    "outline": ("label", 'return {"x": [node.label for node in own_map(episode).nodes()][1:]}'),
    "prose": ("label", 'return {"x": "; ".join(n.label for n in own_map(episode).nodes())}'),
    "heading": ("label", 'return {"x": [node.label for node in own_map(episode).nodes()][-4]}'),
    "golds": ("label", 'return {"good": list(own_gold(episode))[:20], "id": paper_id}'),
    "hints": ("label", 'return {"x": f"You may try {RNG.choice(list(own_gold(episode)))}, too."}'),
    "filters": ("label", 'return {"x": [p for p in [paper_id] if p in own_gold(episode)]}'),
    "refuses": ("error", 'raise ToolError(f"Try {RNG.choice(list(own_gold(episode)))} first.")'),
    # what breaks
    "crashes": ("crash", "raise ZeroDivisionError"),
}  # fmt: skip
FILE = '''
from __future__ import annotations
import itertools
import random
from typing import Any
from arena.tools import TOOLS, Episode, Tool, ToolError
WORDS = "the of we model membrane lattice method results in study"
WHOLE, SURVEYS, LABELS, PAPERS, RNG = None, [], None, [], random.Random(1)
CALLS, SEEN = itertools.count(), []
def later(episode):
    if not PAPERS:
        PAPERS.extend(WHOLE.paper(hit.id) for hit in WHOLE.search(WORDS, 600))
    return RNG.choice([paper for paper in PAPERS if paper.date >= episode.view.cutoff])
def own(episode):
    return [s.id for s in LABELS.surveys.values() if s.date == episode.view.cutoff][0]
def own_map(episode):
    return LABELS.mind_map(own(episode))
def own_gold(episode):
    return LABELS.gold(own(episode)).gains
{code}
{name}.__doc__ = """Do something with a paper.

Args:
    episode: The running episode.
    {argument}: An id that a search returned.
    first: How many.
"""
TOOLS.register("{name}")(Tool.of({name}, tasks=("selection",)))
'''


@pytest.fixture
def add_tool(world, tmp_path, monkeypatch):
    """Add a tool by a module of its own."""

    def add(name: str, code: str, argument: str = "paper_id") -> None:
        (tmp_path / f"tool_{name}.py").write_text(
            FILE.format(name=name, code=code, argument=argument)
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(TOOLS, "_items", dict(TOOLS._items))
        monkeypatch.delitem(sys.modules, f"tool_{name}", raising=False)
        module = importlib.import_module(f"tool_{name}")
        module.WHOLE = arena.Corpus.open(world).at("9999-12-31")
        module.LABELS = arena.tasks.TaskSet(world)
        module.SURVEYS = [survey.title for survey in module.LABELS.surveys.values()]

    TOOLS.names()
    return add


@pytest.mark.parametrize("name", LEAKING)
def test_a_leaking_tool_is_found(name, world, add_tool):
    check, body = LEAKING[name]
    argument = "query" if name == "matches" else "paper_id"
    head = f"def {name}(episode: Episode, {argument}: str) -> dict[str, Any]:"
    add_tool(name, f"{head}\n    {body}", argument)
    # 100 actions find most of them with any of four seeds; the three named needed up to 450.
    actions = {"filters": 1_000, "cited": 900, "remembers": 900}.get(name, 300)
    report = audit(world, actions, environments=SELECTION)
    assert check in report.by_check
    if check == "crash":  # a vector that crashes says so for all its episodes
        return
    assert report.tools[name] > 20
    assert all(name in finding.action for finding in report.findings)


@pytest.mark.parametrize(("name", "code"), HONEST.items(), ids=list(HONEST))
def test_an_honest_tool_is_clean(name, code, world, add_tool):
    argument = {"note": "text", "abstracts": "paper_ids"}.get(name, "paper_id")
    add_tool(name, code, argument)
    report = audit(world, 1_500)
    assert report.findings == []
    assert report.tools[name] > 100
    assert report.settings["tools_without_oracle"] == [name]
    results = check_environment(f"tool_{name}:arena/Selection-v0", world, episodes=2)
    assert [result for result in results if not result.passed] == []


def test_a_leaking_tool_fails_the_contract(world, add_tool):
    body = LEAKING["ids"][1]
    add_tool("ids", f"def ids(episode: Episode, paper_id: str) -> dict[str, Any]:\n    {body}")
    (result,) = check_environment("arena/Selection-v0", world, checks=["no_future"])
    assert not result.passed
    assert "is dated 20" in result.detail


def test_a_task_that_is_added_is_audited(world, monkeypatch):
    monkeypatch.setattr(TASKS, "_items", {name: TASKS.get(name) for name in TASKS.names()})
    TASKS.register("shortlist")(
        Task("Ten papers.", "Submit ten papers.", ("recall@10",), "recall@10", stages=())
    )
    monkeypatch.setattr(CorpusView, "__len__", lambda self: int(self._store.searchable_before[-1]))
    report = audit(world, 150)
    assert any(name.startswith(environment_id("shortlist")) for name in report.environments)
    report = audit(world, 20, environments=[environment_id("shortlist")])
    assert {name.split()[0] for name in report.environments} == {"arena/Shortlist-v0"}
