"""A page for each task, on which its runs are compared survey by survey."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arena.corpus import Corpus
from arena.experiments._cells import Cell
from arena.experiments.config import slug


def write_comparisons(output: Path, corpus: Corpus, cells: Iterable[Cell]) -> None:
    """Write ``comparison-TASK.html`` for every task with at least two runs.

    Args:
        output: of the experiment.
        corpus: that the runs were played on.
        cells: finished runs; the first of a task is what the others are compared with.
    """
    from arena.comparison import compare, write_html

    by_task: dict[str, list[Cell]] = {}
    for cell in cells:
        by_task.setdefault(cell.task, []).append(cell)
    for task, runs in by_task.items():
        if len(runs) > 1:
            named = [f"{_name(cell)}={output / cell.directory}" for cell in runs]
            write_html(compare(named), output / f"comparison-{slug(task)}.html", corpus)


def _name(cell: Cell) -> str:
    # The first "=" ends a name; 80 characters is what a comparison takes.
    return f"{cell.label[:50]}, {cell.column[:25]}".replace("=", "-")
