"""The passage of a paper that a statement most likely rests on, chosen without a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from arena.corpus import CorpusView
from arena.text import analyze

LONGEST = 1_500
"""Characters of the longest passage."""


class Passage(NamedTuple):
    """A stretch of a paper.

    Attributes:
        title: Title of the paper.
        heading: Heading of its section; ``Abstract`` for the abstract.
        text: At most `LONGEST` characters.
    """

    title: str
    heading: str
    text: str


def best_passage(view: CorpusView, paper: str | None, statement: str) -> Passage | None:
    """Return the passage of a paper that shares most with a statement.

    Passages are runs of whole paragraphs of the abstract or of one section. The score of one is the
    sum, over the distinct terms that it shares with the statement, of ``log(1 + n / df)``: `n` is
    the number of passages of the paper and `df` that of those with the term. Ties go to the earlier
    passage, the abstract first.

    Args:
        view: The corpus as of a day.
        paper: Id of the paper.
        statement: The statement.

    Returns:
        The passage; None if the paper does not exist in `view` or has no text there.
    """
    passages = list(_passages(view, paper)) if paper and paper in view else []
    if not passages:
        return None
    terms = [frozenset(analyze(passage.text)) for passage in passages]
    frequency = Counter(term for of_passage in terms for term in of_passage)
    wanted = frozenset(analyze(statement))
    scores = [
        math.fsum(math.log(1 + len(passages) / frequency[term]) for term in of_passage & wanted)
        for of_passage in terms
    ]
    return passages[scores.index(max(scores))]


def _passages(view: CorpusView, paper: str) -> Iterator[Passage]:
    found = view.paper(paper)
    texts = [("Abstract", found.abstract)]
    texts += [(section.heading, section.text) for section in view.sections(paper)]
    for heading, text in texts:
        for part in pieces(text, LONGEST):
            yield Passage(found.title, heading, part)


def pieces(text: str, longest: int) -> Iterator[str]:
    """Yield runs of whole paragraphs of at most `longest` characters; longer ones are cut."""
    run = ""
    for paragraph in filter(None, map(str.strip, text.split("\n\n"))):
        if run and len(run) + len(paragraph) + 2 > longest:
            yield run
            run = ""
        run = f"{run}\n\n{paragraph}" if run else paragraph
        while len(run) > longest:
            ends = (run.rfind(blank, 1, longest + 1) for blank in "\n ")
            cut = next((end for end in ends if end > 0), longest)
            yield run[:cut]
            run = run[cut:].strip()
    if run:
        yield run
