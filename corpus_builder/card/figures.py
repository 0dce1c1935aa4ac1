"""The figures of a card: the paper's figure 4 and papers by year, counted by DuckDB and drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import LinearRegression, StatisticsError, linear_regression, median_low
from typing import Any, NamedTuple

import duckdb
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from arena._internal import terminal
from arena.corpus import layout
from arena.errors import ArenaError
from arena.mindmap import read_mind_map
from arena.results.plots import SIZE, STYLE, Plot, dash, ticks
from arena.text.display import width
from corpus_builder.database import count, execute, literal, rows
from corpus_builder.paper_tasks import DOCUMENTS, LEAST, REACHED

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


WIDTH = 720
_YEARS = 40  # bars of one year each; what lies before and after has one bar a side
_NAME = 44  # pixels that the name of a year needs
_ONE, _LEAST, _MOST = 3.5, 2.0, 12.0  # radius of a dot: of one mind-map, and its limits
_CELL = 3  # pixels; dots nearer than this are one
_STEPS = (25, 50, 75, 100)


class Bar(NamedTuple):
    """One bar: its name, its number of papers, and whether it sums up what has no bar."""

    name: str
    papers: int
    is_rest: bool = False


def disciplines(file: str, of: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return the distribution of papers over disciplines (paper, figures 4a and 4b).

    Args:
        file: Name of the picture.
        of: Disciplines of the papers.
        what: Plural noun for these papers.
    """
    figure = {"file": file, "svg": None, "what": what, "of": of}
    if not of["known"]:
        return figure
    bars = [Bar(*named) for named in of["top"]]
    rest = ((OTHER, of["other"]), (UNKNOWN, of["papers"] - of["known"]))
    bars += [Bar(name, papers, True) for name, papers in rest if papers]
    rows = [(bar.name, bar.papers, percent(bar.papers, of["papers"])) for bar in bars]
    most, row = max(bar.papers for bar in bars), 30.0
    bottom = 12 + len(bars) * row
    right = WIDTH - 24 - width(f"{most:,} (100.00 %)", SIZE)
    plot = Plot(210.0, right, 8, bottom, x_ticks=(0, most))
    for place, (bar, (name, papers, share)) in enumerate(zip(bars, rows, strict=True)):
        y, end, beside = 12 + place * row, plot.x(papers), f"{papers:,} ({share})"
        plot.text(plot.left - 10, y + 16, name, "end", room=plot.left - 20)
        wide = max(end - plot.left, 1)
        plot.bar(_kind(bar), plot.left, y + 2, wide, row - 10, f"{name}: {beside}")
        plot.text(end + 8, y + 16, beside, kind="tick")
    plot.line("axis", plot.left, 8, plot.left, bottom - 2)
    label = f"Disciplines of the {what}: " + ", ".join(f"{name} {share}" for name, _, share in rows)
    return figure | {
        "svg": plot.file(WIDTH, bottom + 10, label, STYLE),
        "label": label,
        "rows": rows,
        "several": sum(bar.papers for bar in bars) > of["papers"],
    }


def bars_of_years(years: Mapping[int, int]) -> list[Bar]:
    """Return the bars of a histogram by year.

    They are single years, at most `_YEARS` in a row, those in which the most papers lie; of equal
    choices the latest. What is earlier or later is one bar each.
    """
    if not years:
        return []
    begin, end = min(years), max(years)
    if end - begin >= _YEARS:
        ends = sorted({*(min(year + _YEARS - 1, end) for year in years), end}, reverse=True)
        end = max(ends, key=lambda e: sum(n for y, n in years.items() if e - _YEARS < y <= e))
        begin = end - _YEARS + 1
    before = sum(n for year, n in years.items() if year < begin)
    after = sum(n for year, n in years.items() if year > end)
    return [
        *([Bar(f"before {begin}", before, True)] if before else []),
        *(Bar(str(year), years.get(year, 0)) for year in range(begin, end + 1)),
        *([Bar(f"after {end}", after, True)] if after else []),
    ]


