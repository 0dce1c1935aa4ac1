"""How a card writes numbers, names and tables; text from papers and sources stays text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from arena._internal import tables
from arena.text.display import shown

ALL_SURVEYS = "all surveys"
OTHER_DISCIPLINES = "other disciplines"
NO_DISCIPLINE = "no discipline told"

_LONGEST = 200
_ROWS = 100
# What GitHub makes a link or a formula of without any brackets.
_BARE = re.compile(r"(?i)(?<=\bwww)\.|:(?=//)|\$|@")


def number(value: int) -> str:
    """Return ``1,234``."""
    return f"{value:,}"


def percent(part: int, whole: int) -> str:
    """Return a share such as ``17.18 %``, or ``-`` of nothing."""
    return f"{100 * part / whole:.2f} %" if whole else tables.MISSING


def words(value: object) -> str:
    """Return a text of somebody else's for Markdown: one line, cut, and nothing acts."""
    return _bare(tables.escape_markdown(_cut(value)))


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], align: str) -> str:
    """Return a table in Markdown; of many rows the first.

    Args:
        header: the columns.
        rows: cells: text, integers, or None.
        align: a letter a column, ``l`` or ``r``.
    """
    shown_rows = [
        [None if cell is None else number(cell) if isinstance(cell, int) else _cut(cell)
         for cell in row]
        for row in rows[:_ROWS]
    ]  # fmt: skip
    made = _bare(tables.markdown(header, shown_rows, align=align))
    left = len(rows) - _ROWS
    return f"{made}\n\nand {number(left)} more." if left > 0 else made


def fenced(code: str, language: str = "") -> str:
    """Return a block of code that ends where it ends, whatever stands in it."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _cut(value: object) -> str:
    clean = shown(str(value))
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def _bare(text: str) -> str:
    return _BARE.sub(lambda found: "\\" + found[0], text)
