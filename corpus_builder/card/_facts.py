"""What a card tells of a corpus, counted by DuckDB: no column ever comes into Python whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from arena.corpus import layout
from corpus_builder._duckdb import count, execute, literal, rows

TOP = 5
"""How many disciplines have a bar and a curve of their own (paper, section 4)."""

PERCENTS = range(101)


class Disciplines(NamedTuple):
    """How many papers each discipline has; a paper counts in each of its own.

    Attributes:
        papers: all of them.
        told: those with a discipline.
        top: the `TOP` largest disciplines and their papers, the largest first; of equal ones the
            first by name.
        other: papers with a discipline that is not in `top`.
        names: number of different disciplines.
    """

    papers: int
    told: int
    top: tuple[tuple[str, int], ...]
    other: int
    names: int


class Covered(NamedTuple):
    """Surveys of one group by the share of their references that is there.

    Attributes:
        kind: ``all``, ``named``, ``other`` (a discipline that is not among the largest) or
            ``unknown``.
        name: of the discipline if `kind` is ``named``.
        available: at place p the number of surveys with at least p % of their references in the
            corpus, for p from 0 to 100.
        gold: the same for the references that are in reach: dated before the survey, no surveys.
    """

    kind: str
    name: str
    available: tuple[int, ...]
    gold: tuple[int, ...]

    @property
    def surveys(self) -> int:
        """How many surveys the group has."""
        return self.available[0]


class Facts(NamedTuple):
    """What was counted.

    Attributes:
        years: year -> searchable papers of it, ascending.
        abstracts: papers whose abstract is in the corpus.
        full_texts: papers whose full text is.
        papers: disciplines of all papers.
        surveys: disciplines of the survey tasks, told by the paper of the same id.
        surveys_found: survey tasks that have such a paper.
        covered: all surveys, then those of each of the largest disciplines, then the others.
        without_references: survey tasks that list no reference, so that there is no share.
        listed: references that the survey tasks have, over all.
        available: those of them that are in the corpus.
        gold: those of them that are in reach.
    """

    years: dict[int, int]
    abstracts: int
    full_texts: int
    papers: Disciplines
    surveys: Disciplines
    surveys_found: int
    covered: tuple[Covered, ...]
    without_references: int
    listed: int
    available: int
    gold: int


_TABLES = """
CREATE VIEW papers AS
SELECT id, date, searchable, [f FOR f IN list_distinct(fields) IF trim(f) <> ''] AS disciplines
FROM read_parquet({papers});
CREATE TABLE surveys AS
SELECT coalesce(m.n_references_total, 0) AS listed, coalesce(h.available, 0) AS available,
       coalesce(h.gold, 0) AS gold, coalesce(p.disciplines, []) AS disciplines,
       p.id IS NOT NULL AS found
FROM read_parquet({surveys}) s
LEFT JOIN read_parquet({mind_maps}) m ON m.survey = s.id
LEFT JOIN (SELECT survey, count(document) AS available,
                  count(*) FILTER (status = 'gold') AS gold
           FROM read_parquet({gold}) GROUP BY survey) h ON h.survey = s.id
