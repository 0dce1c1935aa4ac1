"""Tables for a terminal, for Markdown and for LaTeX; the text of a cell is escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

MISSING = "-"
"""What a cell that is None shows: a value that is unknown or undefined, which is not 0."""

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    # A row that begins with one of these would be read as an argument of the `\\` before it.
    "[": "{[}", "]": "{]}", "*": "{*}",
    "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
}  # fmt: skip
_MARKDOWN = re.compile(r"[\\`*<>\[\]|~&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def text(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    align: str | None = None,
    decimals: int = 4,
    missing: str = MISSING,
) -> str:
    """Return a plain table for a terminal, without a final newline; `missing` stands for None.

    `align` holds ``l`` or ``r`` for each column; by default numbers are aligned to the right.
    """
    from tabulate import tabulate

    return tabulate(
        _shown(rows, decimals, missing),
        headers=[_one_line(name) for name in header],
        disable_numparse=True,  # an id such as 2101.01507 is no number to be rounded
        colalign=_alignment(header, rows, align) if rows else None,
    )


def markdown(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    align: str | None = None,
    decimals: int = 4,
    bold: Collection[tuple[int, int]] = (),
) -> str:
    """Return a table in GitHub's Markdown, without a final newline; arguments as `latex`."""
    from tabulate import tabulate

    cells = [
        [escape_markdown(cell).rstrip() for cell in row] for row in _shown(rows, decimals, MISSING)
    ]
    for row, column in bold:
        cells[row][column] = f"**{cells[row][column]}**"
    return tabulate(
        cells,
        headers=[escape_markdown(_one_line(name)) for name in header],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=_alignment(header, rows, align),
    )


def latex(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str | None = None,
    label: str | None = None,
    align: str | None = None,
    decimals: int = 4,
    bold: Collection[tuple[int, int]] = (),
) -> str:
    r"""Return a table for LaTeX with booktabs, without a final newline.

    Every character that TeX would act upon is escaped, in cells, header and caption. Needs
    ``\usepackage{booktabs}`` and ``\usepackage{textcomp}`` in releases of LaTeX before 2020. With
    a caption or a label the table floats. `bold` holds (row, column) of cells; see `best`.
    """
    # The sign of a number is a minus and not a hyphen.
    cells = [
        [re.sub(r"(?<![^ ])-(?=[0-9])", "$-$", escape_latex(cell)).rstrip() for cell in row]
        for row in _shown(rows, decimals, MISSING)
    ]
    for row, column in bold:
        cells[row][column] = rf"\textbf{{{cells[row][column]}}}"
    letters = "".join(word[0] for word in _alignment(header, rows, align))
    lines = [
        rf"\begin{{tabular}}{{{letters}}}",
        r"\toprule",
        " & ".join(escape_latex(_one_line(name)) for name in header) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in cells),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if caption is None and label is None:
        return "\n".join(lines)
    above = [] if caption is None else [rf"\caption{{{escape_latex(_one_line(caption))}}}"]
    if label is not None:
        above.append(rf"\label{{{re.sub('[^A-Za-z0-9:.-]', '-', label)}}}")
    return "\n".join([r"\begin{table}", r"\centering", *above, *lines, r"\end{table}"])


def best(
    rows: Sequence[Sequence[Any]], columns: Collection[int], lowest: Collection[int] = ()
) -> set[tuple[int, int]]:
    """Return (row, column) of the best number of each column; of equal ones all.

    >>> sorted(best([["a", 0.5, 3], ["b", 0.7, 2], ["c", 0.7, None]], [1, 2], lowest=[2]))
    [(1, 1), (1, 2), (2, 1)]
    """
    places = set()
    for column in columns:
        values = {i: row[column] for i, row in enumerate(rows) if _is_number(row[column])}
        if values:
            top = min(values.values()) if column in lowest else max(values.values())
            places |= {(i, column) for i, value in values.items() if value == top}
    return places


def escape_latex(value: str) -> str:
    r"""Return `value` as TeX prints it.

    >>> escape_latex("50 % of $x_1$")
    '50 \\% of \\$x\\_1\\$'
    """
    escaped = "".join(_LATEX.get(letter, letter) for letter in value)
    return re.sub("-(?=-)", "-{}", escaped)  # two would become one dash


def escape_markdown(value: str) -> str:
    r"""Return `value` with everything escaped that Markdown or HTML in it would act upon.

    >>> escape_markdown("tree_edit_distance | <b>")
    'tree_edit_distance \\| \\<b\\>'
    """
    return _MARKDOWN.sub(lambda match: "\\" + match[0], value)


def _shown(rows: Sequence[Sequence[Any]], decimals: int, missing: str) -> list[list[str]]:
    return [[_cell(value, decimals, missing) for value in row] for row in rows]


def _cell(value: Any, decimals: int, missing: str) -> str:
    if value is None:
        return missing
    if isinstance(value, float):
        return f"{value:.{decimals}f}"
    return _one_line(str(value))


def _one_line(value: str) -> str:
    """Drop what ends a line, moves a cursor or turns the direction of text."""
    return "".join(letter if letter.isprintable() else " " for letter in value)


def _alignment(
    header: Sequence[str], rows: Sequence[Sequence[Any]], align: str | None
) -> list[str]:  # fmt: skip
    if align is None:
        columns = list(zip(*rows, strict=True)) or [()] * len(header)
        right = [all(value is None or _is_number(value) for value in column) for column in columns]
        align = "".join("r" if numeric else "l" for numeric in right)
    return [{"l": "left", "r": "right"}[letter] for letter in align]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
