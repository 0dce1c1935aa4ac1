"""Time dated searches through a view, and whole runs, on a built corpus."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

SHARES = (0.1, 0.5, 1.0)


def measure(directory: Path, rounds: int) -> list[tuple[str, float, str]]:
    """Return (what, value, unit) rows.

    Args:
        directory: of a built corpus with at least one survey.
        rounds: how often each is timed, >= 1; medians count.
    """
    import arena

    corpus = arena.Corpus.open(directory)
    rows = _searches(corpus, rounds)
    with tempfile.TemporaryDirectory() as temporary:
        for task in ("discovery", "selection"):
            started = time.perf_counter()
            arena.run(corpus, task, "title", Path(temporary) / task)
            rows.append((f"run of title, all surveys, {task}", time.perf_counter() - started, "s"))
    return rows


def _searches(corpus: Any, rounds: int) -> list[tuple[str, float, str]]:
    """Search every survey title at three cutoffs."""
    from arena.corpus.layout import UNDATED
    from arena.corpus.store import CorpusStore
    from arena.dates import format_day
    from arena.tasks import TaskSet

    titles = [survey.title for survey in TaskSet(corpus.directory).surveys.values()]
    days = CorpusStore(corpus.directory).days
    days = days[days < UNDATED]
    rows = []
    for share in SHARES:
        view = corpus.at(format_day(int(days[int(share * (len(days) - 1))])))
        took = _timed([partial(view.search, title, 100) for title in titles], rounds)
        rows.append((f"search, k=100, {share:.0%} before the cutoff", took * 1e3, "ms"))
    return rows


def _timed(calls: Sequence[Callable[[], Any]], rounds: int) -> float:
    """Return the median seconds of a call."""
    times = []
    for repeat in range(rounds + 1):
        for call in calls:
            started = time.perf_counter()
            call()
            if repeat:  # the first round compiles and warms up
                times.append(time.perf_counter() - started)
    return statistics.median(times)
