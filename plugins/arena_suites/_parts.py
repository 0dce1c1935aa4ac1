"""Parts of reports that fit into one question to a model, and evenly spread samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TypeVar

from arena.report import Report, Statement

T = TypeVar("T")


def chunks(report: Report, size: int) -> list[tuple[str, list[Statement]]]:
    """Return the report without its bibliography in parts, each a text and its sentences.

    A part has whole sections, as many as fit; a longer section is cut at sentences. Marks of
    citations are the keys of the references in brackets. A part has `size` characters; a longer
    sentence is cut and has a part of its own.
    """
    parts: list[tuple[str, list[Statement]]] = []
    for place, group in groupby(report.statements, key=lambda each: each.section):
        section = report.sections[place]
        heading = f"{'#' * section.level} {section.heading}\n\n" if section.heading else ""
        statements = list(group)
        marks = [f"[{'; '.join(each.citations)}]" if each.citations else "" for each in statements]
        texts = (each.text[:size] for each in statements)
        lines = [" ".join(both).strip() for both in zip(texts, marks, strict=True)]
        lines[0] = heading + lines[0]
        room = size - sum(len(line) + 1 for line in lines)  # that the section leaves
        if not parts or len(parts[-1][0]) > room:
            parts.append(("", []))
        for line, each in zip(lines, statements, strict=True):
            if parts[-1][1] and len(parts[-1][0]) + len(line) >= size:
                parts.append(("", []))
            text, within = parts[-1]
            parts[-1] = f"{text}\n{line}".strip(), [*within, each]
    return parts


def spread(items: Sequence[T], most: int | None) -> list[T]:
    """Return at most so many items, evenly spread; all for None."""
    if most is None or len(items) <= most:
        return list(items)
    return [items[place * len(items) // most] for place in range(most)]
