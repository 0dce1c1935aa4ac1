"""Bottom-up: a language model groups papers into a tree of topics, each paper in one leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.agents import AGENTS, Desk, Known, Steps
from arena.errors import DataError, clip, did_you_mean
from arena.llm import Fields, LLMAgent
from baselines.parts.filing import Filing, batches
from baselines.parts.options import whole
from baselines.parts.trees import json_of

__all__ = ["SHOWN", "BottomUp"]

SHOWN = ("abstracts", "titles")
LONGEST_ABSTRACT = 2_000
"""Characters of an abstract that the model is shown."""

_TOLD = 50  # unknown papers that the model is told of


@AGENTS.register("bottom-up")
class BottomUp(LLMAgent):
    """TaxoBench's Bottom-Up mode: papers are grouped by theme, and each is in exactly one leaf.

    In Organization it takes the papers given, or searches for the topic; in Survey it begins as
    the agent ``title`` and takes what that found, all as ``clustering`` does. It reads as many
    abstracts as the budget allows. The model is shown papers under numbers and answers with them.

    One request builds the tree. Papers that do not fit into one are dealt out into batches: the
    first builds the tree, each further one is filed into it and may add headings. Then comes one
    round of repair, if papers are lost or filed twice: the model is told which and files these
    papers again. What is lost after it goes to a leaf "Other", what is filed twice keeps its first
    place; numbers that no paper has are dropped. A paper at a heading with others below it goes to
    a leaf "General" there, and headings without papers are left out.

    A batch whose answer cannot be read is lost, and the next one builds the tree; if none does, no
    map is handed in. When a limit of the episode is reached, the tree so far is handed in, with
    the papers that are not in it under "Other".

    Args:
        seed: of no consequence.
        show: ``"abstracts"``: title and abstract, of at most 2,000 characters (the paper's setting
            Title + Abstract), ``"titles"``: nothing is read.
        max_papers: most papers of a request, >= 1.
        max_characters: most characters of papers in a request, >= 1; one paper always fits.
        options: see `LLMAgent`.

    Raises:
        DataError: if an option is unknown or out of its range.
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
        if show not in SHOWN:
            raise DataError(f"show={clip(show)}.{did_you_mean(show, SHOWN)}")
        self._show = show
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
            told = {
                "lost": _list(number for number in lost if number in batch),
                "doubled": _list(number for number in doubled if number in batch),
                "unknown": _list(list(dict.fromkeys(filing.unknown))[:_TOLD]),
            }
            self._file("repair", batch, shown, desk, **told)

    def notes(self) -> dict[str, Any]:
        """Return also ``filing``: how many papers there were and what became of them.

        ``papers``, ``abstracts`` read, ``lost`` and ``doubled`` before the repair, ``unknown``
        entries, and ``other``: papers that the model never filed.
        """
        filing = self._filing
        counts = self._counts | {"unknown": len(filing.unknown), "other": len(filing.lost)}
        return super().notes() | {"filing": counts}

    def _batches(self, numbers: Sequence[int], shown: Sequence[str]) -> list[list[int]]:
        return batches(numbers, [len(text) + 1 for text in shown], *self._most)

    def _file(
        self, template: str, batch: Sequence[int], shown: Sequence[str], desk: Desk, **told: str
    ) -> None:
        """Ask where the papers of a batch belong, and lay the map on the desk."""
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
            template, lambda text: filing.read(json_of(text, question), asked), **values, **told
        )
        if answer:
            filing.take(answer, asked)
            desk.mind_map = filing.mind_map(list(desk.papers))


def _shown(number: int, paper: Known) -> str:
    """Return a paper as the model is shown it; no text in it can begin a line."""
    lines = [f"[{number}] {' '.join(paper.title.split()) or '(no title)'}"]
    if abstract := " ".join(paper.abstract.split())[:LONGEST_ABSTRACT]:
        lines.append(f"    Abstract: {abstract}")
    return "\n".join(lines)


def _list(items: Any) -> str:
    return ", ".join(map(str, items)) or "none"
