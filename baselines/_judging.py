"""A model's judgement of papers, in batches."""

from __future__ import annotations

from collections.abc import Sequence

from arena.agents import Desk
from arena.llm import LLMAgent
from baselines._reflection import verdicts
from baselines._shown import listed


def judgements(
    agent: LLMAgent, desk: Desk, papers: Sequence[str], batch: int, abstracts: bool, **about: str
) -> dict[str, bool]:
    """Return which papers the model calls relevant, as far as an answer says so.

    Args:
        agent: has the template ``judge``.
        desk: knows the papers.
        papers: ids; a model sees numbers in their place.
        batch: papers in one request, >= 1; the requests are made side by side.
        abstracts: whether it sees those that were read.
        about: further fields of the template.
    """
    batches = [papers[at : at + batch] for at in range(0, len(papers), batch)]
    known = {"topic": desk.topic, "cutoff": desk.cutoff} | about
    many = [known | {"papers": listed([desk.papers[i] for i in b], abstracts)} for b in batches]
    found = {}
    for ids, answer in zip(batches, agent.ask_many("judge", verdicts, many), strict=True):
        for number, relevant in (answer or {}).items():
            if 1 <= number <= len(ids):
                found[ids[number - 1]] = relevant
    return found
