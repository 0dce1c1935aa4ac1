"""A comparison as tables, and the tables as text, Markdown and JSON; `papers` has LaTeX."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator, Sequence
from typing import Any

from arena.answers import remarked
from arena.dates import GUESS_MARK, guess_note, undated_mark
from arena.kit.terminal import Table, best, escape_markdown
from arena.llm.outcomes import UNREAD, describe_counts, is_unread
from arena.results.comparison.clusters import FEWEST, in_clusters
from arena.results.comparison.comparing import (
    Comparison,
    Estimate,
    MetricComparison,
    PairedDifference,
)
from arena.results.comparison.opening import ComparedRun
from arena.results.comparison.paired import PERMUTATIONS, POWER, RESAMPLES, TIE
from arena.runs.players import ORACLE
from arena.runs.scoring import abstention
from arena.text.display import count, printable

_MOST_COLUMNS = 6
_FORMULAS = ("=", "+", "-", "@")
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_EFFORT = ("searches", "reads", "characters", "steps", "errors", "truncated")
_MODEL_EFFORT = ("calls", "prompt_tokens", "completion_tokens", "dollars", "failed")
_FLOORS = {"other_topics": "other topics", "random": "random map"}
_TESTS = {"fisher": "Fisher's randomization test", "student": "Student's paired t-test"}


def tables(comparison: Comparison) -> list[Table]:
    """Return all tables of a comparison."""
    listed = [*floors(comparison), means(comparison)]
    if len(comparison.runs) > 1 or len(comparison.metrics) <= _MOST_COLUMNS:
        listed += [by_metric(comparison, metric) for metric in comparison.metrics]
    listed += [by_metric(comparison, part, f" {dated}") for dated, part in comparison.parts.items()]
    listed += [searches(comparison)] if comparison.curves else []
    listed += without_gold(comparison)
    return [*listed, effort(comparison)] if comparison.played else listed


def verdict(comparison: Comparison) -> str:
    """Return one sentence: which run is best by the headline metric, and how surely.

    The agent that knows the labels is left out where there are others. A run in which no answer of
    the model was readable is named.
    """
    silent = [run.name for run in comparison.runs if is_unread(run.metrics)]
    none = f" No answer of the model was readable in {'; '.join(silent)}." if silent else ""
    return _verdict(comparison) + none


def _verdict(comparison: Comparison) -> str:
    metric = next(m for m in comparison.metrics if m.metric == comparison.headline)
    if not metric.means and not comparison.played:
        return f"No topic has {metric.metric} in every system, so nothing is compared."
    if not metric.means:
        return f"No topic has labels that {metric.metric} counts, so nothing is compared."
    if metric.lower_is_better is None:
        return f"{metric.metric} has no best direction here, so no run is better than another."
    fair = [run.name for run in comparison.runs if run.manifest["agent"] != ORACLE]
    means = {name: metric.means[name].mean for name in fair or comparison.names}
    best, *others = sorted(means, key=means.__getitem__, reverse=not metric.lower_is_better)
    over = f"over {_topics(comparison, metric)}"
    if not others:
        ceiling = "" if metric.ceiling is None else f"; the ceiling is {number(metric.ceiling)}"
        return f"{best} has a mean {metric.metric} of {number(means[best])} {over}{ceiling}."
    other = comparison.baseline if comparison.baseline in others else others[0]
    scores = f"{over}: {number(means[best])} against {number(means[other])}"
    if abs(means[best] - means[other]) <= TIE:
        return f"{best} and {other} have the same mean {metric.metric} {scores}."
    lower = " (lower is better)" if metric.lower_is_better else ""
    sentence = f"{best} has a better mean {metric.metric}{lower} than {other} {scores}"
    for pair in metric.differences:
        if {pair.run, pair.against} == {best, other} and pair.corrected is not None:
            wins = (pair.wins if pair.run == best else pair.losses) or 0
            sure = "significant" if pair.significant else "not significant"
            p = f"p {'<' if pair.corrected < 0.0001 else '='} {max(pair.corrected, 0.0001):.4f}"
            better = count(wins, comparison.unit)
            return f"{sentence}; the difference is {sure} ({p}), better on {better}."
    return f"{sentence}; the difference is not tested."


def means(comparison: Comparison, brief: bool = False) -> Table:
    """Return the means of all runs by all metrics, with the ceiling; the best ones bold.

    If `brief` a cell is a text, the mean with both ends of its interval and its floor; `zeros` are
    left out, and an oracle that reaches the ceiling is the row of the ceiling.
    """
    metrics = [m for m in comparison.metrics if not (brief and m.metric in zeros(comparison))]
    rows: list[list[Any]] = [
        [_marked(run), *(m.means[run.name].mean if run.name in m.means else None for m in metrics)]
        for run in comparison.runs
    ]
    # The oracle's cells, never the best, are empty here, so that the place of a row is its number.
    fair = [
        row if run.manifest["agent"] != ORACLE else [None] * len(row)
        for run, row in zip(comparison.runs, rows, strict=True)
    ]
    lowest = [1 + i for i, metric in enumerate(metrics) if metric.lower_is_better]
    directed = [1 + i for i, metric in enumerate(metrics) if metric.lower_is_better is not None]
    highest = best(fair, directed, lowest)
    whose = "of the task" if comparison.played else "by"
    title = f"Mean scores {whose} {comparison.task}{_mark(comparison)}"
    header = [comparison.task, *(metric.metric for metric in metrics)]
    for run, row in zip(comparison.runs, rows if brief else (), strict=False):
        for column, metric in enumerate(metrics, 1):
            low = floor(run, metric)
            ends = interval(metric.means.get(run.name))
            more = [] if ends is None else [ends]
            more += [] if low is None else [f"floor {number(low)}"]
            if more and row[column] is not None:
                row[column] = f"{number(row[column])} ({'; '.join(more)})"
        row[0] += " (ceiling)" * is_ceiling(comparison, run)
    if comparison.played and not (
        brief and any(is_ceiling(comparison, r) for r in comparison.runs)
    ):
        rows.append(["ceiling", *(metric.ceiling for metric in metrics)])
    if len(metrics) > _MOST_COLUMNS:  # one row per metric
        header, *rows = map(list, zip(header, *rows, strict=True))
        highest = {(column - 1, row + 1) for row, column in highest}
    return _table(title, "means", header, rows, frozenset(highest))


def pairs(comparison: Comparison, metric: MetricComparison) -> list[PairedDifference]:
    """Return the compared pairs without those of the oracle, which is no rival."""
    oracles = {run.name for run in comparison.runs if run.manifest["agent"] == ORACLE}
    return [pair for pair in metric.differences if not oracles & {pair.run, pair.against}]


def zeros(comparison: Comparison) -> list[str]:
    """Return the metrics but the headline that are 0 in every run and for the labels."""
    return [
        m.metric
        for m in comparison.metrics
        if m.metric != comparison.headline and m.means and not m.ceiling
        if not any(any(m.values[name]) for name in m.values)
    ]


def is_ceiling(comparison: Comparison, run: ComparedRun) -> bool:
    """Return whether a run is of the oracle and has the ceiling of every metric that has one."""
    known = [m for m in comparison.metrics if m.ceiling is not None and run.name in m.means]
    return (
        run.manifest["agent"] == ORACLE
        and bool(known)
        and all(abs(m.means[run.name].mean - (m.ceiling or 0.0)) <= TIE for m in known)
    )


def floor(run: ComparedRun, metric: MetricComparison) -> float | None:
    """Return the better of both floors of a run by a metric; None for an oracle, or without."""
    kinds = run.metrics.get("floors") if run.manifest["agent"] != ORACLE else None
    found = [(kinds or {}).get(kind, {}).get(metric.metric) for kind in _FLOORS]
    known = [value for value in found if value is not None]
    return (min if metric.lower_is_better else max)(known, default=None)


def floors(comparison: Comparison) -> list[Table]:
    """Return the means of mind-maps with their floors, how papers are filed first.

    The list is empty where the runs have no mind-maps, or are of a release without floors.
    """
    chosen = [metric.metric for metric in comparison.metrics]
    kinds = {"predicted": ""} | _FLOORS
    rows: list[list[Any]] = []
    names: list[str] = []
    for run in comparison.runs:
        played = run.manifest["definition"].get("metrics", ())
        for kind, label in kinds.items():
            if values := (run.metrics.get("floors") or {}).get(kind):
                own = [name for name in chosen if name in values]
                names = [*(name for name in values if name not in played), *own]
                name = f"{run.name} ({label})" if label else run.name
                rows.append([name, *map(values.get, names)])
    title = f"Mean scores of the task {comparison.task} beside floors{_mark(comparison)}"
    return [_table(title, "floors", [comparison.task, *names], rows)] if names else []


def by_metric(
    comparison: Comparison, metric: MetricComparison, dated: str = "", brief: bool = False
) -> Table:
    """Return one metric with intervals and, against a baseline, the tests.

    `dated` says in the title which topics they are. If `brief` there are the `pairs` alone, without
    means, and without the columns that no pair fills.
    """
    guessed = f" {GUESS_MARK}" * bool(comparison.guessed)
    title = f"{metric.metric} over {_topics(comparison, metric)}{dated}{guessed}"
    title += "; lower is better" if metric.lower_is_better else ""
    known = {difference.run: difference for difference in metric.differences}
    against = comparison.baseline if len(comparison.runs) > 1 else None
    rows: list[list[Any]] = []
    for run in comparison.runs:
        name, mean = run.name, metric.means.get(run.name)
        shown = f"{_marked(run)} (baseline)" if name == against else _marked(run)
        rows.append([shown, None if mean is None else mean.mean, interval(mean)])
        if against is not None:
            rows[-1] += _tested(known[name], comparison) if name in known else [None] * 7
    header = [metric.metric, "mean", f"{comparison.level * 100:g} % interval"]
    if against is not None:
        header += ["difference", header[-1], "p", "p (holm)", "wins", "ties", "losses"]
    if brief:
        compared = {pair.run for pair in pairs(comparison, metric)}
        rows = [r for r, run in zip(rows, comparison.runs, strict=True) if run.name in compared]
        kept = [0, *(n for n in range(3, len(header)) if any(r[n] is not None for r in rows))]
        header, rows = [header[n] for n in kept], [[row[n] for n in kept] for row in rows]
    return _table(title, metric.metric + dated, header, rows)


def searches(comparison: Comparison) -> Table:
    """Return the share of the references that were shown after so many searches."""
    longest = max(map(len, comparison.curves.values())) - 1
    steps = [n for n in _STEPS if n < longest] + ([longest] if longest else [])
    rows = [
        [name, *(curve[min(n, len(curve) - 1)] for n in steps)]
        for name, curve in comparison.curves.items()
    ]
    title = "Share of the references in reach that were shown after n searches"
    title += _mark(comparison)
    return _table(title, "searches", ["searches", *map(str, steps)], rows)


def effort(comparison: Comparison, brief: bool = False) -> Table:
    """Return what each run cost; if `brief` without the columns of zeros."""
    played = [each.effort for run in comparison.runs for each in run.episodes.values()]
    models = any(getattr(each, name) is not None for each in played for name in _MODEL_EFFORT)
    names = (*_EFFORT, "unseen", *(_MODEL_EFFORT if models else ()))
    if any(total.seconds is not None for total in comparison.efforts.values()):
        names += ("seconds",)
    if brief:
        names = tuple(n for n in names if any(_spent(run, n) for run in comparison.runs))
    rows = []
    for run in comparison.runs:
        values = [_spent(run, name) for name in names]
        rows.append([run.name, *(f"{v:,}" if isinstance(v, int) else v for v in values)])
    title = f"Effort of each run over {comparison.over}"
    headings = [{"failed": "failed answers"}.get(name, name.replace("_", " ")) for name in names]
    return _table(title, "effort", ["run", *headings], rows)


def without_gold(comparison: Comparison) -> list[Table]:
    """Return what each run, unless it is pooled, did on topics without gold, if it played them."""
    if not any(map(_plays_empty, comparison.runs)):
        return []
    rows, topics = list[list[Any]](), 0
    for run in comparison.runs:
        if run.task and run.pooled == 1:
            topics, *numbers = abstention(run.metrics["per_topic"], len(run.task.stages)).values()
            rows.append([run.name, *numbers])
    title = f"What was submitted for {count(topics, comparison.unit)} without gold"
    header = ["run", "abstained", "papers", "searches"]
    return [_table(title, "without gold", header, rows)] if topics else []


def _plays_empty(run: ComparedRun) -> bool:
    """Return whether a run was asked to play topics without gold."""
    return bool(run.manifest.get("environment", {}).get("empty_gold"))


def _spent(run: ComparedRun, name: str) -> Any:
    return getattr(run if name == "unseen" else run.effort, name)


def remarks(comparison: Comparison) -> list[str]:
    """Return remarks for a reader of the tables."""
    scored = max(run.metrics["counts"]["scored"] for run in comparison.runs)
    number = len(comparison.topics)
    over = f"Over {scored} of {comparison.over}; the others lack labels."
    sentences = [over if scored < number else f"Over {comparison.over}."]
    if len(comparison.runs) == 1:
        sentences.append(
            "One run has nothing to be compared with: name two or more for differences and tests."
        )
    else:
        sentences += tested(comparison)
    sentences += _found(comparison)
    for run in comparison.runs:
        rows = run.metrics["per_topic"].values()
        wanted = [row for row in rows if not _plays_empty(run) or row["gold"]]
        for missing in run.task.nothing_submitted(wanted) if run.task else ():
            sentences.append(f"Warning: {run.name} submitted {missing}")
        sentences += [f"{run.name}: {sentence}" for sentence in describe_counts(run.metrics)]
        sentences += [f"{run.name}: {remark}" for remark in remarked(rows)]
    if floors(comparison):
        sentences.append(
            "A score near its floors says little: (other topics) is the same maps scored against "
            "the maps of other topics, (random map) maps of random headings and filing."
        )
    if any(run.manifest["agent"] == ORACLE for run in comparison.runs):
        sentences.append("The agent oracle knows the labels.")
    for why in dict.fromkeys(comparison.without_curve.values()):
        names = [name for name, its in comparison.without_curve.items() if its == why]
        sentences.append(f"No share after n searches for {'; '.join(names)}: {why}.")
    sentences += [guess_note(comparison.guessed)] if comparison.guessed else []
    return [*sentences, *comparison.notes]


def tested(comparison: Comparison) -> list[str]:
    """Return why metrics are not tested, and the baseline, the test, its correction, its level."""
    return [
        *_untested(comparison),
        f"Differences from {comparison.baseline}; two-sided p of {_TESTS[comparison.test]}, "
        "corrected by Holm for all comparisons by one metric; * where that is at most "
        f"{1 - comparison.level:.4g}.",
    ]


def interval(value: Estimate | PairedDifference | None) -> str | None:
    """Return both ends as text, None if there are none."""
    if value is None or value.low is None or value.high is None:
        return None
    sign = "+" if isinstance(value, PairedDifference) else ""
    return f"{number(value.low, sign=sign)} to {number(value.high, sign=sign)}"


def number(value: float, decimals: int = 4, sign: str = "") -> str:
    """Return a number that never reads as 0 unless it is, and without decimals if it is large.

    >>> number(0.5), number(2e-07), number(-2e-07), number(65907.2), number(0.25, 2, "+")
    ('0.5000', '<0.0001', '>-0.0001', '65,907', '+0.25')
    """
    if TIE < abs(value) < 0.5 * 10**-decimals:
        return f"{'>-' if value < 0 else '<'}{10**-decimals:.{decimals}f}"
    return f"{value:{sign},.0f}" if abs(value) >= 10_000 else f"{value:{sign}.{decimals}f}"


def _table(
    title: str, key: str, header: Sequence[str], rows: Sequence[Sequence[Any]], bold: Any = ()
) -> Table:
    return Table(header, rows, "l" + "r" * (len(header) - 1), bold, title, key)


def _marked(run: ComparedRun) -> str:
    return run.name + f" {UNREAD}" * is_unread(run.metrics)


def _mark(comparison: Comparison) -> str:
    return f" {GUESS_MARK}" * bool(comparison.guessed) + undated_mark(comparison.unit)


def _topics(comparison: Comparison, metric: MetricComparison) -> str:
    return in_clusters(len(metric.topics), metric.clusters, comparison.unit)


def _untested(comparison: Comparison) -> list[str]:
    """Return why metrics are not tested, in a sentence for each number of clusters."""
    few: dict[str, list[str]] = {}
    for table in (*comparison.metrics, *comparison.parts.values()):
        if table.differences and table.clusters < FEWEST:
            few.setdefault(_topics(comparison, table), []).append(table.metric)
    return [
        f"{', '.join(names)}: no test over {topics}: it needs {FEWEST} clusters, topics that do "
        "not depend on each other."
        for topics, names in few.items()
    ]


def _found(comparison: Comparison) -> Iterator[str]:
    """Yield the smallest difference in the headline that is found, and which ones are smaller."""
    metric = next(m for m in comparison.metrics if m.metric == comparison.headline)
    rivals = pairs(comparison, metric)
    known = [(pair, pair.detectable) for pair in rivals if pair.detectable is not None]
    if known:
        whose = [f"{least:.4f} ({pair.run})" for pair, least in known]
        yield (
            f"Smallest true difference in {metric.metric} that such runs show with a power of "
            f"{POWER:g}: {'; '.join(whose)}."
        )
    for pair, least in known:
        if 0 < abs(pair.difference) < least:
            yield (
                f"Warning: the difference of {pair.run}, {pair.difference:+.4f}, is smaller than "
                "that: such runs can miss it, and overstate it where they find it."
            )


def _tested(difference: PairedDifference, comparison: Comparison) -> list[Any]:
    """Return the cells of a test; what the oracle knows is no finding, and has no star."""
    oracles = {run.name for run in comparison.runs if run.manifest["agent"] == ORACLE}
    star = difference.significant and not oracles & {difference.run, difference.against}
    p, corrected = (
        None if p is None else f"{p:.4f}" if p >= 0.0001 else "<0.0001"  # never rounded to 0
        for p in (difference.p, difference.corrected)
    )
    return [
        f"{difference.difference:+.4f}", interval(difference), p,
        None if corrected is None else corrected + " *"[star],
        difference.wins, difference.ties, difference.losses,
    ]  # fmt: skip


def as_text(comparison: Comparison) -> str:
    """Return the tables for a terminal, after the verdict."""
    parts = [printable(verdict(comparison))]
    parts += [f"{printable(table.title)}\n{table.text()}" for table in tables(comparison)]
    return "\n\n".join([*parts, "\n".join(map(printable, remarks(comparison)))]) + "\n"


def as_markdown(comparison: Comparison) -> str:
    """Return the tables for GitHub's Markdown; the best mean of each metric is bold."""

    def escaped(text: str) -> str:
        return escape_markdown(printable(text))

    parts = [escaped(verdict(comparison))]
    parts += [f"### {escaped(table.title)}\n\n{table.markdown()}" for table in tables(comparison)]
    notes = "\n".join(f"- {escaped(remark)}" for remark in remarks(comparison))
    return "\n\n".join([*parts, notes]) + "\n"


