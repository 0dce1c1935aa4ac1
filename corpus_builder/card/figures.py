"""The figures of a card: the paper's figure 4 and papers by year, counted by DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median_low
from typing import Any

import duckdb
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from arena.corpus import layout
from arena.errors import ArenaError
from arena.kit import terminal
from arena.kit.plots import COLOURS, GREY, INK, MARKERS, short
from arena.mindmap import read_mind_map
from corpus_builder.database import execute, literal, rows, scalar

TOP = 5
"""How many disciplines have a bar and a curve of their own (paper, section 4)."""

ALL, OTHER, UNKNOWN = "all surveys", "other disciplines", "no discipline given"


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
LEFT JOIN read_parquet({mind_maps}) m ON m.topic_id = s.id
LEFT JOIN (SELECT topic_id, count(document) AS available,
                  count(*) FILTER (status = 'gold') AS gold
           FROM read_parquet({gold}) GROUP BY topic_id) h ON h.topic_id = s.id
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
_BY_DOMAIN = """
SELECT nullif(trim(domain), '') AS name, count(*) AS n FROM read_parquet({surveys})
GROUP BY ALL ORDER BY n DESC, name
"""
_SUMS = """
SELECT coalesce(sum(listed), 0)::BIGINT, coalesce(sum(available), 0)::BIGINT,
       coalesce(sum(gold), 0)::BIGINT, count(*) FILTER (found), count(*) FILTER (listed = 0)
FROM surveys
"""
# A survey's share in whole percents, rounded down: at least p % if and only if this is at least p.
_SHARES = """
SELECT disciplines, available * 100 // listed, gold * 100 // listed FROM surveys WHERE listed > 0
"""


def measure(connection: duckdb.DuckDBPyConnection, corpus: Path) -> dict[str, Any]:
    """Count everything that the card says about the corpus in a directory.

    Returns:
        ``years``: year -> its searchable papers; ``abstracts`` and ``full_texts``: papers that have
        one; ``papers`` and ``surveys``: see `_disciplines`; ``domains``: the same of the domains
        of survey tasks, all in ``top``; ``found``: survey tasks whose paper is
        in the corpus; ``coverage``: see `_coverage`; ``without``: survey tasks that list no
        reference; ``listed``, ``available``, ``gold``: references of the survey tasks over all, in
        the corpus, in reach; ``maps``: (depth, nodes) -> number of mind-maps, where the root is
        neither; ``taxonomies``: papers, depth and leaf categories of each mind-map,
        and ``citations`` of the surveys of these, where known;
        ``unreadable``: mind-maps that cannot be read.
    """
    files = {"papers": layout.PAPERS, "surveys": layout.TOPICS, "gold": layout.GOLD,
             "mind_maps": layout.MIND_MAPS, "sections": layout.SECTIONS}  # fmt: skip
    names = {name: literal(corpus / file) for name, file in files.items()}
    execute(connection, _TABLES.format(**names))
    by_year = "SELECT year(date), count(*) FROM papers WHERE searchable GROUP BY ALL ORDER BY ALL"
    surveys = _disciplines(connection, "surveys")
    (sums,) = rows(connection, _SUMS)
    maps: Counter[tuple[int, int]] = Counter()
    each, unreadable = list[tuple[int, int, int]](), 0
    cited, of_maps = (
        list[int](),
        (
            "SELECT mind_map, survey_citations FROM read_parquet({mind_maps}) m "
            "JOIN read_parquet({surveys}) s ON s.id = m.topic_id WHERE mind_map IS NOT NULL"
        ),
    )
    for text, citations in rows(connection, of_maps.format(**names)):
        try:
            tree, _ = read_mind_map(text)
        except ArenaError:
            unreadable += 1
        else:
            maps[tree.depth, tree.size] += 1
            leaves = sum(not node.children for level, node in tree.levels() if level)
            each.append((len(tree.all_papers()), tree.depth, leaves))
            cited += [citations] if citations is not None else []
    first_sections = f"SELECT count(*) FROM read_parquet({names['sections']}) WHERE position = 0"
    return {
        **dict(zip(("listed", "available", "gold", "found", "without"), sums, strict=True)),
        "years": dict(rows(connection, by_year)),
        "abstracts": scalar(connection, "SELECT count(*) FROM papers WHERE abstract <> ''"),
        "full_texts": scalar(connection, first_sections),
        "papers": _disciplines(connection, "papers"),
        "surveys": surveys,
        "domains": _domains(connection, names["surveys"]),
        "coverage": _coverage(connection, [name for name, _ in surveys["top"]]),
        "maps": dict(sorted(maps.items())),
        "taxonomies": each,
        "citations": cited,
        "unreadable": unreadable,
    }


def _disciplines(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, Any]:
    """Return how many papers each discipline has; a paper counts in each of its own.

    ``papers`` are all, ``known`` those with a discipline, ``other`` those with one that is not
    among the `TOP` largest, which ``top`` has in order; ``kinds`` is the number of disciplines.
    """
    execute(connection, _NAMED.format(table=table, top=TOP))
    top = list(rows(connection, f"SELECT name, n FROM top_{table} ORDER BY n DESC, name"))
    ((papers, known, other, kinds),) = rows(connection, _KNOWN.format(table=table))
    return {"papers": papers, "known": known, "top": top, "other": other, "kinds": kinds}


def _domains(connection: duckdb.DuckDBPyConnection, surveys: str) -> dict[str, Any]:
    counted = dict(rows(connection, _BY_DOMAIN.format(surveys=surveys)))
    papers = sum(counted.values())
    known = papers - counted.pop(None, 0)
    return {"papers": papers, "known": known, "top": [*counted.items()], "other": 0,
            "kinds": len(counted)}  # fmt: skip


def _coverage(
    connection: duckdb.DuckDBPyConnection, top: list[str]
) -> dict[str, NDArray[np.int64]]:
    """Return group of surveys -> how many have at least 0 to 100 % of their references.

    The first row counts references in the corpus, the second those in reach; shape (2, 101).
    The groups are all surveys, those of the largest disciplines, and the others.
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


