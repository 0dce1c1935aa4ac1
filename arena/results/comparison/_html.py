"""Pieces of HTML; whatever comes from papers, models or files passes `text`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from arena._internal.tables import MISSING
from arena.mindmap._drawing.letters import shown
from arena.results.comparison._marks import COLOURS, key
from arena.results.comparison._report import Table

_LONGEST = 2_000
_BREAK = re.compile(
    r"([,(+/])(?=[^\s,(+/])"
)  # names of engines, hybrid(bm25,dense), have no spaces


def text(value: Any, limit: int = _LONGEST) -> str:
    """Return `value` as text that no reader of HTML takes for anything else.

    Control characters, halves of surrogate pairs and marks that turn the direction of text are
    left out, and what is longer than `limit` is cut.
    """
    clean = shown(str(value))
    return html.escape(clean if len(clean) <= limit else clean[: limit - 1] + "…", quote=True)


def words(value: Any, limit: int = _LONGEST) -> str:
    """Return `value` as text that keeps its direction to itself."""
    return f"<bdi>{text(value, limit)}</bdi>"


def chip(name: str, place: int, line: bool = False) -> str:
    """Return the name of run number `place` with its mark, on a piece of its curve or alone."""
    broken = _BREAK.sub(r"\1<wbr>", text(name, 80))
    return f'<span class="run c{place % COLOURS}">{key(place, line=line)}<bdi>{broken}</bdi></span>'


def table_of(table: Table, runs: Sequence[str]) -> str:
    """Return a table; a first cell that names a run gets its colour."""
    head = "".join(
        f'<th scope="col"{_side(side)}>{_run(name, runs)}</th>'
        for name, side in zip(table.header, table.align, strict=True)
    )
    body = "".join(
        f"<tr{_class(row[0])}>" + "".join(_cells(table, number, row, runs)) + "</tr>"
        for number, row in enumerate(table.rows)
    )
    return scrolling(
        f"<table><caption>{words(table.title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def scrolling(content: str) -> str:
    """Return `content` in a box that scrolls sideways in a narrow window."""
    return f'<div class="wide" tabindex="0">{content}</div>'


def listed(items: Iterable[str], tag: str = "ul") -> str:
    """Return a list of pieces of HTML."""
    return f"<{tag}>" + "".join(f"<li>{item}</li>" for item in items) + f"</{tag}>"


def number(value: float | int | None, decimals: int = 4) -> str:
    """Return a number, or what stands for one that is unknown."""
    if value is None:
        return MISSING
    return f"{value:,}" if isinstance(value, int) else f"{value:.{decimals}f}"


def more(count: int, what: str) -> str:
    """Return how many were left out, if any."""
    return f'<p class="more">and {count:,} more {what}</p>' if count > 0 else ""


def _cells(table: Table, place: int, row: Sequence[Any], runs: Sequence[str]) -> Iterable[str]:
    yield f'<th scope="row">{_run(str(row[0]), runs)}</th>'
    for column, cell in enumerate(row[1:], 1):
        value = cell if isinstance(cell, str) else number(cell, table.decimals)
        shown_value = f"<b>{text(value)}</b>" if (place, column) in table.bold else text(value)
        starred = ' class="sure"' if value.endswith("*") else ""
        yield f"<td{starred}>{shown_value}</td>"


def _run(name: str, runs: Sequence[str]) -> str:
    base = name.removesuffix(" (baseline)")
    if base not in runs:
        return words(name)
    return chip(base, runs.index(base)) + (" <small>baseline</small>" if base != name else "")


def _class(first: Any) -> str:
    return ' class="ceiling"' if first == "ceiling" else ""


def _side(side: str) -> str:
    return ' class="left"' if side == "l" else ""
