"""A topic as an agent may know it, its labels, and what the agent is asked about it."""

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


class Topic(NamedTuple):
    """All that an agent may know of a topic.

    Attributes:
        id: Name in runs and qrels.
        text: Title of the topic, which episodes show in lower case; or the question.
        date: The resolved day, ``YYYY-MM-DD``; papers before it are in reach.
        date_guessed: Whether no source states the date.
        prompts: Level of `PROMPT_LEVELS` -> a request for a report on the topic, in that order.
        domain: Domain of application as the source names it; empty if it does not.
        question: Whether the text is a question, which episodes show as it stands.
    """

    id: str
    text: str
    date: str
    date_guessed: bool = False
    prompts: Mapping[str, str] = {}
    domain: str = ""
    question: bool = False


PROMPTS = ("title", *PROMPT_LEVELS, "any")
"""Values of the environment's argument `prompt`."""


def text_of(topic: Topic, prompt: str) -> str | None:
    """Return what an agent is asked about a topic; None if the topic has no such prompt.

    ``"title"`` stands for its title in lower case, or for its question; a level of `PROMPT_LEVELS`
    for its prompt of that level, ``"any"`` for its most detailed prompt.
    """
    if prompt not in PROMPTS:
        raise DataError(f"prompt={clip(prompt)}.{did_you_mean(prompt, PROMPTS)}")
    if prompt == "title":
        return topic.text if topic.question else topic.text.lower()
    return [None, *topic.prompts.values()][-1] if prompt == "any" else topic.prompts.get(prompt)


class Gold(NamedTuple):
    """The labels of one topic.

    Attributes:
        gains: Paper id -> 2 (influential) or 1, for the references that an agent can reach:
            in the corpus, dated before the topic, no survey. In document order.
        references: Number of distinct references that are listed, in reach or not.
        references_total: Number of all references of the topic, as far as the source says.
    """

    gains: dict[str, int]
    references: int
    references_total: int
