"""Time what the project is for: build, dated search, environment steps, whole runs.

    python benchmarks/core.py                                     # a world of 20,000 papers
    python benchmarks/core.py --papers papers.jsonl.gz --surveys surveys.jsonl

Every comparison is a ratio measured in this one process, alternating, on the same queries.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import bm25s
import gymnasium
import numpy as np
import pyarrow.parquet as pq
from tabulate import tabulate

import arena
from arena.text import analyze
from corpus_builder.build import build
from corpus_builder.sources import Source
from corpus_builder.sources.jsonl import JsonLines
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig

ROUNDS = 5
SHARES = (0.1, 0.5, 1.0)
FIELDS = ("title", "abstract")  # what both engines index


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--papers", help="JSON lines; default: a made-up world")
    parser.add_argument("--surveys", help="JSON lines, with --papers")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    source: Source = (
        JsonLines(arguments.papers, arguments.surveys)
        if arguments.papers
        else WorldSource(WorldConfig(papers=20_000, surveys=100))
    )
    with tempfile.TemporaryDirectory() as directory:
        rows = measure(source, Path(directory))
    if arguments.json:
        print(json.dumps([dict(zip(("what", "value", "unit"), r, strict=True)) for r in rows]))
    else:
        print(tabulate(rows, headers=("what", "value", "unit"), floatfmt=".3f"))


def measure(source: Source, directory: Path) -> list[tuple[str, float, str]]:
    """Return (what, value, unit) rows."""
    started = time.perf_counter()
    manifest = build(source, directory / "corpus", fields=FIELDS)
    seconds = time.perf_counter() - started
    papers = manifest["counts"]["papers"]
    rows = [("build", seconds, "s"), ("build rate", papers / seconds, "papers/s")]
    corpus = arena.Corpus.open(directory / "corpus")
    rows += search_rows(corpus)
    rows += step_rows(corpus)
    for task in ("discovery", "selection"):
        started = time.perf_counter()
        arena.run(corpus, task, "title", directory / task)
        rows.append((f"run title on all surveys, {task}", time.perf_counter() - started, "s"))
    return rows


def search_rows(corpus: arena.Corpus) -> list[tuple[str, float, str]]:
    """Search every survey title at three cutoffs, beside bm25s with a mask."""
    titles = pq.read_table(corpus.directory / "tasks/surveys.parquet")["title"].to_pylist()
    papers = pq.read_table(corpus.directory / "papers.parquet").to_pylist()
    days = sorted(p["date"] for p in papers if p["searchable"])
    other = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    texts = ["\n".join(p[field] for field in FIELDS) if p["searchable"] else "" for p in papers]
    other.index([analyze(text) for text in texts], show_progress=False)
    tokens = [[term for term in analyze(t) if term in other.vocab_dict] for t in titles]
    rows = []
    for share in SHARES:
        cutoff = days[int(share * (len(days) - 1))]
        view = corpus.at(cutoff)
        mask = np.array([bool(p["searchable"] and p["date"] < cutoff) for p in papers], np.float32)
        masked = partial(other.retrieve, k=100, weight_mask=mask, show_progress=False)
        mine, its = alternate(
            [partial(view.search, title, 100) for title in titles],
            [partial(masked, [query]) for query in tokens],
        )
        percent = f"{share:.0%} of the papers before the cutoff"
        rows.append((f"search, k=100, {percent}", mine * 1e3, "ms (median)"))
        rows.append((f"bm25s with a mask, k=100, {percent}", its * 1e3, "ms (median)"))
        rows.append((f"bm25s / ours, {percent}", its / mine, "ratio"))
    return rows


def alternate(
    first: Sequence[Callable[[], Any]], second: Sequence[Callable[[], Any]]
) -> tuple[float, float]:
    """Return the median seconds of a call of each, taken in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for repeat in range(ROUNDS + 1):
        for calls in zip(first, second, strict=True):
            for kept, call in zip(times, calls, strict=True):
                started = time.perf_counter()
                call()
                if repeat:  # the first round compiles and warms up
                    kept.append(time.perf_counter() - started)
    return statistics.median(times[0]), statistics.median(times[1])


def step_rows(corpus: arena.Corpus) -> list[tuple[str, float, str]]:
    """Step an environment with searches, and the same searches without one."""
    env = gymnasium.make("arena/Discovery-v0", corpus=corpus, max_steps=10**6, max_searches=10**6)
    observation, _ = env.reset(seed=0)
    words = observation["topic"].split()
    view = corpus.at(observation["cutoff"])
    queries = [" ".join(words[i % len(words) :][:3]) for i in range(500)]
    actions = [{"tool": "search", "arguments": {"query": query, "k": 10}} for query in queries]
    steps = [partial(env.step, action) for action in actions]
    searches = [partial(view.search, query, 10) for query in queries]
    step, search = alternate(steps, searches)
    return [
        ("environment steps (search, k=10)", 1 / step, "steps/s"),
        ("environment overhead a step", (step - search) * 1e6, "us"),
    ]


if __name__ == "__main__":
    main()
