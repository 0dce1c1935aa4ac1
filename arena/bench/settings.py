"""What a benchmark measures."""

from __future__ import annotations

from typing import NamedTuple

from arena.bench.engines.base import ENGINES
from arena.errors import DataError

MODES = ("single", "batch")


class Settings(NamedTuple):
    """What is measured.

    Attributes:
        documents: sizes of the collections, >= 1 each.
        engines: registered names.
        queries, k, batch, repeats, threads: >= 1; `threads` is what a batch may use.
        warm: seconds to search before the clock starts, at least, >= 0.
        cutoffs: percent of the documents before the cutoff, above 0, up to 100.
        seed: of the synthetic collection and of what is sampled.
        corpus: a built corpus to take the papers from, or None.
    """

    documents: tuple[int, ...]
    engines: tuple[str, ...]
    queries: int = 128
    k: int = 100
    cutoffs: tuple[float, ...] = (1.0, 10.0, 50.0, 100.0)
    repeats: int = 5
    batch: int = 128
    threads: int = 1
    warm: float = 1.0
    seed: int = 0
    corpus: str | None = None


def check_settings(settings: Settings) -> None:
    """Refuse what cannot be measured.

    Raises:
        DataError: naming the option and the value.
        UnknownNameError: naming the nearest engines.
    """
    for name in settings.engines:
        ENGINES.get(name)
    for option, numbers in (
        ("--docs", settings.documents),
        ("--queries", (settings.queries,)),
        ("--k", (settings.k,)),
        ("--repeats", (settings.repeats,)),
        ("--batch", (settings.batch,)),
        ("--threads", (settings.threads,)),
    ):
        for number in numbers:
            if number < 1:
                raise DataError(f"{option} {number}: give an integer >= 1.")
    if not 0 <= settings.warm < float("inf"):
        raise DataError(f"--warm {settings.warm:g}: give seconds >= 0.")
    if settings.seed < 0:
        raise DataError(f"--seed {settings.seed}: give an integer >= 0.")
    for percent in settings.cutoffs:
        if not 0 < percent <= 100:
            raise DataError(f"--cutoffs {percent:g}: give percents above 0, up to 100.")
    for option, values in (
        ("--docs", settings.documents),
        ("--engines", settings.engines),
        ("--cutoffs", settings.cutoffs),
    ):
        if not values or len(set(values)) < len(values):
            raise DataError(f"{option}: name at least one value, and none twice.")
    if settings.k > min(settings.documents):
        raise DataError(
            f"--k {settings.k}: the smallest collection has {min(settings.documents)} documents."
        )
