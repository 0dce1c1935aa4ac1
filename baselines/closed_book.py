"""Closed-book: what a language model knows without searching."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Interval

from arena.agents import Desk, Steps, agent
from arena.llm import Fields, LLMAgent, ParseError, as_list, tagged
from arena.text import analyze

_LOOKED_AT = 3  # hits of a title; one that is there is among the first


def titles(text: str) -> list[str]:
    """Return the distinct titles in the tag ``<Titles>``, in order."""
    found = [" ".join(line.split()) for line in as_list(tagged(text, "Titles"))]
    if not any(found):
        raise ParseError("there is no title in <Titles>...</Titles>.")
    return list(dict.fromkeys(filter(None, found)))


@agent("closed-book")
class ClosedBook(LLMAgent):
    """Titles from a model's memory, looked up in the corpus; a control for agents that search.

    A title is looked up by a search for it, and counts as the hit with the same words in the same
    order. Nothing else that the searches show is submitted. The notes of a run say how many titles
    the model named and how many were found.

    Args:
        max_titles: Most titles, 1 to 1000; each costs a search.
    """

    folder = "closed-book"
    templates = {"titles": Fields(required=("topic", "most"), optional=("cutoff",))}  # noqa: RUF012

    def __init__(
        self,
        seed: int = 0,
        max_titles: Annotated[int, Interval(ge=1, le=1000)] = 50,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._max_titles = max_titles
        self._named = self._found = 0

    def discover(self, desk: Desk) -> Steps[None]:
        """Ask for titles, and look each of them up."""
        answer = self.ask(
            "titles", titles, topic=desk.topic, cutoff=desk.cutoff, most=self._max_titles
        )
        named = (answer or [])[: self._max_titles]
        for title in named:
            hits = yield from desk.search(title, k=_LOOKED_AT)
            words = analyze(title)
            desk.ranking += [hit.id for hit in hits if words and analyze(hit.title) == words][:1]
        desk.ranking = list(dict.fromkeys(desk.ranking))
        self._named, self._found = len(named), len(desk.ranking)

    def notes(self) -> dict[str, Any]:
        """Return how many titles the model named, and how many were found."""
        return super().notes() | {"titles": self._named, "found": self._found}
