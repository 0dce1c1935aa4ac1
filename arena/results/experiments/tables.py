"""Scores of the runs of an experiment, laid out as its tables, and the files that hold them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena._internal import tables as tabular
from arena._internal.files import atomic_write, sha256_json, write_json
from arena.corpus import Corpus, indexes
from arena.dates import GUESS_MARK, guess_note
from arena.errors import DataError
from arena.mindmap import needs
from arena.mindmap.extractors import make_extractor
from arena.results.comparison import usage_of
from arena.results.experiments.config import Experiment, PublishedFigure, TableSpec
from arena.results.experiments.figures import make_figures
from arena.results.experiments.grid import (
    JUDGED,
    RUNS,
    Cell,
    directory_of,
    reported_metrics,
)
from arena.retrieval import parse_name
from arena.runs import rescore
from arena.runs.directory import OpenedRun
from arena.tasks import TaskSet, kind_of_metric, stages_of

if TYPE_CHECKING:
    from arena.judging import StatementJudgements

VERSION = 1
TABLES = "tables"
TABLE_FILES = (f"{TABLES}.md", f"{TABLES}.tex", f"{TABLES}.json")
_LARGE = 10  # a metric with values like this is no share, and four decimals say nothing
_LLM = ("calls", "prompt_tokens", "completion_tokens", "dollars")
_HASHES = ("corpus", "tasks", "index", "retrievers", "input", "prompts", "code", "environment")


def make_tables(
    experiment: Experiment,
    cells: Mapping[str, Cell],
    finished: Mapping[str, Cell],
    judged: Mapping[str, StatementJudgements],
    corpus: Corpus,
    output: Path,
    sha256: Mapping[str, str],
) -> dict[str, Any]:
    """Score the finished runs; write ``tables.json``, ``.md`` and ``.tex``, and the figures.

    Args:
        experiment: The configuration.
        cells: Directory -> run, of all runs that the tables need.
        finished: Those of them that are finished.
        judged: Directory -> what a judge says of the reports of a run.
        corpus: The corpus that they were played on.
        output: Directory of the experiment.
        sha256: Hashes of the configuration, the corpus and its task set.

    Returns:
        The content of ``tables.json``.
    """
    reported = reported_metrics(experiment)
    metrics: dict[str, list[str]] = {}
    for name, table in experiment.tables.items():
        columns = (each for each in reported[name].values() if not each.startswith(JUDGED))
        metrics.setdefault(table.task, []).extend(columns)
    possible = {
        task: [metric for metric in dict.fromkeys(names) if _is_possible(metric, experiment)]
        for task, names in metrics.items()
    }
    kinds = sorted({table.by for table in experiment.tables.values() if table.by})
    scores = {
        key: _score(experiment, output / key, corpus, possible[cell.record["task"]], kinds)
        for key, cell in finished.items()
        if cell.record["task"] in possible
    }
    for key, found in judged.items():
        scores[key]["mean"] |= {f"{JUDGED}{name}": value for name, value in found.mean.items()}
        scores[key]["judge"] = {**found.judge, "counts": found.counts}
    used = {cell.record["column"] for cell in cells.values()}
    engines = {
        label: _described(corpus, engine.retriever)
        for label, engine in experiment.retrievers.items()
        if label in used
    }
    guessed = corpus.manifest["counts"].get("papers_date_guessed")
    dates = [f"{guessed} papers have a guessed date, which tells that surveys list them."]
    dates = dates if guessed else []
    figures, pictures = make_figures(experiment, reported, scores)
    content: dict[str, Any] = {
        "version": VERSION,
        "name": experiment.name,
        "title": experiment.title or experiment.name,
        "sha256": sha256,
        "tables": {
            name: {
                "title": table.title,
                "task": table.task,
                "blocks": _blocks(experiment, table, reported[name], scores),
                "notes": _notes(experiment, table, reported[name], cells, scores, engines) + dates,
                **({"dates_guessed": True} if _guessed(table, scores, cells) else {}),
            }
            for name, table in experiment.tables.items()
        },
        **({"figures": figures} if figures else {}),
        "runs": {key: cells[key].record | score for key, score in scores.items()},
    }
    content = json.loads(json.dumps(content, allow_nan=False))
    atomic_write(output / f"{TABLES}.md", _markdown(content))
    atomic_write(output / f"{TABLES}.tex", _latex(content))
    for name, picture in pictures.items():
        atomic_write(output / name, picture)
    write_json(output / f"{TABLES}.json", content)
    return content


def _is_possible(metric: str, experiment: Experiment) -> bool:
    """Return whether the packages that a metric needs are installed."""
    base = metric.rpartition(".")[2]
    if kind_of_metric(base) == "mind_map" and "extractor" in needs(base):
        try:
            make_extractor(experiment.extractor, {})
        except DataError:
            return False
    return True


def _score(
    experiment: Experiment,
    run: Path,
    corpus: Corpus,
    metrics: Sequence[str],
    kinds: Collection[str],
) -> dict[str, Any]:
    """Score a run by metrics, as `arena.rescore` names them.

    Returns:
        ``mean`` (metric -> value, or None), ``ceiling`` likewise, ``counts`` as in `rescore`,
        ``parts`` (if there are any: name -> part -> metric -> mean, and ``surveys``),
        ``dates_guessed`` (surveys, if there are any), ``sha256`` of what the run was made from and
        of its ``answers``, ``spent`` (sums over episodes), ``truncated`` and ``nothing`` (episodes
        that the budget ended, and that submitted nothing at some stage), and, of an agent with a
        model, ``llm``: calls, tokens, dollars (None where unknown), ``failed`` steps and the number
        of episodes that were ``stopped``.
    """
    names = list(dict.fromkeys(name.partition(".")[2] or name for name in metrics))
    scores = rescore(run, corpus, names, experiment.encoder, experiment.extractor)
    opened = OpenedRun(run)
    hashes = opened.manifest["sha256"]
    spent: Counter[str] = Counter()
    llm: dict[str, Any] = dict.fromkeys(_LLM, 0) | {"failed": 0, "stopped": 0}
    truncated, asked = 0, False
    for record in opened.episodes():
        spent.update(record["spent"])
        truncated += record["truncated"]
        usage, notes = usage_of(record["notes"]), record["notes"].get("llm")
        if usage is not None:
            asked = True
            for name in _LLM:
                unknown = usage[name] is None or llm[name] is None
                llm[name] = None if unknown else llm[name] + usage[name]
            llm["failed"] += usage["failed"] or 0
            llm["stopped"] += notes.get("stopped") is not None
    tasks = TaskSet(corpus)
    parts = {kind: _means_by(kind, tasks, scores["per_survey"], metrics) for kind in kinds}
    return {
        "mean": {name: scores["mean"][name] for name in metrics},
        "ceiling": {name: scores["ceiling"][name] for name in metrics},
        "counts": scores["counts"],
        **({"parts": parts} if parts else {}),
        **({"dates_guessed": guessed} if (guessed := scores.get("dates_guessed")) else {}),
        "sha256": {key: hashes[key] for key in _HASHES if key in hashes}
        | {"answers": scores["sha256"]["answers"], "manifest": sha256_json(opened.manifest)},
        "spent": spent,
        "truncated": truncated,
        "nothing": sum(
            any(not entry["submitted"].get(stage) for stage, _ in stages_of(opened.task))
            for entry in scores["per_survey"].values()
        ),
        **({"llm": llm} if asked else {}),
    }


def _means_by(
    kind: str, tasks: TaskSet, per_survey: Mapping[str, Any], metrics: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Return the means over the scored surveys of each domain, or prompt level, in its order."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for name, row in per_survey.items():
        survey = tasks.survey(name)
        part = survey.domain if kind == "domain" else next(reversed([*survey.prompts]), "")
        if row["gold"]:
            parts.setdefault(part or "(none)", []).append(row)
    means: dict[str, dict[str, float | None]] = {}
    for part, rows in sorted(parts.items()):
        means[part] = {"surveys": len(rows)}
        for metric in metrics:
            known = [row[metric] for row in rows if row[metric] is not None]
            means[part][metric] = math.fsum(known) / len(known) if known else None
    return means


def _described(corpus: Corpus, retriever: str) -> str:
    """Return a description of a retriever: its index, or its parts, with their encoders."""
    name = parse_name(retriever)

    def leaves(part: Any) -> list[str]:
        return [part.name] if not part.parts else [leaf for p in part.parts for leaf in leaves(p)]

    descriptions = indexes.describe_indexes(corpus.directory, leaves(name))
    if not name.parts:
        return descriptions[name.name]
    return f"{name} of {'; '.join(descriptions.values())}"


def _blocks(
    experiment: Experiment,
    table: TableSpec,
    reported: Mapping[str, str],
    scores: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the blocks of a table: ``name``, ``title``, ``header``, ``rows`` and ``align``."""
    if table.by is not None:
        return [_split(experiment, table, reported, scores)]
    by_retriever = table.columns == "retrievers"
    columns = [
        (heading, label)
        for heading in table.metrics
        for label in (experiment.retrievers if by_retriever else [""])
    ]
    values: dict[tuple[str, str, str], float | None] = {}
    for label, row in table.all_rows.items():
        engines = experiment.engines_of(table, row)
        for heading, column in columns:
            engine = column or engines[0]
            score = scores.get(directory_of(table.task, label, engine), {"mean": {}})
            value = score["mean"].get(reported[heading]) if engine in engines else None
            values[label, heading, column] = value

    texts: dict[tuple[str, str, str], str | None] = {}
    for heading in table.metrics:
        keys = [key for key in values if key[1] == heading]
        texts |= zip(keys, _shown([values[key] for key in keys]), strict=True)

    first = [table.group, "Agent"] if table.group else ["Agent"]
    blocks = []
    for name, title, rows in (("rows", "", table.rows), ("more", "Further agents", table.more)):
        if rows:
            block = {
                "name": name,
                "title": title,
                "header": [*first, *(f"{h}, {c}" if c else h for h, c in columns)],
                "rows": [
                    [
                        *[row.group or ""][: len(first) - 1],
                        label,
                        *(texts[label, *c] for c in columns),
                    ]
                    for label, row in rows.items()
                ],
                "align": "l" * len(first) + "r" * len(columns),
            }
            blocks.append(block)
    return blocks if table.paper is None else [*blocks, _published(table.paper)]


