"""The numbers of a card, counted by DuckDB: no column ever comes into Python whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import duckdb

from arena.corpus import layout
from arena.errors import ArenaError
from arena.mindmap import read_mind_map
from corpus_builder._duckdb import count, execute, literal, rows

TOP = 5
"""How many disciplines have a bar and a curve of their own (paper, section 4)."""

PERCENTS = range(101)


class Disciplines(NamedTuple):
    """How many papers each discipline has; a paper counts in each of its own.

    Attributes:
        papers: Number of all papers.
        known: Number of those with a discipline.
        top: The `TOP` largest disciplines and their papers, the largest first; of equal ones the
            first by name.
        other: Papers with a discipline that is not in `top`.
        names: Number of different disciplines.
    """

    papers: int
    known: int
    top: tuple[tuple[str, int], ...]
    other: int
    names: int


class Covered(NamedTuple):
    """Surveys of one group by the share of their references that the corpus has.

    Attributes:
        kind: ``all``, ``named``, ``other`` (a discipline that is not among the largest) or
            ``unknown``.
        name: Name of the discipline if `kind` is ``named``.
        available: At place p the number of surveys with at least p % of their references in the
            corpus, for p from 0 to 100.
        gold: The same for the references that are in reach: dated before the survey, no surveys.
    """

    kind: str
    name: str
    available: tuple[int, ...]
    gold: tuple[int, ...]

    @property
    def surveys(self) -> int:
        """How many surveys the group has."""
        return self.available[0]


class Line(NamedTuple):
    """``nodes = slope * depth + intercept``."""

    slope: Fraction
    intercept: Fraction


class Complexity(NamedTuple):
    """Mind-maps by depth and number of nodes (paper, figure 4d).

    Attributes:
        points: (depth, nodes) -> number of mind-maps. The root, which is the topic, is no node,
            and the headings right below it are at depth 1.
        unreadable: Number of mind-maps that cannot be read.
        line: The line of least squares; None for fewer than two depths.
    """

    points: Mapping[tuple[int, int], int]
    unreadable: int
    line: Line | None


class CardFacts(NamedTuple):
    """What was counted.

    Attributes:
        years: Year -> its searchable papers, ascending.
        abstracts: Papers whose abstract is in the corpus.
        full_texts: Papers whose full text is in the corpus.
        papers: Disciplines of all papers.
        surveys: Disciplines of the survey tasks: those of the paper of the same id.
        surveys_found: Survey tasks that have such a paper.
        covered: All surveys, then those of each of the largest disciplines, then the others.
        without_references: Survey tasks that list no reference, so that there is no share.
        listed: References that the survey tasks have, over all.
        available: Those of them that are in the corpus.
        gold: Those of them that are in reach.
        mind_maps: Size and depth of the mind-maps.
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
    mind_maps: Complexity


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


def measure(connection: duckdb.DuckDBPyConnection, corpus: Path) -> CardFacts:
    """Count everything that the card says.

    Args:
        connection: An empty database.
        corpus: Directory of a built corpus.
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
    return CardFacts(
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
        mind_maps=measure_mind_maps(_mind_maps(connection, corpus)),
    )


def _mind_maps(connection: duckdb.DuckDBPyConnection, corpus: Path) -> Iterator[str]:
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
        known=count(connection, f"SELECT count(*) FROM {table} WHERE len(disciplines) > 0"),
        top=tuple(rows(connection, f"SELECT name, n FROM top_{table} ORDER BY n DESC, name")),
        other=count(connection, f"SELECT count(*) FROM {table} WHERE {_OTHER.format(table=table)}"),
        names=count(connection, f"SELECT count(*) FROM named_{table}"),
    )


def _covered(connection: duckdb.DuckDBPyConnection, top: list[str]) -> Iterator[Covered]:
    groups: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for kind, name, available, gold, n in rows(
        connection, _COVERED.format(other=_OTHER.format(table="surveys"))
    ):
        of = groups.setdefault((kind, name), ([0] * len(PERCENTS), [0] * len(PERCENTS)))
        of[0][available] += n
        of[1][gold] += n
    order = [("all", ""), *(("named", name) for name in top), ("other", ""), ("unknown", "")]
    for group in order:
        if group in groups:
            yield Covered(*group, *(_at_least(exactly) for exactly in groups[group]))


def _at_least(exactly: list[int]) -> tuple[int, ...]:
    return tuple(sum(exactly[percent:]) for percent in PERCENTS)


def measure_mind_maps(texts: Iterable[str]) -> Complexity:
    """Count nodes and levels of mind-maps, given as JSON texts."""
    points: Counter[tuple[int, int]] = Counter()
    unreadable = 0
    for text in texts:
        try:
            tree, _ = read_mind_map(text)
        except ArenaError:
            unreadable += 1
        else:
            points[tree.depth, tree.size] += 1
    return Complexity(dict(sorted(points.items())), unreadable, fit(points))


def fit(points: Mapping[tuple[int, int], int]) -> Line | None:
    """Return the line of least squares of nodes on depth, exactly.

    Args:
        points: (depth, nodes) -> weight, an integer.

    Returns:
        None if all depths are the same, or there is no point.
    """
    n = sum(points.values())
    x = sum(depth * weight for (depth, _), weight in points.items())
    y = sum(nodes * weight for (_, nodes), weight in points.items())
    xx = sum(depth * depth * weight for (depth, _), weight in points.items())
    xy = sum(depth * nodes * weight for (depth, nodes), weight in points.items())
    spread = n * xx - x * x
    if not spread:
        return None
    slope = Fraction(n * xy - x * y, spread)
    return Line(slope, (y - slope * x) / n)
