"""``arena profile``: how hard each topic of a corpus is."""

from __future__ import annotations

from arena.cli.app import print_json, print_table, resumable
from arena.cli.commands import command
from arena.text.display import count


@command("profile")
def profile(corpus: str, *, tasks: str | None = None, jobs: int = 1, json: bool = False) -> None:
    """Measure how hard each topic is, for --where, curricula and tables. Repeat it to resume.

    Writes CORPUS.profile.parquet (or TASKS.profile.parquet) beside the directory: for each topic
    the recall@100 of agents without a model (title, scout, ranker), the share of gold without a
    word of the topic (wordless), of it that a link of the first 100 hits leads to (links), the
    highest recall@100 (ceiling) and the number of gold papers (size). It depends on labels: keep it
    from agents.

    Args:
        tasks (TASKS): Directory of `arena-corpus tasks`, to measure its papers or questions.
        jobs: Episodes to play at once, each in a process.

    Example:
        arena profile demo/synthetic --json
    """
    import numpy as np

    from arena.corpus import Corpus
    from arena.tasks import TaskSet
    from arena_analysis.profiling import profile as measure

    opened = Corpus.open(corpus, tasks=tasks)
    with resumable():
        measured = measure(opened, jobs=jobs)
    if json:
        print_json({"file": str(measured.file), "topics": measured.rows})
        return
    table = []
    for name in measured.columns:
        values = [value for value in measured.column(name).values() if value is not None]
        table.append((name, *np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()))
    over = count(len(measured.rows), TaskSet(opened).unit)
    print_table(table, (over, "least", "25 %", "half", "75 %", "most"))
    print(f"{measured.file} has the numbers of each topic; it shows labels: keep it from agents.")
