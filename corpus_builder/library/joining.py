"""Records of the same paper, found and joined: by id, DOI, arXiv identifier, or title and year."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from arena.corpus.store import hash_id
from arena.dates import parse_date
from arena.text.display import replace_surrogates
from arena.text.identifiers import normal_title
from corpus_builder.records import publication_date
from corpus_builder.release import read_json
from corpus_builder.release.values import identifier
from corpus_builder.sources.matching import identifiers_of, paper_keys

_KINDS = ("id", "doi", "arxiv", "title")
_NEVER = 2**31


class Joiner:
    """Records in a database on disk, and in memory which ones are of the same paper.

    Two records are of one paper if they have an id, a DOI or an arXiv identifier in common, or
    title and year and no two different identifiers. The earliest counts, since the work was known
    from then on, and what it lacks is taken from the next.
    """

    def __init__(self) -> None:
        self._records = sqlite3.connect("")  # a file that goes with the connection
        columns = "n INTEGER PRIMARY KEY, id, doi, arxiv, title, day, line"
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
        arxiv_id, doi = identifiers_of(paper_keys(record))
        id_, date = record.get("id"), record.get("date")
        dated = publication_date(date) if date is not None else None
        names = (id_ and str(id_), doi, arxiv_id, _title(record))
        row = (len(self), *names, dated.day if dated else _NEVER, dumped(record))
        self._records.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", row)

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

    def _join_titles(self, group: list[int]) -> None:
        """Unite records of one title and year unless their identifiers differ."""
        named: dict[int, dict[str, set[str]]] = {}
        for number, *keys in self._rows("n, doi, arxiv", group, "n"):
            of = named.setdefault(self._root(number), {"doi": set(), "arxiv": set()})
            for of_kind, key in zip(of.values(), keys, strict=True):
                of_kind |= {key} - {None}
        # Those with identifiers first, in an order that does not depend on that of the files
        order = sorted(
            named.items(), key=lambda each: [(not k, sorted(k)) for k in each[1].values()]
        )
        kept: list[tuple[int, dict[str, set[str]]]] = []
        for root, keys in order:
            for other, known in kept:
                if all(not keys[k] or not known[k] or keys[k] & known[k] for k in keys):
                    self._unite(other, root, "title")
                    for kind in keys:
                        known[kind] |= keys[kind]
                    break
            else:
                kept.append((root, keys))


_EQUAL = """
SELECT group_concat(n) FROM records WHERE {0} <> '' GROUP BY {0} HAVING count(*) > 1
"""


def _title(record: Mapping[str, Any]) -> str:
    """Return the key of title and year."""
    date = record.get("date")
    year = str(parse_date(date))[:4] if date is not None else ""
    return replace_surrogates(f"{normal_title(record['title']) or record['title']}|{year}")


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
    references = [reference for record in records for reference in record.get("references") or ()]
    if len(records) > 1 and references:
        paper["references"] = references
    if not paper.get("id"):
        arxiv_id, doi = identifiers_of(paper_keys(paper))
        made = f"arxiv:{arxiv_id}" if arxiv_id else identifier(f"doi:{doi}") if doi else None
        paper["id"] = made or f"paper:{hash_id(_title(paper)):016x}"
    return paper
