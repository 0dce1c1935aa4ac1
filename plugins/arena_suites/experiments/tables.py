"""The tables of an experiment, laid out from the scores of its runs, and the files with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import Corpus, indexes
from arena.dates import GUESS_MARK, guess_note, undated_mark
from arena.kit.files import atomic_write, write_json
from arena.kit.terminal import Table, escape_markdown
from arena.llm.outcomes import UNREAD, is_unread
from arena.metrics import METRICS
from arena.retrieval import parse_name
from arena.tasks import EXPERT, EXPERT_PAPERS, TaskSet
from arena.text.display import count
from arena_suites.experiments.config import RUNS, Experiment, PublishedFigure, TableSpec
from arena_suites.experiments.grid import JUDGED, reported_metrics

VERSION = 1
TABLES = "tables"
_LARGE = 10  # a metric with values like this is no share, and four decimals say nothing


def make_tables(
    experiment: Experiment,
    records: Mapping[str, Mapping[str, Any]],
    scores: Mapping[str, dict[str, Any]],
    corpus: Corpus,
    output: Path,
    sha256: Mapping[str, str],
) -> dict[str, Any]:
    """Write ``tables.json``, ``.md`` and ``.tex``; return the JSON.

    Args:
        experiment: The configuration.
        records: Directory -> `Cell.record`, of all runs that the tables need.
        scores: What `score_runs` returned.
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
    tables = {}
    for name, spec in experiment.tables.items():
        layout = _Layout(experiment, spec, reported[name], records, scores)
        tables[name] = {
            "title": spec.title,
            "task": spec.task,
            "blocks": layout.blocks(),
            "notes": [*layout.notes(corpus), *(dates if guessed else ())],
            **({"dates_guessed": True} if layout.guessed() else {}),
            **({"unit": unit} if undated_mark(unit := TaskSet(corpus).unit) else {}),
        }
    content: dict[str, Any] = {
        "version": VERSION,
        "name": experiment.name,
        "title": experiment.title or experiment.name,
        "sha256": sha256,
        "tables": tables,
        "runs": {key: {**records[key], **score} for key, score in scores.items()},
    }
    content = json.loads(json.dumps(content, allow_nan=False))
    atomic_write(output / f"{TABLES}.md", _markdown(content))
    atomic_write(output / f"{TABLES}.tex", _latex(content))
    write_json(output / f"{TABLES}.json", content, sort_keys=False)
    return content


class _Layout(NamedTuple):
    """Lays one table out: its blocks, and the sentences below them."""

    experiment: Experiment
    spec: TableSpec
    reported: Mapping[str, str]
    records: Mapping[str, Mapping[str, Any]]
    scores: Mapping[str, Mapping[str, Any]]

    def blocks(self) -> list[dict[str, Any]]:
        """Return the blocks: ``name``, ``title``, ``header``, ``rows`` and ``align``."""
        by_retriever = self.spec.columns == "retrievers"
        engines = list(self.experiment.retrievers) if by_retriever else [""]
        columns = [(heading, engine) for heading in self.spec.metrics for engine in engines]
        runs = list(self.experiment.runs_of(self.spec))
        texts = {}
        for heading, metric in self.reported.items():
            values = _texts([self.scores[key]["mean"].get(metric) for *_, key in runs])
            for (label, _, engine, key), text in zip(runs, values, strict=True):
                text = text and text + f" {UNREAD}" * is_unread(self.scores[key])
                texts[heading, engine if by_retriever else "", label] = text
        first = [self.spec.group, "Agent"] if self.spec.group else ["Agent"]
        header = [*first, *(f"{h}, {e}" if e else h for h, e in columns)]
        align = "l" * len(first) + "r" * len(columns)
        blocks = []
        for name, title, rows in (
            ("rows", "", self.spec.rows), ("more", "Further agents", self.spec.more)
        ):  # fmt: skip
            cells = [
                [*[row.group or ""][: len(first) - 1], label,
                 *(texts.get((*column, label)) for column in columns)]
                for label, row in rows.items()
            ]  # fmt: skip
            blocks += [_block(name, title, header, cells, align)] if cells else []
        return blocks if self.spec.paper is None else [*blocks, _published(self.spec.paper)]

    def guessed(self) -> list[str]:
        """Return the topics whose date is guessed."""
        found = (self.scores[key] for *_, key in self.experiment.runs_of(self.spec))
        return next((run["dates_guessed"] for run in found if "dates_guessed" in run), [])

    def notes(self, corpus: Corpus) -> Iterator[str]:
        """Yield sentences on what the numbers are, and on what is missing."""
        runs = list(self.experiment.runs_of(self.spec))
        scored = {f"{label} ({column})": self.scores[key] for label, _, column, key in runs}
        counts = next(iter(scored.values()))["counts"]
        left = f" ({counts['not_scored']} without labels)" if counts["not_scored"] else ""
        over = f"mean over {counts['scored']} of {count(counts['topics'], 'topic')}{left}"
        yield f"Task {self.spec.task}, {over}."
        if guessed := self.guessed():
            yield guess_note(guessed)
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
        for heading in self.spec.noted:
            means = {
                name: score["mean"].get(self.reported[heading]) for name, score in scored.items()
            }
            values = zip(means, _texts([*means.values()]), strict=True)
            yield f"{heading}: {', '.join(f'{name} {text}' for name, text in values if text)}."
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
        for heading, name in self.reported.items():
            if name.startswith(JUDGED):
                continue
            if all(name not in score["mean"] for score in scored.values()):
                yield (
                    f"{heading}: not scored; it needs the extractor {self.experiment.extractor}, "
                    "whose packages are not installed."
                )
                continue
            counted = [score["counts"] for score in scored.values()]
            numbers = [
                (c.get("scored_by", {}).get(name, c["scored"]), c["scored"]) for c in counted
            ]
            fewer = {number for number, of in numbers if number < of}
            if fewer:
                over = str(min(fewer)) + (f" to {max(fewer)}" if len(fewer) > 1 else "")
                some = any(number for number, _ in numbers)
                which = f"over the {over} of them that have" if some else "none has"
                yield f"{heading}: {which} what it counts."


