"""Papers as a model is shown them."""

from __future__ import annotations

from collections.abc import Sequence

from arena.agents import Known

_TITLE = 200  # characters; few titles are longer
_ABSTRACT = 1_500


def listed(papers: Sequence[Known], abstracts: bool = True, years: bool = False) -> str:
    """Return papers as numbered lines; a line below has the abstract, where it was read.

    Args:
        papers: from number 1.
        abstracts: whether to show them.
        years: whether the title is followed by the year.
    """
    lines = []
    for number, paper in enumerate(papers, start=1):
        year = f" ({paper.date[:4]})" if years else ""
        lines.append(f"{number}. {line(paper.title, _TITLE)}{year}")
        if abstracts and paper.abstract:
            lines.append(f"   {line(paper.abstract, _ABSTRACT)}")
    return "\n".join(lines)


def line(text: str, longest: int) -> str:
    """Return a text on one line, cut."""
    return " ".join(text.split())[:longest]
