"""The commands ``arena credit``, ``plan``, ``profile`` and ``reproduce``."""

from __future__ import annotations

import arena
from arena.cli.app import print_json, print_table, resumable
from arena.cli.commands import command
from arena.dates import UNDATED
from arena.text.display import count


@command("credit")
def credit(
    run: str,
    *,
    corpus: str,
    tasks: str | None = None,
    played: bool = False,
    repeats: int = 1,
    agent: str | None = None,
    json: bool = False,
) -> None:
    """Say what each call of a run was worth, for what was shown and for the headline metric.

    The calls are written into RUN/credit.json, too, for `arena view`, `arena show` and `arena
    export messages`. They depend on the labels: keep them from agents.

    Args:
        run (RUN): Directory of a run, finished or not.
        played: Let the agent play on without each call, too; one that asks a language model cannot.
        repeats: How often it plays on, with other seeds; the column has the mean.
        agent (AGENT): The run's agent as FILE.py:CLASS, if it has no registered name.

    Example:
        arena credit runs/title --corpus demo/synthetic
    """
    from arena.runs.credit import write_credit
    from arena.runs.directory import OpenedRun
    from arena_analysis.credit import credit_of_run

    calls = credit_of_run(run, corpus, tasks, played=played, repeats=repeats, agent=agent)
    write_credit(recorded := OpenedRun(run), calls)
    headline = recorded.manifest["definition"].get("headline")
    if json:
        print_json({"headline": headline, "calls": calls})
        return
    print_table([[*row.values()] for row in calls], [*calls[0]])
    undated = f" ({UNDATED})" * recorded.manifest.get("undated", False)
    print(f"Headline: {headline}{undated}. Shares are of the references in reach.")


@command("plan")
def plan(
    runs: list[str],
    *,
    detect: float,
    power: float = 0.8,
    level: float = 0.05,
    metric: str | None = None,
    success: float | None = None,
    clusters: str = "cluster",
    common: bool = False,
    json: bool = False,
) -> None:
    """Say how many topics and repeats show a difference, by how given runs vary.

    Args:
        runs (RUN): Run of one system or two, as arena compare takes them: NAME=RUN,RUN pools runs.
        detect (X): True difference of two systems to be found.
        power (X): Chance that the paired test finds it.
        level (X): Level of significance of the two-sided test.
        metric (NAME): Metric of the runs (default: the task's headline).
        success (X): Score that a success reaches, for the flip rate (default: the median of the
            first run).
        clusters (NAME): What topics share that depend on each other: cluster or domain.
        common: Take the topics that all runs played.

    Example:
        arena plan demo/runs/discovery-title-bm25 demo/runs/discovery-title-dense --detect .03
    """
    from arena.metrics import METRICS
    from arena.results.comparison import compare
    from arena.results.comparison.clusters import in_clusters
    from arena.text.display import count, printable
    from arena_analysis import planning

    planning.check_numbers(detect, power, level)
    names = None if metric is None else [METRICS.resolve(metric)]
    compared = compare(runs, metrics=names, level=1 - level, clusters=clusters, common=common)
    found = planning.plan(compared, detect, power, level, success)
    if json:
        print_json(found)
        return
    over = in_clusters(found["given"]["topics"], found["given"]["clusters"], compared.unit)
    needed = f"{count(found['topics'], compared.unit)} x {count(found['repeats'], 'repeat')}"
    print(
        f"To show a difference of {detect:g} in {found['metric']} with a power of {power:g} at the "
        f"level {level:g}, two systems need {needed}.\n"
        f"The given runs, over {over}, show one of {found['detectable']:.4f} or more.\n"
    )
    print_table([[*row.values()] for row in found["options"]], ["repeats", "topics"])
    print()
    header = ["level", "number", "error", "share"]
    print_table([[row.get(key) for key in header] for row in found["levels"]], header)
    print()
    print(f"Design effect of clusters: {found['design_effect']:.2f}.")
    print(*map(printable, found["notes"]), sep="\n")


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

    from arena.tasks import TaskSet
    from arena_analysis.profiling import profile as measure

    opened = arena.Corpus.open(corpus, tasks=tasks)
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


@command("reproduce")
def reproduce(
    names: list[str] | None = None,
    *,
    data: str | None = None,
    expected: str = "benchmarks/expected",
    json: bool = False,
) -> None:
    """Run the commands behind numbers of the documentation, and compare what comes out.

    The exit status is 0 if all are equal, 1 if one differs or a corpus is another one, and else 2
    if data is not at hand.

    Args:
        names (NAME): Corpora or runs, such as synthetic or tiny.title (default: all).
        data (DIR): Folder with the public data sets.
        expected (DIR): Folder of the expectations.

    Example:
        arena reproduce synthetic tiny
    """
    from arena_analysis import reproducing

    known = reproducing.read_expected(expected)
    rows = list(reproducing.reproduce(known, names or (), data))
    if json:
        print_json([row._asdict() for row in rows])
    else:
        print_table(rows, ["name", "metric", "expected", "found", "outcome"])
        equal = sum(row.outcome == "equal" for row in rows)
        print(f"\n{equal} of {count(len(rows), 'expectation')} equal.")
    outcomes = {row.outcome.partition(":")[0] for row in rows} - {"equal"}
    if outcomes:
        raise SystemExit(2 if outcomes == {"not at hand"} else 1)
