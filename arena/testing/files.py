"""A second reading of a corpus' Parquet files, independent of the code that serves them.

Nothing of `arena.corpus` or `arena.dates` is imported here: `arena audit` and `arena check` compare
the answers of the environments with what this module reads and derives.
"""

from __future__ import annotations

import html
import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError

NEVER = 2**62
"""The day of an undated paper: after every cutoff."""


class Paper(NamedTuple):
    """A row of papers.parquet.

    Attributes:
        day: Ordinal in the calendar; `NEVER` if undated.
        survey: Whether it is flagged as a survey, or has the id or title of a task.
        flagged: The column ``is_survey`` as stored.
        searchable: The column ``searchable`` as stored.
    """

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
    flagged: bool
    searchable: bool


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

    @property
    def gains(self) -> dict[str, int]:
        """Paper id -> 2 (influential) or 1, for the references with the status ``gold``."""
        return {r.id: 1 + r.influential for r in self.references if r.status == "gold"}

    @property
    def headings(self) -> list[str]:
        """The headings of the mind-map in any of its forms, the root first."""
        return list(_headings(self.mind_map))


class Facts:
    """The papers, sections, links and tasks of a corpus directory, each read at its first use.

    Args:
        directory: Directory of a built corpus.

    Attributes:
        surveys: Survey tasks by id.
        title_keys: Key of a task's title (`title_key`) -> id of the task.
    """

    def __init__(self, directory: str | Path) -> None:
        self._directory = Path(directory)
        self.surveys = {survey.id: survey for survey in _surveys(self._directory / "tasks")}
        self.title_keys = {title_key(s.title): s.id for s in self.surveys.values()}
        self.title_keys.pop("", None)

    @cached_property
    def papers(self) -> list[Paper]:
        """The papers by document number."""
        rows = _read(self._directory / "papers.parquet")
        return [self._paper(number, row) for number, row in enumerate(rows)]

    @cached_property
    def by_id(self) -> dict[str, Paper]:
        """The papers by id."""
        return {paper.id: paper for paper in self.papers}

    @cached_property
    def days(self) -> NDArray[np.int64]:
        """Ordinal of each paper's day, `NEVER` where undated; shape (n,)."""
        return np.array([paper.day for paper in self.papers], np.int64)

    @cached_property
    def survey(self) -> NDArray[np.bool_]:
        """Which papers are surveys, shape (n,)."""
        return np.array([paper.survey for paper in self.papers], np.bool_)

    @cached_property
    def sections(self) -> dict[int, list[tuple[str, str]]]:
        """Document number -> (heading, text) pairs in order."""
        sections: dict[int, list[tuple[str, str]]] = defaultdict(list)
        rows = _read(self._directory / "sections.parquet")
        for row in sorted(rows, key=lambda row: (row["document"], row["position"])):
            sections[row["document"]].append((row["heading"], row["text"]))
        return sections

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """(citing, cited) document numbers as stored."""
        rows = _read(self._directory / "references.parquet")
        return [(row["document"], row["cited"]) for row in rows]

    @cached_property
    def cited(self) -> dict[int, list[int]]:
        """Document number -> the documents that it cites, ascending."""
        return _grouped(sorted(self.links))

    @cached_property
    def citing(self) -> dict[int, list[int]]:
        """Document number -> the documents that cite it, ascending."""
        return _grouped((cited, document) for document, cited in sorted(self.links))

    def reach(self, survey_id: str) -> Reach:
        """Return what exists in an episode of a survey."""
        survey = self.surveys[survey_id]
        return Reach(self, survey.date, survey.day, frozenset((survey_id,)))

    def texts(self, number: int) -> Iterator[str]:
        """Yield every text of a document: title, abstract, headings and sections."""
        yield self.papers[number].title
        yield self.papers[number].abstract
        for section in self.sections.get(number, ()):
            yield from section

    def _paper(self, number: int, row: dict[str, Any]) -> Paper:
        date = row["date"]
        is_task = row["id"] in self.surveys or title_key(row["title"]) in self.title_keys
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
            row["is_survey"],
            row["searchable"],
        )


class Reach:
    """The papers that exist before a cutoff, by the rule as it is documented.

    Args:
        facts: The whole corpus.
        cutoff: Day of the cutoff, ``YYYY-MM-DD``.
        day: The same as an ordinal of the calendar.
        excluded: Ids of papers that are left out.

    Attributes:
        mask: Which documents exist; bool, shape (n,).
        numbers: Their document numbers, ascending.
    """

    def __init__(self, facts: Facts, cutoff: str, day: int, excluded: frozenset[str]) -> None:
        self.facts, self.cutoff, self.day, self.excluded = facts, cutoff, day, excluded
        self.mask: NDArray[np.bool_] = (facts.days < day) & ~facts.survey
        for paper_id in excluded & facts.by_id.keys():
            self.mask[facts.by_id[paper_id].number] = False
        self.numbers = np.flatnonzero(self.mask)

    def paper(self, paper_id: object) -> Paper | None:
        """Return the paper with this id if it is in reach, else None."""
        paper = self.facts.by_id.get(paper_id) if isinstance(paper_id, str) else None
        return paper if paper and self.mask[paper.number] else None

    def references(self, paper: Paper) -> list[Paper]:
        """Return the papers in reach that `paper` cites, in document order."""
        return self._here(self.facts.cited.get(paper.number, []))

    def citations(self, paper: Paper) -> list[Paper]:
        """Return the papers in reach that cite `paper`, in document order."""
        return self._here(self.facts.citing.get(paper.number, []))

    def why_not(self, paper_id: object) -> str:
        """Say why the paper with this id is not in reach."""
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
    """Return the letters and digits of a title without case, accents and punctuation."""
    folded = unicodedata.normalize("NFKD", html.unescape(title)).casefold()
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if c.isalnum())


def _headings(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from _headings(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key != "papers":
                yield from _headings(value)


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for one, other in pairs:
        groups[one].append(other)
    return groups


def _surveys(directory: Path) -> list[Survey]:
    references: dict[str, list[Reference]] = defaultdict(list)
    for row in _read(directory / "gold.parquet"):
        references[row["survey"]].append(
            Reference(row["reference"], row["influential"], row["document"], row["status"])
        )
    maps = {row["survey"]: row for row in _read(directory / "mind_maps.parquet")}
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
        for row in _read(directory / "surveys.parquet")
    ]


def _read(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(
            f"{str(path)!r} cannot be read ({' '.join(str(error).split())}). "
            "See `arena-corpus verify`; build the corpus again."
        ) from None
