"""A survey as an agent may know it, its labels, and what the agent is asked about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from arena.errors import DataError, clip, did_you_mean

EXPERT = "expert"
"""Value of the environment's argument `references`: all papers of the survey's own mind-map."""

EXPERT_PAPERS = "experts' papers, undated"
"""How runs and tables call it."""

PROMPT_LEVELS = ("sentence", "paragraph", "detailed")
"""Levels of detail of a survey's prompts, the least detailed first (ReportBench, section 2.1.2)."""


class Survey(NamedTuple):
    """All that an agent may know of a survey.

    Attributes:
        id: Name in runs and qrels.
        title: Title as published; the topic is the title in lower case.
        date: The resolved day, ``YYYY-MM-DD``; papers before it are in reach.
        date_guessed: Whether no source states the date.
        prompts: Level of `PROMPT_LEVELS` -> a request for a report on the topic, in that order.
        domain: Domain of application as the source names it; empty if it does not.
        question: Whether the title is a question, which is the topic as it stands.
    """

    id: str
    title: str
    date: str
    date_guessed: bool = False
    prompts: Mapping[str, str] = {}
    domain: str = ""
    question: bool = False


PROMPTS = ("title", *PROMPT_LEVELS, "any")
"""Values of the environment's argument `prompt`."""


def topic_of(survey: Survey, prompt: str) -> str | None:
    """Return what an agent is asked about a survey; None if the survey has no such prompt.

    ``"title"`` stands for its title in lower case, or for its question; a level of `PROMPT_LEVELS`
    for its prompt of that level, ``"any"`` for its most detailed prompt.
    """
    if prompt not in PROMPTS:
        raise DataError(f"prompt={clip(prompt)}.{did_you_mean(prompt, PROMPTS)}")
    if prompt == "title":
        return survey.title if survey.question else survey.title.lower()
    return [None, *survey.prompts.values()][-1] if prompt == "any" else survey.prompts.get(prompt)


class Gold(NamedTuple):
    """The labels of one survey.

    Attributes:
        gains: Paper id -> 2 (influential) or 1, for the references that an agent can reach:
            in the corpus, dated before the survey, no survey. In document order.
        references: Number of distinct references that are listed, in reach or not.
        references_total: Number of all references of the survey, as far as the source says.
    """

    gains: dict[str, int]
    references: int
    references_total: int
