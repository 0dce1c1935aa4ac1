"""Figures in pages of documentation, put there by a command: nobody types them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from arena._internal.files import atomic_write
from arena.bench import _aims, _plot, _scale, _tables
from arena.bench._results import RESULTS
from arena.errors import CorpusError, DataError, did_you_mean

_BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

_PLOT, _ALT = "plot", "![CPU time of a query by the share of documents before the cutoff]({})"


def read_results(directory: Path) -> dict[str, Any]:
    """Return the results in a directory.

    Raises:
        CorpusError: if there are none.
    """
    path = directory / RESULTS
    try:
        results: dict[str, Any] = json.loads(path.read_bytes())
        if results["benchmark"] == "retrieval" and results["sizes"]:
            for size in results["sizes"]:  # the file has them sorted by name
                engines = size["engines"]
                size["engines"] = {name: engines[name] for name in results["settings"]["engines"]}
            return results
    except (OSError, ValueError, LookupError, TypeError):
        pass
    raise CorpusError(
        f"{str(directory)!r} holds no finished benchmark. Run `arena bench retrieval --output` "
        "with it; what was begun goes on."
    )


def update(page: Path, results: dict[str, Any]) -> list[str]:
    """Fill in every block of a page; return their names. A plot is written beside the page.

    Raises:
        DataError: if the page has no block, or one of an unknown name, or a plot and matplotlib
            is absent.
    """
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{str(page)!r} is no page that can be read.") from None
    picture = page.with_suffix(".svg")
    plot = {_PLOT: lambda _: _ALT.format(picture.name)}
    blocks = _tables.BLOCKS | _aims.BLOCKS | _scale.BLOCKS | plot
    found = [match[2] for match in _BLOCK.finditer(text)]
    if not found:
        raise DataError(f"{str(page)!r} has no <!-- figures: NAME --> ... <!-- end -->.")
    for name in found:
        if name not in blocks:
            raise DataError(f"{str(page)!r}: no figures {name!r}.{did_you_mean(name, blocks)}")
    if _PLOT in found:
        drawn = _plot.svg(results)
        if drawn is None:
            raise DataError("the plot needs matplotlib. Run: pip install 'researcharena[bench]'")
        atomic_write(picture, drawn)
    atomic_write(
        page, _BLOCK.sub(lambda match: f"{match[1]}{blocks[match[2]](results)}\n{match[3]}", text)
    )
    return found
