"""``arena compare``, ``experiment``, ``export`` and ``evaluate``: what runs and others achieved."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arena.cli.app import add_command, add_group, print_json, print_table, resumable
from arena.errors import DataError
from arena.kit.files import check_target
from arena.text.display import count, printable

if TYPE_CHECKING:
    from arena.suites import Evaluation


def compare(
    runs: list[str],
    *,
    baseline: str | None = None,
    common: bool = False,
    metric: list[str] | None = None,
    test: str = "fisher",
    level: float = 0.95,
    clusters: str = "cluster",
    format: Literal["text", "markdown", "latex", "csv", "json"] = "text",
    html: str | None = None,
    paper: str | None = None,
    model_cutoff: str | None = None,
    corpus: str | None = None,
    tasks: str | None = None,
    json: bool = False,
) -> None:
    r"""Compare runs: means, intervals, paired tests, cost, and a page to look at.

    Args:
        runs (RUN): Directory of a finished run, or NAME=DIR.
        baseline (NAME): Run, by name or directory, to compare the others with (default: the first).
        common: Compare the topics that all runs played.
        metric (NAME): One of the runs' metrics (default: all).
        test (NAME): Fisher (randomization) or student (paired t).
        level (X): Confidence level of the intervals.
        clusters (NAME): What topics share that depend on each other: cluster (the subject of
            synthetic surveys, the paper that asks a question) or domain.
        format: Format of the printed comparison; csv has a line for each run and topic, and its
            means.
        html (FILE): Write one page with everything, labels too; with --corpus every episode.
        paper (DIR): Write what goes into a paper: tables.tex, appendix.tex and figures.
        model_cutoff (DAY): Also print the headline apart for topics dated before this day, from
            which on a language model knows nothing, and for the others (default, with --corpus: the
            latest model_cutoff of the agents).
        corpus (DIR): Corpus that arena-corpus built, to score the answers of the runs again, and
            for the episodes on the page and cutoffs of models.

    Example:
        arena compare demo/runs/discovery-title-bm25 demo/runs/discovery-title-dense \
            --html compared.html --corpus demo/synthetic
    """
    from arena.corpus import Corpus
    from arena.metrics import METRICS
    from arena.results import comparison
    from arena.results.viewing import write_page

    if tasks is not None and corpus is None:
        raise DataError("--tasks is a task set of a corpus: name it with --corpus.")
    if model_cutoff is not None and (corpus is None or format == "csv"):
        raise DataError(
            "--model-cutoff needs the --corpus, for dates of topics, and prints no csv."
        )
    if json and format not in ("text", "json"):
        raise DataError(f"--json and --format {format} contradict each other: give one.")
    opened = None if corpus is None else Corpus.open(corpus, tasks=tasks)
    options: dict[str, Any] = {
        "baseline": baseline, "metrics": metric and [*map(METRICS.resolve, metric)],
        "test": test, "level": level, "clusters": clusters, "common": common, "corpus": opened,
    }  # fmt: skip
    compared = comparison.compare(runs, **options)
    if opened and format != "csv":
        compared = comparison.split_by_day(compared, opened, model_cutoff)
    if html is not None:
        write_page(compared, html, opened)
    if paper is not None:
        Path(paper).mkdir(parents=True, exist_ok=True)
        comparison.write_paper(Path(paper), [comparison.part_of(compared)], opened)
    if json or format == "json":
        print_json(comparison.as_json(compared))
    else:
        sys.stdout.write(getattr(comparison, f"as_{format}")(compared))


def add_evaluate(commands: Any, suites: bool) -> None:
    """Add the command ``evaluate``, with a command for each suite where it is asked for."""
    group = add_group(
        commands,
        "evaluate",
        "Score what another system made, by the protocol of a published benchmark.",
        "SUITE",
        "arena list suites",
    )
    if not suites:  # other commands do not wait for them
        return
    from arena.suites import SUITES

    for name in SUITES.names():
        add_command(group, name, _command(name, SUITES.get(name)))


def _command(suite: str, evaluate: Callable[..., Evaluation]) -> Any:
    from arena.suites import OutputPath

    signature = inspect.signature(evaluate, eval_str=True)
    made = next(
        name for name, each in signature.parameters.items() if each.annotation is OutputPath
    )

    def command(
        *,
        system: dict[str, Any],
        baseline: str | None,
        page: str | None,
        dry_run: bool,
        json: bool,
        **options: Any,
    ) -> None:
        from arena.results.comparison import as_text
        from arena.results.comparison.comparing import choose_baseline
        from arena.results.comparison.systems import compare_systems, systems_json
        from arena.results.viewing import write_page

        paths = options.pop(made) or []
        if len(paths) > 1:
            system |= {path: path for path in paths}
        elif bool(paths) == bool(system):
            raise DataError(f"give --{made}, or --system NAME=PATH for each of several systems.")
        if page is not None:
            check_target(page)
        choose_baseline(baseline, {name: Path(name) for name in system or {"": ""}})
        # Of what a model answers, a second run asks nothing again.
        with resumable() if options.get("llm_option") else nullcontext():
            scored = {
                name: evaluate(**options, **{made: str(path)})
                for name, path in (system or {"": paths[0]}).items()
            }
        if dry_run:
            return
        named = scored if system else {Path(paths[0]).resolve().stem: scored[""]}
        several = compare_systems(suite, scored, baseline) if system else None
        if page is not None:
            write_page(several or compare_systems(suite, named), page, scored=named)
        if json:
            print_json(systems_json(several, scored) if several else scored[""].to_json())
            return
        if several:
            sys.stdout.write(as_text(several))
        else:
            headers, rows = scored[""].table()
            shown = [[printable(c, 60) if isinstance(c, str) else c for c in row] for row in rows]
            print_table(shown, headers)
        for name, result in scored.items():
            _print_problems(name and f"{name}: ", result)

    keyword = inspect.Parameter.KEYWORD_ONLY
    added = {
        "system": dict[str, Any], "baseline": str | None, "page": str | None, "dry_run": bool,
        "json": bool,
    }  # fmt: skip
    options = [
        each.replace(default=None, annotation=list[str] | None) if name == made else each
        for name, each in signature.parameters.items()
    ]
    options += [
        inspect.Parameter(name, keyword, annotation=kind, default=False if kind is bool else None)
        for name, kind in added.items()
        if name not in signature.parameters
    ]
    command.__doc__ = evaluate.__doc__
    command.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    return command


def _print_problems(name: str, result: Evaluation) -> None:
    for sentence in result.problems:
        print(printable(name + sentence, 400))
    if result.missing:
        topics = count(len(result.topics), "topic has", "topics have")
        print(printable(f"{name}{len(result.missing)} of {topics} no prediction.", 400))
