"""The pictures of a card and the tables that say the same."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median_low
from typing import NamedTuple

from corpus_builder.card._bars import bars_of, bins_of, draw_disciplines, draw_years
from corpus_builder.card._complexity import Complexity
from corpus_builder.card._curves import draw_coverage
from corpus_builder.card._facts import Covered, Disciplines, Facts
from corpus_builder.card._scatter import draw_complexity, equation
from corpus_builder.card._words import (
    ALL_SURVEYS,
    NO_DISCIPLINE,
    OTHER_DISCIPLINES,
    number,
    percent,
    table,
)

_STEPS = (25, 50, 75, 100)


class Figure(NamedTuple):
    """One figure.

    Attributes:
        file: name of the picture.
        svg: the picture; None where there is nothing to draw.
        label: what it shows, in words.
        told: Markdown below it: what the figure says, and the table. Says why if there is none.
    """

    file: str
    svg: str | None
    label: str
    told: str


def years(found: Mapping[int, int]) -> Figure:
    """Return the histogram of searchable papers by year."""
    bins = bins_of(dict(found))
    if not bins:
        return Figure("dates.svg", None, "", "No paper of this corpus can be found.")
    top = max(bins, key=lambda b: b.papers)
    label = f"Searchable papers by year, most of them, {number(top.papers)}, in {top.name}"
    rows = [(name, papers) for name, papers in bins if papers]
    told = table(("year", "searchable papers"), rows, "lr")
    folded = f"<details><summary>By year</summary>\n\n{told}\n\n</details>"
    return Figure("dates.svg", draw_years(bins, label), label, folded)


def disciplines(found: Disciplines, what: str, file: str) -> Figure:
    """Return a distribution over disciplines (paper, figures 4a and 4b).

    Args:
        found: as counted.
        what: ``papers`` or ``survey tasks``.
        file: name of the picture.
    """
    if not found.told:
        return Figure(file, None, "", f"No disciplines: none of {number(found.papers)} {what} has "
                      "one (column `fields`)." if found.papers else f"No {what}.")  # fmt: skip
    label = f"Disciplines of the {what}: " + ", ".join(
        f"{name} {percent(papers, found.papers)}" for _, name, papers in bars_of(found)
    )
    rows = [(name, papers, percent(papers, found.papers)) for _, name, papers in bars_of(found)]
    several = sum(papers for _, _, papers in bars_of(found)) > found.papers
    told = (
        f"With a discipline: {number(found.told)} of {number(found.papers)} {what}; different "
        f"disciplines: {number(found.names)}."
        + " One with several counts in each, so shares add up to more than 100 %."
        * several
    )
    told += f"\n\n{table(('discipline', what, 'share'), rows, 'lrr')}"
    return Figure(file, draw_disciplines(found, label), label, told)


def coverage(facts: Facts) -> Figure:
    """Return the reference coverage of surveys (paper, figure 4c)."""
    file = "coverage.svg"
    surveys = facts.surveys.papers
    if not facts.covered:
        why = f"none of {number(surveys)} survey tasks lists a reference" if surveys else (
            "no survey tasks")  # fmt: skip
        return Figure(file, None, "", f"No coverage: {why}.")
    everyone = facts.covered[0]
    half = percent(everyone.available[50], everyone.surveys)
    label = (
        "Share of surveys with at least a given share of their references in the corpus; "
        f"{half} of all surveys have at least half"
    )
    rows = [
        (_group(group), group.surveys,
         *(_part(group.available[step], group) for step in _STEPS), _part(group.gold[50], group))
        for group in facts.covered
    ]  # fmt: skip
    heads = [f"at least {step} %" if step < 100 else "all" for step in _STEPS]
    sentence = (
        f"{half} of the survey tasks ({number(everyone.available[50])} of "
        f"{number(everyone.surveys)}) have at least 50 % of their references in the corpus, "
        f"{percent(everyone.gold[50], everyone.surveys)} ({number(everyone.gold[50])}) have at "
        f"least 50 % in reach. Over all, {number(facts.available)} of {number(facts.listed)} "
        f"references ({percent(facts.available, facts.listed)}) are in the corpus, "
        f"{number(facts.gold)} ({percent(facts.gold, facts.listed)}) in reach.\n\n"
        "*In the corpus*, which the curves show: it holds a paper of that id, also one that is "
        "undated, a survey, or later than the survey. *In reach*: status `gold`, dated before the "
        "survey and no survey. The whole is `n_references_total`, the number of references that "
        "the survey has, known to the source or not."
    )
    if facts.without_references:
        sentence += f" Survey tasks without any are left out: {number(facts.without_references)}."
    header = ("references in the corpus", "surveys", *heads, "at least 50 % in reach")
    told = f"{sentence}\n\n{table(header, rows, 'l' + 'r' * (len(header) - 1))}"
    return Figure(file, draw_coverage(facts.covered, label), label, told)


def complexity(found: Complexity, tasks: int) -> Figure:
    """Return the complexity of mind-maps (paper, figure 4d).

    Args:
        found: as counted.
        tasks: number of survey tasks.
    """
    file, maps = "mind-maps.svg", sum(found.points.values())
    lost = f" Unreadable, and left out: {number(found.unreadable)}." * bool(found.unreadable)
    if not maps:
        why = f"No mind-maps: none of {number(tasks)} survey tasks has one that can be read."
        return Figure(file, None, "", why + lost)
    label = f"Nodes against depth of mind-maps, {number(maps)} in all"
    if found.line is None:
        said = (
            "There is no regression line: "
            + ("it takes two mind-maps." if maps == 1 else "all have the same depth.")
        )  # fmt: skip
    else:
        label += f", with the regression line {equation(found.line)}"
        said = (
            f"The line of least squares is {equation(found.line)}: the coefficient is "
            f"{float(found.line.slope):.2f} nodes a level."
        )
    by_depth: dict[int, list[int]] = {}
    for (depth, nodes), weight in found.points.items():
        by_depth.setdefault(depth, []).extend([nodes] * weight)
    rows = [
        (number(depth), len(nodes), min(nodes), median_low(nodes), max(nodes))
        for depth, nodes in sorted(by_depth.items())
    ]
    told = (
        f"Mind-maps: {number(maps)}.{lost} {said} Nodes are headings without the topic itself; "
        "depth is the number of levels of headings.\n\n"
        + table(("depth", "mind-maps", "fewest nodes", "median", "most"), rows, "rrrrr")
    )
    return Figure(file, draw_complexity(found, label), label, told)


def _group(group: Covered) -> str:
    names = {"all": ALL_SURVEYS, "other": OTHER_DISCIPLINES, "unknown": NO_DISCIPLINE}
    return names.get(group.kind, group.name)


def _part(part: int, group: Covered) -> str:
    return f"{number(part)} ({percent(part, group.surveys)})"
