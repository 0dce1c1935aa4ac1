"""Pictures by matplotlib: the same numbers give the same bytes, whatever its settings are."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

from arena.kit.lazy import require
from arena.text.display import shown

__all__ = ["COLOURS", "GREY", "INK", "MARKERS", "draw", "short"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Okabe and Ito (2008): any kind of colour blindness leaves them distinct."""
MARKERS = "os^Dp*"
INK, GREY = "#1b2430", "#8a94a3"
_SETTINGS: Any = {
    "svg.hashsalt": "arena",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # journals refuse fonts of type 3
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#d9dde3",
    "legend.frameon": False,
}


def draw(
    paint: Callable[[Any], None],
    width: float = 7.5,
    height: float = 3.5,
    panels: tuple[int, int] = (1, 1),
) -> dict[str, bytes]:
    """Return what `paint` draws into a `matplotlib.axes.Axes`, as the files ``svg`` and ``pdf``.

    `width` and `height` are in inches; of several `panels`, rows and columns, it gets an array.
    """
    require("a plot", "matplotlib")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the viewer's font may have the letter
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        figure = Figure((width, height), layout="constrained")
        paint(figure.subplots(*panels))
        files = {"svg": io.BytesIO(), "pdf": io.BytesIO()}
        for kind, date in (("svg", "Date"), ("pdf", "CreationDate")):
            figure.savefig(files[kind], format=kind, metadata={date: None, "Creator": None})
    return {kind: file.getvalue() for kind, file in files.items()}


def short(text: str) -> str:
    """Return a text that fits next to an axis or in a legend, on one line."""
    return shown(text, 40)
