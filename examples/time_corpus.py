"""Time the way from files of papers to the first episodes, each step in a process of its own.

What stands behind ``--output DIR`` is given to ``arena-corpus build``:

    python examples/time_corpus.py --output timed synthetic --papers 2000 --surveys 20
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from arena.tasks import TaskSet

SYSTEMS = (("title", "bm25"), ("title", "dense"), ("scout", "bm25"))


class Cost(NamedTuple):
    """Cost of a command: seconds by the clock and of all its processes, and GB at its peak."""

    seconds: float
    cpu: float
    memory: float


def cost_of(module: str, *words: str) -> Cost:
    """Run ``python -m MODULE WORDS`` to its end; what it prints goes to standard error."""
    print("$", module, *words, file=sys.stderr, flush=True)
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", module, *words], stdout=sys.stderr)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{module} ended with status {process.returncode}.")
    seconds = time.perf_counter() - began
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def size(directory: Path) -> float:
    """Return the GB of the files of a directory."""
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file()) / 1e9


def main() -> None:
    """Print a row for each step: seconds, CPU seconds, GB of memory at the peak, GB on disk."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("source", nargs=argparse.REMAINDER, help="source and its options")
    given = parser.parse_args()
    directory, rows = given.output / "corpus", list[tuple[object, ...]]()
    corpus, check = str(directory), "--no-check"  # the hashes were checked by the first search

    def step(name: str, module: str, *words: str) -> Cost:
        before = size(given.output) if given.output.exists() else 0.0
        cost = cost_of(module, *words)
        rows.append((name, *cost, size(given.output) - before))
        return cost

    step("build, with bm25", "corpus_builder.cli", "build", *given.source, "--output", corpus)
    step("index dense, static", "corpus_builder.cli", "index", corpus, "--engine", "dense")
    topics = TaskSet(corpus).topics.values()
    last = max(topics, key=lambda topic: topic.date)
    search = ("search", "--corpus", corpus, "--query", last.text, "--before", last.date)
    for name in ("first dated search", "second dated search"):
        step(name, "arena", *search)
    for number, (agent, engine) in enumerate([SYSTEMS[0], *SYSTEMS]):
        run = given.output / "runs" / f"{agent}-{engine}-{number}"
        words = ["run", "--task", "discovery", "--corpus", corpus, "--output", str(run), check]
        words += ["--agent", agent, "--retriever", engine, "--timed"]
        words += ["--topics", "1"] * (not number)
        cost = step(f"{agent}, {engine}{', 1 topic' * (not number)}", "arena", *words)
        if number:
            inside = json.loads((run / "timing.json").read_bytes())["seconds"]
            each = 1e3 / len(topics)
            rows.append(("  an episode, in ms", inside * each, cost.cpu * each, "", ""))
    headers = ["step", "seconds", "CPU seconds", "memory, GB", "disk, GB"]
    print(tabulate(rows, headers, "github", floatfmt=".2f"))


if __name__ == "__main__":
    main()
