"""A second reading of a corpus' Parquet files, independent of the code that serves them.

Nothing of `arena.corpus` or `arena.dates` is imported here: `arena audit` and `arena check` compare
the answers of the environments with what this module reads and derives.
"""

from __future__ import annotations

import calendar
import html
import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError

NEVER = 2**62
"""The day of an undated paper: after every cutoff."""


class StoredPaper(NamedTuple):
    """A row of papers.parquet, with its day as an ordinal; `NEVER` if it has no date.

    `survey` is whether it is flagged as a survey, or has the id or title of a task; `flagged` and
    `searchable` are the columns as stored.
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


class StoredSurvey(NamedTuple):
    """A survey task with its labels; `references` are rows of tasks/gold.parquet."""

    id: str
    title: str
    date: str
    day: int
    precision: str
    references: tuple[dict[str, Any], ...]
    references_total: int
    mind_map: Any

    @property
    def gains(self) -> dict[str, int]:
        """Paper id -> 2 (influential) or 1, for the references with the status ``gold``."""
        gold = (row for row in self.references if row["status"] == "gold")
        return {row["reference"]: 1 + row["influential"] for row in gold}

    @property
    def headings(self) -> list[str]:
        """The headings of the mind-map in any of its forms, the root first."""
        return list(headings_of(self.mind_map))


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
        references: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in self._rows("tasks/gold"):
            references[row["survey"]].append(row)
        maps = {row["survey"]: row for row in self._rows("tasks/mind_maps")}
        self.surveys = {
            row["id"]: StoredSurvey(
                row["id"],
                row["title"],
                row["date"].isoformat(),
                row["date"].toordinal(),
                row["date_precision"],
                tuple(references[row["id"]]),
                maps[row["id"]]["n_references_total"],
                json.loads(maps[row["id"]]["mind_map"] or "null"),
            )
            for row in self._rows("tasks/surveys")
        }
        self.title_keys = {title_key(s.title): s.id for s in self.surveys.values()}
        self.title_keys.pop("", None)

    @cached_property
    def papers(self) -> list[StoredPaper]:
        """The papers by document number."""
        return [
            StoredPaper(
                number,
                row["id"],
                row["title"],
                row["abstract"],
                None if row["date"] is None else row["date"].isoformat(),
                NEVER if row["date"] is None else row["date"].toordinal(),
                row["date_precision"],
                row["is_survey"]
                or row["id"] in self.surveys
                or title_key(row["title"]) in self.title_keys,
                row["venue"],
                tuple(row["authors"]),
                tuple(row["fields"]),
                row["is_survey"],
                row["searchable"],
            )
            for number, row in enumerate(self._rows("papers"))
        ]

    @cached_property
    def by_id(self) -> dict[str, StoredPaper]:
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
        rows = sorted(self._rows("sections"), key=lambda row: (row["document"], row["position"]))
        return _grouped((row["document"], (row["heading"], row["text"])) for row in rows)

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """(citing, cited) document numbers as stored."""
        return [(row["document"], row["cited"]) for row in self._rows("references")]

    @cached_property
    def cited(self) -> dict[int, list[int]]:
        """Document number -> the documents that it cites, ascending."""
        return _grouped(sorted(self.links))

    @cached_property
    def citing(self) -> dict[int, list[int]]:
        """Document number -> the documents that cite it, ascending."""
        return _grouped((cited, document) for document, cited in sorted(self.links))

    @cached_property
    def inputs(self) -> list[str]:
        """Names of the inputs that the corpus has digests of."""
        manifest = json.loads((self._directory / "manifest.json").read_bytes())
        return sorted(manifest.get("digests", {}))

    @lru_cache(8)  # noqa: B019 - facts live as long as the audit
    def digests(self, name: str) -> tuple[str, bool, dict[int, str]]:
        """Return heading, whether all papers have one, and document number -> digest."""
        folder = self._directory / "digest" / name
        manifest = json.loads((folder / "manifest.json").read_bytes())
        text, ends = (folder / "texts.bin").read_bytes(), np.load(folder / "texts.offsets.npy")
        texts = {
            int(number): text[ends[place] : ends[place + 1]].decode()
            for place, number in enumerate(np.load(folder / "documents.npy"))
        }
        return manifest["heading"], manifest["papers"] == "all", texts

    def reach(self, survey_id: str) -> Reach:
        """Return what exists in an episode of a survey."""
        survey = self.surveys[survey_id]
        return Reach(self, survey.date, survey.day, frozenset((survey_id,)))

    def texts(self, number: int) -> Iterator[str]:
        """Yield every text of a document: title, abstract, digests, headings and sections."""
        yield from (self.papers[number].title, self.papers[number].abstract)
        for name in self.inputs:
            yield self.digests(name)[2].get(number, "")
        for section in self.sections.get(number, ()):
            yield from section

    def broken_rules(self) -> Iterator[tuple[str, str, str]]:
        """Yield (name of a leak, file, what is wrong) where rows break a rule of the format."""
        papers = self.papers
        rows: list[StoredPaper | StoredSurvey] = [*papers, *self.surveys.values()]
        for dated in rows:
            if dated.date != (expected := last_day(dated.date, dated.precision)):
                file = "papers" if isinstance(dated, StoredPaper) else "tasks/surveys"
                what = f"{dated.id!r} is dated {dated.date} by {dated.precision!r}, not {expected}"
                yield "stored dates", f"{file}.parquet", what
        order = [(paper.day, paper.id.encode("utf-8", "surrogatepass")) for paper in papers]
        for number in range(1, len(order)):
            if order[number - 1] >= order[number]:
                what = f"row {number}, {papers[number].id!r}, comes after a later or equal one"
                yield "stored order", "papers.parquet", what
        for paper in papers:
            for wrong, what in (
                (paper.survey and not paper.flagged, "is a survey task and not flagged"),
                (
                    paper.searchable != (paper.day != NEVER and not paper.flagged),
                    f"has searchable={paper.searchable}",
                ),
                (
                    paper.survey and (paper.abstract or paper.number in self.sections),
                    "is a survey and has a text",
                ),
            ):
                if wrong:
                    yield "stored surveys", "papers.parquet", f"{paper.id!r} {what}"
        linkable = dict(enumerate(((self.days < NEVER) & ~self.survey).tolist()))
        for link, times in Counter(self.links).items():
            if not all(map(linkable.get, link)) or link[0] == link[1] or times > 1:
                yield "stored links", "references.parquet", f"{link} stands {times} times"
        for number in self.sections.keys() - linkable.keys():
            yield "stored links", "sections.parquet", f"there is no document {number}"
        for survey in self.surveys.values():
            for row in survey.references:
                status = self._status(row["reference"], survey)
                if (row["document"], row["status"]) != status:
                    what = f"{row['document']}, {row['status']!r}, and should be {status}"
                    what = f"{row['reference']!r} of {survey.id!r} is document {what}"
                    yield "stored gold", "tasks/gold.parquet", what

    def _status(self, paper_id: str, survey: StoredSurvey) -> tuple[int | None, str]:
        """Return the document and the status of a reference."""
        if (paper := self.by_id.get(paper_id)) is None:
            return None, "unknown"
        if paper.day == NEVER:
            return paper.number, "undated"
        if paper.survey:
            return paper.number, "survey"
        return paper.number, "gold" if paper.day < survey.day else "not_before"

    def _rows(self, name: str) -> list[dict[str, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self._directory / f"{name}.parquet"
        try:
            return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]
        except (pa.ArrowException, OSError) as error:
            raise CorpusError(
                f"{str(path)!r} cannot be read ({' '.join(str(error).split())}). "
                "See `arena-corpus verify`; build the corpus again."
            ) from None


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

    def paper(self, paper_id: object) -> StoredPaper | None:
        """Return the paper with this id if it is in reach, else None."""
        paper = self.facts.by_id.get(paper_id) if isinstance(paper_id, str) else None
        return paper if paper and self.mask[paper.number] else None

    def linked(self, tool: str, paper: StoredPaper) -> list[StoredPaper]:
        """Return the ``references`` or ``citations`` of a paper in reach, in document order."""
        links = self.facts.cited if tool == "references" else self.facts.citing
        return [self.facts.papers[n] for n in links.get(paper.number, ()) if self.mask[n]]

    def kind(self, paper_id: str) -> str:
        """Return why an id must be refused, in a word or two."""
        paper = self.facts.by_id.get(paper_id)
        if paper is None:
            return "survey task" if paper_id in self.facts.surveys else "unknown"
        if paper.survey or paper.date is None:
            return "survey" if paper.survey else "undated"
        if paper.day == self.day:
            return "of the cutoff's day"
        return "later" if paper.day > self.day else "excluded"

    def why_not(self, paper_id: object) -> str:
        """Return why the paper with this id is not in reach, in a sentence."""
        paper = self.facts.by_id.get(paper_id) if isinstance(paper_id, str) else None
        if paper is None:
            return "is in no row of papers.parquet"
        if paper.survey or paper.date is None:
            return "is a survey" if paper.survey else "is undated"
        if paper.id in self.excluded:
            return "is excluded"
        return f"is dated {paper.date}, not before {self.cutoff}"


@lru_cache(200_000)
def title_key(title: str) -> str:
    """Return the letters and digits of a title without case, accents and punctuation."""
    folded = unicodedata.normalize("NFKD", html.unescape(title)).casefold()
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if c.isalnum())


def last_day(date: str | None, precision: str | None) -> str | None:
    """Return the last day that a date of this precision can mean; None if there is none."""
    if date is None:
        return None if precision is None else "a date"
    if precision == "year":
        return f"{date[:4]}-12-31"
    if precision == "month":
        return f"{date[:7]}-{calendar.monthrange(int(date[:4]), int(date[5:7]))[1]:02d}"
    return date if precision == "day" else None


def headings_of(tree: Any) -> Iterator[str]:
    """Yield the headings of a mind-map in any of its forms, the root first."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from headings_of(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key != "papers":
                yield from headings_of(value)


def _grouped(pairs: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    groups: dict[int, list[Any]] = defaultdict(list)
    for one, other in pairs:
        groups[one].append(other)
    return groups