def _shown(values: Sequence[float | None]) -> list[str | None]:
    """Return numbers as text, with two decimals if one of them is large, else with four."""
    decimals = 2 if any(v is not None and abs(v) >= _LARGE for v in values) else 4
    return [None if value is None else f"{value:.{decimals}f}" for value in values]


def _split(
    experiment: Experiment,
    table: TableSpec,
    reported: Mapping[str, str],
    scores: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the block of a table with a row for each agent and part of the surveys."""
    found = [
        (label, part, means)
        for label, row in table.all_rows.items()
        for run in [directory_of(table.task, label, experiment.engines_of(table, row)[0])]
        for part, means in scores.get(run, {}).get("parts", {}).get(table.by, {}).items()
    ]
    columns = [_shown([means.get(name) for *_, means in found]) for name in reported.values()]
    rows = [
        [label, part, str(means["surveys"]), *(column[number] for column in columns)]
        for number, (label, part, means) in enumerate(found)
    ]
    header = ["Agent", str(table.by).capitalize(), "Surveys", *table.metrics]
    return {
        "name": "rows", "title": "", "header": header, "rows": rows,
        "align": "ll" + "r" * (len(header) - 2),
    }  # fmt: skip


def _published(paper: PublishedFigure) -> dict[str, Any]:
    def printed(column: Sequence[Any]) -> list[str | None]:
        """Give numbers the zeros at their ends back, which YAML drops."""
        decimals = [len(str(v).partition(".")[2]) for v in column if isinstance(v, float)]
        form = f".{max(decimals, default=0)}f"
        texts = [format(v, form) if isinstance(v, float) else str(v) for v in column]
        return [None if v is None else text for v, text in zip(column, texts, strict=True)]

    columns = list(zip(*paper.rows, strict=True))
    numeric = [all(isinstance(v, int | float | None) for v in column) for column in columns]
    title = "The paper, on its own corpus, not to be compared with the above"
    return {
        "name": "paper",
        "title": f"{title} ({paper.source})",
        "header": paper.header,
        "rows": list(zip(*map(printed, columns), strict=True)),
        "align": "".join("lr"[number] for number in numeric),
    }


def _notes(
    experiment: Experiment,
    table: TableSpec,
    reported: Mapping[str, str],
    cells: Mapping[str, Cell],
    scores: Mapping[str, Mapping[str, Any]],
    engines: Mapping[str, str],
) -> list[str]:
    """Return sentences on what the numbers are, and on what is missing."""
    runs = {
        f"{label} ({column})": directory_of(table.task, label, column)
        for label, row in table.all_rows.items()
        for column in experiment.engines_of(table, row)
    }
    scored = {name: scores[run] for name, run in runs.items() if run in scores}
    notes = []
    if scored:
        counts = next(iter(scored.values()))["counts"]
        left = f" ({counts['not_scored']} without labels)" if counts["not_scored"] else ""
        notes.append(
            f"Task {table.task}, mean over {counts['scored']} of {counts['surveys']} surveys{left}."
        )
    if guessed := _guessed(table, scores, cells):
        notes.append(guess_note(guessed))
    used = dict.fromkeys(cells[run].record["column"] for run in runs.values())
    notes.append("; ".join(f"{label}: {engines[label]}" for label in used) + ".")
    for label, row in table.all_rows.items():
        if row.retrievers:
            own = " or ".join(experiment.engines_of(table, row))
            notes.append(f"{label} searches {own} and also {', '.join(row.retrievers)}.")
    models: dict[str, dict[str, None]] = {}
    for run in runs.values():
        if cells[run].asks:
            model = str(cells[run].options["model"])
            models.setdefault(model, {})[cells[run].record["row"]] = None
    notes += [f"Model {model}: {', '.join(rows)}." for model, rows in models.items()]
    judges = [score["judge"] for score in scored.values() if "judge" in score]
    columns = [heading for heading, name in reported.items() if name.startswith(JUDGED)]
    if columns and judges:
        notes.append(f"Judge of {', '.join(columns)}: {_described_judge(judges[0])}.")
    elif columns:
        notes.append(f"{', '.join(columns)}: name a judge with --judge-option model=NAME.")
    for heading, name in reported.items():
        if name.startswith(JUDGED):
            continue
        if scored and all(name not in score["mean"] for score in scored.values()):
            notes.append(
                f"{heading}: not scored; it needs the extractor {experiment.extractor}, whose "
                "packages are not installed."
            )
            continue
        fewer = {
            number
            for score in scored.values()
            if (number := score["counts"].get("scored_by", {}).get(name)) is not None
            and number < score["counts"]["scored"]
        }
        if fewer:
            numbers = str(min(fewer)) + (f" to {max(fewer)}" if len(fewer) > 1 else "")
            which = f"over the {numbers} of them that have" if max(fewer) else "none has"
            notes.append(f"{heading}: {which} what it counts.")
    for run, score in scored.items():
        llm = score.get("llm", {})
        troubles = {
            "episodes with nothing submitted": score["nothing"],
            "episodes cut off by the budget": score["truncated"],
            "episodes that a limit, a refusal or silence of the model ended": llm.get("stopped"),
            "failed steps": llm.get("failed"),
        }
        counted = [f"{number} {what}" for what, number in troubles.items() if number]
        notes += [f"{run}: {', '.join(counted)}; they count."] if counted else []
    if gone := [name for name in runs if name not in scored]:
        notes.append(f"Not finished, and so without figures: {', '.join(gone)}.")
    return notes


def _described_judge(judge: Mapping[str, Any]) -> str:
    voters = ", ".join(voter["model"] for voter in judge["voters"])
    parts = [judge["client"]["model"]]
    parts.append(f"{judge['votes']} votes of {voters}" if judge["votes"] else "no votes")
    if judge["most"] is not None:
        parts.append(f"at most {judge['most']} statements of each kind in a report")
    return "; ".join(parts)


def _guessed(
    table: TableSpec, scores: Mapping[str, Mapping[str, Any]], cells: Mapping[str, Cell]
) -> list[str]:
    """Return the surveys of a table whose date is guessed."""
    runs = [score for run, score in scores.items() if cells[run].record["task"] == table.task]
    return next((list(run["dates_guessed"]) for run in runs if "dates_guessed" in run), [])


def _markdown(content: Mapping[str, Any]) -> str:
    escape = tabular.escape_markdown
    parts = [f"# {escape(content['title'])}"]
    for name, table in content["tables"].items():
        parts.append(f"## {escape(_heading(name, table))}")
        for block in table["blocks"]:
            parts += [escape(f"{block['title']}:")] if block["title"] else []
            parts.append(tabular.markdown(block["header"], block["rows"], align=block["align"]))
        parts.append("\n".join(f"- {escape(note)}" for note in table["notes"]))
    for name, figure in content.get("figures", {}).items():
        title = escape(_heading(name, figure, "Figure"))
        parts.append(f"## {title}\n\n![{title}]({figure['file']})")
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
            parts.append(
                tabular.latex(
                    block["header"], block["rows"], caption=caption,
                    label=f"tab:{content['name']}-{name}{end}", align=block["align"],
                )
            )  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _heading(name: str, table: Mapping[str, Any], kind: str = "Table") -> str:
    title = table["title"].rstrip(".")
    return f"{kind} {name}{_mark(table)}. {title}." if title else f"{kind} {name}{_mark(table)}."


def _mark(table: Mapping[str, Any]) -> str:
    return GUESS_MARK if table.get("dates_guessed") else ""


def printed(content: Mapping[str, Any]) -> str:
    """Return the tables for a terminal, without the published figures."""
    parts = []
    for name, table in content["tables"].items():
        lines = [_heading(name, table)]
        for block in table["blocks"]:
            if block["name"] == "paper":  # a screen has little room
                continue
            lines += ["", f"{block['title']}:"] if block["title"] else []
            lines += ["", tabular.text(block["header"], block["rows"], align=block["align"])]
        parts.append("\n".join([*lines, "", *table["notes"]]))
    return "\n\n".join(parts)
