"""Conversations of `storm`: what is said in them, and how that is shown to a model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.agents import Known
from arena.llm import ParseError, as_list, tagged
from arena.text import analyze
from baselines._shown import line

GENERAL = "A newcomer, who wants to know the basics of the whole topic."
"""The perspective that every topic has; STORM's is a "basic fact writer"."""

NOTHING_FOUND = "(Nothing was found on this. Ask something else.)"
NO_ANSWER = "(There was no answer that could be read.)"

QUESTION = 500
"""Characters of a question or perspective."""
ANSWER = 2_000
"""Characters of an answer that are kept."""
TALKS = 40_000
"""Characters of all conversations together when the outline is refined."""
PAPERS = 30
"""Most papers that an answer is made from."""

_IN_FULL = 4  # turns whose answers are shown to the one who asks, as in STORM

_DONE = re.compile(
    r"\W*(?:done|none|nothing(?: (?:more|else|left))?|thank(?:s| you)\b.*"
    r"|no (?:more |further )?questions?\b.*)\W*",
    re.IGNORECASE,
)


class Turn(NamedTuple):
    """A question and its answer."""

    question: str
    answer: str


@dataclass
class Talk:
    """The conversation held from one perspective."""

    perspective: str
    turns: list[Turn] = field(default_factory=list)
    over: bool = False

    def so_far(self) -> str:
        """Return it as its asker sees it: old answers are left out."""
        lines = []
        for number, (question, answer) in enumerate(self.turns):
            old = number < len(self.turns) - _IN_FULL
            lines += [f"You: {question}", f"Expert: {'(left out)' if old else answer}"]
        return "\n".join(lines) or "(nothing yet)"


def all_of(talks: Sequence[Talk]) -> str:
    """Return conversations as one text, an equal share of `TALKS` each; empty if none has turns."""
    held = [talk for talk in talks if talk.turns]
    return "\n\n".join(
        "\n".join(
            [
                f"Perspective: {talk.perspective}",
                *(f"Question: {question}\nAnswer: {answer}" for question, answer in talk.turns),
            ]
        )[: TALKS // len(held)]
        for talk in held
    )


def perspectives(text: str) -> list[str]:
    """Return the perspectives in ``<Perspectives>``, each once.

    Raises:
        ParseError: if there is none.
    """
    found = as_list(tagged(text, "Perspectives"))
    return list(dict.fromkeys(line(item, QUESTION) for item in found))


def question(text: str) -> str:
    """Return the question in ``<question>``, empty if nothing is left to ask.

    Raises:
        ParseError: if there is neither.
    """
    said = line(tagged(text, "question"), QUESTION)
    if _DONE.fullmatch(said):
        return ""
    if not re.search(r"\w", said):
        raise ParseError("there is no question in <question>...</question>.")
    return said


def answer(text: str) -> str:
    """Return the answer in ``<answer>``.

    Raises:
        ParseError: if there is none.
    """
    said = line(tagged(text, "answer"), ANSWER)
    if not re.search(r"\w", said):
        raise ParseError("there is no answer in <answer>...</answer>.")
    return said


def closest(papers: Sequence[Known], wanted: str, most: int) -> list[Known]:
    """Return the papers whose titles share most with a text; of equals those that stand first.

    The measure is the sum of ``ln(1 + n / df)`` over the distinct terms that title and text
    share, where df of the n titles hold the term.

    >>> papers = [Known("a", "Deep graphs"), Known("b", "Deep nets"), Known("c", "Deep graph nets")]
    >>> [paper.id for paper in closest(papers, "Which nets are there?", 2)]
    ['b', 'c']
    """
    titles = [set(analyze(paper.title)) for paper in papers]
    df = Counter(term for terms in titles for term in terms)
    terms = sorted(set(analyze(wanted)))  # a sum of floats depends on its order
    scores = [
        sum(math.log(1 + len(papers) / df[term]) for term in terms if term in title)
        for title in titles
    ]
    return [papers[place] for place in sorted(range(len(papers)), key=lambda i: -scores[i])][:most]
