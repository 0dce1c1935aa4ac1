"""Find the papers that a survey lists in a collection: by identifier, then by title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from arena.dates import format_day
from arena.errors import DataError
from arena.text.display import count
from arena.text.identifiers import arxiv_key, doi_key, normal_title
from corpus_builder.records import publication_date, times_cited
from corpus_builder.sources.base import LocatedRecord
from corpus_builder.sources.jsonl import JsonLinesFile


def own_key(identifier: object, title: str) -> str:
    """Return the key of a paper that a collection has under this id with this title."""
    return f"id:{identifier} title:{normal_title(title)}"


_NUMBER = re.compile(r"(\d{3,4})\.(\d+)")
_FIVE_DIGITS_FROM = "1501"  # arXiv: four digits behind the dot before January 2015, five since


def paper_keys(record: Mapping[str, Any]) -> set[str]:
    """Return the identifiers of a paper of a collection.

    They stand in its ``id`` (``arxiv:1706.03762``, ``doi:10...``, or bare), ``arxiv_id``, ``doi``
    and ``externalids`` (Semantic Scholar's). An arXiv ``id`` that passed through a floating-point
    number is repaired: ``arxiv:1907.0384800000002`` and ``arxiv:705.361``.
    """
    external = record.get("externalids") or record.get("externalIds")
    external = external if isinstance(external, Mapping) else {}
    identifier = record.get("id")
    arxiv = map(arxiv_key, (record.get("arxiv_id"), external.get("ArXiv"), identifier))
    doi = map(doi_key, (record.get("doi"), external.get("DOI"), identifier))
    return {key for key in (*arxiv, *doi, _repaired(str(identifier))) if key}


def identifiers_of(keys: Iterable[str]) -> tuple[str | None, str | None]:
    """Return the arXiv identifier and the DOI among keys, without prefix; of several the least.

    >>> identifiers_of({"doi:10.1109/1", "arxiv:1706.03762", "arxiv:2001.00001"})
    ('1706.03762', '10.1109/1')
    """
    keys = list(keys)
    arxiv_id, doi = (
        min((key.removeprefix(kind) for key in keys if key.startswith(kind)), default=None)
        for kind in ("arxiv:", "doi:")
    )
    return arxiv_id, doi


def _repaired(identifier: str) -> str | None:
    match = _NUMBER.fullmatch(identifier.removeprefix("arxiv:"))
    if match is None or not identifier.startswith("arxiv:"):
        return None
    month, digits = match[1].zfill(4), match[2]
    width = 5 if month >= _FIVE_DIGITS_FROM or month < "0704" else 4
    if len(digits) > width:
        digits = f"{float(f'0.{digits}'):.{width}f}"[2:]
    return f"arxiv:{month}.{digits.ljust(width, '0')}"


_UNDATED = 2**31 - 1


class PaperQuery(NamedTuple):
    """A paper as a survey lists it: title, identifiers, year."""

    title: str
    keys: tuple[str, ...] = ()
    year: int | None = None


class CollectionPaper(NamedTuple):
    """A paper of the collection; ordered by day, undated last, then by id."""

    day: int
    id: str
    date: Any

    @property
    def dated(self) -> bool:
        """Whether the paper has a date."""
        return self.day != _UNDATED


class Match(NamedTuple):
    """A match: the paper, how it was found, and the number of candidates."""

    paper: CollectionPaper
    by: str
    candidates: int


class Collection:
    """Papers of a file in the format of ``jsonl``, or of records, read once.

    Only what is `sought` is kept in memory, so it is bounded by the surveys, not by the collection.
    A paper with an identifier or the title of a survey is marked as one, so that no agent finds it.
    """

    def __init__(
        self,
        papers: str | Path | Iterable[LocatedRecord],
        sought: Iterable[PaperQuery],
        surveys: Iterable[PaperQuery] = (),
    ) -> None:
        self._file: Any = papers
        if isinstance(papers, str | Path):
            self._file = JsonLinesFile(papers, "papers")
        surveys = list(surveys)
        self._surveys = {key for survey in surveys for key in _names(survey)}
        wanted = self._surveys | {key for reference in sought for key in _names(reference)}
        self._papers: dict[str, set[CollectionPaper]] = {key: set() for key in wanted}
        self.citations: dict[str, int | None] = {}
        """Id of a paper that was looked up -> how often it was cited, None if unknown."""
        self._complete = False

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper."""
        for place in self._file:
            record = place.record
            if isinstance(record, Mapping) and self._note(record) and not record.get("is_survey"):
                place = place._replace(record={**record, "is_survey": True})
            yield place
        self._complete = True

    def find(self, sought: PaperQuery) -> Match | None:
        """Return the paper by identifier, or else by title; None if there is none.

        Of several candidates the earliest is taken, of the same day the one with the smaller id:
        they are versions of one work, which was known from the first one on.
        """
        self._read()
        for by, keys in (("id", sought.keys), ("title", _title(sought))):
            papers = {paper for key in keys for paper in self._papers[key]}
            if papers:
                return Match(min(papers), by, len(papers))
        return None

    def versions(self, sought: PaperQuery) -> list[CollectionPaper]:
        """Return all papers with an identifier or the title of the query, the earliest first."""
        self._read()
        return sorted({paper for key in _names(sought) for paper in self._papers[key]})

    def add(self, record: Mapping[str, Any]) -> None:
        """Let a paper be found that is in no file."""
        self._read()
        self._note(record)

    def describe(self) -> dict[str, str]:
        """Return name and sha256 of the file as it was read."""
        return {"name": self._file.name, "sha256": self._file.sha256}

    def _read(self) -> None:
        if not self._complete:
            for _ in self.papers():
                pass

    def _note(self, record: Mapping[str, Any]) -> bool:
        """Store a paper that is looked up; return whether it is one of the surveys."""
        title, identifier = record.get("title"), record.get("id")
        keys = paper_keys(record)
        if isinstance(title, str):
            titles = _title(PaperQuery(title))
            keys.update(titles, (f"id:{identifier} {name}" for name in titles))
        keys &= self._papers.keys()
        if not keys or not isinstance(identifier, str | int):
            return False
        date, day = record.get("date"), _UNDATED
        with suppress(DataError):  # none, or one that the builder refuses, and says where it stands
            day = resolved.day if (resolved := publication_date(date)) else day
        known = CollectionPaper(day, str(identifier), date)
        self.citations[known.id] = times_cited(record)
        for key in keys:
            self._papers[key].add(known)
        return not keys.isdisjoint(self._surveys)


def _names(sought: PaperQuery) -> tuple[str, ...]:
    return *sought.keys, *_title(sought)


def _title(sought: PaperQuery) -> tuple[str, ...]:
    key = normal_title(sought.title)
    return (f"title:{key}",) if key else ()


COUNTS = ("listed", "by_id", "by_title", "not_found", "repeated", "ambiguous", "years_apart")
"""The counts of a join: ``listed`` is the sum of the next four. ``repeated``: entries for a paper,
or with a title, that the survey has listed before. ``ambiguous``: of those found, the ones that
had several candidates. ``years_apart``: of those found by title, the ones whose year, as listed,
is three or more away from the paper's: false joins are among them, if there are any."""

_APART = 3
_PLAUSIBLE = range(1800, 2100)


def join(
    listed: Sequence[PaperQuery], collection: Collection
) -> tuple[list[str | None], dict[str, int]]:
    """Look every entry up, by identifier and then by title.

    Returns:
        For each entry the id of its paper, or None; and counts, see `COUNTS`.
    """
    counts = dict.fromkeys(COUNTS, 0)
    counts["listed"] = len(listed)
    places: list[str | None] = []
    missed: set[str] = set()
    for entry in listed:
        match = collection.find(entry)
        names = {*entry.keys, normal_title(entry.title)} - {""}
        known = match.paper.id in places if match else not names.isdisjoint(missed)
        places.append(match.paper.id if match else None)
        if match is None:
            missed |= names
        if known:
            counts["repeated"] += 1
        elif match is None:
            counts["not_found"] += 1
        else:
            counts[f"by_{match.by}"] += 1
            counts["ambiguous"] += match.candidates > 1
            year = entry.year if entry.year in _PLAUSIBLE else None
            if match.by == "title" and match.paper.dated and year:
                found = int(format_day(match.paper.day)[:4])
                counts["years_apart"] += abs(year - found) >= _APART
    return places, counts


class JoinCounts:
    """Counts for each survey, by id, and their sums.

    Those `left_out` have no date, so no corpus can have them; the mind-map of those `unusable`
    cannot be read.
    """

    def __init__(self) -> None:
        self.surveys: dict[str, dict[str, Any]] = {}
        self.left_out: list[str] = []
        self.unusable: list[str] = []

    def to_json(self) -> dict[str, Any]:
        """Return the sums over the surveys that are not left out, and the counts of every one."""
        kept = [of for survey, of in self.surveys.items() if survey not in set(self.left_out)]
        total: Counter[str] = Counter()
        for counts in kept:
            total.update({name: n for name, n in counts.items() if isinstance(n, int)})
        dates = Counter(counts["date_from"] for counts in kept if "date_from" in counts)
        return {
            "surveys": len(kept),
            "left_out_undated": sorted(self.left_out),
            "unusable_mind_maps": sorted(self.unusable),
            "dates_from": dict(sorted(dates.items())),
            "total": dict(total),
            "per_survey": self.surveys,
        }


def yield_rows(counts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (name, text) rows that describe what `JoinCounts.to_json` returns."""
    total = counts["total"]
    rows = []
    if total.get("listed"):
        text = (
            f"{total['listed']:,} listed by {count(counts['surveys'], 'survey')}: "
            f"{total['by_id']:,} "
            f"found by id, {total['by_title']:,} by title, {total['not_found']:,} not found, "
            f"{count(total['repeated'], 'repeat')}"
        )
        for name, reason in (("ambiguous", "of several candidates"),
                           ("years_apart", "3 or more years from their listed year")):  # fmt: skip
            if total.get(name):
                text += f"; {total[name]:,} {reason}"
        rows.append(("joined", text))
    parts = [f"{count:,} from {whence}" for whence, count in counts["dates_from"].items()]
    if left_out := len(counts["left_out_undated"]):
        parts.append(f"{left_out:,} left out: no date is known")
    if counts["unusable_mind_maps"]:
        parts.append(f"{len(counts['unusable_mind_maps']):,} mind-maps cannot be read")
    if total.get("in_collection"):
        parts.append(f"{total['in_collection']:,} of their own papers in the collection, hidden")
    if parts:
        rows.append(("survey dates" if counts["dates_from"] else "surveys", "; ".join(parts)))
    return rows
