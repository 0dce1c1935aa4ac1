"""Records of the same paper, found and joined: by id, DOI, arXiv identifier, or title."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from arena.corpus.store import hash_id
from arena.text.display import replace_surrogates
from arena.text.identifiers import normal_title
from corpus_builder.library.claims import Claim, settled
from corpus_builder.library.names import family_names, people_names
from corpus_builder.readers.base import ENTRY_DATE, ENTRY_YEARS
from corpus_builder.records import publication_date
from corpus_builder.release import read_json
from corpus_builder.release.values import identifier
from corpus_builder.sources.matching import identifiers_of, paper_keys

_KINDS = ("id", "doi", "arxiv", "title")
_NEVER = 2**31
_PREPRINTS = re.compile(r"rxiv|preprint|\b(?:corr|ssrn)\b|10\.1101/[\d.]+$|/rs\.3|/osf\.io", re.I)


class Joiner:
    """Records in a database on disk, and in memory which ones are of the same paper.

    Two records are of one paper if they have an id in common, or a DOI or an arXiv identifier that
    is theirs (see `corpus_builder.library.claims`). So are those of one title and year, or of years
    one apart if one of them may be a preprint, unless they have different DOIs (preprints apart)
    or arXiv identifiers, or both have authors and no name in common.
    The earliest counts, since the work was known from then on, and what it lacks is taken from the
    next.
    """

    def __init__(self) -> None:
        self._records = sqlite3.connect("")  # a file that goes with the connection
        columns = "n INTEGER PRIMARY KEY, id, doi, arxiv, title, names, years, preprints, day, line"
        self._records.execute(f"CREATE TABLE records ({columns})")
        self._parents: dict[int, int] = {}
        self._counts: Counter[str] = Counter()
        self._example: list[str] = []
        self._names: dict[str, str] = {}
        self._together: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return self._records.total_changes

    def add(self, record: Mapping[str, Any]) -> None:
        """Add a record that `corpus_builder.records.parse_paper` takes; it may lack an id."""
        self._store(len(self), record)

    def _store(self, number: int, record: Mapping[str, Any], without: str = "") -> None:
        arxiv_id, doi = identifiers_of(paper_keys(record))
        id_, date = record.get("id"), record.get("date")
        dated = publication_date(date) if date is not None else None
        keys = {"id": id_ and str(id_), "doi": doi, "arxiv": arxiv_id, "title": _title(record)}
        keys |= {without: None} if without else {}
        names, years = " ".join(people_names(_authors(record))), " ".join(map(str, _years(record)))
        venue = str(record.get("venue") or "")
        preprints = years if arxiv_id or not venue or _PREPRINTS.search(f"{venue} {doi}") else ""
        same = (names, years, preprints, dated.day if dated else _NEVER)
        row = (number, *keys.values(), *same, dumped(record))
        self._records.execute("REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def papers(self) -> Iterator[tuple[list[int], dict[str, Any]]]:
        """Yield each paper and the numbers of its records; add no more records then."""
        self._join()
        for number, line in self._records.execute("SELECT n, line FROM records ORDER BY n"):
            if number not in self._parents:
                members = self._together.get(number, [number])
                paper = _merged(self._ordered(members) if members[1:] else [read_json(line)])
                if self._names and (listed := paper.get("references")):
                    paper["references"] = [*map(self.renamed, listed)]
                yield members, paper

    def report(self) -> dict[str, Any]:
        """Return what was joined: records by what they have in common, and with other titles."""
        return {"joined": dict(sorted(self._counts.items())), "other_titles": self._example}

    def renamed(self, reference: Any) -> Any:
        """Return a reference with the id of the paper that its record was joined to."""
        if isinstance(reference, dict):
            return {**reference, "id": self.renamed(reference["id"])}
        return self._names.get(str(reference), reference)

    def _rows(self, columns: str, members: list[int], order: str) -> list[Any]:
        among = ",".join(map(str, members))
        query = f"SELECT {columns} FROM records WHERE n IN ({among}) ORDER BY {order}"
        return self._records.execute(query).fetchall()

    def _ordered(self, members: list[int]) -> list[dict[str, Any]]:
        """Return records, the earliest first, whatever their order in the files."""
        return [read_json(line) for (line,) in self._rows("line", members, "day, line")]

    def _root(self, number: int) -> int:
        while number in self._parents:
            number = self._parents[number]
        return number

    def _unite(self, one: int, other: int, kind: str) -> None:
        one, other = sorted((self._root(one), self._root(other)))
        if one != other:
            self._parents[other] = one
            self._counts[kind] += 1

    def _join(self) -> None:
        if self._together:
            return
        for kind in ("doi", "arxiv"):
            self._check_claims(kind)
        for kind in _KINDS:
            for (group,) in self._records.execute(_EQUAL.format(kind)).fetchall():
                group = [*map(int, group.split(","))]
                if kind == "title":
                    self._join_titles(group)
                else:
                    for number in group[1:]:
                        self._unite(group[0], number, kind)
        for number in sorted(self._parents):
            root = self._root(number)
            self._together.setdefault(root, [root]).append(number)
        for members in self._together.values():
            records = self._ordered(members)
            paper = _merged(records)
            for record in records:
                if record.get("id", paper["id"]) != paper["id"]:
                    self._names[str(record["id"])] = paper["id"]
                if normal_title(record["title"]) != normal_title(records[0]["title"]):
                    self._counts["other_title"] += 1
                    self._example = self._example or [records[0]["title"], record["title"]]

    def _check_claims(self, kind: str) -> None:
        """Take a DOI or arXiv identifier, or its month, from records of which it is not."""
        for (group,) in self._records.execute(_EQUAL.format(kind)).fetchall():
            rows = self._rows("n, title, names, line", [*map(int, group.split(","))], "title, line")
            if len({title for _, title, *_ in rows}) == 1:
                continue
            claims = [Claim(n, title, set(names.split()), read_json(line))
                      for n, title, names, line in rows]  # fmt: skip
            for claim, owns in settled(claims):
                record = dict(claim.record)
                if kind == "arxiv" and ENTRY_DATE in record:
                    record["date"] = record.pop(ENTRY_DATE) or None
                    record.pop(ENTRY_YEARS, None)
                if not owns and "id" not in record:
                    record.pop({"arxiv": "arxiv_id"}.get(kind, kind), None)
                self._store(claim.number, record, "" if owns else kind)

    def _join_titles(self, group: list[int]) -> None:
        """Unite records of one title that can be of one work."""
        parts: dict[int, list[set[str]]] = {}
        for number, *texts in self._rows("n, doi, arxiv, names, years, preprints", group, "n"):
            sets = parts.setdefault(self._root(number), [set() for _ in texts])
            texts[0] = "" if _PREPRINTS.search(texts[0] or "") else texts[0]
            for known, text in zip(sets, texts, strict=True):
                known.update((text or "").split())
        works: list[_Work] = []
        # In an order that does not depend on that of the files; those with identifiers first.
        for root, sets in sorted(parts.items(), key=_order):
            if works and [*works[-1][1:]] == sets:  # alike in all that counts
                self._unite(works[-1].root, root, "title")
            else:
                works.append(_Work(root, *sets))
        for apart in (0, 1):  # of one year first
            kept: list[_Work | None] = []
            places: defaultdict[str, set[int]] = defaultdict(set)
            for work in works:
                place, grown = len(kept), work
                kept.append(None)
                while (at := grown.first_of(kept, places, apart)) is not None:
                    place, other, kept[at] = at, kept[at], None
                    assert other is not None
                    self._unite(other.root, grown.root, "title")
                    sets = [one | more for one, more in zip(other[1:], grown[1:], strict=True)]
                    grown = _Work(other.root, *sets)
                kept[place] = grown
                for year in grown.own_years():
                    places[year].add(place)
            works = [work for work in kept if work is not None]


def _order(part: tuple[int, list[set[str]]]) -> list[Any]:
    return [(not each, sorted(each)) for each in part[1]]


class _Work(NamedTuple):
    """The state of the records of one title that were joined so far.

    Two can be one work if of the DOIs, the arXiv identifiers and the family names each they have
    one in common, or one of the two has none, and if they have a year in common, or both none, or
    one of them has a preprint of a year next to one of the other. Proceedings and journals alone
    must be of one year: what projects report every year has one title, too. `preprints` are the
    years of records that may be preprints.
    """

    root: int
    dois: set[str]
    arxiv_ids: set[str]
    names: set[str]
    years: set[str]
    preprints: set[str]

    def own_years(self) -> set[str]:
        """Return its years, an empty text without one, and those of preprints once more."""
        return (self.years or {""}) | {f"preprint {year}" for year in self.preprints}

    def near_years(self) -> set[str]:
        """Return what of `own_years` of another work is next to a year of this one."""
        steps = (-1, 1)
        published = {f"{int(year) + step}" for year in self.preprints for step in steps}
        return published | {f"preprint {int(year) + step}" for year in self.years for step in steps}

    def first_of(
        self, others: Sequence[_Work | None], places: Mapping[str, set[int]], apart: int
    ) -> int | None:
        """Return the place of the first work that can be this one; None if there is none.

        `places` are those of works by `own_years`.
        """
        near = (self.years or {""}) | (self.near_years() if apart else set())
        for place in sorted(set[int]().union(*(places.get(year, ()) for year in near))):
            other = others[place]
            if other and not (
                _differ(self.dois, other.dois)
                or _differ(self.arxiv_ids, other.arxiv_ids)
                or _differ(self.names, other.names)
            ):
                return place
        return None


def _differ(one: set[str], other: set[str]) -> bool:
    return bool(one and other) and one.isdisjoint(other)


_EQUAL = """
SELECT group_concat(n) FROM records WHERE {0} <> '' GROUP BY {0} HAVING count(*) > 1
"""


def _title(record: Mapping[str, Any]) -> str:
    return replace_surrogates(normal_title(record["title"]) or record["title"])


def _authors(record: Mapping[str, Any]) -> list[Any]:
    return record.get("authors") or []


def _years(record: Mapping[str, Any]) -> list[int]:
    """Return the years that the entries of a paper name, else that of its date, if it has one.

    Readers, and libraries that are extended, give `ENTRY_YEARS` where the date is of another year.
    """
    years = record.get(ENTRY_YEARS)
    if isinstance(years, list) and years and all(type(year) is int for year in years):
        return years
    dated = publication_date(record["date"]) if record.get("date") is not None else None
    return [int(str(dated)[:4])] if dated else []


def dumped(record: Mapping[str, Any]) -> bytes:
    """Return a record as JSON."""
    try:
        return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a character, or an integer of more than 64 bits
        return json.dumps(record, sort_keys=True).encode()


def _merged(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one record of several; the first counts, others add what it lacks."""
    paper: dict[str, Any] = {}
    for record in records:
        for key, value in record.items():
            if paper.get(key) in (None, "", [], False):
                paper[key] = value
    if len(records) > 1:
        paper.pop(ENTRY_DATE, None)
        if listed := [each for record in records for each in record.get("references") or ()]:
            paper["references"] = listed
        years = sorted({year for record in records for year in _years(record)})
        if years != _years({"date": paper.get("date")}):
            paper[ENTRY_YEARS] = years
        else:
            paper.pop(ENTRY_YEARS, None)
    if not paper.get("id"):
        arxiv_id, doi = identifiers_of(paper_keys(paper))
        made = f"arxiv:{arxiv_id}" if arxiv_id else identifier(f"doi:{doi}") if doi else None
        paper["id"] = made or _made_id(paper, doi)
    return paper


def _made_id(paper: Mapping[str, Any], doi: str | None) -> str:
    """Return an id for a paper without one, of all in which it can differ from other papers."""
    year, names = "".join(map(str, _years(paper)[:1])), sorted(family_names(_authors(paper)))
    return f"paper:{hash_id('|'.join([_title(paper), year, *names, *filter(None, [doi])])):016x}"
