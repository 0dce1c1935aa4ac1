"""A page for each task, on which its runs are compared survey by survey."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arena.corpus import Corpus
from arena.results.experiments._cells import Cell
from arena.results.experiments._output import page_of


def write_comparisons(output: Path, corpus: Corpus, cells: Iterable[Cell]) -> None:
    """Write ``comparison-TASK.html`` for every task with at least two runs.

    Args:
        output: of the experiment.
        corpus: that the runs were played on.
        cells: finished runs; the first of a task is what the others are compared with.
    """
    from arena.results.comparison import compare, write_html

    by_task: dict[str, list[Cell]] = {}
    for cell in cells:
        by_task.setdefault(cell.task, []).append(cell)
    for task, runs in by_task.items():
        if len(runs) > 1:
            names = [_name(cell) for cell in runs]
            if len(set(names)) < len(names):  # "a, b" with "c", and "a" with "b, c"
                names = [cell.directory.split("/", 2)[2] for cell in runs]
            places = [output / cell.directory for cell in runs]
            named = [f"{name}={place}" for name, place in zip(names, places, strict=True)]
            write_html(compare(named), output / page_of(task), corpus)


def _name(cell: Cell) -> str:
    return f"{cell.label}, {cell.column}".replace("=", "-")  # the first "=" ends a name
