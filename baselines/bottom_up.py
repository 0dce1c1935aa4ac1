"""Bottom-up: a language model groups papers into a tree of topics, each paper in one leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.agents import AGENTS, Desk, Known, Steps
from arena.llm import Fields, LLMAgent
from baselines.parts.filing import Filing, batches
from baselines.parts.options import choice, whole
from baselines.parts.trees import json_of

__all__ = ["SHOWN", "BottomUp"]

SHOWN = ("abstracts", "titles")
LONGEST_ABSTRACT = 2_000
"""Characters of an abstract in a request."""

_LISTED = 50  # most unknown papers that a request for repair lists


@AGENTS.register("bottom-up")
class BottomUp(LLMAgent):
    """TaxoBench's Bottom-Up mode: papers are grouped by theme, and each is in exactly one leaf.

    In Organization it organizes the starting papers, or searches for the topic; in Survey it
    plays the first stages as the agent ``title`` and organizes those papers, as ``clustering``
    does. It reads as many abstracts as the budget allows. The model reads numbered papers and
    answers with the numbers.

    One request builds the tree. Papers that do not fit into one request are divided into batches:
    the first builds the tree, each further one is filed into it and may add headings. If papers
    are lost or filed twice, one round of repair follows: a request lists these papers, and the
    model files them again. Papers lost after it go to a leaf "Other", papers filed twice keep
    their first place, and unknown numbers are dropped. A paper at a heading with others below it
    goes to a leaf "General" there, and headings without papers are left out.

    A batch whose answer cannot be read is lost, and the next one builds the tree; if none does, no
    map is submitted. When a limit of the episode is reached, the tree so far is submitted, with
    the papers that are not in it under "Other".

    Args:
        seed: Not used.
        show: ``"abstracts"``: the model reads titles and abstracts of at most 2,000 characters
            (the paper's setting Title + Abstract); ``"titles"``: it reads titles alone.
        max_papers: Most papers in a request, >= 1.
        max_characters: Most characters of papers in a request, >= 1; one paper always fits.
        options: Options of `LLMAgent`.

    Raises:
        DataError: An option is unknown or out of its range.
    """

    folder = "bottom-up"
    templates = {  # noqa: RUF012
        "tree": Fields(required=("topic", "papers"), optional=("count",)),
        "file": Fields(required=("topic", "papers", "tree"), optional=("count",)),
        "repair": Fields(
            required=("topic", "papers", "tree"), optional=("count", "lost", "doubled", "unknown")
        ),
    }

    def __init__(
        self,
        seed: int = 0,
        show: str = "abstracts",
        max_papers: int = 200,
        max_characters: int = 200_000,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._show = choice("show", show, SHOWN)
        self._most = (
            whole("max_papers", max_papers, 1),
            whole("max_characters", max_characters, 1),
        )
        self._filing = Filing("", ())
        self._counts = dict.fromkeys(("papers", "abstracts", "lost", "doubled"), 0)

    def organize(self, desk: Desk) -> Steps[None]:
        """Build the tree and repair it; no map if there is no paper or no tree."""
        if not desk.papers:
            yield from self.discover(desk)
        if self._show == "abstracts":
            for paper_id in list(desk.papers):
                yield from desk.read(paper_id)
        papers = list(desk.papers.values())
        shown = [_shown(number, paper) for number, paper in enumerate(papers, 1)]
        filing = self._filing = Filing(desk.topic, [paper.title for paper in papers])
        self._counts |= {"papers": len(papers), "abstracts": desk.read_count}
        for batch in self._batches(range(1, len(papers) + 1), shown):
            self._file("file" if filing.root.children else "tree", batch, shown, desk)
        if not filing.root.children:
            return
        lost, doubled = filing.lost, sorted(filing.doubled)
        self._counts |= {"lost": len(lost), "doubled": len(doubled)}
        for batch in self._batches(sorted({*lost, *doubled}), shown):
            problems = {
                "lost": _list(number for number in lost if number in batch),
                "doubled": _list(number for number in doubled if number in batch),
                "unknown": _list(list(dict.fromkeys(filing.unknown))[:_LISTED]),
            }
            self._file("repair", batch, shown, desk, **problems)

    def notes(self) -> dict[str, Any]:
        """Return those of `LLMAgent`, and ``filing``: counts of papers.

        ``papers``, ``abstracts`` read, ``lost`` and ``doubled`` before the repair, ``unknown``
        entries, and ``other``: papers that the model did not file.
        """
        filing = self._filing
        counts = self._counts | {"unknown": len(filing.unknown), "other": len(filing.lost)}
        return super().notes() | {"filing": counts}

    def _batches(self, numbers: Sequence[int], shown: Sequence[str]) -> list[list[int]]:
        return batches(numbers, [len(text) + 1 for text in shown], *self._most)

    def _file(
        self, template: str, batch: Sequence[int], shown: Sequence[str], desk: Desk, **problems: str
    ) -> None:
        """Ask where the papers of a batch belong, and put the map on the desk."""
        filing, asked = self._filing, set(batch)
        values: dict[str, str | int] = {
            "topic": desk.topic,
            "papers": "\n".join(shown[number - 1] for number in batch),
            "count": len(batch),
        }
        if template != "tree":
            values["tree"] = "\n".join(filing.root.lines())
        question = self.template(template).text
        answer = self.ask(
            template, lambda text: filing.read(json_of(text, question), asked), **values, **problems
        )
        if answer:
            filing.take(answer, asked)
            desk.mind_map = filing.mind_map(list(desk.papers))


def _shown(number: int, paper: Known) -> str:
    """Return a paper as a request lists it; no text of the paper can begin a line."""
    lines = [f"[{number}] {' '.join(paper.title.split()) or '(no title)'}"]
    if abstract := " ".join(paper.abstract.split())[:LONGEST_ABSTRACT]:
        lines.append(f"    Abstract: {abstract}")
    return "\n".join(lines)


def _list(items: Any) -> str:
    return ", ".join(map(str, items)) or "none"
