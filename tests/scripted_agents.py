"""Helpers for tests of agents with a scripted model: tiny corpora, runs, and a model that helps."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from helpers import Memory
from llm_server import LLMServer, last_text

import arena
from arena.envs.config import LIMITS
from corpus_builder.build import build

# Documents of four words each, so that BM25 ranks them by how often they contain the query.
LETTERS = {
    "p:a": "alpha alpha alpha beta",
    "p:b": "alpha alpha stone stone",
    "p:c": "alpha beta beta beta",
    "p:d": "beta beta stone stone",
    "p:e": "gamma gamma stone stone",
    "p:f": "stone stone stone stone",
}
"""alpha finds a, b, c; beta finds c, d, a; gamma finds e; each in this order."""


def corpus_of(
    directory: Path, titles: Mapping[str, str], abstracts: Mapping[str, str] | None = None
) -> Path:
    """Build a corpus of papers of one day and one topic, "s", that cites all of them."""
    papers = [
        {"id": i, "title": t, "date": "2019-01-01", "abstract": (abstracts or {}).get(i)}
        for i, t in titles.items()
    ]
    topic = {"id": "s", "title": "Letters", "date": "2020-06-01", "references": list(titles)}
    build(Memory(papers, [topic]), directory)
    return directory


def play(
    corpus: Path, task: str, agent: str, output: str | Path, server: LLMServer | None, **given: Any
) -> dict[str, Any]:
    """Run an agent; `topics`, `references` and the budget are those of the run."""
    names = [name for name in given if name in ("topics", "references", *LIMITS)]
    of_run = {name: given.pop(name) for name in names}
    options = {"model": "scripted"} | ({"base_url": server.url} if server else {"mode": "replay"})
    of_run |= {"agent_options": options | given, "parallel": 1}  # in the order of a script
    return arena.run(corpus, task, agent, output, **of_run)


def episodes(run: str | Path) -> list[dict[str, Any]]:
    """Return the trajectories of a run."""
    text = (Path(run) / "trajectories.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def queries_of(episode: Mapping[str, Any]) -> list[str]:
    """Return what was searched for."""
    actions = [step["action"] for step in episode["steps"]]
    return [a["arguments"]["query"] for a in actions if a["tool"] == "search"]


def part(text: str, tag: str) -> str:
    """Return what stands in the first complete tag of a prompt, or nothing."""
    match = re.search(rf"<{tag}>\n?(.*?)\n?</{tag}>", text, re.DOTALL)
    return match[1] if match else ""


def bullets(queries: Sequence[str]) -> str:
    """Queries as a model writes them."""
    return "<Queries>\n- " + "\n- ".join(queries) + "\n</Queries>"


def helpful(body: dict[str, Any]) -> str:
    """A model that does what the prompts of zero-shot, decomposer and self-rag ask for.

    Its queries are words of the topic; every other paper is relevant; one refinement is enough.
    """
    text = last_text(body)
    words = part(text, "topic").split()
    if "[Relevant]" in text:
        numbers = range(1, len(part(text, "papers").splitlines()) + 1)
        return "\n".join(f"{n}. [{'Relevant' if n % 2 else 'Irrelevant'}]" for n in numbers)
    if "[Enough]" in text:
        enough = len(part(text, "tried").splitlines()) > 1
        return "[Enough]" if enough else "[Continue]\n" + bullets([" ".join(words[3:5])])
    if "<Decomposition>" in text:
        decomposition = "<Decomposition>\n- What is it?\n</Decomposition>\n"
        return decomposition + bullets([" ".join(words), " ".join(words[3:5]), words[4]])
    return ("[Retrieve]\n" if "[Retrieve]" in text else "") + bullets([" ".join(words[:5])])