_STEPS = (25, 50, 75, 100)


def disciplines(
    file: str, of: Mapping[str, Any], what: str, kind: str = "discipline"
) -> dict[str, Any]:
    """Return the distribution of papers over disciplines (paper, figures 4a and 4b) or domains."""
    unknown = f"no {kind} given"
    rest = ((OTHER, of["other"]), (unknown, of["papers"] - of["known"]))
    bars = [*of["top"], *(bar for bar in rest if bar[1])] if of["known"] else []
    rows = [(name, papers, percent(papers, of["papers"])) for name, papers in bars]

    def paint(axes: Any) -> None:
        colours = [GREY if name in (OTHER, unknown) else COLOURS[0] for name, _ in bars]
        drawn = axes.barh(range(len(bars)), [papers for _, papers in bars], color=colours)
        axes.set_yticks(range(len(bars)), [short(name) for name, _ in bars])
        axes.set_ylim(max(len(bars), 4) - 0.5, -0.5)  # a bar alone is not as high as all
        axes.bar_label(drawn, [f"{papers:,} ({share})" for _, papers, share in rows], padding=4)
        axes.margins(x=0.25)
        axes.set_xlabel(what)

    text = f"{kind.capitalize()}s of the {what}: " + ", ".join(
        f"{name} {share}" for name, _, share in rows
    )
    several = sum(papers for _, papers in bars) > of["papers"]
    return {"file": file, "label": text, "rows": rows, "paint": paint, "what": what, "of": of,
            "kind": kind, "several": several}  # fmt: skip


def dates(years: Mapping[int, int]) -> dict[str, Any]:
    """Return the number of papers by year, the last one first."""

    def paint(axes: Any) -> None:
        axes.bar([*years], [*years.values()], color=COLOURS[0])
        for axis in (axes.xaxis, axes.yaxis):
            axis.get_major_locator().set_params(integer=True)
        axes.grid(axis="y")
        axes.set_ylabel("searchable papers")

    rows = [(str(year), years[year]) for year in sorted(years, reverse=True)]
    return {"file": "dates.svg", "label": "Searchable papers by year", "rows": rows, "paint": paint}


