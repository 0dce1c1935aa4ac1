"""One HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import functools
import hashlib
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup, escape

from arena.corpus import Corpus
from arena.dates import GUESS_MARK
from arena.kit.files import atomic_write
from arena.kit.terminal import MISSING, progress
from arena.results.comparison import report as reports
from arena.results.comparison.comparing import (
    Comparison,
    MetricComparison,
    PairedDifference,
    tasks_of,
)
from arena.results.comparison.opening import PlayedEpisode
from arena.runs.players import ORACLE
from arena.tasks import Stage
from arena.text.display import page_templates, shown
from arena.text.identifiers import arxiv_key, doi_key

GOLD_SHOWN = 150
QUERIES_SHOWN = 60
RANKED_SHOWN = 10
QUERY_SHOWN = 80
"""Characters of a query; a longer one is folded up."""
_QUERY_KEPT = 300
_LINES_SHOWN = 80
_NAMED = 6  # with at most so many runs, their names are in the line of a survey
_NEAR, _FAR = 10, 100  # ranks that have a colour
_MISSED = 10**9
_SPENT = ("searches", "reads", "steps")
_FOLDER = Path(__file__).parent
_BREAK = re.compile(r"([,(+/_])(?=[^\s,(+/_])")  # hybrid(bm25,dense), tree_edit_distance: no spaces
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)(?:\.\d+)?" height="(\d+)(?:\.\d+)?"')
_ADDRESS = {"arxiv": "https://arxiv.org/abs/", "doi": "https://doi.org/"}
_PRECISION = {"year": 4, "month": 7}  # characters of YYYY-MM-DD that are known
MARKS = "●■▲▼◆★○□△▽◇☆"
"""The marks of the first runs; the page has six colours."""


def write_html(
    comparison: Comparison, path: str | Path, corpus: Corpus | str | Path | None = None
) -> None:
    """Write `as_html` to a file, whole or not at all."""
    atomic_write(path, as_html(comparison, corpus))


def as_html(comparison: Comparison, corpus: Corpus | str | Path | None = None) -> str:
    """Return a page with a verdict, tables, plots and a part on every survey.

    It contains the labels of the surveys. It loads nothing, and its policy lets no script run but
    its own; text of papers and models is escaped, pictures of mind-maps are images.

    Args:
        comparison: The comparison.
        corpus: The corpus of the runs, for titles and dates of papers; without it they are ids.

    Raises:
        CorpusError: `corpus` is not that of the runs.
    """
    papers = _Papers(comparison, corpus)
    headline = next(m for m in comparison.metrics if m.metric == comparison.headline)
    anchors = {survey: f"s{n}" for n, survey in enumerate(comparison.surveys, 1)}
    runs = [{"name": run.name, "place": n} for n, run in enumerate(comparison.runs)]
    pair = headline.differences[0] if headline.differences else None
    surveys = comparison.surveys if comparison.played else ()
    lines = [_Line(comparison, survey, papers) for survey in surveys]
    lines.sort(key=lambda line: (line.difference is None, -line.better, line.id))
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    html: str = environment().get_template("page.html").render(
        comparison=comparison,
        headline=headline,
        pair=pair,
        runs=runs,
        run_of={run["name"]: run for run in runs},
        mark=mark,
        Axis=Axis,
        axis_of_means=axis_of_means,
        gains=gains,
        reports=reports,
        anchors=anchors,
        lines=lines,
        shown=progress(lines, desc="writing the page", unit="survey"),
        style=style(),
        script=Markup(script),
        digest=digest_of(script),
        QUERIES_SHOWN=QUERIES_SHOWN,
        RANKED_SHOWN=RANKED_SHOWN,
        QUERY_SHOWN=QUERY_SHOWN,
        QUERY_KEPT=_QUERY_KEPT,
        names_fit=len(runs) <= _NAMED,
        GUESS_MARK=GUESS_MARK,
    )  # fmt: skip
    return html


def style() -> Markup:
    """Return the style sheet that pages share."""
    return Markup((_FOLDER / "page.css").read_text(encoding="utf-8"))


def digest_of(script: str) -> str:
    """Return the hash by which a page's policy allows its script."""
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


@functools.cache
def environment(*folders: Path) -> Any:
    """Return the environment of the templates in `folders`, and of those that pages share.

    It escapes every value that it prints.
    """
    made = page_templates(*folders, _FOLDER)
    made.filters |= {
        "cut": shown,
        "number": _number,
        "link": link,
        "nearness": lambda rank: "near" if rank <= _NEAR else "mid" if rank <= _FAR else "far",
        "breakable": lambda name: Markup(_BREAK.sub(r"\1<wbr>", str(escape(shown(name, 80))))),
    }
    return made


