"""The page of `arena view` and `arena compare --html`: runs in one HTML file that loads nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from arena.corpus import Corpus
from arena.dates import GUESS_MARK, UNDATED
from arena.errors import DataError
from arena.kit.files import atomic_write, read_json
from arena.metrics import mean
from arena.results.comparison import report as reports
from arena.results.comparison.comparing import Comparison, compare, tasks_of
from arena.results.comparison.opening import name_runs, split_name
from arena.results.viewing import drawing
from arena.results.viewing.episodes import Episodes
from arena.results.viewing.scored import of_suite
from arena.runs.checking import refuse_misstated
from arena.runs.directory import OpenedRun
from arena.runs.players import ORACLE
from arena.suites import Evaluation
from arena.tasks import choose_topics, play_order

MOST_EPISODES = 2_000
"""Episodes of a page whose topics are not chosen."""


class Page(NamedTuple):
    """A page, and how many episodes it has."""

    html: str
    episodes: int


def write_page(
    runs: Sequence[str | Path] | Comparison, path: str | Path, *args: Any, **options: Any
) -> None:
    """Write `as_page` to a file, whole or not at all."""
    atomic_write(path, as_page(runs, *args, **options).html)


def as_page(
    runs: Sequence[str | Path] | Comparison,
    corpus: Corpus | str | Path | None = None,
    *,
    tasks: str | Path | None = None,
    topics: Sequence[str] | int | None = None,
    answers: str | Path | None = None,
    labels: bool = True,
    scored: Mapping[str, Evaluation] | None = None,
) -> Page:
    """Return a page of runs, with what was missed and every episode if the corpus is given.

    It loads nothing, its policy lets no script run but its own, and the same runs give the same
    bytes. Each episode is played again, and must give what it recorded.

    Args:
        runs: A comparison; or directories of runs over one corpus, finished or not, each alone or
            as ``NAME=DIR``, which are compared on the topics that all played. Runs that cannot be
            compared stand in a table without tests.
        corpus: Their corpus, or its directory.
        tasks: Directory of the task set that the runs played, if any.
        topics: Ids, or how many of the first that were played, whose episodes are on the page; by
            default as many as make `MOST_EPISODES` episodes.
        answers: File of the language model's answers, for what it wrote.
        labels: Whether the page has labels, and all that depends on them: rewards, scores,
            missed papers, and papers that did not exist yet.
        scored: Of the systems of a suite, what it scored of each.

    Raises:
        CorpusError: A run is of another corpus, does not replay, or states scores that its answers
            do not get.
        DataError: No run has an episode of these topics.
    """
    opened = None if corpus is None else Corpus.resolve(corpus, tasks)
    compared, named, why = _opened(runs, opened, labels)
    own = [run for run in named.values() if run is not None]
    since = next((run.manifest["environment"].get("since") for run in own), None)
    found = None if opened is None else Episodes(opened, labels, answers, since)
    left_out = 0 if found is None else _add_episodes(found, compared, named, topics)
    lines = _lines(compared, found, [*named])
    anchors = {line.id: line.anchor for line in lines}
    listed = [{"name": name, "place": place} for place, name in enumerate(named)]
    tasks_played = {compared.task: 0} if compared else {run.task.name: 0 for run in own}
    manifest = compared.runs[0].manifest if compared else own[0].manifest
    script = (drawing.FOLDER / "page.js").read_text("utf-8")
    html: str = drawing.environment().get_template("page.html").render(
        comparison=compared,
        headline=compared and next(m for m in compared.metrics if m.metric == compared.headline),
        why=why,
        means=[mean(each) for each in zip(*(line.values for line in lines), strict=True)]
        if labels and not compared else [],
        task=", ".join(tasks_played),
        corpus=opened and opened.directory.resolve().name,
        hashes=manifest["sha256"],
        unit=f"{UNDATED} topic" if manifest.get("undated") else "topic",
        runs=listed,
        run_of={run["name"]: run for run in listed},
        lines=lines,
        anchors=anchors,
        left_out=left_out,
        labels=labels,
        missed=found is not None and found.searched,
        blocks=[(name, Markup(data)) for name, data in (found.blocks(anchors) if found else ())],
        reports=reports,
        drawing=drawing,
        mark=drawing.mark,
        style=drawing.style(),
        script=Markup(script),
        digest=drawing.digest_of(script),
        GUESS_MARK=GUESS_MARK,
        **of_suite(scored or {}),
    )  # fmt: skip
    return Page(html, found.number if found else 0)


def _opened(
    runs: Sequence[str | Path] | Comparison, corpus: Corpus | None, labels: bool
) -> tuple[Comparison | None, dict[str, OpenedRun | None], str]:
    """Return the comparison, name -> run (None has answers alone), and why nothing is compared."""
    why = ""
    if isinstance(runs, Comparison):
        if corpus is not None:
            tasks_of(runs, corpus)  # refuses another one
        played = {run.name: run.opened for run in runs.runs}
        return runs, {name: run if run and run.files else None for name, run in played.items()}, why
    given, directories = zip(*map(split_name, runs), strict=True)
    opened = [OpenedRun(directory) for directory in directories]
    if corpus is None or (labels and all(run.files for run in opened)):
        try:
            return _opened(compare(runs, corpus=corpus, common=True), corpus, labels)
        except DataError as error:  # of several tasks, or without a common topic
            if corpus is None:
                raise
            why = str(error)
    for run in opened if corpus else ():
        run.open_corpus(corpus)
        if run.files is not None:
            run.refuse_changed("metrics.json")
            refuse_misstated(run, read_json(run.directory / "metrics.json"), corpus)
    return None, dict(zip(name_runs(given, opened), opened, strict=True)), why


def _add_episodes(
    found: Episodes,
    compared: Comparison | None,
    named: Mapping[str, OpenedRun | None],
    topics: Sequence[str] | int | None,
) -> int:
    """Add the episodes of all runs on some topics; return how many topics are left out."""
    own = [run for run in named.values() if run is not None]
    order = play_order(found.tasks, {s for run in own for s in run.manifest["topics"]})
    chosen = choose_topics(found.tasks, topics, order)
    if topics is None:
        chosen = chosen[: max(1, MOST_EPISODES // len(named))]
    for place, (name, run) in enumerate(named.items()):
        if run is not None:
            found.add(name, run, set(chosen))
        elif compared is not None:
            found.add_answers(name, compared, place, chosen)
    if not found.number:
        raise DataError("no run has an episode of these topics. `--topics` names others.")
    return len(order) - len(chosen)


class _Line(NamedTuple):
    """A topic in the list of all: its scores, and the addresses of its episodes."""

    id: str
    anchor: str
    title: str
    date: str
    in_reach: int | None
    values: list[Any]
    links: list[str | None]
    difference: float | None = None
    best: float | None = None


def _lines(
    compared: Comparison | None, found: Episodes | None, names: Sequence[str]
) -> list[_Line]:
    """Return all topics, the largest gain of the first pair first; else in order of their days."""
    shown = found.shown if found else {}
    headline, fair = None, [*range(len(names))]
    if compared is not None:
        headline = next(m for m in compared.metrics if m.metric == compared.headline)
        fair = [n for n, r in enumerate(compared.runs) if r.manifest["agent"] != ORACLE]
    pair = headline.differences[0] if headline and headline.differences else None
    lines = []
    for number, topic in enumerate(_topics(compared, found), 1):
        own = shown.get(topic, {})
        values: list[Any] = [own.get(place) for place in range(len(names))]
        difference = best = None
        if headline and topic in headline.topics:
            at = headline.topics.index(topic)
            by_run = {name: each[at] for name, each in headline.values.items()}
            values = [*by_run.values()]
            difference = by_run[pair.run] - by_run[pair.against] if pair else None
            if len(fair) > 1 and headline.lower_is_better is not None:
                top = (min if headline.lower_is_better else max)(values[n] for n in fair)
                best = top if [values[n] for n in fair].count(top) == 1 else None
        about = found.tasks.topic(topic) if found else None
        links = [
            f"#e/{_quoted(name)}/{_quoted(topic)}/1" if place in own else None
            for place, name in enumerate(names)
        ]
        reach = None
        if compared and topic in (rows := compared.runs[0].metrics["per_topic"]):
            reach = rows[topic].get("gold")
        lines.append(
            _Line(
                topic, f"s{number}", about.text if about else "", about.date if about else "",
                reach, values, links, difference, best,
            )
        )  # fmt: skip
    sign = 1 if headline and headline.lower_is_better else -1
    return sorted(lines, key=lambda each: sign * (each.difference or 0.0)) if pair else lines


def _topics(compared: Comparison | None, found: Episodes | None) -> list[str]:
    """Return the topics that were compared, and the others that have an episode on the page."""
    played = compared.topics if compared and compared.played else ()
    more = play_order(found.tasks, set(found.shown) - set(played)) if found else ()
    return [*played, *more]


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")
