"""The lines on a library in the summary of a build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arena.corpus import layout
from arena.text.display import count

_MOST = 3  # files or reasons that a row names


def library_rows(manifest: Mapping[str, Any], directory: Path) -> Iterator[tuple[str, str]]:
    """Yield rows on files, losses, joins, dates and citation links, and what to do about them."""
    files, of = manifest["source"]["files"], manifest["source"]["library"]
    named = [
        f"{file['name']} ({file['format']}, {count(file['papers'], 'paper')})" for file in files
    ]
    yield "read", ", ".join(named[:_MOST]) + f", {len(named) - _MOST:,} more" * (len(named) > _MOST)
    lost = sorted(
        (-number, what, f"{number:,} x {reason} ({file['name']} line {line}, {detail})")
        for file in files
        for what, reasons in file["lost"].items()
        for reason, (number, line, detail) in reasons.items()
    )
    for _, what, text in lost[:_MOST]:
        yield ("lost" if what == "records" else "left out"), text
    if rest := -sum(number for number, *_ in lost[_MOST:]):
        yield "lost", f"{rest:,} more; `arena-corpus info {directory} --json` has all reasons"
    joined = dict(of["joined"])
    if other := joined.pop("other_title", 0):
        first, second = of["other_titles"]
        yield (
            "warning",
            f"{count(other, 'joined record has', 'joined records have')} another title: "
            f"{first!r} and {second!r}",
        )
    if joined:
        by = ", ".join(f"{number:,} by {kind}" for kind, number in joined.items())
        yield (
            "joined",
            f"{count(sum(joined.values()), 'record')} to papers that other records have: {by}",
        )
    starts = (np.load(directory / name) for name in (layout.CITED_STARTS, layout.CITING_STARTS))
    citing, cited = (np.diff(each) > 0 for each in starts)
    linked, searchable = int((citing | cited).sum()), manifest["counts"]["searchable"]
    dates = ", ".join(f"{kind} {number:,}" for kind, number in of["dates"].items())
    of_year = " (31 December counts: no cutoff within that year reaches the paper)"
    yield (
        "dated by",
        f"{dates}{of_year * ('year' in of['dates'])}; {linked:,} of {searchable:,} searchable "
        "papers cite another or are cited",
    )
    if 2 * linked < searchable:
        yield (
            "warning",
            "most papers have no citation links, without which agents that follow them find little "
            "more than a search: BibTeX, RIS, CSV and arXiv have none, OpenAlex has "
            "(`arena-corpus download openalex --seeds FILE.bib`, then `--add`)",
        )
    if not manifest["counts"]["surveys"]:
        yield (
            "note",
            "good for search, MCP and /retrieve, questions, and, where papers are linked, paper "
            "tasks (`arena-corpus tasks`); --gold makes a task of what a survey of yours cites",
        )
