"""One HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from arena._internal.files import atomic_write
from arena._internal.progress import progress
from arena.corpus import Corpus
from arena.results.comparison import _report
from arena.results.comparison._html import chip, number, scrolling, text, words
from arena.results.comparison._overview import headline_of, less, overview
from arena.results.comparison._papers import Papers
from arena.results.comparison._survey import survey_page
from arena.results.comparison.model import Comparison

_BESIDE = Path(__file__).parent


def write_html(
    comparison: Comparison, path: str | Path, corpus: Corpus | str | Path | None = None
) -> None:
    """Write `as_html` to a file, whole or not at all.

    Raises:
        CorpusError: if `corpus` is not that of the runs.
        DataError: if `path` cannot be written.
    """
    atomic_write(path, as_html(comparison, corpus))


def as_html(comparison: Comparison, corpus: Corpus | str | Path | None = None) -> str:
    """Return a page with tables, plots and a part on every survey.

    It holds the labels of the surveys. It loads nothing, and its policy lets no script run but
    its own; text of papers and models is escaped, pictures of mind-maps are images.

    Args:
        comparison: what to show.
        corpus: where titles and dates of papers come from; without it they are ids.

    Raises:
        CorpusError: if `corpus` is not that of the runs.
    """
    papers = Papers(comparison, corpus)
    anchors = {survey: f"s{n}" for n, survey in enumerate(comparison.surveys, 1)}
    script = _beside("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    title = f"{comparison.task}: {', '.join(comparison.names)}"
    body = [*overview(comparison, anchors), *_surveys(comparison, anchors, papers)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{text(title, 200)}</title>\n<style>\n{_beside('page.css')}</style>\n"
        "</head>\n<body>\n" + "\n".join(body) + f"\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _surveys(
    comparison: Comparison, anchors: Mapping[str, str], papers: Papers
) -> Iterator[str]:  # fmt: skip
    headline = headline_of(comparison)
    places = {survey: place for place, survey in enumerate(headline.surveys)}
    head = "".join(
        f'<th scope="col" data-sort>{chip(name, i)}</th>' for i, name in enumerate(comparison.names)
    )
    rows = []
    for survey in comparison.surveys:
        titled = papers.survey(survey)
        found = [
            headline.values[name][places[survey]] if survey in places else None
            for name in comparison.names
        ]
        fair = [
            value
            for run, value in zip(comparison.runs, found, strict=True)
            if value is not None and run.manifest["agent"] != _report.ORACLE
        ]
        top = (min if headline.lower_is_better else max)(fair) if len(set(fair)) > 1 else None
        cells = "".join(
            f"<td><b>{number(v)}</b></td>"
            if v is not None and v == top
            else f"<td>{number(v)}</td>"
            for v in found
        )
        name = words(titled.title, 160) if titled.title else words(survey)
        rows.append(
            f'<tr><th scope="row"><a href="#{anchors[survey]}">{name}</a></th>'
            f"<td>{text(titled.date) or '-'}</td><td>{len(comparison.gold.get(survey, ())):,}</td>"
            f"{cells}</tr>"
        )
    yield (
        f'<section id="surveys"><h2>Surveys</h2><p>{words(headline.metric)} of each run'
        f"{less(headline)}. A click on a heading sorts.</p>"
        + scrolling(
            '<table class="sortable"><thead><tr><th scope="col" class="left" data-sort>survey</th>'
            '<th scope="col" data-sort>date</th><th scope="col" data-sort>in reach</th>'
            f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )
    )
    for survey in progress(comparison.surveys, desc="writing the page", unit="survey"):
        yield survey_page(comparison, survey, anchors[survey], papers)
    yield "</section></main>"


def _beside(name: str) -> str:
    return (_BESIDE / name).read_text(encoding="utf-8")
