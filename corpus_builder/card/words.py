"""How a card writes numbers, names and tables; text from papers and sources stays text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from arena._internal import tables
from arena.results.plots import clean

_LONGEST = 200
_ROWS = 100
# What GitHub makes a link or a formula of without any brackets.
_BARE = re.compile(r"(?i)(?<=\bwww)\.|:(?=//)|\$|@")


def markdown(value: object) -> Markup:
    """Return a number with its thousands apart, or a text in which nothing acts in Markdown."""
    if isinstance(value, Markup):
        return value
    text = _cell(value) or ""
    return Markup(text if isinstance(value, int) else _bare(tables.escape_markdown(text)))


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], align: str) -> Markup:
    """Return a table in Markdown; of many rows the first.

    Args:
        header: Names of the columns.
        rows: Cells: text, integers, or None.
        align: One letter per column, ``l`` or ``r``.
    """
    cells = [[_cell(value) for value in row] for row in rows[:_ROWS]]
    left = f"\n\nand {len(rows) - _ROWS:,} more." if len(rows) > _ROWS else ""
    return Markup(_bare(tables.Table(header, cells, align).markdown()) + left)


def percent(part: int, whole: int) -> Markup:
    """Return a share such as ``17.18 %``, or ``-`` of nothing."""
    return Markup(f"{100 * part / whole:.2f} %" if whole else tables.MISSING)


def fenced(code: str) -> Markup:
    """Return a block of shell code that ends where it ends, whatever `code` holds."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return Markup(f"{fence}sh\n{code}\n{fence}")


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    return f"{value:,}" if isinstance(value, int) else clean(value, _LONGEST)


def _bare(text: str) -> str:
    return _BARE.sub(lambda match: "\\" + match[0], text)
