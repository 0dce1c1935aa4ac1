"""A tool or a task that one file adds is attacked without being named anywhere."""

from __future__ import annotations

import importlib
import sys

import pytest

import arena
from arena.corpus.view import CorpusView
from arena.tasks import TASKS, Task, TaskSet, task
from arena.testing import AuditReport, audit
from arena.testing.checked import CheckedEnv
from arena.testing.contract import check_contract
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
    "ids": ("leak.paper", 'return {"anything": {"next": [[later(episode).id]]}}'),
    "keys": ("leak.paper", 'return {later(episode).id: 1}'),
    "titles": ("leak.paper", 'return {"anything": later(episode).title.upper() + "!"}'),
    "sentences": ("leak.paper", 'return {"x": f"There is {later(episode).title} and more."}'),
    "mentions": ("leak.paper", 'return {"x": f"See {later(episode).id}, which is late."}'),
    "dates": ("leak.date", 'return {"newest": later(episode).date}'),
    "years": ("leak.date", 'return {"last_year": int(later(episode).date[:4])}'),
    "months": ("leak.date", 'return {"last_date": later(episode).date[:7] + "!"}'),
    "counts": ("leak.date", 'return {"by_year": {later(episode).date[:4]: 2}}'),
    "days": ("leak.date", 'return {"x": f"last cited on {later(episode).date} by one"}'),
    "topics": ("leak.survey-title", 'return {"x": [SURVEYS[0]]}'),
    "errors": ("leak.paper", 'raise ToolError(f"Not before {later(episode).title} is out.")'),
    "remembers": ("leak.paper", """
    SEEN.extend(hit.id for hit in episode.view.search(WORDS, 30))
    return {"x": RNG.choice(SEEN)}"""),  # in an episode before, which may be of a later day
    # what depends on whether an id will exist one day
    "exists": ("leak.decoy", 'return {"known": paper_id in WHOLE}'),
    "calls": (
        "leak.decoy",
        'return {"x": [{"known": paper_id in WHOLE, "call": next(CALLS)}], "at": next(CALLS)}',
    ),
    "costs": ("leak.decoy", """
    if paper_id in WHOLE and paper_id not in episode.view:
        episode.spend("reads")
    return {}"""),
    # what breaks
    "crashes": ("answer.crash", "raise ZeroDivisionError"),
}  # fmt: skip
FILE = '''
from __future__ import annotations
import itertools
import random
from typing import Any
from arena.tools import TOOLS, Episode, Tool, ToolError
WORDS = "the of we model membrane lattice method results in study"
WHOLE, SURVEYS, PAPERS, RNG = None, [], [], random.Random(1)
CALLS, SEEN = itertools.count(), []
def later(episode):
    if not PAPERS:
        PAPERS.extend(WHOLE.paper(hit.id) for hit in WHOLE.search(WORDS, 600))
    return RNG.choice([paper for paper in PAPERS if paper.date >= episode.view.cutoff])
{code}
{name}.__doc__ = """Do something with a paper.

Args:
    episode: The running episode.
    {argument}: An id that a search returned.
    first: How many.
"""
TOOLS.register("{name}")(Tool.from_function({name}))
'''