def as_csv(comparison: Comparison) -> str:
    """Return a line for each run and topic; in that of the means the topic is ``mean``.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """

    def cells(*texts: str) -> Iterator[str]:
        return (f"'{text}" if text.startswith(_FORMULAS) else text for text in texts)

    metrics = [each.metric for each in comparison.metrics]
    task, text = comparison.task + undated_mark(comparison.unit), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(cells("task", "run", "topic_id", *metrics))
    for run in comparison.runs:
        means = {by.metric: by.means[run.name].mean for by in comparison.metrics if by.means}
        topics = [(topic, run.metrics["per_topic"][topic]) for topic in comparison.topics]
        for topic, row in [("mean", means), *topics]:
            writer.writerow([*cells(task, run.name, topic), *map(row.get, metrics)])
    return text.getvalue()


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything except the episodes themselves, as plain dicts and lists."""
    curves = map(comparison.curves.get, comparison.names)
    return {
        **comparison_json(comparison),
        "runs": {
            run.name: {
                "agent": run.manifest["agent"],
                "agent_options": run.manifest.get("agent_options", {}),
                "retriever": run.manifest["environment"]["retriever"],
                "seed": run.manifest["seed"],
                "sha256": run.manifest["sha256"],
                **({"model": run.metrics["model"]} if "model" in run.metrics else {}),
                "effort": dataclasses.asdict(run.effort) | {"models": list(run.effort.models)},
                "shown_after_searches": curve and list(curve),
                "unseen": run.unseen,
                "pooled": {"runs": run.pooled, "corpora": run.corpora},
            }
            for run, curve in zip(comparison.runs, curves, strict=True)
        },
        "headline": comparison.headline,
        "verdict": verdict(comparison),
    }


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return how the runs were compared, the metrics and the remarks as plain dicts and lists."""
    parts = comparison.parts
    return {
        **{key: getattr(comparison, key) for key in ("task", "baseline", "test", "level")},
        "correction": "holm",
        "permutations": PERMUTATIONS if comparison.test == "fisher" else None,
        "resamples": RESAMPLES,
        "topics": list(comparison.topics),
        "unit": comparison.unit,
        "clusters": comparison.clustered,
        "clusters_by": comparison.clusters,
        "metrics": {metric.metric: metric_json(metric) for metric in comparison.metrics},
        **({"parts": {k: metric_json(v) for k, v in parts.items()}} if parts else {}),
        "notes": remarks(comparison),
    }


def metric_json(metric: MetricComparison) -> dict[str, Any]:
    """Return means, differences and values of topics as plain dicts and lists."""
    return {
        "lower_is_better": metric.lower_is_better,
        "topics": len(metric.topics),
        "clusters": metric.clusters,
        "ceiling": metric.ceiling,
        "means": {name: dataclasses.asdict(mean) for name, mean in metric.means.items()},
        "differences": [dataclasses.asdict(each) for each in metric.differences],
        "per_topic": {
            topic: {name: values[place] for name, values in metric.values.items()}
            for place, topic in enumerate(metric.topics)
        },
    }
