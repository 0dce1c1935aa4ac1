"""The part of the page on one survey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arena.results.comparison._html import chip, listed, more, number, scrolling, text, words
from arena.results.comparison._maps import maps
from arena.results.comparison._marks import COLOURS, key
from arena.results.comparison._papers import Papers, Titled
from arena.results.comparison._report import ORACLE
from arena.results.comparison.model import ComparedRun, Comparison, Episode, Query
from arena.tasks import stages_of

GOLD_SHOWN = 150
QUERIES_SHOWN = 60
RANKED_SHOWN = 10
QUERY_SHOWN = 80  # letters; the rest is folded up
QUERY_KEPT = 300
_NAMED = 6  # so many runs have their names in the line of a survey
_NAME_SHOWN = 18
_NEAR, _FAR = 10, 100  # ranks that are told apart by colour
_MISSED = 10**9
_SPENT = ("searches", "reads", "steps")


def survey_page(comparison: Comparison, survey: str, anchor: str, papers: Papers) -> str:
    """Return everything on one survey, folded up.

    Args:
        comparison: of runs that played it.
        survey: its id.
        anchor: under which it is linked.
        papers: knows titles.
    """
    titled = papers.survey(survey)
    stage = _ranking_stage(comparison.task)
    body = [_scores(comparison, survey), _queries(comparison, survey)]
    if stage is not None:
        body += [*_found(comparison, survey, stage, papers)]
    body += maps(comparison, survey)
    headline = next(m for m in comparison.metrics if m.metric == comparison.headline)
    told = ""
    if survey in headline.surveys:
        place = headline.surveys.index(survey)
        told = " ".join(
            _score(name, i, headline.values[name][place], len(comparison.names) <= _NAMED)
            for i, name in enumerate(comparison.names)
        )
    title = words(titled.title) if titled.title else ""
    return (
        f'<details class="survey" id="{anchor}"><summary><b>{words(survey)}</b> {title} '
        f'<time>{text(titled.date)}</time> <span class="scores">{told}</span></summary>'
        + "".join(body)
        + '<p class="back"><a href="#surveys">Back to all surveys</a></p></details>'
    )


def _score(name: str, place: int, value: float, named: bool) -> str:
    """Return one value in the line of a survey; the mark says whose it is, and names help."""
    told = f"{key(place)}{words(name, _NAME_SHOWN)}" if named else key(place, text(name))
    return f'<span class="run c{place % COLOURS}" title="{text(name)}">{told} {value:.3f}</span>'


def _scores(comparison: Comparison, survey: str) -> str:
    metrics = [metric.metric for metric in comparison.metrics]
    columns = []
    for run in comparison.runs:
        entry, episode = run.metrics["per_survey"][survey], run.episodes[survey]
        spent = [number(episode.spent.get(what, 0)) for what in _SPENT]
        ended = ["cut off" if episode.truncated else "by itself"]
        columns.append([*(number(_float(entry[m])) for m in metrics), *spent, *ended])
    rows = [
        f'<tr><th scope="row">{words(name)}</th>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'
        for name, *cells in zip([*metrics, *_SPENT, "ended"], *columns, strict=True)
    ]
    head = "".join(
        f'<th scope="col">{chip(name, i)}</th>' for i, name in enumerate(comparison.names)
    )
    entries = [run.metrics["per_survey"][survey] for run in comparison.runs]
    has_labels = any(value is not None for entry in entries for value in entry.values())
    caption = "Scores" if has_labels else "Scores: the survey lacks labels"
    return scrolling(
        f'<table class="scored"><caption>{caption}</caption><thead><tr><th scope="col"></th>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _queries(comparison: Comparison, survey: str) -> str:
    parts, gold = [], comparison.gold.get(survey, {})
    if not any(run.episodes[survey].queries for run in comparison.runs):
        return '<h3>Queries sent</h3><p class="none">No run sent any.</p>'
    for place, run in enumerate(comparison.runs):
        queries = run.episodes[survey].queries
        items = [_query(query, len(gold)) for query in queries[:QUERIES_SHOWN]]
        rest = more(len(queries) - len(items), "queries")
        content = (listed(items, "ol") if items else '<p class="none">none</p>') + rest
        parts.append(f"<section><h4>{chip(run.name, place)}</h4>{content}</section>")
    return f'<h3>Queries sent</h3><div class="columns">{"".join(parts)}</div>'


def _query(query: Query, gold: int) -> str:
    told = [f"k={query.k}", *([f"offset {query.offset}"] if query.offset else []), query.engine]
    if query.error is not None:
        return _folded(query.text, text(query.error, 200))
    if query.gain is not None and gold:
        new = round(query.gain * gold)
        told.append(f"{new} new reference{'s' * (new != 1)}" if new else "no new reference")
    return _folded(query.text, text(", ".join(told)))


def _folded(query: str, told: str) -> str:
    """Return a query and what is told of it; of a long one the beginning, the whole folded up."""
    line = f"<q>{words(query, QUERY_SHOWN)}</q> <small>{told}</small>"
    if len(query) <= QUERY_SHOWN:
        return line
    whole = f"<q>{words(query, QUERY_KEPT)}</q>"
    return f'<details class="query"><summary>{line}</summary>{whole}</details>'


def _found(
    comparison: Comparison, survey: str, stage: str, papers: Papers
) -> Iterator[str]:  # fmt: skip
    gold = comparison.gold.get(survey, {})
    rankings = [_ranking(run.episodes[survey], stage) for run in comparison.runs]
    ranks = [{paper: n for n, paper in enumerate(ranking, 1)} for ranking in rankings]
    fair = [
        of
        for run, of in zip(comparison.runs, ranks, strict=True)
        if run.manifest["agent"] != ORACLE  # what it misses nobody can find
    ] or ranks
    best = {paper: min(of.get(paper, _MISSED) for of in fair) for paper in gold}
    order = sorted(gold, key=lambda paper: (best[paper], -gold[paper], paper))
    # Of many, as many found as missed by all: both are what one looks for.
    missed = [paper for paper in order if best[paper] == _MISSED]
    kept = [paper for paper in order if best[paper] < _MISSED]
    if len(order) > GOLD_SHOWN:
        room = max(GOLD_SHOWN // 2, GOLD_SHOWN - len(missed))
        kept = kept[:room]
        missed = missed[: GOLD_SHOWN - len(kept)]
    shown = {paper for ranking in rankings for paper in ranking[:RANKED_SHOWN]}
    names = papers.many(survey, [*kept, *missed, *sorted(shown - {*kept, *missed})])
    if gold:
        yield _gold(comparison.runs, gold, [*kept, *missed], set(missed), ranks, names)
        yield more(len(gold) - len(kept) - len(missed), "references")
    yield f"<h3>First {RANKED_SHOWN} handed in (✓ is a reference)</h3>"
    parts = []
    for place, (run, ranking) in enumerate(zip(comparison.runs, rankings, strict=True)):
        items = [_ranked(names[paper], gold) for paper in ranking[:RANKED_SHOWN]]
        rest = more(len(ranking) - len(items), "papers")
        content = (listed(items, "ol") if items else '<p class="none">nothing</p>') + rest
        parts.append(f"<section><h4>{chip(run.name, place)}</h4>{content}</section>")
    yield f'<div class="columns">{"".join(parts)}</div>'


def _gold(
    runs: Sequence[ComparedRun],
    gold: Mapping[str, int],
    order: Iterable[str],
    missed: set[str],
    ranks: Sequence[Mapping[str, int]],
    names: Mapping[str, Titled],
) -> str:
    head = "".join(f'<th scope="col">{chip(run.name, i)}</th>' for i, run in enumerate(runs))
    rows = []
    for paper in order:
        cells = "".join(_rank(of.get(paper)) for of in ranks)
        kind = ' class="missed"' if paper in missed else ""
        rows.append(
            f'<tr{kind}><th scope="row">{_paper(names[paper])}'
            f"{_star(gold[paper])}</th><td>{text(names[paper].date)}</td>{cells}</tr>"
        )
    counts = "".join(
        f"<td>{sum(paper in of for paper in gold)} of {len(gold)}</td>" for of in ranks
    )
    return "<h3>References found and missed</h3>" + scrolling(
        '<table class="gold"><caption>The place that each run gave to the references in reach; '
        '★ is influential, – is missed</caption><thead><tr><th scope="col" class="left">paper</th>'
        f'<th scope="col">date</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        f'<tfoot><tr><th scope="row">found</th><td></td>{counts}</tr></tfoot></table>'
    )


def _rank(rank: int | None) -> str:
    if rank is None:
        return "<td>–</td>"
    near = "near" if rank <= _NEAR else "mid" if rank <= _FAR else "far"
    return f'<td class="{near}">{rank}</td>'


def _ranked(paper: Titled, gold: Mapping[str, int]) -> str:
    mark = f'<b class="hit">✓</b>{_star(gold[paper.id])}' if paper.id in gold else ""
    return f"{_paper(paper)} <small>{text(paper.date)}</small> {mark}"


def _paper(paper: Titled) -> str:
    if not paper.title:
        return words(paper.id, 200)
    return f'<bdi title="{text(paper.id, 200)}">{text(paper.title, 300)}</bdi>'


def _star(gain: int) -> str:
    return ' <b class="star">★</b>' if gain > 1 else ""


def _ranking(episode: Episode, stage: str) -> Sequence[str]:
    answer = episode.answers.get(stage, ())
    return answer if isinstance(answer, list) else ()


def _ranking_stage(task: str) -> str | None:
    """Return the first stage that hands in a ranking."""
    return next((n for n, stage in stages_of(task) if stage.answer == "ranking"), None)


def _float(value: float | int | None) -> float | None:
    return None if value is None else float(value)
