"""Outline-first: an outline, papers for each section, then the text, cited and refined."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from annotated_types import Interval

from arena.agents import Desk, Steps, agent
from arena.llm import Fields, LLMAgent
from baselines.parts.asking import WRITING, Part, line, listed, parts_of, write_report
from baselines.parts.trees import outline

_TOPIC = 150  # characters of the topic in the query of a section


@agent("outline-first")
class OutlineFirst(LLMAgent):
    """Outline, retrieval, drafts, refinement (AutoSurvey, Wang et al. 2024, section 3).

    A search for the topic finds papers, from whose titles the model writes an outline. A search
    for the topic and each heading finds the papers of that section; their abstracts are read. The
    model writes the sections side by side, each from its own papers, and then reads each between
    its neighbours and corrects text and citations.

    AutoSurvey merges several outlines, and chooses among several topics; here there is one of
    each. Its check of citations and its rewriting for coherence are one request here. An episode
    makes ``1 + 2 * sections`` requests, 17 by default; one that cannot be read is repeated once.
    Without an outline, the hits of the topic are submitted as a list.

    In other tasks it ranks the hits of all searches, section by section, and its mind-map is the
    outline, without papers.

    Args:
        sections: Most sections, 1 to 20.
        papers: Most papers of a section, 1 to 100.
        related: Most titles from which the outline is written, 1 to 100.
        refine: Whether sections are refined.
    """

    folder = "outline-first"
    templates = {  # noqa: RUF012
        "outline": Fields(("topic",), ("cutoff", "titles", "count")),
        **WRITING,
    }

    def __init__(
        self,
        seed: int = 0,
        sections: Annotated[int, Interval(ge=1, le=20)] = 8,
        papers: Annotated[int, Interval(ge=1, le=100)] = 12,
        related: Annotated[int, Interval(ge=1, le=100)] = 60,
        refine: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._sections, self._papers, self._related = sections, papers, related
        self._refine = refine
        self._parts: list[Part] = []

    def discover(self, desk: Desk) -> Steps[None]:
        """Search for the topic, write the outline, and search for each of its sections."""
        yield from super().discover(desk)
        yield from self.organize(desk)
        for heading, points in parts_of(desk.mind_map or "", self._sections):
            query = f"{line(desk.topic, _TOPIC)} {heading} {points}"
            hits = yield from desk.search(query, self._papers)
            self._parts.append(Part(heading, points, [hit.id for hit in hits]))
        of_sections = [paper_id for part in self._parts for paper_id in part.papers]
        desk.ranking = list(dict.fromkeys([*of_sections, *desk.ranking]))

    def organize(self, desk: Desk) -> Steps[None]:
        """Write the outline from the titles of the papers on the desk, once."""
        if desk.mind_map is not None:
            return
        if not desk.papers:
            yield from super().discover(desk)
        shown = [desk.papers[i] for i in desk.given or desk.ranking][: self._related]
        desk.mind_map = self.ask(
            "outline", partial(outline, topic=desk.topic), topic=desk.topic, cutoff=desk.cutoff,
            titles=listed(shown, abstracts=False, years=True) or "(none)", count=self._sections,
        ) or None  # fmt: skip

    def report(self, desk: Desk) -> Steps[None]:
        """Find papers for each section, and write it."""
        yield from self.discover(desk)
        yield from write_report(self, desk, desk.mind_map or "", self._parts, self._refine)
