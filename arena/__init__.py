"""ResearchArena: dated literature search as Gymnasium environments, scored exactly.

    >>> import arena
    >>> corpus = arena.Corpus.open("demo/synthetic")           # doctest: +SKIP
    >>> corpus.at("2015-01-01").search("membrane", k=5)  # doctest: +SKIP

Environments such as ``arena/Discovery-v0`` (`arena list environments`) are made with
``gymnasium.make(id, corpus=DIRECTORY)`` or ``make_vec`` after ``import arena``. Everything heavy
is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.plugins import load_quietly
from arena.tasks.base import TASKS
from arena.version import __version__ as __version__

if TYPE_CHECKING:
    from arena.agents import Agent, Desk, Researcher, actions_from, tool_message
    from arena.corpus import Corpus, CorpusView, search_batch
    from arena.papers import Hit, Paper, Section
    from arena.results.comparison import compare
    from arena.runs import rescore, rollouts, run, score, verify
    from arena.tools import tool_schemas

__all__ = [
    "Agent",
    "Corpus",
    "CorpusView",
    "Desk",
    "Hit",
    "Paper",
    "Researcher",
    "Section",
    "actions_from",
    "compare",
    "rescore",
    "rollouts",
    "run",
    "score",
    "search_batch",
    "tool_message",
    "tool_schemas",
    "verify",
]


_HOMES = {
    "arena.agents": ("Agent", "Desk", "Researcher", "actions_from", "tool_message"),
    "arena.corpus": ("Corpus", "CorpusView", "search_batch"),
    "arena.papers": ("Hit", "Paper", "Section"),
    "arena.results.comparison": ("compare",),
    "arena.runs": ("rescore", "rollouts", "run", "score", "verify"),
    "arena.tools": ("tool_schemas",),
}


_MODULES = (
    "agents", "envs", "errors", "llm", "metrics", "mindmap", "results",
    "retrieval", "rewards", "runs", "tasks", "testing", "tools", "trec",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"arena.{name}")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


TASKS.own_names()  # registers the environments, so that gymnasium.make() knows their ids
load_quietly()