def dates(years: Mapping[int, int]) -> dict[str, Any]:
    """Return the number of papers by year."""
    bars = bars_of_years(years)
    if not bars:
        return {"file": "dates.svg", "svg": None}
    top = max(bars, key=lambda bar: bar.papers)
    label = f"Searchable papers by year, most of them, {top.papers:,}, in {top.name}"
    marks = ticks(0, top.papers, 5, whole=True)
    plot = Plot(70.0, WIDTH - 20.0, 14.0, 220.0, (0, len(bars)), marks)
    plot.y_axis(lambda papers: f"{papers:,.0f}")
    step = (plot.right - plot.left) / len(bars)
    every = math.ceil(_NAME / step)
    last = max(place for place, bar in enumerate(bars) if not bar.is_rest)
    high = 30
    for place, bar in enumerate(bars):
        x, y = plot.x(place), plot.y(bar.papers)
        if bar.papers:
            title = f"{bar.name}: {bar.papers:,}"
            wide = max(step * 0.8, 1)
            plot.bar(_kind(bar), x + step * 0.1, y, wide, plot.bottom - y, title)
        if bar.is_rest:
            at, anchor = (plot.left, "start") if not place else (plot.right, "end")
            plot.text(at, plot.bottom + 38, f"grey: {bar.name}", anchor, "tick")
            high = 50
        elif (last - place) % every == 0:
            plot.text(x + step / 2, plot.bottom + 18, bar.name, "middle", "tick")
    plot.line("axis", plot.left, plot.bottom, plot.right, plot.bottom)
    svg = plot.file(WIDTH, plot.bottom + high, label, STYLE)
    rows = [(bar.name, bar.papers) for bar in bars if bar.papers]
    return {"file": "dates.svg", "svg": svg, "label": label, "rows": rows}


