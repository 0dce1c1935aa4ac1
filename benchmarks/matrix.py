"""Baselines without a language model on surveys and on questions, as one table."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import arena
from arena.corpus import Corpus
from arena.tasks import TaskSet
from benchmarks.planning import figures_of_run
from benchmarks.report import Results, table
from corpus_builder.question_tasks import write_question_tasks

SETS = {
    "surveys": "",
    "autoscholarquery": "autoscholarquery_test.jsonl",
    "scholargym": "scholargym_bench.jsonl",
    "sparbench": "spar_bench.jsonl",
    "deepscholar": "deepscholar",
}
"""Set -> its file in the folder of questions; the surveys are those of the corpus."""
HYBRID = "hybrid(bm25,dense)"
SYSTEMS = [
    *[("title", engine) for engine in ("bm25", "dense", HYBRID, "minilm")],
    ("scout", HYBRID), ("random", "bm25"), ("oracle", "bm25"),
]  # fmt: skip
"""Agents and retrievers; the index minilm may be missing."""
METRICS = ["recall@10", "f1@10", "recall@20", "recall@50", "recall@100"]


def measure(*, corpus: str, questions: str, output: str, surveys: int | None = None) -> Results:
    """Play all sets with all systems; the same command resumes.

    Args:
        corpus (DIR): A built corpus with the indexes bm25 and dense.
        questions (DIR): Folder with the files of the benchmarks of questions.
        output (DIR): Folder for task sets and runs.
        surveys: Play the first N of each set (default: all with gold in reach).
    """
    rows = []
    for name, file in SETS.items():
        tasks = Path(output, name, "tasks") if file else None
        if tasks:
            days = Path(questions, SETS["autoscholarquery"]) if name == "scholargym" else None
            write_question_tasks(corpus, tasks, {name: str(Path(questions, file))}, days=days)
        opened = Corpus.open(corpus, tasks=tasks)
        chosen, gold = TaskSet(opened).scorable[:surveys], TaskSet(opened).gold
        reach = {s: len(gold(s).gains) / gold(s).references for s in chosen}
        for agent, engine in SYSTEMS:
            if engine != "minilm" or engine in opened.manifest["indexes"]:
                run = Path(output, name, f"{agent}-{engine}")
                arena.run(opened, "question", agent, run, surveys=chosen, retriever=engine,
                          metrics=METRICS[:2], timed=True)  # fmt: skip
                figures = _figures(run, opened, reach)
                rows.append({"set": name, "system": f"{agent}, {engine}"} | figures)
    return {"corpus": Corpus.open(corpus).sha256, "rows": rows}


def _figures(run: Path, corpus: Corpus, reach: dict[str, float]) -> Results:
    """Return the figures of a run; `reach` are the shares of the gold in reach, by question."""
    compared = arena.compare([run])
    (name,), effort = compared.names, compared.runs[0].effort
    means = {metric.metric: metric.means[name] for metric in compared.metrics}
    last = next(metric for metric in compared.metrics if metric.metric == "recall@100")
    searched = figures_of_run(run, corpus).values()
    values = zip(last.surveys, last.values[name], strict=True)
    return {
        "n": len(reach),
        **{metric: means[metric].mean for metric in METRICS},
        "95 % from": means["recall@100"].low,
        "to": means["recall@100"].high,
        "of all gold": fmean(value * reach[survey] for survey, value in values),
        "ceiling": fmean(reach.values()),
        "distance": fmean(of["distance"] or 0.0 for of in searched),
        "searches": (effort.searches or 0) / effort.episodes,
        "seconds": effort.seconds,
    }


def show(results: Results) -> str:
    """Return the table in Markdown."""
    rows = [list(row.values()) for row in results["rows"]]
    return table(f"Corpus {results['corpus']}", list(results["rows"][0]), rows)