def coverage(shares: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference coverage of surveys (paper, figure 4c).

    At x % a curve shows the share of surveys with at least x % of their references.
    """
    rows = []
    for name, (available, gold) in shares.items():
        parts = [*(available[step] for step in _STEPS), gold[50]]
        cells = [f"{part:,} ({percent(part, available[0])})" for part in parts]
        rows.append([name, int(available[0]), *cells])

    def paint(axes: Any) -> None:
        curves = [name for name in shares if name not in (OTHER, UNKNOWN)]
        for place, name in enumerate(curves):
            available = shares[name][0]
            look = {"color": INK, "linewidth": 3} if name == ALL else {
                "color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)],
                "markevery": (4 * place % 20, 20),
            }  # fmt: skip
            named = f"{short(name)}: {available[0]:,}"
            axes.plot(100 * available / available[0], label=named, **look)
        axes.set(xlim=(0, 100), ylim=(0, 103), ylabel="surveys in %")
        axes.set_xlabel("at least so many % of the survey's references are in the corpus")
        axes.grid()
        axes.figure.legend(loc="outside lower center", ncols=2)

    everyone, reached = shares[ALL].tolist() if shares else [[0] * 101] * 2
    heads = [f"at least {step} %" if step < 100 else "all" for step in _STEPS]
    return {
        "file": "coverage.svg",
        "label": "Share of surveys with at least a given share of their references in the corpus",
        "paint": paint,
        "surveys": everyone[0],
        "half": everyone[50],
        "half_in_reach": reached[50],
        "header": ("references in the corpus", "surveys", *heads, "at least 50 % in reach"),
        "rows": rows,
    }


def complexity(maps: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    """Return the complexity of mind-maps (paper, figure 4d)."""
    number, by_depth = sum(maps.values()), dict[int, list[int]]()
    for (depth, nodes), weight in sorted(maps.items()):
        by_depth.setdefault(depth, []).extend([nodes] * weight)
    rows = [
        (f"{depth:,}", len(of), of[0], median_low(of), of[-1]) for depth, of in by_depth.items()
    ]

    def paint(axes: Any) -> None:
        depths, nodes = zip(*maps, strict=True)
        areas = [200 * weight / max(maps.values()) for weight in maps.values()]
        axes.scatter(depths, nodes, areas, color=COLOURS[0], alpha=0.6)
        for axis in (axes.xaxis, axes.yaxis):
            axis.get_major_locator().set_params(integer=True)
        axes.set(xlabel="depth: levels of headings", ylabel="nodes: headings", ylim=(0, None))
        axes.set_xlim(min(depths) - 1, max(depths) + 1)
        axes.grid()

    text = f"Nodes against depth of mind-maps, {number:,} in all"
    return {"file": "mind-maps.svg", "label": text, "rows": rows, "paint": paint,
            "number": number}  # fmt: skip


def taxonomies(facts: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of TaxoBench's Table 1: what, of this corpus, least, most, the paper's."""
    papers, depths, leaves = zip(*facts["taxonomies"], strict=True)
    means = (("papers a taxonomy", papers, "53.0"), ("levels of headings", depths, "3.2"),
             ("leaf categories", leaves, "12.4"))  # fmt: skip
    cited = facts["citations"]
    return [
        ("taxonomies", len(papers), None, None, 72),
        (
            f"citations of a survey, mean of {len(cited)}",
            f"{mean(cited):.1f}" if cited else None,
            min(cited, default=None),
            max(cited, default=None),
            "354.5",
        ),
        ("disciplines of the survey tasks", facts["surveys"]["kinds"] or None, None, None, 8),
        ("papers in all taxonomies", sum(papers), None, None, 3815),
        *(
            (f"{what}, mean", f"{mean(of):.1f}", min(of), max(of), theirs)
            for what, of, theirs in means
        ),
    ]


def percent(part: int, whole: int) -> Markup:
    """Return a share such as ``17.18 %``, or ``-`` of nothing."""
    return Markup(f"{100 * part / whole:.2f} %" if whole else terminal.MISSING)
