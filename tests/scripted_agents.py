"""What tests of agents with a scripted model share: tiny corpora, runs, and a model that helps."""

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

# Appendix C of ResearchArena, with $topic for {x}.
C1 = """
### Below is an example on how to decompose a complex question into sub-questions and search \
queries.

Question: should the death penalty be legalized?

<Decomposition>
    - What are the arguments in favor of the death penalty?
        - Does the death penalty serve as a deterrent to crime?
        - Is the death penalty a just punishment for certain crimes?
        - How does the death penalty compare to other forms of punishment in terms of cost and \
effectiveness?
    - What are the arguments against the death penalty?
        - What is the risk of executing innocent people with a death penalty?
        - Are there any ethical concerns surrounding the death penalty?
        - To what extent is the death penalty applied fairly and without bias?
        - In practice, how expensive is the death penalty?
    - What is the current legal status of the death penalty in various jurisdictions?
        - In which countries or states is the death penalty currently legal?
        - What are the trends in death penalty legislation and public opinion?
    - What are the alternatives to the death penalty?
        - How effective are alternative punishments to the death penalty, e.g. life imprisonment?
        - What are the costs and benefits of alternatives to the death penalty?
    - How do the pros and cons of the death penalty compare to its alternatives?
</Decomposition>

<Queries>
    - arguments in favor of the death penalty
    - death penalty as a deterrent to crime
    - death penalty as a just punishment
    - death penalty cost and effectiveness comparison
    - arguments against the death penalty
    - risk of executing innocent people with death penalty
    - ethical concerns surrounding the death penalty
    - fairness and bias in death penalty application
    - current legal status of the death penalty worldwide
    - trends in death penalty legislation and public opinion
    - alternatives to the death penalty
    - effectiveness of life imprisonment without parole
    - costs and benefits of death penalty alternatives
</Queries>

Question: $topic

### Instructions:

1. What sub-questions do I need to know in order to fully understand and answer the above Question.
    - Format your response as a bullet-point style outline of questions and sub-questions in the \
<Decomposition> tag.
    - Order your sub-questions such that one question comes after another if it needs to use the \
answer to the previous one.
    - Do not ask unnecessary or tangential sub-questions, only those that are critical to finding \
important information.
2) Next, write a list of search queries that would likely lead to results addressing all the \
sub-questions.
    - Enumerate your queries in a bullet-point style list inside the <Queries> tag.

You may refer to the example above for guidance.
"""
C2 = (
    "Create a search query that gathers supporting materials for writing a survey paper on the "
    "following topic: $topic."
)


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
    """Build a corpus of papers of one day and one survey, "s", that cites all of them."""
    papers = [
        {"id": i, "title": t, "date": "2019-01-01", "abstract": (abstracts or {}).get(i)}
        for i, t in titles.items()
    ]
    survey = {"id": "s", "title": "Letters", "date": "2020-06-01", "references": list(titles)}
    build(Memory(papers, [survey]), directory)
    return directory


def play(
    corpus: Path, task: str, agent: str, output: str | Path, server: LLMServer | None, **given: Any
) -> dict[str, Any]:
    """Run an agent; `surveys`, `references` and the budget are those of the run."""
    names = [name for name in given if name in ("surveys", "references", *LIMITS)]
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
