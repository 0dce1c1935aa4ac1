"""Output on a terminal: tables, also for Markdown and LaTeX, and progress bars."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from arena.text.display import columns, printable

__all__ = ["MISSING", "Table", "best", "escape_latex", "escape_markdown", "progress"]

_LINE, _LETTER, _GAP = 345, 4.5, 12  # points: of the text of LaTeX's article, and in a table
MISSING = "-"
"""The text of a cell that is None: a value that is unknown or undefined, which is not 0."""

_TIE = 1e-12  # what rounding adds makes nothing the best

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}",
    # A row that begins with one of these would be read as an argument of the `\\` before it.
    "[": "{[}", "]": "{]}", "*": "{*}",
    "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
}  # fmt: skip
_MARKDOWN = re.compile(r"[\\`*<>\[\]|~&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


@dataclass(frozen=True)
class Table:
    """A table before it is text.

    A cell is text, which is shown as it is, a number, of which a float has four decimals, or None.

    Attributes:
        align: ``l`` or ``r`` for each column; None aligns numbers to the right and text to the
            left.
        bold: (row, column) of cells that Markdown and LaTeX print bold; see `best`.
        title: Its caption.
        key: Its name, for labels and anchors.
        below: (row, column) -> what Markdown and LaTeX print in small below a cell's text.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    align: str | None = None
    bold: Collection[tuple[int, int]] = ()
    title: str = ""
    key: str = ""
    below: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def text(self, missing: str = MISSING, width: int | None = None) -> str:
        """Return it for a terminal, without a final newline; `missing` is shown for None.

        If it is wider than `width`, the texts of its widest column are broken into lines.
        """
        from tabulate import tabulate

        cells, header = self._cells(missing), [printable(name) for name in self.header]
        padded = [f"{name}  " for name in header]  # as tabulate does
        widths = [max(map(columns, column)) for column in zip(padded, *cells, strict=True)]
        most: list[int | None] = [None] * len(widths)
        if width is not None and (over := sum(widths) + 2 * (len(widths) - 1) - width) > 0:
            widest = widths.index(max(widths))
            most[widest] = max(widths[widest] - over, 20)
        return tabulate(
            cells,
            headers=header,
            disable_numparse=True,  # an id such as 2101.01507 is not a number to be rounded
            colalign=self._alignment() if self.rows else None,
            maxcolwidths=most,
        )

    def markdown(self) -> str:
        """Return it in GitHub's Markdown, without its title and a final newline."""
        from tabulate import tabulate

        cells = [[escape_markdown(cell).rstrip() for cell in row] for row in self._cells()]
        for row, column in self.bold:
            cells[row][column] = f"**{cells[row][column]}**"
        for (row, column), small in self.below.items():
            cells[row][column] += f"<br>{escape_markdown(printable(small))}"
        return tabulate(
            cells,
            headers=[escape_markdown(printable(name)) for name in self.header],
            tablefmt="pipe",
            disable_numparse=True,
            colalign=self._alignment(),
        )

    def latex(self) -> str:
        r"""Return it as a floating table for LaTeX with booktabs, without a final newline.

        Every character that TeX would act upon is escaped. Its label is ``tab:`` and its key, in
        which characters other than letters, digits and ``:.-`` become ``-``. Headings
        such as "R, a" and "R, b" side by side become one above two. One that is wider than the text
        of an article is shrunk to it, and needs ``\usepackage{graphicx}``, every one
        ``\usepackage{booktabs}``, and ``\usepackage{textcomp}`` in releases of LaTeX before 2020.
        """
        cells = [[_signed(cell) for cell in row] for row in self._cells()]
        for row, column in self.bold:
            cells[row][column] = rf"\textbf{{{cells[row][column]}}}"
        for (row, column), small in self.below.items():
            upper = rf"\rule{{0pt}}{{2.6ex}}{cells[row][column]}"
            lower = rf"{{\scriptsize {_signed(printable(small))}}}"
            cells[row][column] = rf"\shortstack[r]{{{upper}\\{lower}}}"
        heads = self._latex_heads()
        columns = zip(heads[-1].split(" & "), *self._cells(), strict=True)
        wide = sum(_LETTER * max(map(len, each)) + _GAP for each in columns) > _LINE
        letters = "".join(word[0] for word in self._alignment())
        return "\n".join([
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(printable(self.title))}}}",
            rf"\label{{tab:{re.sub('[^A-Za-z0-9:.-]', '-', self.key)}}}",
            *[r"\resizebox{\linewidth}{!}{%"] * wide,
            rf"\begin{{tabular}}{{{letters}}}",
            r"\toprule",
            *heads,
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in cells),
            r"\bottomrule",
            r"\end{tabular}" + "}" * wide,
            r"\end{table}",
        ])  # fmt: skip

    def _latex_heads(self) -> list[str]:
        """Return the lines of the head: two where columns next to each other are of one heading."""
        heads = [escape_latex(printable(name)).rpartition(", ") for name in self.header]
        groups = [(name, len([*same])) for name, same in groupby(head[0] for head in heads)]
        if all(number == 1 for name, number in groups if name):
            return [" & ".join("".join(head) for head in heads) + r" \\"]
        above = (
            rf"\multicolumn{{{number}}}{{c}}{{{name}}}" if name else " & " * (number - 1)
            for name, number in groups
        )  # fmt: skip
        return [" & ".join(above) + r" \\", " & ".join(head[2] for head in heads) + r" \\"]

    def _cells(self, missing: str = MISSING) -> list[list[str]]:
        def cell(value: Any) -> str:
            if value is None:
                return missing
            return f"{value:.4f}" if isinstance(value, float) else printable(str(value))

        return [[cell(value) for value in row] for row in self.rows]

    def _alignment(self) -> list[str]:
        align = self.align
        if align is None:
            columns = list(zip(*self.rows, strict=True)) or [()] * len(self.header)
            numeric = [all(v is None or _is_number(v) for v in column) for column in columns]
            align = "".join("lr"[right] for right in numeric)
        return [{"l": "left", "r": "right"}[letter] for letter in align]


