"""``arena experiment``."""

from __future__ import annotations

from typing import Any

from arena.cli.app import print_json, print_table, resumable
from arena.cli.commands import command
from arena.cli.run import parse_topics
from arena.text.display import count


@command("experiment")
def experiment(
    config: str,
    *,
    corpus: str,
    output: str,
    tasks: str | None = None,
    tables: tuple[str, ...] | None = None,
    agents: tuple[str, ...] | None = None,
    topics: str | None = None,
    where: str | None = None,
    add: dict[str, Any] | None = None,
    set: dict[str, Any] | None = None,
    llm_option: dict[str, Any] | None = None,
    judge_option: dict[str, Any] | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
    json: bool = False,
) -> dict[str, Any] | None:
    r"""Run a grid of agents and retrievers and print it as tables; it resumes after a break.

    Args:
        config (CONFIG): YAML file, or the name of a shipped configuration: all-tasks,
            researcharena, taxobench, reportbench, bloom-eval, litsearch.
        output (DIR): Directory for runs and tables.
        tasks (TASKS): Directory of `arena-corpus tasks`, to play its papers instead of topics.
        tables (NAMES): Tables with commas (default: all).
        agents (NAMES): Rows or agents, with commas: only these (default: all).
        topics (IDS|N|FILE): Topic ids with commas, or the first N, or a file of
            `arena-corpus freeze`.
        add (LABEL=AGENT): Agent that becomes a row of every table, such as Mine=mine.py:Mine.
        set (KEY=VALUE): Key of the configuration, with dots, such as budget.max_searches=10
            or retrievers.BM25=lucene.
        llm_option: Short for --set llm.NAME=VALUE, such as model=... or base_url=...
        judge_option: Short for --set judge.NAME=VALUE: the model that judges reports, and votes=...
            or max_statements=... (docs/reportbench.md).
        overwrite: Play the runs from scratch.

    Example:
        arena experiment researcharena --corpus demo/synthetic --output runs/paper \
            --agents title,random,clustering
    """
    from arena.corpus import Corpus
    from arena.tasks import TaskSet, choose_topics
    from arena_suites.experiments import preview, printed, run_experiment

    opened = Corpus.open(corpus, tasks=tasks)
    known = TaskSet(opened)
    chosen = parse_topics(topics, known.topics, where)
    ids = choose_topics(known, chosen)
    options: dict[str, Any] = {
        "tables": tables,
        "agents": agents,
        "topics": chosen if where is None else ids,
        "add": add or {},
        "changes": (set or {})
        | {f"llm.{name}": value for name, value in (llm_option or {}).items()}
        | {f"judge.{name}": value for name, value in (judge_option or {}).items()},
        "overwrite": overwrite,
    }
    if dry_run:
        planned = preview(config, opened, output, ask=True, **options)
        if not json:
            _print_plan(planned)
        return {"runs": [run._asdict() for run in planned]}
    with resumable():
        results = run_experiment(config, opened, output, **options)
    if json:
        print_json(results)
        return None
    print(printed(results))
    print(f"\nFiles in {output}: tables.md, .tex and .json, figures, appendix.tex, runs/.")
    return None


def _print_plan(planned: list[Any]) -> None:
    print_table(
        [(p.run, p.agent, p.retriever, p.episodes, p.done, p.state) for p in planned],
        ("run", "agent", "retriever", "episodes", "played", "state"),
    )
    left = sum(p.episodes - min(p.done, p.episodes) for p in planned)
    print(f"{count(len(planned), 'run')}, {count(left, 'episode')} to play.")
