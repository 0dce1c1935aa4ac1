"""Files of comparisons for a paper: tables, grouped figures, and an appendix, for LaTeX."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.corpus import Corpus, layout
from arena.envs import EnvConfig
from arena.kit.files import atomic_write
from arena.kit.plots import COLOURS, GREY, MARKERS, draw, short
from arena.kit.terminal import Table, best, escape_latex
from arena.llm.outcomes import UNREAD, is_unread
from arena.results.comparison import report
from arena.results.comparison.comparing import Comparison, MetricComparison
from arena.results.comparison.opening import ComparedRun, grouped, settings_of
from arena.runs.players import ORACLE
from arena.runs.trajectories import TRAJECTORIES
from arena.text.display import printable

__all__ = ["Part", "Place", "as_latex", "decimals_of", "grid", "part_of", "write_paper"]

_LARGE = 10  # a metric with values like this is no share, and four decimals say nothing
_MOST_METRICS = 6
_PANELS = 3  # side by side
_SHOWN = ("floors", "means")


class Place(NamedTuple):
    """Where a run stands: its row and column in a table, its agent and engine in a figure."""

    row: str
    column: str
    agent: str
    engine: str


class Part(NamedTuple):
    """A comparison as part of a paper.

    Attributes:
        key: Its name in labels and in the names of files.
        title: What it is about, in words.
        comparison: The comparison.
        tables: Its tables, captions included.
        notes: Sentences on what the numbers are.
        places: Run -> its place.
    """

    key: str
    title: str
    comparison: Comparison
    tables: Sequence[Table]
    notes: Sequence[str]
    places: Mapping[str, Place]


def part_of(comparison: Comparison, every: bool = False) -> Part:
    """Return a comparison as the only part of a paper; `every` table, or means and floors alone."""
    tables = [
        grid(comparison, title=each.title) if each.key == "means" else each
        for each in report.tables(comparison)
        if every or each.key in _SHOWN
    ]
    about = (tables, report.remarks(comparison), _places_of(comparison))
    return Part("", f"The task {comparison.task}", comparison, *about)


def _places_of(comparison: Comparison) -> dict[str, Place]:
    """Return run -> a row of its own; agent and engine of a figure where it is named after them."""
    places = {}
    for run in comparison.runs:
        agent = run.manifest["agent"]
        engine = run.manifest.get("environment", {}).get("retriever", "")
        named = run.name == f"{agent}, {engine}"
        places[run.name] = Place(run.name, "", agent if named else run.name, engine)
    return places


def grid(
    comparison: Comparison,
    places: Mapping[str, Place] | None = None,
    title: str = "",
    key: str = "means",
) -> Table:
    """Return the means of all metrics: stars, the best bold, and intervals below them.

    A star stands at a significant difference from the baseline, also of a metric that was scored
    again. Neither stars nor bold are for an oracle, which knows the labels.

    Args:
        comparison: The comparison.
        places: Run -> row and column; by default a row for each run, below them the ceiling, and
            where there are many metrics these as the rows.
        title: What the caption says first.
        key: For the label.
    """
    runs = {(at.row, at.column): name for name, at in (places or _places_of(comparison)).items()}
    labels = list(dict.fromkeys(row for row, _ in runs))
    parts = list(dict.fromkeys(column for _, column in runs))
    columns = [(metric, part) for metric in comparison.metrics for part in parts]
    fair = [run.name for run in comparison.runs if run.manifest["agent"] != ORACLE]
    silent = [run.name for run in comparison.runs if is_unread(run.metrics)]
    starred = {
        (metric.metric, pair.run)
        for metric in comparison.metrics
        for pair in report.pairs(comparison, metric)
        if pair.significant
    }
    cells: list[list[str | None]] = [[label] for label in labels]
    numbers: list[list[float | None]] = [[None] for _ in labels]
    below: dict[tuple[int, int], str] = {}
    for row, label in enumerate(labels):
        for column, (metric, part) in enumerate(columns, 1):
            name, decimals = runs.get((label, part), ""), decimals_of(metric)
            mean = metric.means.get(name)
            text = None if mean is None else report.number(mean.mean, decimals)
            marks = "*" * ((metric.metric, name) in starred) + f" {UNREAD}" * (name in silent)
            cells[row].append(text and text + marks)
            numbers[row].append(mean.mean if mean is not None and name in fair else None)
            if mean is not None and mean.low is not None and mean.high is not None:
                ends = (report.number(end, decimals - 1) for end in (mean.low, mean.high))
                below[row, column] = " to ".join(ends)
    lowest = [n for n, (m, _) in enumerate(columns, 1) if m.lower_is_better]
    directed = [n for n, (m, _) in enumerate(columns, 1) if m.lower_is_better is not None]
    bold = best(numbers, directed, lowest)
    header = ["Agent" if places else comparison.task]
    header += [", ".join(filter(None, (metric.metric, part))) for metric, part in columns]
    if places is None and comparison.played:
        ceilings = [
            None if m.ceiling is None else report.number(m.ceiling, decimals_of(m))
            for m in comparison.metrics
        ]
        cells.append(["ceiling", *ceilings])
    if places is None and len(columns) > _MOST_METRICS:
        header, *cells = map(list, zip(header, *cells, strict=True))
        bold = {(column - 1, row + 1) for row, column in bold}
        below = {(column - 1, row + 1): text for (row, column), text in below.items()}
    said = [title.rstrip("."), *[f"in small {comparison.level * 100:g} % intervals"] * bool(below)]
    said += ["bold the best"] * bool(bold)
    if starred:
        said.append(f"* differs from {comparison.baseline} at {1 - comparison.level:.4g} (Holm)")
    align = "l" + "r" * (len(header) - 1)
    return Table(header, cells, align, frozenset(bold), "; ".join(said) + ".", key, below)


def decimals_of(metric: MetricComparison) -> int:
    """Return how many decimals of a metric are shown: two if a mean is large, else four."""
    return 2 if any(abs(each.mean) >= _LARGE for each in metric.means.values()) else 4


def as_latex(comparison: Comparison) -> str:
    """Return the tables for LaTeX with booktabs and graphicx; the remarks are comments."""
    return _tables([part_of(comparison, every=True)])


def _tables(parts: Sequence[Part]) -> str:
    texts = []
    for part in parts:
        texts += [table.latex() for table in part.tables]
        texts.append("\n".join(f"% {printable(note)}" for note in part.notes))
    return "\n\n".join(texts) + "\n"


def figure(part: Part) -> dict[str, bytes]:
    """Return a panel for each metric of a part, as the files ``svg`` and ``pdf``; {} without means.

    A row is an agent, which has its colour, a mark an engine; bars are intervals, the line is the
    ceiling. The same numbers give the same bytes.
    """
    shown = [metric for metric in part.comparison.metrics if metric.means]
    if not shown:
        return {}
    agents = list(dict.fromkeys(at.agent for at in part.places.values()))
    engines = list(dict.fromkeys(at.engine for at in part.places.values()))
    marks = dict(zip(engines, MARKERS * len(engines), strict=False))
    across, down = min(_PANELS, len(shown)), -(-len(shown) // _PANELS)

    def paint(axes: Any) -> None:
        panels = np.ravel(axes)
        for panel in panels[len(shown) :]:
            panel.remove()
        for panel, metric in zip(panels, shown, strict=False):
            for name, mean in metric.means.items():
                at = part.places[name]
                row = agents.index(at.agent)
                aside = 0.6 * ((engines.index(at.engine) + 0.5) / len(engines) - 0.5)
                low, high = mean.low, mean.high
                panel.errorbar(
                    mean.mean, row + aside, marker=marks[at.engine], markersize=5, capsize=2,
                    xerr=None if low is None or high is None
                    else [[mean.mean - low], [high - mean.mean]],
                    linestyle="none", color=COLOURS[row % len(COLOURS)],
                )  # fmt: skip
            if metric.ceiling is not None:
                panel.axvline(metric.ceiling, color=GREY, linestyle="--", linewidth=0.8)
            panel.set_yticks(range(len(agents)), [""] * len(agents))
            panel.set_ylim(len(agents) - 0.5, -0.5)
            panel.grid(axis="x")
            less = " (lower is better)" if metric.lower_is_better else ""
            panel.set_title(short(metric.metric + less), loc="left", fontsize="medium")
        for panel in panels[: len(shown) : across]:
            panel.set_yticklabels([*map(short, agents)])
        if len(engines) > 1:
            lines = [
                panels[0].plot([], [], mark, color=GREY, label=short(engine))[0]
                for engine, mark in marks.items()
            ]
            panels[0].figure.legend(handles=lines, loc="outside lower center", ncols=len(lines))

    height = down * (0.6 + 0.25 * len(agents) * max(1, len(engines) / 2)) + 0.4
    return draw(paint, height=height, panels=(down, across))


def appendix(parts: Sequence[Part], corpus: Corpus | None = None) -> str:
    """Return a section for LaTeX: commands, versions, hashes, seeds, budgets, licence and tests."""
    played: dict[Path, tuple[str, ComparedRun]] = {}
    for part in parts:
        for run in part.comparison.runs:
            if run.opened is not None:
                played.setdefault(run.place, (f"{part.comparison.task}, {run.name}", run))
    lines = [r"\section{How the numbers were made}"]
    lines += _list([rf"\texttt{{{_tex(_command(run))}}}" for _, run in played.values()])
    facts = [
        f"{what}: {value} ({'all' if len(names) == len(played) else '; '.join(names)})"
        for what, values in grouped({name: _facts(run) for name, run in played.values()}).items()
        for value, names in values.items()
    ]
    licence = layout.stated_licence(corpus.manifest) if corpus else "unknown without the corpus"
    facts.append(f"licence of the corpus: {licence or 'none is stated'}")
    lines += _list([*map(_tex, facts)])
    for part in parts:
        compared = part.comparison
        lines.append(rf"\subsection{{{_tex(part.title)}}}")
        sentences = dict.fromkeys([*part.notes, *report.remarks(compared)])
        lines += _list([*map(_tex, sentences)])
        tables = [report.by_metric(compared, m) for m in compared.metrics if m.differences]
        for each in (*tables, *[report.effort(compared)] * compared.played):
            lines.append(replace(each, key=f"{part.key}-{each.key}-tests").latex())
    return "\n".join([*lines, r"\clearpage"]) + "\n"


def _facts(run: ComparedRun) -> dict[str, str]:
    """Return in words what a run was made from."""
    manifest = run.manifest
    frozen, model = manifest.get("task_set"), manifest["agent_options"].get("model")
    facts = {"frozen topics": f"{frozen['name']}, SHA-256 {frozen['sha256']}"} if frozen else {}
    facts |= {"TOPICS": ", ".join(manifest["topics"]), **settings_of(manifest)}
    facts |= {"model": str(model)} if model else {}
    facts |= {"runs": f"the first of {run.pooled}"} if run.pooled > 1 else {}
    answers = {TRAJECTORIES: (manifest.get("files") or {}).get(TRAJECTORIES)}
    for what, value in {**manifest["sha256"], **answers}.items():
        digests = value if isinstance(value, dict) else {"": value}
        facts |= {
            f"SHA-256 of {what} {name}".rstrip(): digest
            for name, digest in digests.items()
            if isinstance(digest, str)
        }
    return facts


def _command(run: ComparedRun) -> str:
    """Return the command that plays a run again, without paths; a default is not named."""
    manifest = run.manifest
    usual = EnvConfig.from_settings(manifest["task"], {})
    words = ["arena", "run", "--corpus", "CORPUS", "--task", manifest["task"]]
    words += ["--tasks", "TASKS"] if run.metrics.get("unit", "topic") != "topic" else []
    words += ["--agent", manifest["agent"], "--seed", str(manifest["seed"]), "--topics", "TOPICS"]
    words += ["--repeats", str(run.opened.repeats)] if run.opened and run.opened.repeats > 1 else []
    settings, known = manifest["environment"] | manifest["budget"], usual.environment | usual.limits
    changed = {name: value for name, value in settings.items() if value != known.get(name)}
    if "start_from" in changed:
        changed["start_from"] = "RUN"
    for option, given in (("--agent-option", manifest["agent_options"]), ("--env-option", changed)):
        for name, value in given.items():
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            words += [option, f"{name}={text}"]
    return shlex.join([*words, "--output", "RUN"])


def _tex(text: str) -> str:
    """Return a text for LaTeX, with places where ids and hashes may be broken."""
    escaped = escape_latex(printable(text))
    return re.sub("[0-9a-f]{16}(?=[0-9a-f])", r"\g<0>\\allowbreak{}", escaped)


def _list(items: Sequence[str]) -> list[str]:
    return [r"\begin{itemize}\raggedright", *(rf"\item {i}" for i in items), r"\end{itemize}"]


def write_paper(folder: Path, parts: Sequence[Part], corpus: Corpus | None = None) -> None:
    """Write ``tables.tex``, ``appendix.tex`` and, with matplotlib, ``figure-KEY.svg``, ``.pdf``."""
    atomic_write(folder / "tables.tex", _tables(parts))
    atomic_write(folder / "appendix.tex", appendix(parts, corpus))
    for part in parts if find_spec("matplotlib") is not None else ():
        name = "-".join(filter(None, ("figure", part.key)))
        for kind, content in figure(part).items():
            atomic_write(folder / f"{name}.{kind}", content)
