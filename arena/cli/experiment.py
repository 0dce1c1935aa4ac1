"""``arena experiment``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.cli.app import print_json, print_table, resumable
from arena.cli.run import parse_surveys


def experiment(
    config: str,
    *,
    corpus: str,
    output: str,
    tasks: str | None = None,
    tables: tuple[str, ...] | None = None,
    agents: tuple[str, ...] | None = None,
    surveys: str | None = None,
    retriever: dict[str, Any] | None = None,
    set: dict[str, Any] | None = None,
    llm_option: dict[str, Any] | None = None,
    judge_option: dict[str, Any] | None = None,
    dry_run: bool = False,
    keep_going: bool = False,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    r"""Run a grid of agents and retrievers and print it as tables; it resumes after a break.

    Args:
        config (CONFIG): YAML file, or the name of a shipped configuration: researcharena,
            taxobench, reportbench.
        output (DIR): Directory for runs and tables.
        tasks (TASKS): Directory of `arena-corpus tasks`, to play its papers instead of surveys.
        tables (NAMES): Tables with commas (default: all).
        agents (NAMES): Rows or agents, with commas: only these (default: all).
        surveys (IDS|N): Survey ids with commas, or the first N.
        retriever (LABEL=NAME): Another retriever in the place of one, such as BM25=lucene.
        set (KEY=VALUE): Key of the configuration, with dots, such as budget.max_searches=10.
        llm_option: Short for --set llm.NAME=VALUE, such as model=... or base_url=...
        judge_option: Short for --set judge.NAME=VALUE: the model that judges reports, and votes=...
            or most=... (docs/reportbench.md).
        dry_run: Show the runs and their progress; play nothing.
        keep_going: Play on when a run fails, and print the tables without it.
        overwrite: Begin the runs anew.

    Example:
        arena experiment researcharena --corpus demo/world --output runs/paper \
            --agents title,random,clustering
    """
    from arena.corpus import Corpus
    from arena.results.experiments import preview, printed, run_experiment
    from arena.tasks import TaskSet

    opened = Corpus.open(corpus, tasks=tasks)
    options: dict[str, Any] = {
        "tables": tables,
        "agents": agents,
        "surveys": parse_surveys(surveys, TaskSet(opened).surveys),
        "retrievers": retriever or {},
        "changes": (set or {})
        | {f"llm.{name}": value for name, value in (llm_option or {}).items()}
        | {f"judge.{name}": value for name, value in (judge_option or {}).items()},
        "overwrite": overwrite,
    }
    if dry_run:
        _print_plan(preview(config, opened, output, **options), json)
        return
    with resumable():
        results = run_experiment(config, opened, output, keep_going=keep_going, **options)
    if json:
        print_json(results)
        return
    print(printed(results))
    pages = sorted(path.name for path in Path(output).glob("comparison-*.html"))
    figures = [figure["file"] for figure in results.get("figures", {}).values()]
    made = ["tables.md", "tables.tex", "tables.json", *figures, *pages, "runs/"]
    print(f"\nFiles in {output}: {', '.join(made)}.")


def _print_plan(planned: list[Any], as_json: bool) -> None:
    if as_json:
        print_json([run._asdict() for run in planned])
        return
    print_table(
        [(p.run, p.agent, p.retriever, p.episodes, p.done, p.state) for p in planned],
        ("run", "agent", "retriever", "episodes", "played", "state"),
    )
    left = sum(p.episodes - min(p.done, p.episodes) for p in planned)
    print(f"{len(planned)} runs, {left} episodes to play.")
