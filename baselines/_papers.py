"""The papers of a topic, collected through observations: those given, or those a search finds."""

from __future__ import annotations

from typing import NamedTuple

from arena.agents import Action, Observation, result_of

# More characters than any `read` shows: a page of 8,000, headings of 100 sections, 100 each, and a
# title of 500, where a character may take six in JSON; and more than a hit does. An action that
# shows more than is left would end the episode with nothing handed in.
_LARGEST_READ = 120_000
_LARGEST_HIT = 4_000


class Paper(NamedTuple):
    """A paper as far as it is known; all but the id may be empty."""

    id: str
    title: str = ""
    abstract: str = ""


class Collected:
    """Papers in the order in which they were met, and what is left to do to know them."""

    def __init__(self) -> None:
        self._papers: dict[str, Paper] = {}
        self._searches = 0
        self._read: set[str] = set()

    @property
    def papers(self) -> list[Paper]:
        """The papers met so far."""
        return list(self._papers.values())

    @property
    def read(self) -> int:
        """The number of papers whose abstract was asked for."""
        return len(self._read)

    def look(self, observation: Observation) -> None:
        """Take in what the last result shows."""
        result = result_of(observation)
        for entry in (*result.get("references", ()), *result.get("hits", ())):
            self._papers.setdefault(entry["id"], Paper(entry["id"], entry["title"]))
        if "text" in result and result["id"] in self._papers:
            self._papers[result["id"]] = Paper(result["id"], result["title"], result["text"])

    def next(self, observation: Observation, abstracts: bool) -> Action | None:
        """Return what to do to know more papers, or more of them; None once that is enough.

        It searches only while it knows no paper, and leaves enough of every budget to hand in.

        Args:
            observation: the last one, at which `look` has looked.
            abstracts: whether to read them.
        """
        if not self._papers:
            return self._search(observation)
        budget = observation["budget"]
        left = min(budget["reads"], budget["steps"] - 1)
        if not abstracts or left < 1 or budget["characters"] < _LARGEST_READ:
            return None
        unread = next((paper_id for paper_id in self._papers if paper_id not in self._read), None)
        if unread is None:
            return None
        self._read.add(unread)
        return {"tool": "read", "arguments": {"paper_id": unread}}

    def _search(self, observation: Observation) -> Action | None:
        """Search for the topic; once more, with the default `k`, where 100 hits are refused."""
        budget = observation["budget"]
        k = min(100, budget["characters"] // _LARGEST_HIT)
        refused = self._searches == 1 and "error" in result_of(observation)
        self._searches += 1
        if (self._searches > 1 and not refused) or budget["searches"] < 1 or budget["steps"] < 2:
            return None
        if refused and k >= 10:
            return {"tool": "search", "arguments": {"query": observation["topic"]}}
        return (
            {"tool": "search", "arguments": {"query": observation["topic"], "k": k}} if k else None
        )