LEFT JOIN papers p ON p.id = s.id
"""
_NAMED = """
CREATE TABLE named_{table} AS SELECT name, count(*) AS n
FROM (SELECT unnest(disciplines) AS name FROM {table}) GROUP BY name;
CREATE TABLE top_{table} AS SELECT * FROM named_{table} ORDER BY n DESC, name LIMIT {top}
"""
_OTHER = (
    "len(disciplines) > 0 AND "
    "NOT list_has_all((SELECT coalesce(list(name), []) FROM top_{table}), disciplines)"
)
# A survey's share in whole percents, rounded down: at least p % if and only if this is at least p.
_SHARES = """
CREATE VIEW shares AS
SELECT disciplines, available * 100 // listed AS a, gold * 100 // listed AS g
FROM surveys WHERE listed > 0
"""
_COVERED = """
SELECT 'all' AS kind, '' AS name, a, g, count(*) AS n FROM shares GROUP BY a, g
UNION ALL
SELECT 'named', name, a, g, count(*)
FROM (SELECT unnest(disciplines) AS name, a, g FROM shares) JOIN top_surveys USING (name)
GROUP BY name, a, g
UNION ALL
SELECT 'other', '', a, g, count(*) FROM shares WHERE {other} GROUP BY a, g
UNION ALL
SELECT 'unknown', '', a, g, count(*) FROM shares WHERE len(disciplines) = 0 GROUP BY a, g
"""


def measure(connection: duckdb.DuckDBPyConnection, corpus: Path) -> Facts:
    """Count what the card tells, but for the mind-maps.

    Args:
        connection: an empty database.
        corpus: a built corpus.
    """
    files = {"papers": layout.PAPERS, "surveys": layout.SURVEYS, "gold": layout.GOLD,
             "mind_maps": layout.MIND_MAPS}  # fmt: skip
    execute(connection, _TABLES.format(**{k: literal(corpus / f) for k, f in files.items()}))
    execute(connection, _SHARES)
    papers, sections = literal(corpus / layout.PAPERS), literal(corpus / layout.SECTIONS)
    by_year = "SELECT year(date), count(*) FROM papers WHERE searchable GROUP BY ALL ORDER BY ALL"
    years: dict[int, int] = dict(rows(connection, by_year))
    disciplines = _disciplines(connection, "papers"), _disciplines(connection, "surveys")
    (sums,) = rows(
        connection,
        "SELECT coalesce(sum(listed), 0)::BIGINT, coalesce(sum(available), 0)::BIGINT, "
        "coalesce(sum(gold), 0)::BIGINT FROM surveys",
    )
    return Facts(
        years=years,
        abstracts=count(
            connection, f"SELECT count(*) FROM read_parquet({papers}) WHERE abstract <> ''"
        ),
        full_texts=count(
            connection, f"SELECT count(*) FROM read_parquet({sections}) WHERE position = 0"
        ),
        papers=disciplines[0],
        surveys=disciplines[1],
        surveys_found=count(connection, "SELECT count(*) FROM surveys WHERE found"),
        covered=tuple(_covered(connection, [name for name, _ in disciplines[1].top])),
        without_references=count(connection, "SELECT count(*) FROM surveys WHERE listed = 0"),
        listed=sums[0],
        available=sums[1],
        gold=sums[2],
    )


def mind_maps(connection: duckdb.DuckDBPyConnection, corpus: Path) -> Iterator[str]:
    """Yield the JSON text of every mind-map, one at a time."""
    file = literal(corpus / layout.MIND_MAPS)
    for (text,) in rows(
        connection, f"SELECT mind_map FROM read_parquet({file}) WHERE mind_map IS NOT NULL"
    ):
        yield text


def _disciplines(connection: duckdb.DuckDBPyConnection, table: str) -> Disciplines:
    execute(connection, _NAMED.format(table=table, top=TOP))
    return Disciplines(
        papers=count(connection, f"SELECT count(*) FROM {table}"),
        told=count(connection, f"SELECT count(*) FROM {table} WHERE len(disciplines) > 0"),
        top=tuple(rows(connection, f"SELECT name, n FROM top_{table} ORDER BY n DESC, name")),
        other=count(connection, f"SELECT count(*) FROM {table} WHERE {_OTHER.format(table=table)}"),
        names=count(connection, f"SELECT count(*) FROM named_{table}"),
    )


def _covered(connection: duckdb.DuckDBPyConnection, top: list[str]) -> Iterator[Covered]:
    found: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for kind, name, available, gold, n in rows(
        connection, _COVERED.format(other=_OTHER.format(table="surveys"))
    ):
        of = found.setdefault((kind, name), ([0] * len(PERCENTS), [0] * len(PERCENTS)))
        of[0][available] += n
        of[1][gold] += n
    order = [("all", ""), *(("named", name) for name in top), ("other", ""), ("unknown", "")]
    for group in order:
        if group in found:
            yield Covered(*group, *(_at_least(exactly) for exactly in found[group]))


def _at_least(exactly: list[int]) -> tuple[int, ...]:
    return tuple(sum(exactly[percent:]) for percent in PERCENTS)
