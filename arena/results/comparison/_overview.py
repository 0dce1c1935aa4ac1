"""The part of the page on all surveys together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from arena.results.comparison import _plots, _report
from arena.results.comparison._html import chip, listed, scrolling, table_of, text, words
from arena.results.comparison.model import ComparedRun, Comparison, MetricComparison


def overview(comparison: Comparison, anchors: Mapping[str, str]) -> Iterator[str]:
    """Yield the page down to the list of surveys.

    Args:
        comparison: what to show.
        anchors: survey -> the anchor of its part of the page.
    """
    names = comparison.names
    headline = headline_of(comparison)
    yield (
        f"<header><h1>{text(_heading(comparison))} "
        f"<small>corpus {_hash(comparison.runs[0], 'corpus')}</small></h1>"
        '<p class="labels"><strong>This page shows the labels</strong>: which papers each survey '
        "cites, and its own mind-map. Keep it from agents and out of training data.</p>"
        "<nav>" + "".join(f'<a href="#{to}">{what}</a>' for to, what in _sections(comparison))
        + "</nav></header><main>"
    )  # fmt: skip
    yield '<section id="means"><h2>Means</h2>' + table_of(_report.means(comparison), names)
    plots = [
        f"<figure><figcaption>{words(m.metric)}{less(m)}</figcaption>"
        f"{_plots.means(comparison, m)}</figure>"
        for m in comparison.metrics
        if m.surveys
    ]
    yield f'<div class="plots">{"".join(plots)}</div>'
    yield listed(text(remark) for remark in _report.remarks(comparison)) + "</section>"
    if len(names) > 1:
        yield '<section id="differences"><h2>Differences</h2>' + _tests(comparison, headline)
        yield from _bars(comparison, headline, anchors)
        yield "</section>"
    if comparison.curves:
        yield '<section id="searches"><h2>References shown against searches</h2><figure>'
        legend = " ".join(chip(n, i, True) for i, n in enumerate(names) if n in comparison.curves)
        yield f"<figcaption>{legend}</figcaption>{_plots.curves(comparison.curves, names)}</figure>"
        yield table_of(_report.searches(comparison), names)
        yield (
            "<p>Mean over surveys of the share of the references in reach that was shown until the "
            "next search, in lists of hits, in papers read and in their references. The dotted "
            "part belongs to agents that had ended.</p></section>"
        )
    yield '<section id="effort"><h2>What it took</h2>' + table_of(_report.effort(comparison), names)
    yield _models(comparison) + "</section>"
    yield _runs(comparison)


def _heading(comparison: Comparison) -> str:
    number_of = len(comparison.runs)
    return f"{number_of} run{'s' * (number_of != 1)} of the task {comparison.task}"


def _sections(comparison: Comparison) -> Iterator[tuple[str, str]]:
    yield "means", "Means"
    if len(comparison.runs) > 1:
        yield "differences", "Differences"
    if comparison.curves:
        yield "searches", "Searches"
    yield "effort", "What it took"
    yield "runs", "The runs"
    yield "surveys", "Surveys"


def _tests(comparison: Comparison, headline: MetricComparison) -> str:
    """Return the tests, those of the headline open."""
    parts = []
    for metric in comparison.metrics:
        tables = [_report.by_metric(comparison, metric)]
        tables += [_report.pairs(comparison, metric)] if comparison.baseline is None else []
        content = "".join(table_of(table, comparison.names) for table in tables)
        is_open = " open" if metric is headline else ""
        parts.append(
            f"<details{is_open}><summary>{words(metric.metric)}</summary>{content}</details>"
        )
    return "".join(parts)


def _bars(
    comparison: Comparison, headline: MetricComparison, anchors: Mapping[str, str]
) -> Iterator[str]:
    names = comparison.names
    if not headline.surveys:
        return
    yield f"<h3>{words(headline.metric)}, survey by survey</h3>"
    yield (
        "<p>A bar a survey, upwards where the first run is better; it leads to the survey. Each "
        'plot has its own scale.</p><div class="plots">'
    )
    for found in headline.differences:
        place = names.index(found.run)
        plot = _plots.differences(headline, found.run, found.against, place, anchors)
        yield (
            f"<figure><figcaption>{chip(found.run, place)} against "
            f"{chip(found.against, names.index(found.against))}: {found.wins} won, {found.ties} "
            f"tied, {found.losses} lost</figcaption>{plot}</figure>"
        )
    yield "</div>"


def _models(comparison: Comparison) -> str:
    told = [
        f"{chip(name, place)}: {text(', '.join(comparison.efforts[name].models))}"
        for place, name in enumerate(comparison.names)
        if comparison.efforts[name].models
    ]
    terms = "Failed are actions that could not be carried out, cut off the episodes that the "
    terms += "budget ended"
    if _report.uses_models(comparison):
        terms += "; calls, tokens and dollars are of language models, and - is a number that "
        terms += "nobody noted"
    return f"<p>{terms}.</p>" + (f"<p>Models: {'; '.join(told)}</p>" if told else "")


def _runs(comparison: Comparison) -> str:
    rows = []
    for place, run in enumerate(comparison.runs):
        cells = (
            run.manifest["agent"], _options(run), run.manifest["environment"]["retriever"],
            str(run.manifest["seed"]), run.manifest["arena"], _hash(run, "code"),
        )  # fmt: skip
        rows.append(
            f'<tr><th scope="row">{chip(run.name, place)}</th>'
            + "".join(f'<td class="left">{words(cell, 400)}</td>' for cell in cells)
            + "</tr>"
        )
    header = ("run", "agent", "its options", "retriever", "seed", "release", "code")
    head = "".join(f'<th scope="col" class="left">{name}</th>' for name in header)
    first = comparison.runs[0]
    return (
        '<section id="runs"><h2>The runs</h2>'
        + scrolling(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
        + f"<p>Corpus {_hash(first, 'corpus')}, task set {_hash(first, 'tasks')}.</p></section>"
    )


def _options(run: ComparedRun) -> str:
    options = run.manifest.get("agent_options") or {}
    return ", ".join(f"{name}={value}" for name, value in sorted(options.items()))


def _hash(run: ComparedRun, name: str) -> str:
    return text(str(run.manifest["sha256"].get(name))[:12])


def headline_of(comparison: Comparison) -> MetricComparison:
    """Return the metric that is drawn survey by survey."""
    return next(m for m in comparison.metrics if m.metric == comparison.headline)


def less(metric: MetricComparison) -> str:
    """Return a remark on distances."""
    return " <small>(less is better)</small>" if metric.lower_is_better else ""
