"""Actions to send: honest ones, hostile ones, and ones that know the labels."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from arena.audit._facts import Facts, Paper, Reach, Survey
from arena.audit._hostile import junk_text, malformed, twin_of
from arena.audit._ids import Ids

Map = dict[str, Any]

MAX_K = 100
_QUERY = 10_000


class Call(NamedTuple):
    """One action.

    Attributes:
        action: as it is sent.
        tool: its tool; empty if it is malformed and must be refused.
        arguments: of the tool, defaults filled in.
    """

    action: Any
    tool: str
    arguments: dict[str, Any]


class Probe(NamedTuple):
    """Actions that are sent one after the other because their answers belong together.

    Attributes:
        kind: ``single``; ``twin``: the second has `ids[1]`, which never was, for `ids[0]`, which
            does not exist here; ``paged``: the second is the end of the first.
        calls: one or two.
        ids: of twins.
    """

    kind: str
    calls: tuple[Call, ...]
    ids: tuple[str, str] = ("", "")


class Menu:
    """Draws what to do next in one episode.

    Args:
        facts: all papers.
        reach: those that exist in the episode.
        survey: its labels are what an oracle would act by.
        tools: names of the tools of the environment.
        retrievers: engines that a search may name.
        rng: the source of chance.
    """

    def __init__(
        self,
        facts: Facts,
        reach: Reach,
        survey: Survey | None,
        tools: tuple[str, ...],
        retrievers: tuple[str, ...],
        rng: random.Random,
    ) -> None:
        self.facts, self.reach, self.survey = facts, reach, survey
        self.tools, self.retrievers, self.rng = tools, retrievers, rng
        self.ids = Ids(facts, reach, survey, rng)
        self._makers: dict[str, tuple[int, Callable[[], Probe]]] = {
            "search": (25, lambda: self._single("search", self._search())),
            "paged": (6, self._paged),
            "read": (16, lambda: self._single("read", self._read(self.ids.any()))),
            "references": (8, lambda: self._single("references", self._page(self.ids.any()))),
            "citations": (8, lambda: self._single("citations", self._page(self.ids.any()))),
            "select": (8, lambda: self._single("select", {"paper_ids": self._list()})),
            "submit": (3, lambda: self._single("submit", {"paper_ids": self._list()})),
            "organize": (3, lambda: self._single("organize", {"mind_map": self._map()})),
            "finish": (1, lambda: self._single("finish", {})),
            "twin": (18, self._twin),
            "junk": (6, self._junk),
        }
        for name in {"submit", "organize"} - set(tools):
            del self._makers[name]

    def probe(self) -> Probe:
        """Return what to send next."""
        names = list(self._makers)
        weights = [self._makers[name][0] for name in names]
        return self._makers[self.rng.choices(names, weights)[0]][1]()

    def _call(self, tool: str, arguments: dict[str, Any]) -> Call:
        """Write the call in one of the forms that an environment takes."""
        action: Any = {"tool": tool, "arguments": arguments}
        if self.rng.random() < 0.3:
            action = json.dumps(action, ensure_ascii=self.rng.random() < 0.5)
        return Call(action, tool, arguments)

    def _single(self, tool: str, arguments: dict[str, Any]) -> Probe:
        return Probe("single", (self._call(tool, arguments),))

    def _junk(self) -> Probe:
        return Probe("single", (Call(malformed(self.tools, self.rng), "", {}),))

    def _search(self) -> dict[str, Any]:
        rng = self.rng
        arguments: dict[str, Any] = {"query": self.query()}
        if rng.random() < 0.7:
            arguments["k"] = rng.choice((1, 2, 10, 50, MAX_K, rng.randint(1, MAX_K)))
        if rng.random() < 0.3:
            arguments["offset"] = rng.choice((0, 1, 10, 1_000, rng.randint(0, 1_000)))
        if rng.random() < 0.5:
            arguments["retriever"] = rng.choice((*self.retrievers, None))
        return arguments

    def _paged(self) -> Probe:
        offset = self.rng.randint(1, MAX_K - 1)
        k = self.rng.randint(1, MAX_K - offset)
        query, engine = self.query(), self.rng.choice(self.retrievers)
        whole = {"query": query, "k": offset + k, "retriever": engine}
        part = {"query": query, "k": k, "offset": offset, "retriever": engine}
        return Probe("paged", (self._call("search", whole), self._call("search", part)))

    def _read(self, paper_id: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {"paper_id": paper_id}
        paper = self.facts.by_id.get(paper_id)
        sections = len(self.facts.sections.get(paper.number, ())) if paper else 0
        if self.rng.random() < 0.6:
            arguments["section"] = self.rng.choice((0, self.rng.randint(0, sections), sections + 1))
        return self._paged_arguments(arguments)

    def _page(self, paper_id: str) -> dict[str, Any]:
        return self._paged_arguments({"paper_id": paper_id})

    def _paged_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if self.rng.random() < 0.3:
            arguments["page"] = self.rng.choice((1, 1, 2, 3, 10**12))
        return arguments

    def _list(self, wild: float = 0.15) -> list[str]:
        """Return ids, mostly of papers in reach; with chance `wild` any, or all of the gold."""
        gold = self.ids.gold(True)
        if gold and self.rng.random() < 0.2:
            return gold
        some = [self.ids.visible() for _ in range(self.rng.choice((0, 1, 3, 20)))]
        if self.rng.random() < wild:
            some.append(self.ids.any())
        if self.rng.random() < wild / 10:
            return [*map(str, range(1_001))]
        return [paper_id for paper_id in some if paper_id is not None]

    def _map(self, ids: list[str] | None = None) -> Map:
        """Return a mind-map with ids, or the survey's own."""
        if ids is None:
            if self.survey and self.survey.mind_map and self.rng.random() < 0.4:
                return self.survey.mind_map  # type: ignore[no-any-return]
            ids = self._list()
        leaves = [
            {"label": f"part {number}", "children": [], "papers": ids[number::3]}
            for number in range(3)
        ]
        return {"label": "map", "children": leaves, "papers": []}

    def _twin(self) -> Probe:
        hidden = self.ids.hidden()
        twin = twin_of(hidden, self.facts.by_id, self.rng)
        tool = self.rng.choice([tool for tool in self.tools if tool not in ("search", "finish")])
        if twin is None or self.reach.paper(hidden):
            return self._single("read", self._read(hidden))
        if tool in ("read", "references", "citations"):
            first: dict[str, Any] = self._read(hidden) if tool == "read" else self._page(hidden)
            second: dict[str, Any] = first | {"paper_id": twin}
        else:
            beside = self._list(0.0)[:5]
            lists = [[*beside, hidden], [*beside, twin]]
            if tool == "organize":
                first, second = ({"mind_map": self._map(ids)} for ids in lists)
            else:
                first, second = ({"paper_ids": ids} for ids in lists)
        calls = (self._call(tool, first), self._call(tool, second))
        return Probe("twin", calls, (hidden, twin))

    def query(self) -> str:
        """Return what to search for: also titles and words of what must not be found."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.3:
            words = self._words(self.ids.paper(True))
        elif roll < 0.5:  # the title of a paper that may lie in the future, as it stands
            paper = self.ids.paper(False)
            return paper.title if paper else ""
        elif roll < 0.6:  # its rarest words, as far as one can tell by their length
            words = sorted(self._words(self.ids.paper(False)), key=len)[-3:]
        elif roll < 0.72:  # what an oracle would search for
            gold = self.ids.gold(rng.random() < 0.7)
            paper = self.facts.by_id.get(rng.choice(gold)) if gold else None
            return paper.title if paper else ""
        elif roll < 0.85:  # the survey's own title and those of others
            surveys = list(self.facts.surveys.values())
            chosen = self.survey if self.survey and rng.random() < 0.5 else None
            chosen = chosen or (rng.choice(surveys) if surveys else None)
            return chosen.title if chosen else ""
        elif roll < 0.93:
            return rng.choice((self.ids.any(), junk_text(rng), "the of and", "x" * _QUERY))
        else:
            words = self._words(self.ids.paper(True)) + self._words(self.ids.paper(False))
        return " ".join(rng.sample(words, min(len(words), rng.choice((1, 2, 4, 30)))))

    def _words(self, paper: Paper | None) -> list[str]:
        return f"{paper.title} {paper.abstract}".split() if paper else []