def _number(value: Any, decimals: int = 4, sign: str = "") -> str:
    """Return a number, or the sign of an unknown one; text stays as it is."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:{sign}.{decimals}f}"


def link(paper_id: str) -> str | None:
    """Return the address of a paper whose id is that of arXiv or a DOI, else None.

    >>> link("2406.10291"), link("doi:10.1145/3626772")
    ('https://arxiv.org/abs/2406.10291', 'https://doi.org/10.1145/3626772')
    >>> link("w7-951077aa94")
    """
    key = arxiv_key(paper_id) or doi_key(paper_id)
    if key is None:
        return None
    kind, _, name = key.partition(":")
    return _ADDRESS[kind] + quote(name.encode("utf-8", "replace"), safe="/")


class _Titled(NamedTuple):
    """A paper or survey; title and date are empty where they are not known."""

    id: str
    title: str = ""
    date: str = ""


class _Papers:
    """Looks up titles and dates; without a corpus there are ids alone."""

    def __init__(self, comparison: Comparison, corpus: Corpus | str | Path | None) -> None:
        self._corpus = None if corpus is None else Corpus.of(corpus)
        if self._corpus is None:
            return
        self._tasks = tasks_of(comparison, self._corpus)

    def survey(self, survey_id: str) -> _Titled:
        """Return a survey."""
        if self._corpus is None:
            return _Titled(survey_id)
        survey = self._tasks.survey(survey_id)
        return _Titled(survey_id, survey.title, survey.date)

    def many(self, survey_id: str, paper_ids: Sequence[str]) -> dict[str, _Titled]:
        """Return papers, by id, as they are visible at the cutoff of this survey."""
        papers = {paper_id: _Titled(paper_id) for paper_id in paper_ids}
        if self._corpus is None:
            return papers
        view = self._corpus.at(self._tasks.survey(survey_id).date, exclude=[survey_id])
        for paper in map(view.paper, filter(view.__contains__, paper_ids)):
            date = paper.date[: _PRECISION.get(paper.date_precision)]
            papers[paper.id] = _Titled(paper.id, paper.title, date)
        return papers


class _Line:
    """A survey on the page: its line in the list of all, and everything on it."""

    def __init__(self, comparison: Comparison, survey: str, papers: _Papers) -> None:
        self.id, self._comparison, self._papers = survey, comparison, papers
        self.paper = papers.survey(survey)
        self.gold = comparison.gold.get(survey, {})
        self._entries = [run.metrics["per_survey"][survey] for run in comparison.runs]
        self.in_reach = self._entries[0]["gold"]
        self.episodes: list[PlayedEpisode] = [run.episodes[survey] for run in comparison.runs]
        headline = next(m for m in comparison.metrics if m.metric == comparison.headline)
        self.values: list[float | None] = [None] * len(comparison.runs)
        self.difference: float | None = None
        self.better = 0.0
        if survey in headline.surveys:
            by_run = {n: v[headline.surveys.index(survey)] for n, v in headline.values.items()}
            self.values = list(by_run.values())
            for pair in headline.differences[:1]:
                self.difference = by_run[pair.run] - by_run[pair.against]
                self.better = -self.difference if headline.lower_is_better else self.difference
        self._fair = [run.manifest["agent"] != ORACLE for run in comparison.runs]
        pairs = zip(self.values, self._fair, strict=True)
        fair = {value for value, is_fair in pairs if is_fair and value is not None}
        choose = {True: min, False: max}.get(headline.lower_is_better)  # type: ignore[arg-type]
        self.best = choose(fair) if choose and len(fair) > 1 else None
        # The first stage that submits a ranking, or a report, which cites papers in an order.
        task = comparison.runs[0].task
        self._stages = task.stages if task else ()
        ranked = next((stage for stage in self._stages if stage.answer.has_order), None)
        self.stage = ranked.name if ranked else None
        self.rankings = [
            ranked.answer.papers(_answer(episode, ranked)) if ranked else []
            for episode in self.episodes
        ]

    @property
    def has_labels(self) -> bool:
        names = [metric.metric for metric in self._comparison.metrics]
        return any(self._entries[0][name] is not None for name in names)

    @property
    def scores(self) -> list[list[Any]]:
        """Rows of what each run scored and spent, and whether the budget ended it."""
        names = [metric.metric for metric in self._comparison.metrics]
        rows: list[list[Any]] = [[name, *(e[name] for e in self._entries)] for name in names]
        for name in (*_SPENT, "truncated"):
            values = [getattr(episode.effort, name) for episode in self.episodes]
            rows.append([reports.heading(name), *values])
        return rows

    @functools.cached_property
    def ranks(self) -> list[dict[str, int]]:
        """For each run paper -> rank."""
        return [{paper: n for n, paper in enumerate(r, 1)} for r in self.rankings]

    @functools.cached_property
    def references(self) -> list[tuple[str, bool]]:
        """The references that the page shows, found ones first, and whether all runs missed it."""
        fair = [ranks for ranks, is_fair in zip(self.ranks, self._fair, strict=True) if is_fair]
        fair = fair or self.ranks  # nobody can find what the oracle misses
        best = {paper: min(ranks.get(paper, _MISSED) for ranks in fair) for paper in self.gold}
        order = sorted(self.gold, key=lambda paper: (best[paper], -self.gold[paper], paper))
        # Of many, as many found as missed by all: a reader looks for both.
        missed = [paper for paper in order if best[paper] == _MISSED]
        found = [paper for paper in order if best[paper] < _MISSED]
        if len(order) > GOLD_SHOWN:
            found = found[: max(GOLD_SHOWN // 2, GOLD_SHOWN - len(missed))]
            missed = missed[: GOLD_SHOWN - len(found)]
        return [*((paper, False) for paper in found), *((paper, True) for paper in missed)]

    @functools.cached_property
    def papers(self) -> dict[str, _Titled]:
        """Id -> title and date of every paper that the page shows."""
        first = {paper for ranking in self.rankings for paper in ranking[:RANKED_SHOWN]}
        listed = [paper for paper, _ in self.references]
        return self._papers.many(self.id, [*listed, *sorted(first - set(listed))])

    @property
    def panels(self) -> Iterator[tuple[str, list[Panel]]]:
        """Of each stage whose answers are shown: what they are called, and the answers."""
        for stage in self._stages:
            panels = []
            for place, episode in enumerate(self.episodes):
                if (answer := _answer(episode, stage)) is None:
                    continue
                lines = [_indented(line) for line in stage.answer.panel(answer)]
                drawn = episode.picture if stage.answer.picture(self.id) else None
                picture = None if drawn is None else _packed(drawn)
                more = len(lines) - _LINES_SHOWN
                if lines:
                    panels.append(Panel(place, picture, lines[:_LINES_SHOWN], more))
            if panels:
                yield stage.answer.noun, panels


class Panel(NamedTuple):
    """An answer: the place of its run, its picture, first lines, and the number of the others."""

    place: int
    picture: Markup | None
    lines: list[str]
    left_out: int


def _answer(episode: PlayedEpisode, stage: Stage) -> Any:
    """Return the answer of an episode to a stage; None if it has none."""
    value = episode.answers.get(stage.name)
    return None if value is None else stage.answer.read(value)


def _packed(picture: str) -> Markup:
    """Return the attributes of an image; as an image it runs no script, and its ids are its own."""
    size = _SIZE.search(picture[:2000])
    fitted = f' width="{size[1]}" height="{size[2]}"' if size else ""
    packed = base64.b64encode(zlib.compress(picture.encode("utf-8"), 9)).decode("ascii")
    return Markup(f'{fitted} data-picture="{packed}"')


def _indented(line: str) -> str:
    """Return a line with the blanks at its beginning, cut."""
    text = line.lstrip(" ")
    return Markup(" " * (len(line) - len(text))) + shown(text, 200)


# What the plots of the template are drawn with.


def mark(place: int) -> str:
    """Return the mark of run number `place`; no two runs have the same, also without colours."""
    return MARKS[place] if place < len(MARKS) else str(place + 1)


class Axis:
    """Values on an axis from pixel `start` to `end`, with at most `most` steps of round numbers."""

    def __init__(self, values: Iterable[float], start: float, end: float, most: int = 6) -> None:
        values = list(values)
        low, high = min(values), max(values)
        rough = max(high - low, 1e-6) / most
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough * (1 - 1e-9))
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        self.ticks = [round(i * step, 10) for i in range(first, max(last, first + 1) + 1)]
        self._start, self._pixels = start, (end - start) / (self.ticks[-1] - self.ticks[0])

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        return round(self._start + (value - self.ticks[0]) * self._pixels, 1)


def axis_of_means(metric: MetricComparison) -> Axis:
    """Return the axis of the means of all runs, their intervals, the ceiling and 0."""
    ends = [end for mean in metric.means.values() for end in (mean.mean, mean.low, mean.high)]
    return Axis([0.0, *(e for e in (*ends, metric.ceiling) if e is not None)], 188, 468)


def gains(metric: MetricComparison, pair: PairedDifference) -> list[tuple[float, str, float]]:
    """Return (difference, survey, value of the run), from its largest gain to its largest loss."""
    sign = -1 if metric.lower_is_better else 1
    values = zip(metric.surveys, metric.values[pair.run], metric.values[pair.against], strict=True)
    return sorted(
        ((a - b, survey, a) for survey, a, b in values), key=lambda bar: (-sign * bar[0], bar[1])
    )
