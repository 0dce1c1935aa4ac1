"""The tables of an experiment, laid out from the scores of its runs, and the files with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import Corpus, indexes
from arena.dates import GUESS_MARK, guess_note, undated_mark
from arena.kit.files import atomic_write, write_json
from arena.kit.terminal import Table, escape_markdown
from arena.metrics import METRICS
from arena.results.comparison import report
from arena.results.comparison.comparing import Comparison
from arena.results.comparison.opening import ComparedRun
from arena.results.comparison.papers import Part, decimals_of, grid, write_paper
from arena.retrieval import parse_name
from arena.tasks import EXPERT, EXPERT_PAPERS, TaskSet
from arena.text.display import count
from arena_suites.experiments.config import RUNS, Experiment, PublishedFigure, Row, TableSpec, slug
from arena_suites.experiments.grid import JUDGED, reported_metrics
from arena_suites.experiments.scores import compare_rows

VERSION = 2
TABLES = "tables"
_OF_TOPICS = ("per_topic", "unit")


def make_tables(
    experiment: Experiment,
    records: Mapping[str, Mapping[str, Any]],
    runs: Mapping[str, ComparedRun],
    corpus: Corpus,
    output: Path,
    sha256: Mapping[str, str],
) -> dict[str, Any]:
    """Write ``tables.json``, ``.md`` and ``.tex``, figures and an appendix; return the JSON.

    Args:
        experiment: The configuration.
        records: Directory -> `Cell.record`, of all runs that the tables need.
        runs: What `score_runs` returned.
        corpus: The corpus that they were played on.
        output: Directory of the experiment.
        sha256: Hashes of the configuration, the corpus and its task set.
    """
    reported = reported_metrics(experiment)
    guessed = corpus.manifest["counts"].get("papers_date_guessed")
    dates = [
        f"{count(guessed or 0, 'paper has', 'papers have')} a guessed date, which tells what "
        "surveys list."
    ]
    scores = {key: run.metrics for key, run in runs.items()}
    tables, parts, shown = {}, [], {}
    for name, spec in experiment.tables.items():
        compared, places = compare_rows(experiment, spec, reported[name], runs)
        layout = _Layout(experiment, spec, reported[name], records, scores, compared)
        table: dict[str, Any] = {
            "title": spec.title,
            "task": spec.task,
            **({"dates_guessed": True} if compared.guessed else {}),
            **({"unit": unit} if undated_mark(unit := TaskSet(corpus).unit) else {}),
        }
        caption = f"{spec.title.rstrip('.') or f'Table {name}'}{_mark(table)}"
        key = f"{experiment.name}-{name}"
        listed = replace(
            compared,
            metrics=tuple(each for each in compared.metrics if each.metric in spec.metrics),
        )
        whole = grid(listed, places, caption, key)
        blocks = shown[name] = layout.blocks(whole)
        table["blocks"] = [
            {"name": block, "title": each.title, "header": each.header, "rows": each.rows,
             "align": each.align}
            for block, each in blocks.items()
        ]  # fmt: skip
        table["notes"] = [*layout.notes(corpus), *(dates if guessed else ())]
        table["comparison"] = _comparison(compared)
        tables[name] = table
        captioned = [
            replace(each, title=f"{caption}. {each.title}.", key=f"{key}-{block}")
            if each.title
            else replace(each, title=whole.title)
            for block, each in blocks.items()
        ]
        about = (captioned, table["notes"], places)
        parts.append(Part(slug(name), _heading(name, table), listed, *about))
    content: dict[str, Any] = {
        "version": VERSION,
        "name": experiment.name,
        "title": experiment.title or experiment.name,
        "sha256": sha256,
        "tables": tables,
        "runs": {
            key: {**records[key], **{k: v for k, v in score.items() if k not in _OF_TOPICS}}
            for key, score in scores.items()
        },
    }
    content = json.loads(json.dumps(content, allow_nan=False))
    atomic_write(output / f"{TABLES}.md", _markdown(content, shown))
    write_json(output / f"{TABLES}.json", content, sort_keys=False)
    write_paper(output, parts, corpus)
    return content


def _comparison(compared: Comparison) -> dict[str, Any]:
    """Return how the rows of a table compare, without the values of topics."""
    metrics = {metric.metric: report.metric_json(metric) for metric in compared.metrics}
    for found in metrics.values():
        del found["per_topic"]
    how = {key: getattr(compared, key) for key in ("baseline", "test", "level")}
    return {**how, "correction": "holm", "metrics": metrics}


class _Layout(NamedTuple):
    """Lays one table out: its blocks, and the sentences below them."""

    experiment: Experiment
    spec: TableSpec
    reported: Mapping[str, str]
    records: Mapping[str, Mapping[str, Any]]
    scores: Mapping[str, Mapping[str, Any]]
    compared: Comparison

    def blocks(self, whole: Table) -> dict[str, Table]:
        """Return the tables ``rows``, ``more`` and ``paper``, those that there are."""
        parts = {"rows": ("", self.spec.rows), "more": ("Further agents", self.spec.more)}
        blocks = {
            name: _part(whole, rows, self.spec.group, title)
            for name, (title, rows) in parts.items()
            if rows
        }
        return blocks | ({"paper": _published(self.spec.paper)} if self.spec.paper else {})

    def notes(self, corpus: Corpus) -> Iterator[str]:
        """Yield sentences on what the numbers are, and on what is missing."""
        runs = list(self.experiment.runs_of(self.spec))
        scored = {f"{label} ({column})": self.scores[key] for label, _, column, key in runs}
        counts = next(iter(scored.values()))["counts"]
        left = f" ({counts['not_scored']} without labels)" if counts["not_scored"] else ""
        over = f"mean over {counts['scored']} of {count(counts['topics'], 'topic')}{left}"
        yield f"Task {self.spec.task}, {over}."
        if self.compared.guessed:
            yield guess_note(self.compared.guessed)
        engines = {column: self.experiment.retrievers[column].retriever for *_, column, _ in runs}
        described = {column: _described(corpus, name) for column, name in engines.items()}
        yield "; ".join(f"{column}: {text}" for column, text in described.items()) + "."
        for label, row in self.spec.all_rows.items():
            if row.retrievers:
                own = " or ".join(self.experiment.engines_of(self.spec, row))
                yield f"{label} searches {own} and also {', '.join(row.retrievers)}."
        models: dict[str, dict[str, None]] = {}
        for label, *_, key in runs:
            if "model" in (options := self.records[key]["agent_options"]):
                models.setdefault(str(options["model"]), {})[label] = None
        for model, rows in models.items():
            yield f"Model {model}: {', '.join(rows)}."
        yield from self._on_judge(scored)
        yield from self._on_models(runs, described)
        yield from self._on_metrics(scored)
        by_name = {metric.metric: metric for metric in self.compared.metrics}
        for heading in self.spec.noted:
            metric = by_name[heading]
            means = {n: report.number(v.mean, decimals_of(metric)) for n, v in metric.means.items()}
            if means:
                yield f"{heading}: {', '.join(f'{name} {text}' for name, text in means.items())}."
        if any(metric.differences for metric in self.compared.metrics):
            yield from report.tested(self.compared)
        given = [each[0] for each in runs if self.records[each[-1]].get("references") == EXPERT]
        if given:
            yield f"Begin with the {EXPERT_PAPERS}: {', '.join(dict.fromkeys(given))}."
        for name, score in scored.items():
            if score["read"][0] < score["read"][1]:
                yield (
                    f"{name}: abstracts of {score['read'][0]} of "
                    f"{count(score['read'][1], 'paper')}."
                )
            yield from (f"{name}: {sentence}" for sentence in score.get("answers", ()))
            if troubles := _troubles(score):
                yield f"{name}: {', '.join(troubles)}; they count."

    def _on_judge(self, scored: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """Yield a sentence on the judge of the columns that one fills."""
        columns = ", ".join(h for h, name in self.reported.items() if name.startswith(JUDGED))
        judges = [score["judge"] for score in scored.values() if "judge" in score]
        if columns and not judges:
            yield f"{columns}: name a judge with --judge-option model=NAME."
        elif columns:
            judge = judges[0]
            parts = [judge.get("client", judge)["model"]]
            if "votes" in judge:  # of reports
                voters = ", ".join(voter["model"] for voter in judge["voters"])
                votes = f"{count(judge['votes'], 'vote')} of {voters}"
                parts.append(votes if judge["votes"] else "no votes")
            if judge.get("max_statements") is not None:
                parts.append(
                    f"at most {count(judge['max_statements'], 'statement')} of each kind "
                    "in a report"
                )
            yield f"Judge of {columns}: {'; '.join(parts)}."

    def _on_models(self, runs: Sequence[Any], engines: Mapping[str, str]) -> Iterator[str]:
        """Yield what compares headings, finds entities and encodes papers.

        `engines` are the descriptions of `_described`, by column.
        """
        scored = [name for name in self.reported.values() if not name.startswith(JUDGED)]
        needs = {need for name in scored for need in METRICS.get(name.rpartition(".")[2]).needs}
        used = [
            (kind, what, getattr(self.experiment, kind))
            for kind, what in (("encoder", "Encoder of headings"), ("extractor", "Extractor"))
            if kind in needs
        ]
        options = {label: self.records[key]["agent_options"] for label, *_, key in runs}
        used += [
            ("vectors", f"Vectors of {label}", own["encoder"])
            for label, own in options.items()
            if "encoder" in own
        ]
        used += [
            ("vectors", f"Vectors of {column}", name)
            for column, text in engines.items()
            for name in re.findall(r", encoder ([^\s;]+)", text)
        ]
        known: Mapping[Any, Mapping[str, str]] = self.spec.paper.used if self.spec.paper else {}
        for kind, what, name in used:
            theirs = known.get(kind, {})
            says = [f"the paper's {title}, here {ours}, differs" for ours, title in theirs.items()]
            yield f"{what}: {'; '.join([name, *(() if name in theirs else says)])}."

    def _on_metrics(self, scored: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """Yield a sentence on each metric that was not computed, or not on every topic."""
        most = max(score["counts"]["scored"] for score in scored.values())
        numbers = {metric.metric: len(metric.topics) for metric in self.compared.metrics}
        for heading, name in self.reported.items():
            judged = name.startswith(JUDGED)
            if not judged and all(name not in score["mean"] for score in scored.values()):
                yield (
                    f"{heading}: not scored; it needs the extractor {self.experiment.extractor}, "
                    "whose packages are not installed."
                )
            elif number := numbers[heading]:
                if number < most:  # the others have no value in some row
                    yield f"{heading}: over the {number} of them that have what it counts."
            elif not judged:
                yield f"{heading}: none has what it counts."


def _part(whole: Table, rows: Mapping[str, Row], group: str | None, title: str) -> Table:
    """Return some rows of a table, after a column with the group of each if there is one."""
    at = {row[0]: number for number, row in enumerate(whole.rows)}
    place, shift = {at[label]: n for n, label in enumerate(rows)}, int(group is not None)
    moved = {(r, c): (place[r], c + shift) for r, c in (*whole.bold, *whole.below) if r in place}
    return replace(
        whole,
        title=title,
        header=[*[group or ""] * shift, *whole.header],
        rows=[[*[row.group or ""] * shift, *whole.rows[at[label]]] for label, row in rows.items()],
        align="l" * shift + str(whole.align),
        bold={moved[p] for p in whole.bold if p in moved},
        below={moved[p]: text for p, text in whole.below.items() if p in moved},
    )


def _published(paper: PublishedFigure) -> Table:
    """Return the table of published figures, with the zeros at their ends that YAML drops."""
    columns, align = [], ""
    for column in zip(*paper.rows, strict=True):
        decimals = [len(str(v).partition(".")[2]) for v in column if isinstance(v, float)]
        form = f".{max(decimals, default=0)}f"
        texts = [format(v, form) if isinstance(v, float) else str(v) for v in column]
        columns.append([None if v is None else t for v, t in zip(column, texts, strict=True)])
        align += "lr"[all(isinstance(v, int | float | None) for v in column)]
    title = f"The paper, on its own corpus, not to be compared with the above ({paper.source})"
    return Table(paper.header, list(zip(*columns, strict=True)), align, title=title)


def _described(corpus: Corpus, retriever: str) -> str:
    """Return a description of a retriever: its index, or its parts, with their encoders."""
    name = parse_name(retriever)

    def leaves(part: Any) -> list[str]:
        return [part.name] if not part.parts else [leaf for p in part.parts for leaf in leaves(p)]

    descriptions = indexes.describe_indexes(corpus.directory, leaves(name))
    if not name.parts:
        return descriptions[name.name]
    return f"{name} of {'; '.join(descriptions.values())}"


def _troubles(score: Mapping[str, Any]) -> list[str]:
    """Return what went wrong in the episodes of a run, with the numbers."""
    numbers = {
        "episodes with nothing submitted": score["nothing"],
        "episodes cut off by the budget": score["effort"]["truncated"],
        "episodes that a limit, a refusal or silence of the model ended": score["stopped"],
        "failed steps": score["effort"]["failed"],
    }
    return [f"{number} {what}" for what, number in numbers.items() if number]


def _markdown(content: Mapping[str, Any], shown: Mapping[str, Mapping[str, Table]]) -> str:
    escape = escape_markdown
    parts = [f"# {escape(content['title'])}"]
    for name, table in content["tables"].items():
        parts.append(f"## {escape(_heading(name, table))}")
        for block in table["blocks"]:
            parts += [escape(f"{block['title']}:")] if block["title"] else []
            parts.append(shown[name][block["name"]].markdown())
        parts.append("\n".join(f"- {escape(note)}" for note in table["notes"]))
    hashes = "\n".join(f"- {key}: `{value}`" for key, value in content["sha256"].items())
    runs = f"- each run: `{TABLES}.json` and `{RUNS}/`"
    return "\n\n".join([*parts, f"## What it was made from\n\n{hashes}\n{runs}"]) + "\n"


def _heading(name: str, table: Mapping[str, Any]) -> str:
    title = table["title"].rstrip(".")
    return f"Table {name}{_mark(table)}." + (f" {title}." if title else "")


def _mark(table: Mapping[str, Any]) -> str:
    guessed = GUESS_MARK if table.get("dates_guessed") else ""
    return guessed + undated_mark(table.get("unit", ""))


def printed(content: Mapping[str, Any]) -> str:
    """Return the tables for a terminal, without the published figures."""
    parts = []
    for name, table in content["tables"].items():
        lines = [_heading(name, table)]
        for block in table["blocks"]:
            if block["name"] == "paper":  # a screen has little room
                continue
            lines += ["", f"{block['title']}:"] if block["title"] else []
            lines += ["", Table(block["header"], block["rows"], block["align"]).text()]
        parts.append("\n".join([*lines, "", *table["notes"]]))
    return "\n\n".join(parts)
