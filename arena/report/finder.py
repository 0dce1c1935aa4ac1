"""Finding the papers of a corpus that a report cites."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arena.report.model import Reference, Report
from arena.text.identifiers import arxiv_key, normal_title


class PaperName(NamedTuple):
    """What a paper is called.

    Attributes:
        id: Id in the corpus.
        title: Title.
        ids: ``arxiv:...`` and ``doi:...`` as `arena.text.identifiers` writes them.
    """

    id: str
    title: str
    ids: tuple[str, ...] = ()


class PaperFinder:
    """Finds papers by id, arXiv id, DOI or title.

    Of two papers with one identifier or one title, the first that is given is found.

    Args:
        names: All papers.
    """

    def __init__(self, names: Iterable[PaperName]) -> None:
        self._titles: dict[str, str] = {}
        self._by_id: dict[str, str] = {}
        self._by_title: dict[str, str] = {}
        own: dict[str, str] = {}
        for name in names:
            own[f"corpus:{name.id}"] = name.id
            self._titles[name.id] = name.title
            for key in (*name.ids, arxiv_key(name.id)):
                if key:
                    self._by_id.setdefault(key, name.id)
            if key := normal_title(name.title):
                self._by_title.setdefault(key, name.id)
        self._by_id.update(own)

    def find(self, reference: Reference) -> str | None:
        """Return the id of the paper that a reference names; None if there is none.

        Identifiers come first, in the order of `Reference.ids`, then the title: case,
        punctuation, accents and markup do not count.
        """
        for key in reference.ids:
            if key in self._by_id:
                return self._by_id[key]
        return self._by_title.get(normal_title(reference.title)) if reference.title else None

    def resolve(self, reference: Reference) -> Reference:
        """Return the reference with its paper, and with the paper's title if it has none."""
        paper = self.find(reference)
        title = reference.title or self._titles.get(paper or "", "")
        return reference._replace(paper=paper, title=title)


def resolve(report: Report, finder: PaperFinder) -> Report:
    """Return the report with `Reference.paper` filled wherever the corpus has the paper.

    A reference without a title, such as a citation by id, gets that of its paper.
    """
    return report._replace(references=tuple(map(finder.resolve, report.references)))
