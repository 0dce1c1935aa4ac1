"""STORM: a language model interviews itself from several perspectives, then writes an outline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any, TypeVar

from arena.agents import AGENTS, Desk, Steps
from arena.llm import Failed, Fields, LLMAgent
from baselines.parts.asking import listed
from baselines.parts.asking import queries as read_queries
from baselines.parts.conversations import (
    GENERAL,
    NO_ANSWER,
    NOTHING_FOUND,
    PAPERS,
    Talk,
    Turn,
    all_of,
    answer,
    closest,
    outline,
    question,
)
from baselines.parts.conversations import perspectives as read_perspectives
from baselines.parts.options import whole

T = TypeVar("T")


@AGENTS.register("storm")
class Storm(LLMAgent):
    """Conversations from several perspectives, then an outline (Shao et al.; ResearchArena, 6.1).

    Where STORM finds perspectives in the tables of contents of similar articles, the model is
    here shown the titles that a search for the topic finds, and names them. Then it holds a
    conversation for each and a general one: it asks, writes queries for its question, answers
    from the papers that these find, and asks on, until it has no more questions. The
    conversations advance side by side, a turn each per round.

    The ranking is the order of discovery: round by round, in a round conversation by
    conversation (the general one first), query by query, hit by hit. What the
    search for perspectives alone found comes last.

    The mind-map is an outline: drafted from the topic alone, then refined with the
    conversations. Papers are not filed in it. Where papers are given, they are what is searched:
    a question is answered from those whose titles share most words with it, see `closest`.

    A conversation whose asker cannot be understood ends; without queries the question is searched
    for; without an answer the conversation goes on. An outline that cannot be read leaves
    the one before it. If nothing was found at all, the topic is searched for, as `title` does.

    With the default options an episode makes at most 33 requests (where only a ranking is wanted),
    39 (where an outline is) or 27 (with papers given), and 37 searches; one whose answer cannot be
    read is made twice.

    Args:
        seed: of the episode.
        perspectives: conversations beside the general one, 0 to 20.
        max_turns: questions of a conversation, 1 to 20.
        queries: searched for a question, 1 to 10.
        k: hits of a query, 1 to 100. An answer is made from the first 30 of a question's hits; of
            papers given, from ``k * queries``, at most 30.
        abstracts: read for an answer, 0 to 100, of the best hits first; only with steps that no
            later search needs.
        related: titles that the perspectives are found in, 1 to 100.
        options: see `LLMAgent`.

    Raises:
        DataError: if an option is unknown or out of its range.
    """

    folder = "storm"
    templates = {  # noqa: RUF012
        "perspectives": Fields(("topic",), ("cutoff", "titles", "count")),
        "question": Fields(("topic", "perspective", "conversation"), ("cutoff",)),
        "queries": Fields(("topic", "question"), ("cutoff", "count")),
        "answer": Fields(("question", "papers"), ("topic", "cutoff")),
        "draft": Fields(("topic",), ("cutoff",)),
        "refine": Fields(("topic", "conversations"), ("cutoff", "draft")),
    }

    def __init__(
        self,
        seed: int = 0,
        perspectives: int = 3,
        max_turns: int = 3,
        queries: int = 3,
        k: int = 10,
        abstracts: int = 3,
        related: int = 20,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._perspectives = whole("perspectives", perspectives, 0, 20)
        self._max_turns = whole("max_turns", max_turns, 1, 20)
        self._queries = whole("queries", queries, 1, 10)
        self._k = whole("k", k, 1, 100)
        self._abstracts = whole("abstracts", abstracts, 0, 100)
        self._related = whole("related", related, 1, 100)
        self._talks: list[Talk] = []
        self._related_papers: list[str] = []
        self._hits: dict[str, list[str]] = {}  # of each query, in the order of the searches

    def discover(self, desk: Desk) -> Steps[None]:
        """Hold the conversations."""
        self._talks = [Talk(GENERAL)]
        if self._perspectives:
            yield from self._look_around(desk)
            if desk.given or desk.searches_left:
                self._talks += map(Talk, self._named(desk))
        for later in reversed(range(self._max_turns)):
            talks = [talk for talk in self._talks if not talk.over]
            if talks and (desk.given or desk.searches_left):
                yield from self._turn(desk, talks, later)
        if not desk.given and not desk.ranking:
            yield from super().discover(desk)

    def organize(self, desk: Desk) -> Steps[None]:
        """Draft the outline, hold the conversations if that was not done, and refine it."""
        read = partial(outline, topic=desk.topic)
        draft = self.ask("draft", read, **_about(desk))
        desk.mind_map = draft or None
        if not self._talks:
            yield from self.discover(desk)
        said = all_of(self._talks)
        if said:
            values = _about(desk) | {"draft": draft or "(none)", "conversations": said}
            desk.mind_map = self.ask("refine", read, **values) or desk.mind_map

    def notes(self) -> dict[str, Any]:
        """Return those of `LLMAgent`, and ``perspectives``."""
        return super().notes() | {"perspectives": [talk.perspective for talk in self._talks]}

    def _look_around(self, desk: Desk) -> Steps[None]:
        """Find papers whose titles may show perspectives: hits, or some of the papers given."""
        if desk.given:
            self._related_papers = desk.given[:: -(-len(desk.given) // self._related)]
            return
        hits = yield from desk.search(desk.topic, self._related)
        self._related_papers = desk.ranking = [hit.id for hit in hits]

    def _named(self, desk: Desk) -> list[str]:
        """Return the perspectives that the model names."""
        related = [desk.papers[paper_id] for paper_id in self._related_papers]
        titles = listed(related, years=True) or "(none)"
        values = _about(desk) | {"titles": titles, "count": self._perspectives}
        named = self.ask("perspectives", read_perspectives, **values)
        return list(named or ())[: self._perspectives]

    def _turn(self, desk: Desk, talks: Sequence[Talk], later: int) -> Steps[None]:
        """Let each conversation take a turn, and `later` more of them may follow."""
        values = [
            {"perspective": talk.perspective, "conversation": talk.so_far()} for talk in talks
        ]
        asked = []
        for talk, said in zip(talks, self._each("question", question, desk, values), strict=True):
            talk.over = not said
            if said:
                asked.append((talk, said))
        questions = [said for _, said in asked]
        found = yield from self._looked_up(desk, questions)
        if later or self._outlines(desk):  # else nobody reads the answers
            yield from self._read(desk, found, later * len(asked) * self._queries)
            answers = self._answers(desk, questions, found)
            for (talk, said), told in zip(asked, answers, strict=True):
                talk.turns.append(Turn(said, told))

    def _looked_up(self, desk: Desk, questions: Sequence[str]) -> Steps[list[list[str]]]:
        """Return the papers found for each question, the best hit of each query first."""
        if desk.given:
            given = [desk.papers[paper_id] for paper_id in desk.given]
            most = self._k * self._queries
            return [[paper.id for paper in closest(given, said, most)] for said in questions]
        values: list[dict[str, str | int]] = [
            {"question": said, "count": self._queries} for said in questions
        ]
        written = self._each("queries", read_queries, desk, values)
        found = []
        for said, queries in zip(questions, written, strict=True):
            hits = yield from self._searched(desk, (queries or [said])[: self._queries])
            in_turn = chain(*zip_longest(*hits))
            found.append([paper_id for paper_id in dict.fromkeys(in_turn) if paper_id])
        return found

    def _searched(self, desk: Desk, queries: Sequence[str]) -> Steps[list[list[str]]]:
        """Search; what was searched for before costs nothing. Rank what was discovered so far."""
        for query in queries:
            if query not in self._hits and desk.searches_left:
                hits = yield from desk.search(query, self._k)
                self._hits[query] = [hit.id for hit in hits]
        discovered = [*chain(*self._hits.values()), *self._related_papers]
        desk.ranking = list(dict.fromkeys(discovered))
        return [self._hits.get(query, []) for query in queries]

    def _read(self, desk: Desk, found: Sequence[Sequence[str]], searches: int) -> Steps[None]:
        """Read abstracts as long as there are steps for as many searches, if so many are left."""
        for papers in found:
            for paper_id in papers[: self._abstracts]:
                kept = 0 if desk.given else min(searches, desk.budget["searches"])
                if desk.steps_left > kept:
                    yield from desk.read(paper_id)

    def _answers(
        self, desk: Desk, questions: Sequence[str], found: Sequence[Sequence[str]]
    ) -> list[str]:
        """Return what is said to each question; nobody is asked where nothing was found."""
        values = [
            {
                "question": said,
                "papers": listed([desk.papers[i] for i in papers[:PAPERS]], years=True),
            }
            for said, papers in zip(questions, found, strict=True)
            if papers
        ]
        told = iter(self._each("answer", answer, desk, values))
        return [(next(told) or NO_ANSWER) if papers else NOTHING_FOUND for papers in found]

    def _each(
        self,
        template: str,
        parse: Callable[[str], T],
        desk: Desk,
        many: Sequence[Mapping[str, str | int]],
    ) -> list[T | Failed]:
        """As `ask_many`, with topic and cutoff; an empty list asks nothing."""
        return self.ask_many(template, parse, [{**_about(desk), **values} for values in many])

    def _outlines(self, desk: Desk) -> bool:
        """Whether an outline will be wanted, as far as the tools say."""
        names = {tool["function"]["name"] for tool in self.tools}
        return desk.stage == "organization" or not names or "organize" in names


def _about(desk: Desk) -> dict[str, str | int]:
    return {"topic": desk.topic, "cutoff": desk.cutoff}