@pytest.fixture
def add_tool(synthetic, tmp_path, monkeypatch):
    """Add a tool by a module of its own."""

    def add(name: str, code: str, argument: str = "paper_id") -> None:
        (tmp_path / f"tool_{name}.py").write_text(
            FILE.format(name=name, code=code, argument=argument)
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(TOOLS, "_items", dict(TOOLS._items))
        monkeypatch.delitem(sys.modules, f"tool_{name}", raising=False)
        module = importlib.import_module(f"tool_{name}")
        module.WHOLE = arena.Corpus.open(synthetic).at("9999-12-31")
        module.SURVEYS = [topic.text for topic in TaskSet(synthetic).topics.values()]

    TOOLS.names()
    return add


@pytest.mark.parametrize("name", LEAKING)
def test_a_leaking_tool_is_found(name, synthetic, add_tool, monkeypatch):
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    check, body = LEAKING[name]
    head = f"def {name}(episode: Episode, paper_id: str) -> dict[str, Any]:"
    add_tool(name, f"{head}\n    {body}")
    # A decoy is drawn for one action in ten, and for one tool in nine of these.
    actions = 1_200 if check == "leak.decoy" or name == "remembers" else 300
    report = audit(synthetic, actions, environments=SELECTION, tools=[name])
    assert check in report.by_check
    if check == "answer.crash":  # a vector that crashes says so for all its episodes
        return
    assert report.tools[name] > 20
    assert all(name in finding.action for finding in report.findings)


def test_honest_tools_are_clean(synthetic, add_tool, monkeypatch):
    add_tool("note", HONEST["note"], "text")
    report = audit(synthetic, 0, environments=["tool_note:arena/Selection-v0"], tools=["note"])
    assert report.findings == []
    for name in HONEST.keys() - {"note"}:
        add_tool(name, HONEST[name], "paper_ids" if name == "abstracts" else "paper_id")
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    report = audit(synthetic, 2_500, environments=SELECTION, tools=[*HONEST])
    assert report.findings == []
    assert min(report.tools[name] for name in HONEST) > 30, report.tools


def test_a_task_that_is_added_is_audited(synthetic, monkeypatch):
    monkeypatch.setattr(TASKS, "_items", {name: TASKS.get(name) for name in TASKS.names()})

    @task("shortlist")
    class Shortlist(Task):
        """Ten papers."""

        instruction = "Submit ten papers."
        metrics = ("recall@10",)
        headline = "recall@10"

    monkeypatch.setattr(CorpusView, "__len__", lambda self: int(self._store.searchable_before[-1]))
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    report = audit(synthetic, 150)
    assert any(name.startswith("arena/Shortlist-v0") for name in report.environments)
    report = audit(synthetic, 20, environments=["arena/Shortlist-v0"])
    assert {name.split()[0] for name in report.environments} == {"arena/Shortlist-v0"}


OF_A_FILE = '''
"""Tools that nothing registers."""

from __future__ import annotations

from typing import Any

from arena.tools import Episode, ToolResult, Tool


def notice(episode: Episode, paper_id: str) -> ToolResult:
    """Show a long text about a paper, which a pool has no room for.

    Args:
        paper_id: An id that a search returned.
    """
    text = {"id": paper_id, "notice": 60 * episode.view.paper(paper_id).title}
    return ToolResult(text, [paper_id])


def similar(episode: Episode, paper_id: str) -> dict[str, Any]:
    """List ids under the name that the papers of a pool have.

    Args:
        paper_id: An id that a search returned.
    """
    return {"papers": [h.id for h in episode.view.search(episode.view.paper(paper_id).title, 30)]}


NOTICE, SIMILAR = Tool.from_function(notice), Tool.from_function(similar)
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(TOOLS, "_items", {name: TOOLS.get(name) for name in TOOLS.names()})
    path = tmp_path / "of_a_file.py"
    path.write_text(OF_A_FILE)
    return path


def test_a_tool_of_a_file_is_played_in_another_process_too(synthetic, file):
    name = TOOLS.resolve(f"{file}:NOTICE")
    report = AuditReport()
    checked = CheckedEnv("arena/Discovery-v0", {"corpus": synthetic, "tools": [name]})
    check_contract(checked, report, ["contract.determinism"])
    assert report.findings == []


def test_a_tool_of_a_file_is_not_offered_with_the_experts_papers(synthetic, file, monkeypatch):
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    report = audit(synthetic, 60, environments=["arena/Organization-v0"], tools=[f"{file}:SIMILAR"])
    assert report.findings == [] and report.tools["similar"]
    assert not any("expert" in name for name in report.environments)


@pytest.mark.parametrize("name", ["NOTICE", "SIMILAR"])
def test_an_honest_tool_is_clean_with_a_pool(synthetic, file, name, monkeypatch):
    monkeypatch.setattr("arena.testing.auditor.check_contract", lambda *_: None)
    options = {"observation": "pool", "max_result_characters": 2_000}
    report = audit(
        synthetic, 300, environments=SELECTION, tools=[f"{file}:{name}"], options=options
    )
    assert report.findings == [] and report.tools[name.lower()] > 20
