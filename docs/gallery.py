"""List on docs/gallery.md, for the site: tasks, and the expected numbers of every corpus."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import arena.cli.list
from arena_analysis.reproducing import read_expected

EXPECTED = Path(__file__).parents[1] / "benchmarks" / "expected"


def table(rows: list[list[str]]) -> str:
    """Return a table of Markdown; the first row is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def played(name: str, runs: dict[str, Any]) -> dict[str, list[list[str]]]:
    """Return task, and named topics if any -> the rows of its table, of the runs of a corpus."""
    groups: dict[str, dict[str, tuple[str, dict[str, float]]]] = {}
    for run, about in runs.items():
        words = shlex.split(about["command"])
        options = dict(itertools.pairwise(words))
        topics = Path(options.get("--tasks", "")).name
        engine = options.get("--retriever", "bm25")
        agent = f"{options['--agent']}, {engine}" if engine != "bm25" else options["--agent"]
        title = options["--task"] + (f", {topics}" if topics else "")
        groups.setdefault(title, {})[f"{name}.{run}"] = agent, about["expected"]
    found = {}
    for title, each in groups.items():
        metrics = list(dict.fromkeys(metric for _, scores in each.values() for metric in scores))
        rows = [["expectation", "agent", *metrics]]
        for run, (agent, expected) in each.items():
            scores = [f"{expected[metric]:.4f}" if metric in expected else "" for metric in metrics]
            rows.append([f"`{run}`", agent, *scores])
        found[title] = rows
    return found


def lists() -> dict[str, str]:
    """Return what stands below each heading of the page."""
    tasks = arena.cli.list._registered("tasks")["tasks"]
    parts = []
    for name, content in read_expected(EXPECTED).items():
        comment = re.match(r"(?:# .*\n)+", (EXPECTED / f"{name}.yaml").read_text("utf-8"))
        said = " ".join(comment[0].replace("# ", "").split()) if comment else ""
        parts.append(f"### {name}\n\n{said} ([expectations](../benchmarks/expected/{name}.yaml))")
        for title, rows in played(name, content["runs"]).items():
            parts += [f"**{title}**", table(rows)]
    return {
        "Tasks": table([["task", "scored by"], *([f"`{t}`", tasks[t]] for t in tasks)]),
        "Agents and benchmarks": "\n\n".join(parts),
    }
