"""``arena benchmarks``: agents without a model on several benchmarks, beside published figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from arena.cli.app import print_json, resumable
from arena.cli.commands import command
from arena.errors import DataError
from arena.kit.files import atomic_write
from arena.kit.terminal import Table, escape_markdown, progress
from arena.suites import comparability
from arena.text.display import count
from arena_suites.published import published

if TYPE_CHECKING:
    from arena.results.comparison import Comparison

Row = dict[str, Any]

SYSTEMS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "random": ("random", {}, False),
    "title": ("title", {}, False),
    "hybrid": ("title", {}, True),
    "scout": ("scout", {}, True),
    "ranker": ("scout", {"ranker": "learned"}, True),
    "oracle": ("oracle", {}, False),
}
"""Label of a row -> agent, its options, and whether it searches words and vectors."""

METRICS = ("recall@10", "recall@20", "recall@100", "ndcg@10")


@command("benchmarks")
def benchmarks(
    *,
    benchmark: dict[str, Any],
    output: str,
    topics: int | None = None,
    agents: tuple[str, ...] = tuple(SYSTEMS),
    json: bool = False,
) -> None:
    r"""Play benchmarks with agents that need no model; print them beside published figures.

    Repeat the command to resume. The figures are those of files published.yaml in the folders of
    this project's benchmarks, under the NAME that is given.

    Args:
        benchmark (NAME=CORPUS[,TASKS]): A built corpus, or a task set of one; may be repeated.
        output (DIR): Directory for the runs and benchmarks.md.
        topics: Play the first N of each that can be scored (default: all).
        agents (NAMES): Rows, of random, title, hybrid, scout, ranker, oracle (default: all).

    Example:
        arena benchmarks --benchmark topics=demo/synthetic --output demo/benchmarks --topics 3
    """
    if unknown := [name for name in agents or ("",) if name not in SYSTEMS]:
        raise DataError(f"no row {unknown[0]!r}. Name some of {', '.join(SYSTEMS)}.")
    if paths := [name for name in benchmark if Path(name).name != name]:
        raise DataError(f"--benchmark {paths[0]!r}: it names a folder of --output; write no path.")
    with resumable():
        results = [
            measured(name, str(place), Path(output, name), agents, topics)
            for name, place in progress(benchmark.items(), desc="benchmarks", unit="benchmark")
        ]
    figures = [figure for name in benchmark for figure in published(name)]
    text = "\n\n".join([*map(as_table, results), *map(published_table, figures)]) + "\n"
    atomic_write(Path(output, "benchmarks.md"), text)
    print_json({"benchmarks": results, "published": figures}) if json else print(text)


def measured(
    name: str, place: str, output: Path, agents: tuple[str, ...], topics: int | None
) -> Row:
    """Play a benchmark, ``CORPUS`` or ``CORPUS,TASKS``; return what it is and a row per agent.

    `output` gets a run of each agent, a key of `SYSTEMS`; `topics` are as many as are played.
    """
    import arena
    from arena.corpus import Corpus
    from arena.tasks import TaskSet, choose_topics

    directory, _, labels = place.partition(",")
    corpus = Corpus.open(directory, tasks=labels or None)
    tasks = TaskSet(corpus)
    chosen = choose_topics(tasks, topics, tasks.scorable)
    mixed = "dense" in corpus.manifest["indexes"]
    played = [label for label in agents if mixed or label != "hybrid"]  # else the same as title
    if not played:
        raise DataError(f"{name}: the row hybrid needs an index `dense` of {directory!r}.")
    for label in played:
        agent, options, both = SYSTEMS[label]
        engine = "hybrid(bm25,dense)" if both and mixed else "bm25"
        arena.run(corpus, "discovery", agent, output / label, agent_options=options, topics=chosen,
                  retriever=engine, metrics=METRICS, timed=True)  # fmt: skip
    compared = arena.compare([f"{label}={output / label}" for label in played], corpus=corpus)
    reach = {each: len(tasks.gold(each).gains) / tasks.gold(each).references for each in chosen}
    days = sorted({tasks.topic(each).date for each in chosen})
    return {
        "benchmark": name,
        "corpus": count(corpus.manifest["counts"]["searchable"], "paper"),
        "topics": count(len(chosen), tasks.unit),
        "day": f"{days[0]} for all" if len(days) == 1 else f"each {tasks.unit}'s, from {days[0]}",
        "reach": fmean(reach.values()),
        "rows": list(_rows(compared, reach)),
    }


def _rows(compared: Comparison, reach: Mapping[str, float]) -> Iterator[Row]:
    metrics = {each.metric: each for each in compared.metrics}
    last = metrics["recall@100"]
    for name, effort in compared.efforts.items():
        scores = zip(last.topics, last.values[name], strict=True)
        yield {
            "agent": name,
            **{metric: metrics[metric].means[name].mean for metric in METRICS},
            "95 % from": last.means[name].low,
            "to": last.means[name].high,
            "of all gold": fmean(score * reach[topic] for topic, score in scores),
            "searches": round((effort.searches or 0) / effort.episodes),
            "reads": round((effort.reads or 0) / effort.episodes),
            "seconds": (effort.seconds or 0) / effort.episodes,
        }


def as_table(result: Row) -> str:
    """Return a benchmark as Markdown: what it is, and a row for each agent."""
    title = (
        f"**{escape_markdown(result['benchmark'])}**: {result['topics']}, "
        f"{result['corpus']} to find; the day is {result['day']}; {result['reach']:.3f} of the "
        "gold is in reach"
    )
    rows = [
        [f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row.values()]
        for row in result["rows"]
    ]
    return f"{title}.\n\n{Table([*result['rows'][0]], rows).markdown()}"


def published_table(figure: Row) -> str:
    """Return published figures as Markdown, with how far they compare with those here."""
    rows = [[name, *(each and str(each) for each in row)] for name, row in figure["rows"].items()]
    title = escape_markdown(f"{figure['benchmark']}, published ({comparability(figure)})")
    table = Table(["", *figure["columns"]], rows).markdown()
    return f"**{title}**: {figure['source']}.\n\n{table}"