def _block(
    name: str, title: str, header: Sequence[str], rows: Sequence[Any], align: str
) -> dict[str, Any]:
    return {"name": name, "title": title, "header": header, "rows": rows, "align": align}


def _table(block: Mapping[str, Any], title: str = "", key: str = "") -> Table:
    return Table(block["header"], block["rows"], block["align"], (), title, key)


def _texts(values: Sequence[float | None]) -> list[str | None]:
    """Return numbers as text, with two decimals if one of them is large, else with four."""
    decimals = 2 if any(v is not None and abs(v) >= _LARGE for v in values) else 4
    return [None if value is None else f"{value:.{decimals}f}" for value in values]


def _published(paper: PublishedFigure) -> dict[str, Any]:
    """Return the block of published figures, with the zeros at their ends that YAML drops."""
    columns, align = [], ""
    for column in zip(*paper.rows, strict=True):
        decimals = [len(str(v).partition(".")[2]) for v in column if isinstance(v, float)]
        form = f".{max(decimals, default=0)}f"
        texts = [format(v, form) if isinstance(v, float) else str(v) for v in column]
        columns.append([None if v is None else t for v, t in zip(column, texts, strict=True)])
        align += "lr"[all(isinstance(v, int | float | None) for v in column)]
    title = f"The paper, on its own corpus, not to be compared with the above ({paper.source})"
    return _block("paper", title, paper.header, list(zip(*columns, strict=True)), align)


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


def _markdown(content: Mapping[str, Any]) -> str:
    escape = escape_markdown
    parts = [f"# {escape(content['title'])}"]
    for name, table in content["tables"].items():
        parts.append(f"## {escape(_heading(name, table))}")
        for block in table["blocks"]:
            parts += [escape(f"{block['title']}:")] if block["title"] else []
            parts.append(_table(block).markdown())
        parts.append("\n".join(f"- {escape(note)}" for note in table["notes"]))
    hashes = "\n".join(f"- {key}: `{value}`" for key, value in content["sha256"].items())
    runs = f"- each run: `{TABLES}.json` and `{RUNS}/`"
    return "\n\n".join([*parts, f"## What it was made from\n\n{hashes}\n{runs}"]) + "\n"


def _latex(content: Mapping[str, Any]) -> str:
    parts = []
    for name, table in content["tables"].items():
        parts.append("\n".join(f"% {' '.join(note.split())}" for note in table["notes"]))
        for block in table["blocks"]:
            caption = f"{table['title'].rstrip('.') or f'Table {name}'}{_mark(table)}."
            caption += f" {block['title']}." if block["title"] else ""
            end = "" if block["name"] == "rows" else f"-{block['name']}"
            parts.append(_table(block, caption, f"{content['name']}-{name}{end}").latex())
    return "\n\n".join(parts) + "\n"


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
            lines += ["", _table(block).text()]
        parts.append("\n".join([*lines, "", *table["notes"]]))
    return "\n\n".join(parts)