def best(
    rows: Sequence[Sequence[Any]], columns: Collection[int], lowest: Collection[int] = ()
) -> set[tuple[int, int]]:
    """Return (row, column) of the best number of each of `columns`, if it stands alone.

    Equal numbers are not better than each other, nor is the only one of its column the best. Cells
    that are not numbers are ignored; in the columns `lowest` less is better.

    >>> best([["a", 0.5, 3, 1], ["b", 0.7, 2, None], ["c", 0.7, None, None]], [1, 2, 3], lowest=[2])
    {(1, 2)}
    """
    places = set()
    for column in columns:
        sign = -1 if column in lowest else 1
        found = [(sign * row[column], i) for i, row in enumerate(rows) if _is_number(row[column])]
        if len(found) > 1:
            second, (top, place) = sorted(found)[-2:]
            places |= {(place, column)} if top - second[0] > _TIE else set()
    return places


def escape_latex(value: str) -> str:
    r"""Return `value` as TeX prints it.

    >>> escape_latex("50 % of $x_1$")
    '50 \\% of \\$x\\_1\\$'
    """
    escaped = "".join(_LATEX.get(letter, letter) for letter in value)
    return re.sub("-(?=-)", "-{}", escaped)  # two would become one dash


def _signed(text: str) -> str:
    """Return a text for LaTeX, in which the sign of a number is a minus and not a hyphen."""
    return re.sub(r"(?<![^ ])-(?=[0-9])", "$-$", escape_latex(text)).rstrip()


def escape_markdown(value: str) -> str:
    r"""Return `value` with everything escaped that Markdown or HTML in it would act upon.

    >>> escape_markdown("tree_edit_distance | <b>")
    'tree_edit_distance \\| \\<b\\>'
    """
    return _MARKDOWN.sub(lambda match: "\\" + match[0], value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def progress(iterable: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return a `tqdm.tqdm` bar on standard error: on a terminal, for what takes over two seconds.

    Options are tqdm's: ``desc``, ``total``, ``unit``. It shows the rate and the time left.
    """
    from tqdm import tqdm

    if not hasattr(tqdm, "_lock"):
        # tqdm's own lock leaves a semaphore behind, with a warning, in a process that is ended.
        tqdm.set_lock(threading.RLock())
    return tqdm(iterable, delay=2, disable=None, dynamic_ncols=True, leave=False, **options)
