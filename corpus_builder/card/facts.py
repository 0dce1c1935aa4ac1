"""The numbers of a card, counted by DuckDB: no column ever comes into Python whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from arena.corpus import layout
from arena.errors import ArenaError
from arena.mindmap import read_mind_map
from corpus_builder.database import count, execute, literal, rows
from corpus_builder.paper_tasks import DOCUMENTS, LEAST, REACHED

TOP = 5
"""How many disciplines have a bar and a curve of their own (paper, section 4)."""

ALL, OTHER, UNKNOWN = "all surveys", "other disciplines", "no discipline told"


_TABLES = """
CREATE VIEW papers AS
SELECT id, date, searchable, abstract,
       [f FOR f IN list_distinct(fields) IF trim(f) <> ''] AS disciplines
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
_KNOWN = """
SELECT count(*), count(*) FILTER (len(disciplines) > 0),
       count(*) FILTER (len(disciplines) > 0 AND NOT list_has_all(
           (SELECT coalesce(list(name), []) FROM top_{table}), disciplines)),
       (SELECT count(*) FROM named_{table})
FROM {table}
"""
_SUMS = """
SELECT coalesce(sum(listed), 0)::BIGINT, coalesce(sum(available), 0)::BIGINT,
       coalesce(sum(gold), 0)::BIGINT, count(*) FILTER (found), count(*) FILTER (listed = 0)
FROM surveys
"""
_AS_TASKS = f"""
SELECT count(*), count(*) FILTER (day < (SELECT min(date) - DATE '1970-01-01'
                                         FROM read_parquet({{surveys}})))
FROM ({REACHED}) JOIN documents USING (document) WHERE reached >= {LEAST}
"""
# A survey's share in whole percents, rounded down: at least p % if and only if this is at least p.
_SHARES = """
SELECT disciplines, available * 100 // listed, gold * 100 // listed FROM surveys WHERE listed > 0
"""


def measure(connection: duckdb.DuckDBPyConnection, corpus: Path) -> dict[str, Any]:
    """Count everything that the card says.

    Args:
        connection: An empty database.
        corpus: Directory of a built corpus.

    Returns:
        ``years``: year -> its searchable papers; ``abstracts`` and ``full_texts``: papers that have
        one; ``papers`` and ``surveys``: disciplines of all papers, and of the survey tasks (those
        of the paper of the same id), see `_disciplines`; ``found``: survey tasks with such a paper;
        ``coverage``: see `_coverage`; ``without``: survey tasks that list no reference, so that
        there is no share; ``listed``, ``available``, ``gold``: references of the survey tasks over
        all, in the corpus, in reach; ``maps``: (depth, nodes) -> number of mind-maps, where the
        root, which is the topic, is no node and the headings right below it are at depth 1;
        ``unreadable``: mind-maps that cannot be read; ``as_tasks``: papers that cite at least
        `LEAST` papers in reach, and how many of them are dated before the first survey task.
    """
    files = {"papers": layout.PAPERS, "surveys": layout.SURVEYS, "gold": layout.GOLD,
             "mind_maps": layout.MIND_MAPS, "sections": layout.SECTIONS,
             "references": layout.REFERENCES}  # fmt: skip
    names = {name: literal(corpus / file) for name, file in files.items()}
    execute(connection, _TABLES.format(**names))
    execute(connection, DOCUMENTS.format(**names))
    (as_tasks,) = rows(connection, _AS_TASKS.format(**names))
    by_year = "SELECT year(date), count(*) FROM papers WHERE searchable GROUP BY ALL ORDER BY ALL"
    surveys = _disciplines(connection, "surveys")
    (sums,) = rows(connection, _SUMS)
    maps: Counter[tuple[int, int]] = Counter()
    unreadable = 0
    for (text,) in rows(
        connection,
        f"SELECT mind_map FROM read_parquet({names['mind_maps']}) WHERE mind_map IS NOT NULL",
    ):
        try:
            tree, _ = read_mind_map(text)
        except ArenaError:
            unreadable += 1
        else:
            maps[tree.depth, tree.size] += 1
    first_sections = f"SELECT count(*) FROM read_parquet({names['sections']}) WHERE position = 0"
    return {
        **dict(zip(("listed", "available", "gold", "found", "without"), sums, strict=True)),
        "years": dict(rows(connection, by_year)),
        "abstracts": count(connection, "SELECT count(*) FROM papers WHERE abstract <> ''"),
        "full_texts": count(connection, first_sections),
        "papers": _disciplines(connection, "papers"),
        "surveys": surveys,
        "coverage": _coverage(connection, [name for name, _ in surveys["top"]]),
        "maps": dict(sorted(maps.items())),
        "unreadable": unreadable,
        "as_tasks": as_tasks,
    }


def _disciplines(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, Any]:
    """Return how many papers each discipline has; a paper counts in each of its own.

    Returns:
        ``papers``: all papers; ``known``: those with a discipline; ``top``: the `TOP` largest
        disciplines and their papers, the largest first, of equal ones the first by name;
        ``other``: papers with a discipline that is not in ``top``; ``kinds``: number of different
        disciplines.
    """
    execute(connection, _NAMED.format(table=table, top=TOP))
    top = list(rows(connection, f"SELECT name, n FROM top_{table} ORDER BY n DESC, name"))
    ((papers, known, other, kinds),) = rows(connection, _KNOWN.format(table=table))
    return {"papers": papers, "known": known, "top": top, "other": other, "kinds": kinds}


def _coverage(
    connection: duckdb.DuckDBPyConnection, top: list[str]
) -> dict[str, NDArray[np.int64]]:
    """Return group of surveys -> two rows of 101 numbers.

    They are the surveys with at least p % of their references in the corpus, and in reach (dated
    before the survey, no survey). The groups are all surveys, those of the largest disciplines, and
    the others.
    """
    exactly = {name: np.zeros((2, 101), np.int64) for name in (ALL, *top, OTHER, UNKNOWN)}
    for disciplines, available, gold in rows(connection, _SHARES):
        groups = [name for name in disciplines if name in top]
        groups += [OTHER] if len(groups) < len(disciplines) else []
        for name in {ALL, *(groups or [UNKNOWN])}:
            exactly[name][0, available] += 1
            exactly[name][1, gold] += 1
    at_least = {name: of[:, ::-1].cumsum(axis=1)[:, ::-1] for name, of in exactly.items()}
    return {name: of for name, of in at_least.items() if of[0, 0]}