def coverage(shares: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference coverage of surveys (paper, figure 4c).

    At x % a curve shows the share of surveys with at least x % of their references.

    Args:
        shares: Group of surveys -> two rows of 101 numbers, as `measure` counts them.
    """
    if not shares:
        return {"file": "coverage.svg", "svg": None}
    rows = []
    for name, (available, gold) in shares.items():
        parts = [*(available[step] for step in _STEPS), gold[50]]
        cells = [f"{part:,} ({percent(part, available[0])})" for part in parts]
        rows.append([name, int(available[0]), *cells])
    everyone, reached = shares[ALL].tolist()
    label = (
        "Share of surveys with at least a given share of their references in the corpus; "
        f"{percent(everyone[50], everyone[0])} of all surveys have at least half"
    )
    percents = range(0, 101, 20)
    plot = Plot(70.0, WIDTH - 30.0, 14.0, 300.0, percents, percents)
    plot.y_axis(lambda percent: f"{percent} %")
    plot.x_axis(percents, lambda percent: f"{percent} %")
    plot.line("axis", plot.left, plot.bottom, plot.right, plot.bottom)
    plot.titles(
        "at least this share of the survey's references is in the corpus", "share of surveys"
    )
    top, column = plot.bottom + 64, (WIDTH - plot.left) / 2
    curves = [name for name in shares if name not in (OTHER, UNKNOWN)]
    for number, name in enumerate(curves):
        available = shares[name][0]
        place = number - 1  # all surveys have no mark, and black
        title = f"{name}: {available[0]:,}"
        kind = "curve wide" if place < 0 else f"curve {dash(place)}"
        points = [
            (plot.x(value), plot.y(100 * int(n) / int(available[0])))
            for value, n in enumerate(available)
        ]
        x, y = plot.left + number % 2 * column, top + number // 2 * 22
        with plot.group("ink" if place < 0 else f"c{place}", title):
            plot.path(kind, points)
            plot.path(kind, [(x, y - 4), (x + 32, y - 4)])
            if place >= 0:  # marks of several curves stand beside and not upon one another
                for value in range(4 * place % 20, 101, 20):
                    plot.mark(place, *points[value])
                plot.mark(place, x + 16, y - 4)
        plot.text(x + 40, y, title, room=column - 56)
    heads = [f"at least {step} %" if step < 100 else "all" for step in _STEPS]
    return {
        "file": "coverage.svg",
        "svg": plot.file(WIDTH, top + (len(curves) + 1) // 2 * 22 - 8, label, STYLE),
        "label": label,
        "surveys": everyone[0],
        "half": everyone[50],
        "half_in_reach": reached[50],
        "header": ("references in the corpus", "surveys", *heads, "at least 50 % in reach"),
        "rows": rows,
    }


def complexity(maps: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    """Return the complexity of mind-maps (paper, figure 4d).

    A dot is where mind-maps are, larger for more of them; a line is that of least squares.

    Args:
        maps: (depth, nodes) -> number of mind-maps.
    """
    number = sum(maps.values())
    figure = {"file": "mind-maps.svg", "svg": None, "number": number}
    if not number:
        return figure
    label, line = f"Nodes against depth of mind-maps, {number:,} in all", fit(maps)
    depths = ticks(0, max(depth for depth, _ in maps) + 1, 12, whole=True)
    nodes = ticks(0, max(n for _, n in maps), whole=True)
    plot = Plot(80.0, WIDTH - 30.0, 40.0, 320.0, depths, nodes)
    plot.y_axis(lambda n: f"{n:,.0f}")
    plot.x_axis(depths, lambda depth: f"{depth:,.0f}")
    plot.line("axis", plot.left, plot.bottom, plot.right, plot.bottom)
    plot.line("axis", plot.left, plot.top, plot.left, plot.bottom)
    plot.titles("depth: levels of headings", "nodes: headings")
    cells: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for (depth, n), weight in maps.items():
        cell = (round(plot.x(depth) / _CELL), round(plot.y(n) / _CELL))
        cells.setdefault(cell, []).append((weight, depth, n))
    largest = max(sum(weight for weight, _, _ in dots) for dots in cells.values())
    scale = min(1.0, _MOST / (_ONE * math.sqrt(largest)))  # areas are as the numbers
    for dots in cells.values():
        here = sum(weight for weight, _, _ in dots)
        _, depth, n = max(dots)
        radius = max(_LEAST, _ONE * scale * math.sqrt(here))
        nearby = "" if len(dots) == 1 else " and nearby"
        title = f"depth {depth:,}, {n:,} nodes{nearby}: {here:,}"
        plot.dot("dot c0", plot.x(depth), plot.y(n), radius, title)
    if line is not None:
        sign = "−" if line.intercept < 0 else "+"
        slope = f"{line.slope:.2f}".replace("-", "−")
        equation = f"nodes = {slope} × depth {sign} {abs(line.intercept):.2f}"
        label += f", with the regression line {equation}"
        figure |= {"line": Markup(equation), "slope": Markup(f"{line.slope:.2f}")}
        with plot.group("c1"):
            ends = _ends(line, sorted({depth for depth, _ in maps}), nodes[-1])
            plot.path("curve", [(plot.x(depth), plot.y(n)) for depth, n in ends])
        plot.text(plot.left, plot.top - 18, equation)
    by_depth: dict[int, list[int]] = {}
    for (depth, n), weight in sorted(maps.items()):
        by_depth.setdefault(depth, []).extend([n] * weight)
    rows = [
        (f"{depth:,}", len(of), of[0], median_low(of), of[-1]) for depth, of in by_depth.items()
    ]
    svg = plot.file(WIDTH, plot.bottom + 50, label, STYLE)
    return figure | {"svg": svg, "label": label, "rows": rows}


def fit(points: Mapping[tuple[int, int], int]) -> LinearRegression | None:
    """Return the line of least squares of nodes on depth; None if all depths are the same.

    Args:
        points: (depth, nodes) -> weight, an integer.
    """
    pairs = [pair for pair, weight in sorted(points.items()) for _ in range(weight)]
    try:
        return linear_regression([depth for depth, _ in pairs], [nodes for _, nodes in pairs])
    except StatisticsError:
        return None


def _ends(line: LinearRegression, depths: list[int], most: float) -> Iterator[tuple[float, float]]:
    """Yield where the line begins and ends: over the depths there are, inside the picture."""
    for depth in (depths[0], depths[-1]):
        nodes = line.slope * depth + line.intercept
        inside = min(max(nodes, 0.0), most)
        # The slope is not 0 where the line leaves the picture.
        yield (depth if inside == nodes else (inside - line.intercept) / line.slope), inside


def percent(part: int, whole: int) -> Markup:
    """Return a share such as ``17.18 %``, or ``-`` of nothing."""
    return Markup(f"{100 * part / whole:.2f} %" if whole else terminal.MISSING)


def _kind(bar: Bar) -> str:
    return "bar rest" if bar.is_rest else "bar c0"
