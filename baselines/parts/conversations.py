"""The conversations of `storm`, and the outline that it writes of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.agents import Known
from arena.llm import ParseError, as_list, tagged, unfenced, without_thoughts
from arena.mindmap.tree import MAX_HEADINGS
from arena.text import analyze
from baselines.parts.asking import line

GENERAL = "A newcomer, who wants to know the basics of the whole topic."
"""Perspective of the general conversation; STORM's is a "basic fact writer"."""

NOTHING_FOUND = "(Nothing was found on this. Ask something else.)"
NO_ANSWER = "(There was no answer that could be read.)"

QUESTION = 500
"""Most characters of a question or a perspective."""
ANSWER = 2_000
"""Most characters of an answer."""
TALKS = 40_000
"""Most characters of all conversations together when the outline is refined."""
PAPERS = 30
"""Most papers that an answer is made from."""

_IN_FULL = 4  # last turns whose answers the next question is based on, as in STORM

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
    """A conversation from one perspective."""

    perspective: str
    turns: list[Turn] = field(default_factory=list)
    over: bool = False

    def so_far(self) -> str:
        """Return the conversation for the next question, without old answers."""
        lines = []
        for number, (question, answer) in enumerate(self.turns):
            old = number < len(self.turns) - _IN_FULL
            lines += [f"You: {question}", f"Expert: {'(left out)' if old else answer}"]
        return "\n".join(lines) or "(nothing yet)"


def all_of(talks: Sequence[Talk]) -> str:
    """Return conversations as one text, each with an equal share of `TALKS`; empty for none."""
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
        ParseError: There is none.
    """
    items = as_list(tagged(text, "Perspectives"))
    return list(dict.fromkeys(line(item, QUESTION) for item in items))


def question(text: str) -> str:
    """Return the question in ``<question>``, empty if the model has no more questions.

    Raises:
        ParseError: There is neither.
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
        ParseError: There is none.
    """
    said = line(tagged(text, "answer"), ANSWER)
    if not re.search(r"\w", said):
        raise ParseError("there is no answer in <answer>...</answer>.")
    return said


def closest(papers: Sequence[Known], wanted: str, most: int) -> list[Known]:
    """Return the papers whose titles share most terms with a text; equals in their order.

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


_LONGEST = 200  # characters of a heading
_LONGEST_ITEM = 120  # a longer list item is text
_DEEPEST = 6  # of headings, and again of list items below one
_ITEM = re.compile(r"(?:[-*+•]|\d{1,2}[.)])\s+(\S.*)")
_LEAD = re.compile(r"\*\*([^*]+)\*\*")
_TYPOLOGY = re.compile(r"<(?=/?typology>)", re.IGNORECASE)  # would begin a mind-map


def outline(text: str, topic: str) -> str:
    r"""Return the headings of an outline as lines ``## heading`` below a line ``# topic``.

    Headings keep their levels, and list items are headings below the last one, as in STORM; all
    other text is left out. The first heading is the title, and left out, if it is the only one of
    level 1 and others follow, or equals the topic. The heading of a list item with an explanation
    is its words in bold, or those before the colon.

    Args:
        text: Markdown, in ``<outline>`` or not.
        topic: Title of the outline.

    Raises:
        ParseError: There is no heading.

    >>> print(outline("# My Title\n## 1 Kinds\nMany.\n- Fast: one pass\n## 2 Uses", "sorting"))
    # sorting
    ## 1 Kinds
    ### Fast
    ## 2 Uses
    """
    try:
        text = tagged(text, "outline")
    except ParseError:
        text = unfenced(without_thoughts(text))
    headings = _headings(text)
    uppermost = [heading for level, heading in headings if level == 1]
    if headings and (
        _words(headings[0][1]) == _words(topic)
        or (headings[0][0] == len(uppermost) == 1 and len(headings) > 1)
    ):
        del headings[0]
    if not headings:
        raise ParseError("there is no heading below the title.")
    least = min(level for level, _ in headings)
    lines = [f"# {_line(topic)}"]
    lines += [
        f"{'#' * (level - least + 2)} {heading}" for level, heading in headings[:MAX_HEADINGS]
    ]
    return "\n".join(lines)


def _headings(text: str) -> list[tuple[int, str]]:
    headings = []
    above = 0
    for written in text.expandtabs(4).splitlines():
        bare = written.strip()
        if bare.startswith("#"):
            heading = bare.lstrip("#")
            level = above = min(len(bare) - len(heading), _DEEPEST)
        elif item := _ITEM.match(bare):
            heading = _of_item(item[1])
            indent = len(written) - len(written.lstrip())
            level = above + 1 + min(indent // 2, _DEEPEST - 1)
        else:
            continue
        heading = _line(heading)
        if re.search(r"\w", heading):
            headings.append((level, heading))
    return headings


def _of_item(text: str) -> str:
    if lead := _LEAD.match(text):
        return lead[1].rstrip(": ")
    label = text.partition(": ")[0]
    return label if len(label) <= _LONGEST_ITEM else ""


def _line(text: str) -> str:
    return _TYPOLOGY.sub("&lt;", " ".join(text.split())[:_LONGEST])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
