"""Charts of bars: disciplines, lying, and years, standing."""

from __future__ import annotations

import math
from typing import NamedTuple

from arena.text.display import width
from corpus_builder.card._facts import Disciplines
from corpus_builder.card._svg import SIZE, WIDTH, bar, line, picture, ticks, write
from corpus_builder.card._words import NO_DISCIPLINE, OTHER_DISCIPLINES, number, percent

_YEARS = 40  # bars of one year each; what lies before and after has one bar a side
_NAME = 44  # pixels that the name of a year takes


class Bin(NamedTuple):
    """Papers of one bar: its name, and how many."""

    name: str
    papers: int


def bars_of(found: Disciplines) -> list[tuple[str, str, int]]:
    """Return class, name and number of each bar."""
    bars = [("c0", name, papers) for name, papers in found.top]
    if found.other:
        bars.append(("rest", OTHER_DISCIPLINES, found.other))
    if found.told < found.papers:
        bars.append(("rest", NO_DISCIPLINE, found.papers - found.told))
    return bars


def draw_disciplines(found: Disciplines, label: str) -> str:
    """Return the picture of a distribution over disciplines (paper, figures 4a and 4b)."""
    bars = bars_of(found)
    most = max(papers for _, _, papers in bars)
    widest = width(f"{number(most)} (100.00 %)", SIZE)
    left, right, row = 210.0, WIDTH - widest - 24, 30.0
    body = []
    for place, (kind, name, papers) in enumerate(bars):
        y = 12 + place * row
        wide = papers / most * (right - left)
        share = f"{number(papers)} ({percent(papers, found.papers)})"
        body += [
            write(left - 10, y + 16, name, "end", room=left - 20),
            bar(kind, left, y + 2, wide, row - 10, f"{name}: {share}"),
            write(left + wide + 8, y + 16, share, kind="soft"),
        ]
    bottom = 12 + len(bars) * row
    body.append(line("axis", left, 8, left, bottom - 2))
    return picture(bottom + 10, label, body)


def bins_of(years: dict[int, int]) -> list[Bin]:
    """Return the bars of a histogram by year.

    They are single years, at most `_YEARS` in a row, those in which the most papers lie; of equal
    choices the latest. What is earlier or later is one bar each.
    """
    if not years:
        return []
    first, last = min(years), max(years)
    if last - first >= _YEARS:
        ends = sorted({*(min(year + _YEARS - 1, last) for year in years), last}, reverse=True)
        end = max(ends, key=lambda e: sum(n for y, n in years.items() if e - _YEARS < y <= e))
        begin = end - _YEARS + 1
    else:
        begin, end = first, last
    before = sum(n for year, n in years.items() if year < begin)
    after = sum(n for year, n in years.items() if year > end)
    bins = [Bin(str(year), years.get(year, 0)) for year in range(begin, end + 1)]
    if before:
        bins.insert(0, Bin(f"before {begin}", before))
    if after:
        bins.append(Bin(f"after {end}", after))
    return bins


def draw_years(bins: list[Bin], label: str) -> str:
    """Return the picture of papers by year."""
    left, right, top, bottom = 70.0, WIDTH - 20.0, 14.0, 220.0
    marks = ticks(max(papers for _, papers in bins), 5)
    step = (right - left) / len(bins)
    body = []
    for value in marks:
        y = bottom - value / marks[-1] * (bottom - top)
        body += [
            line("grid", left, y, right, y),
            write(left - 8, y + 4, number(value), "end", "soft"),
        ]
    every = math.ceil(_NAME / step)
    single = [place for place, (name, _) in enumerate(bins) if name.isdecimal()]
    for place, (name, papers) in enumerate(bins):
        x = left + place * step
        high = papers / marks[-1] * (bottom - top)
        kind = "c0" if name.isdecimal() else "rest"
        if papers:
            told = f"{name}: {number(papers)}"
            body.append(bar(kind, x + step * 0.1, bottom - high, step * 0.8, high, told))
        if name.isdecimal() and (single[-1] - place) % every == 0:
            body.append(write(x + step / 2, bottom + 18, name, "middle", "soft"))
    body.append(line("axis", left, bottom, right, bottom))
    for name, _ in bins:
        if not name.isdecimal():
            at, anchor = (left, "start") if name.startswith("before") else (right, "end")
            body.append(write(at, bottom + 38, f"grey: {name}", anchor, "soft"))
    grey = any(not name.isdecimal() for name, _ in bins)
    return picture(bottom + (50 if grey else 30), label, body)
