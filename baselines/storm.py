"""STORM: a model asks and answers from several perspectives, then writes outline and report."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, zip_longest
from typing import Annotated, Any, NamedTuple

from annotated_types import Interval

from arena.agents import Desk, KnownPaper, Steps, agent
from arena.llm import Fields, LLMAgent, ParseError, as_list, tagged
from arena.text import analyze
from baselines.parts.asking import (
    WRITING,
    Part,
    line,
    listed,
    parts_of,
    section,
    section_in,
    write_report,
)
from baselines.parts.asking import queries as queries_in
from baselines.parts.trees import outline

GENERAL = "A newcomer, who wants to know the basics of the whole topic."
"""Perspective of the general conversation; STORM's is a "basic fact writer"."""

NOTHING_FOUND = "(Nothing was found on this. Ask something else.)"
NO_ANSWER = "(There was no answer that could be read.)"

QUESTION = 500  # most characters of a question or a perspective
ANSWER = 2_000  # most characters of an answer
TALKS = 40_000  # most characters of all conversations together when the outline is refined
PAPERS = 30  # most papers that an answer is made from
NOTES = 5  # most questions and answers from which a section of a report is written

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
    begun = [talk for talk in talks if talk.turns]
    texts = []
    for talk in begun:
        said = (f"Question: {question}\nAnswer: {answer}" for question, answer in talk.turns)
        texts.append("\n".join([f"Perspective: {talk.perspective}", *said])[: TALKS // len(begun)])
    return "\n\n".join(texts)


def perspectives_in(text: str) -> list[str]:
    """Return the perspectives in ``<Perspectives>``, each once."""
    items = as_list(tagged(text, "Perspectives"))
    return list(dict.fromkeys(line(item, QUESTION) for item in items))


def question_in(text: str) -> str:
    """Return the question in ``<question>``, empty if the model has no more questions."""
    said = _said(text, "question", QUESTION)
    return "" if _DONE.fullmatch(said) else said


def answer_in(text: str) -> str:
    """Return the answer in ``<answer>``."""
    return _said(text, "answer", ANSWER)


def _said(text: str, tag: str, longest: int) -> str:
    said = line(tagged(text, tag), longest)
    if not re.search(r"\w", said):
        raise ParseError(f"there is no {tag} in <{tag}>...</{tag}>.")
    return said


def closest(papers: Sequence[KnownPaper], wanted: str, most: int) -> list[KnownPaper]:
    """Return the papers whose titles share most terms with a text; equals in their order.

    The measure is the sum of ``ln(1 + n / df)`` over the distinct terms that title and text
    share, where df of the n titles have the term.

    >>> titles = {"a": "Deep graphs", "b": "Deep nets", "c": "Deep graph nets"}
    >>> papers = [KnownPaper(*pair) for pair in titles.items()]
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


@agent("storm")
class Storm(LLMAgent):
    """Conversations from several perspectives, then an outline (Shao et al.; ResearchArena, 6.1).

    STORM takes perspectives from the tables of contents of similar articles; here the model
    derives them from the titles of hits for the topic. In a conversation for each perspective, and
    a general one, it asks a question, writes queries for it, answers from their hits, and asks
    again, until it has no more questions. Conversations advance side by side, one turn a round.

    The ranking is the order of discovery: round by round, the general conversation first, query by
    query, hit by hit; then what only the search for perspectives returned. Without any hit the
    agent searches for the topic, as `title` does.

    The mind-map is an outline without papers, drafted from the topic alone, then refined with the
    conversations; if the refined one cannot be read, the draft is submitted. If an episode begins
    with papers, a question is answered from those whose titles share most words with it. A
    conversation ends if its question cannot be read; without queries the question is searched for.

    A section of a report is written from the papers, questions and answers that share most words
    with its headings, then polished between its neighbours; at last the model writes an
    introduction. STORM polishes the whole article in one request, which few models can read.

    Args:
        perspectives: Conversations besides the general one, 0 to 20.
        max_turns: Most questions of a conversation, 1 to 20.
        queries: Most queries for a question, 1 to 10.
        k: Hits per query, 1 to 100. An answer is made from the first 30 hits of a question, or
            from ``k * queries`` starting papers, at most 30.
        abstracts: Abstracts to read for an answer, 0 to 100, the best hits first; only with steps
            that no later search needs.
        related: Titles from which the model derives perspectives, 1 to 100.
        sections: Most sections of a report, 1 to 20.
        cited: Most papers from which a section is written, 1 to 100.
    """

    folder = "storm"
    templates = {  # noqa: RUF012
        "perspectives": Fields(("topic",), ("cutoff", "titles", "count")),
        "question": Fields(("topic", "perspective", "conversation"), ("cutoff",)),
        "queries": Fields(("topic", "question"), ("cutoff", "count")),
        "answer": Fields(("question", "papers"), ("topic", "cutoff")),
        "draft": Fields(("topic",), ("cutoff",)),
        "refine": Fields(("topic", "conversations"), ("cutoff", "draft")),
        **WRITING,
        "lead": Fields(("report",), ("topic", "cutoff")),
    }

    def __init__(
        self,
        seed: int = 0,
        perspectives: Annotated[int, Interval(ge=0, le=20)] = 3,
        max_turns: Annotated[int, Interval(ge=1, le=20)] = 3,
        queries: Annotated[int, Interval(ge=1, le=10)] = 3,
        k: Annotated[int, Interval(ge=1, le=100)] = 10,
        abstracts: Annotated[int, Interval(ge=0, le=100)] = 3,
        related: Annotated[int, Interval(ge=1, le=100)] = 20,
        sections: Annotated[int, Interval(ge=1, le=20)] = 10,
        cited: Annotated[int, Interval(ge=1, le=100)] = 20,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._perspectives, self._max_turns, self._queries = perspectives, max_turns, queries
        self._k, self._abstracts, self._related, self._sections = k, abstracts, related, sections
        self._cited = cited
        self._talks: list[Talk] = []
        self._related_papers: list[str] = []
        self._hits: dict[str, list[str]] = {}  # query -> hits, in the order of the searches

    def discover(self, desk: Desk) -> Steps[None]:
        """Find perspectives in the titles of related papers, and have the conversations."""
        self._talks = [Talk(GENERAL)]
        if self._perspectives:
            if desk.given:
                self._related_papers = desk.given[:: -(-len(desk.given) // self._related)]
            else:
                hits = yield from desk.search(desk.topic, self._related)
                self._related_papers = desk.ranking = [hit.id for hit in hits]
            if desk.given or desk.searches_left:
                titles = listed([desk.papers[i] for i in self._related_papers], years=True)
                values = _about(desk) | {"titles": titles or "(none)", "count": self._perspectives}
                named = self.ask("perspectives", perspectives_in, **values) or []
                self._talks += map(Talk, named[: self._perspectives])
        for later in reversed(range(self._max_turns)):
            talks = [talk for talk in self._talks if not talk.over]
            if talks and (desk.given or desk.searches_left):
                yield from self._turn(desk, talks, later)
        if not desk.given and not desk.ranking:
            yield from super().discover(desk)

    def organize(self, desk: Desk) -> Steps[None]:
        """Draft the outline, have the conversations if there were none, and refine the outline."""
        read = partial(outline, topic=desk.topic)
        draft = self.ask("draft", read, **_about(desk))
        desk.mind_map = draft or None
        if not self._talks:
            yield from self.discover(desk)
        said = all_of(self._talks)
        if said:
            values = _about(desk) | {"draft": draft or "(none)", "conversations": said}
            desk.mind_map = self.ask("refine", read, **values) or desk.mind_map

    def report(self, desk: Desk) -> Steps[None]:
        """Hold the conversations, refine the outline, and write a section for each heading."""
        yield from self.discover(desk)
        yield from self.organize(desk)
        found = [desk.papers[paper_id] for paper_id in desk.ranking]
        turns = [turn for talk in self._talks for turn in talk.turns]
        said = [
            KnownPaper(str(n), f"{turn.question} {turn.answer}") for n, turn in enumerate(turns)
        ]
        parts = []
        for heading, points in parts_of(desk.mind_map or "", self._sections):
            wanted = f"{heading} {points}"
            about = [turns[int(turn.id)] for turn in closest(said, wanted, NOTES)]
            notes = "\n".join(f"Question: {question}\nAnswer: {text}" for question, text in about)
            papers = [paper.id for paper in closest(found, wanted, self._cited)]
            parts.append(Part(heading, points, papers, notes))
        yield from write_report(self, desk, desk.mind_map or "", parts)
        if desk.report:
            lead = self.ask("lead", section_in, **_about(desk), report=desk.report[:TALKS])
            if lead:
                title, _, rest = desk.report.partition("\n\n")
                desk.report = f"{title}\n\n{section('Introduction', lead, [])}{rest}"

    def notes(self) -> dict[str, Any]:
        """Return those of `LLMAgent`, and ``perspectives``."""
        return super().notes() | {"perspectives": [talk.perspective for talk in self._talks]}

    def _turn(self, desk: Desk, talks: Sequence[Talk], later: int) -> Steps[None]:
        """Let each conversation take a turn; at most `later` further turns follow."""
        about = _about(desk)
        so_far = [{"perspective": t.perspective, "conversation": t.so_far()} for t in talks]
        said = self.ask_many("question", question_in, [about | values for values in so_far])
        for talk, question in zip(talks, said, strict=True):
            talk.over = not question
        talks, questions = [talk for talk in talks if not talk.over], [q for q in said if q]
        papers = yield from self._papers_for(desk, questions)
        names = {tool["function"]["name"] for tool in self.tools}
        if not later and names and names.isdisjoint(("organize", "submit_report")):
            return  # nobody reads the answers
        searches = 0 if desk.given else later * len(talks) * self._queries
        for paper_id in chain(*(ids[: self._abstracts] for ids in papers)):
            if desk.steps_left > min(searches, desk.budget["searches"]):
                yield from desk.read(paper_id)
        shown = [listed([desk.papers[i] for i in ids[:PAPERS]], years=True) for ids in papers]
        pairs = [pair for pair in zip(questions, shown, strict=True) if pair[1]]
        values = [about | {"question": question, "papers": text} for question, text in pairs]
        replies = iter(self.ask_many("answer", answer_in, values))
        for talk, question, text in zip(talks, questions, shown, strict=True):
            reply = (next(replies) or NO_ANSWER) if text else NOTHING_FOUND
            talk.turns.append(Turn(question, reply))

    def _papers_for(self, desk: Desk, questions: Sequence[str]) -> Steps[list[list[str]]]:
        """Return the papers for each question, the best hit of each query first."""
        if desk.given:
            given = [desk.papers[paper_id] for paper_id in desk.given]
            most = self._k * self._queries
            return [[paper.id for paper in closest(given, said, most)] for said in questions]
        about = _about(desk) | {"count": self._queries}
        values = [about | {"question": said} for said in questions]
        papers = []
        written = self.ask_many("queries", queries_in, values)
        for said, queries in zip(questions, written, strict=True):
            queries = (queries or [said])[: self._queries]
            for query in queries:
                if query not in self._hits and desk.searches_left:
                    hits = yield from desk.search(query, self._k)
                    self._hits[query] = [hit.id for hit in hits]
            discovered = [*chain(*self._hits.values()), *self._related_papers]
            desk.ranking = list(dict.fromkeys(discovered))
            in_turn = chain(*zip_longest(*(self._hits.get(query, []) for query in queries)))
            papers.append([paper_id for paper_id in dict.fromkeys(in_turn) if paper_id])
        return papers


def _about(desk: Desk) -> dict[str, str | int]:
    return {"topic": desk.topic, "cutoff": desk.cutoff}
