"""What the Parquet files of a corpus say, read without the code that serves them."""

from __future__ import annotations

import html
import json
import unicodedata
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError

NEVER = 2**62
"""The day of an undated paper: after every cutoff."""


class Paper(NamedTuple):
    """A row of papers.parquet; `day` is an ordinal of the calendar, `NEVER` if undated."""

    number: int
    id: str
    title: str
    abstract: str
    date: str | None
    day: int
    precision: str | None
    survey: bool
    venue: str | None
    authors: tuple[str, ...]
    fields: tuple[str, ...]


class Reference(NamedTuple):
    """A row of tasks/gold.parquet."""

    id: str
    influential: bool
    document: int | None
    status: str


class Survey(NamedTuple):
    """A survey task with its labels."""

    id: str
    title: str
    date: str
    day: int
    precision: str
    references: tuple[Reference, ...]
    references_total: int
    mind_map: Any


class Facts:
    """The papers, sections, links and tasks of a corpus directory, all in memory.

    Attributes:
        papers: by document number.
        by_id: by id.
        days: int64, shape (n,): ordinals, `NEVER` where undated.
        survey: bool, shape (n,): flagged, or with the id or title of a task.
        sections: document number -> (heading, text) pairs in order.
        cited, citing: document number -> the other ends of its links, ascending.
        surveys: the tasks by id.
        title_keys: key of a task's title -> id of the task.
        flagged, searchable: the columns as they stand, shape (n,).
    """

    def __init__(self, directory: Path) -> None:
        rows = _rows(directory / "papers.parquet")
        self.surveys = {row.id: row for row in _surveys(directory / "tasks")}
        self.title_keys = {title_key(s.title): s.id for s in self.surveys.values()}
        self.title_keys.pop("", None)
        self.papers = [_paper(number, row, self) for number, row in enumerate(rows)]
        self.by_id = {paper.id: paper for paper in self.papers}
        self.days = np.array([paper.day for paper in self.papers], np.int64)
        self.survey = np.array([paper.survey for paper in self.papers], np.bool_)
        self.flagged = np.array([row["is_survey"] for row in rows], np.bool_)
        self.searchable = np.array([row["searchable"] for row in rows], np.bool_)
        self.sections: dict[int, list[tuple[str, str]]] = defaultdict(list)
        sections = _rows(directory / "sections.parquet")
        for row in sorted(sections, key=lambda row: (row["document"], row["position"])):
            self.sections[row["document"]].append((row["heading"], row["text"]))
        self.cited: dict[int, list[int]] = defaultdict(list)
        self.citing: dict[int, list[int]] = defaultdict(list)
        self.links = [(row["document"], row["cited"]) for row in _rows(directory / LINKS)]
        for document, cited in sorted(self.links):
            self.cited[document].append(cited)
            self.citing[cited].append(document)


LINKS = "references.parquet"


class Reach:
    """The papers that exist before a day without some, by the rule as it is documented.

    Attributes:
        cutoff: ``YYYY-MM-DD``.
        excluded: ids.
        mask: bool, shape (n,): which documents exist.
        numbers: those documents, ascending.
    """

    def __init__(self, facts: Facts, cutoff: str, day: int, excluded: frozenset[str]) -> None:
        self.facts, self.cutoff, self.day, self.excluded = facts, cutoff, day, excluded
        self.mask: NDArray[np.bool_] = (facts.days < day) & ~facts.survey
        for paper_id in excluded & facts.by_id.keys():
            self.mask[facts.by_id[paper_id].number] = False
        self.numbers = np.flatnonzero(self.mask)

    def paper(self, paper_id: object) -> Paper | None:
        """Return the paper, if it exists here."""
        paper = self.facts.by_id.get(paper_id) if isinstance(paper_id, str) else None
        return paper if paper and self.mask[paper.number] else None

    def references(self, paper: Paper) -> list[Paper]:
        """Return what it cites, as far as it exists here, in document order."""
        return self._here(self.facts.cited.get(paper.number, []))

    def citations(self, paper: Paper) -> list[Paper]:
        """Return what cites it, as far as it exists here, in document order."""
        return self._here(self.facts.citing.get(paper.number, []))

    def why_not(self, paper_id: object) -> str:
        """Return why there is no paper of this id here."""
        paper = self.facts.by_id.get(paper_id) if isinstance(paper_id, str) else None
        if paper is None:
            return "is in no row of papers.parquet"
        if paper.survey:
            return "is a survey"
        if paper.date is None:
            return "is undated"
        if paper.id in self.excluded:
            return "is excluded"
        return f"is dated {paper.date}, not before {self.cutoff}"

    def _here(self, numbers: list[int]) -> list[Paper]:
        return [self.facts.papers[number] for number in numbers if self.mask[number]]


@lru_cache(200_000)
def title_key(title: str) -> str:
    """Return what is left of a title when case, accents, punctuation and blanks are gone."""
    folded = unicodedata.normalize("NFKD", html.unescape(title)).casefold()
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if c.isalnum())


def _paper(number: int, row: dict[str, Any], facts: Facts) -> Paper:
    date = row["date"]
    is_task = row["id"] in facts.surveys or title_key(row["title"]) in facts.title_keys
    return Paper(
        number,
        row["id"],
        row["title"],
        row["abstract"],
        None if date is None else date.isoformat(),
        NEVER if date is None else date.toordinal(),
        row["date_precision"],
        row["is_survey"] or is_task,
        row["venue"],
        tuple(row["authors"]),
        tuple(row["fields"]),
    )


def _surveys(directory: Path) -> list[Survey]:
    references: dict[str, list[Reference]] = defaultdict(list)
    for row in _rows(directory / "gold.parquet"):
        references[row["survey"]].append(
            Reference(row["reference"], row["influential"], row["document"], row["status"])
        )
    maps = {row["survey"]: row for row in _rows(directory / "mind_maps.parquet")}
    return [
        Survey(
            row["id"],
            row["title"],
            row["date"].isoformat(),
            row["date"].toordinal(),
            row["date_precision"],
            tuple(references[row["id"]]),
            maps[row["id"]]["n_references_total"],
            json.loads(maps[row["id"]]["mind_map"] or "null"),
        )
        for row in _rows(directory / "surveys.parquet")
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(
            f"{str(path)!r} cannot be read ({' '.join(str(error).split())}). "
            "See `arena-corpus verify`; build the corpus again."
        ) from None
