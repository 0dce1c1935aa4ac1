"""``arena credit``: what each call of a run was worth."""

from __future__ import annotations

from arena.cli.app import print_json, print_table
from arena.cli.commands import command
from arena.dates import UNDATED


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
