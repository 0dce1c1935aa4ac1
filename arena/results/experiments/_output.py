"""The files of an experiment besides its runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena._internal import tables
from arena._internal.files import TEMPORARY_SUFFIX, atomic_write, sha256_json, write_json
from arena._internal.workdir import only_writer
from arena.errors import CorpusError, clip
from arena.results.experiments._cells import RUNS, Cell
from arena.results.experiments._layout import Laid
from arena.results.experiments.config import Experiment, slug

VERSION = 1
MANIFEST = "experiment.json"
TABLES = "tables"
_LOCK = ".lock"
_TABLE_FILES = (f"{TABLES}.md", f"{TABLES}.tex", f"{TABLES}.json")


def manifest_of(
    experiment: Experiment, cells: Mapping[str, Cell], hashes: Mapping[str, str]
) -> dict[str, Any]:
    """Return the configuration as it was understood, nothing of where it is played.

    Args:
        experiment: the configuration.
        cells: its runs.
        hashes: of corpus and task set.
    """
    config = {
        "name": experiment.name,
        "title": experiment.title,
        "seed": experiment.seed,
        "surveys": "all" if experiment.surveys is None else experiment.surveys,
        "budget": experiment.budget,
        "encoder": experiment.encoder,
        "extractor": experiment.extractor,
        "retrievers": {label: e._asdict() for label, e in experiment.retrievers.items()},
        "tables": {
            table.name: {
                "title": table.title,
                "task": table.task,
                "metrics": table.metrics,
                "columns": "retrievers" if table.by_retriever else "metrics",
                "group": table.group,
                "rows": [row.label for row in table.rows if not row.more],
                "more": [row.label for row in table.rows if row.more],
                "groups": {row.label: row.group for row in table.rows if row.group},
            }
            for table in experiment.tables
        },
        "runs": [cell.told() for cell in cells.values()],
    }
    return {
        "version": VERSION,
        "config": config,
        "sha256": {"config": sha256_json(config), **hashes},
        "surveys": {cell.task: cell.surveys for cell in cells.values()},
    }


@contextmanager
def experiment_directory(output: Path, manifest: dict[str, Any]) -> Iterator[None]:
    """Hold `output` for an experiment: new, or begun before.

    What an earlier call laid out there stays as it is until `clear` is called.

    Raises:
        CorpusError: if `output` holds anything else.
        ArenaError: if another process writes it.
    """
    if output.exists() and not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    output.mkdir(parents=True, exist_ok=True)
    with only_writer(output / _LOCK, output):
        before = _before(output)
        for path in output.glob(f".*{TEMPORARY_SUFFIX}"):
            path.unlink()  # what a kill left of an atomic write
        if before is None:
            write_json(output / MANIFEST, manifest)
        else:
            _check_same(output, before, manifest)
        yield


def clear(output: Path) -> None:
    """Remove the tables and pages of the last call, and no other file.

    Args:
        output: of the experiment, whose ``experiment.json`` is still that of the last call.
    """
    before = _before(output) or {}
    tasks = before.get("surveys")
    names = [page_of(str(task)) for task in tasks] if isinstance(tasks, dict) else []
    for name in (*_TABLE_FILES, *names):
        (output / name).unlink(missing_ok=True)


def page_of(task: str) -> str:
    """Return the name of the file with the comparison of a task's runs."""
    return f"comparison-{slug(task)}.html"


def _before(output: Path) -> dict[str, Any] | None:
    names = {path.name for path in output.iterdir()} - {_LOCK}
    if all(name.endswith(TEMPORARY_SUFFIX) for name in names):
        return None
    try:
        manifest = json.loads((output / MANIFEST).read_bytes())
        if isinstance(manifest["config"], dict) and isinstance(manifest["sha256"], dict):
            return manifest  # type: ignore[no-any-return]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        pass
    raise CorpusError(
        f"{str(output)!r} holds other files, no experiment. Name a new or empty directory."
    )


def _check_same(output: Path, before: dict[str, Any], manifest: dict[str, Any]) -> None:
    """Refuse another experiment, whose runs would stay among these.

    Another choice of tables, agents or retrievers is the same one: each run looks after itself.
    """
    names = [found["config"].get("name") for found in (before, manifest)]
    if names[0] != names[1]:
        raise CorpusError(
            f"{str(output)!r} holds the experiment {clip(names[0])}, this is {clip(names[1])}. "
            "Name another directory."
        )
    for key in ("corpus", "tasks"):
        if before["sha256"].get(key) != manifest["sha256"][key]:
            what = {"corpus": "corpus", "tasks": "task set"}[key]
            raise CorpusError(
                f"{str(output)!r} holds this experiment on another {what} "
                f"({clip(before['sha256'].get(key))}, here it is {clip(manifest['sha256'][key])}). "
                "Name another directory."
            )


def write_tables(
    output: Path,
    experiment: Experiment,
    manifest: Mapping[str, Any],
    tables: Sequence[Laid],
    runs: Mapping[str, Any],
) -> dict[str, Any]:
    """Write ``tables.json``, ``tables.md`` and ``tables.tex``; return the content of the first.

    Args:
        output: of the experiment.
        experiment: the configuration.
        manifest: as written.
        tables: laid out.
        runs: directory -> what a run is and its figures.
    """
    found = {
        "version": VERSION,
        "name": experiment.name,
        "title": experiment.title,
        "sha256": manifest["sha256"],
        "tables": {
            laid.table.name: {
                "title": laid.table.title,
                "task": laid.table.task,
                "blocks": [block._asdict() for block in laid.blocks],
                "notes": list(laid.notes),
            }
            for laid in tables
        },
        "runs": dict(runs),
    }
    plain: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    atomic_write(output / f"{TABLES}.md", _markdown(plain))
    atomic_write(output / f"{TABLES}.tex", _latex(plain))
    write_json(output / f"{TABLES}.json", plain)
    return plain


def _markdown(found: Mapping[str, Any]) -> str:
    parts = [f"# {tables.escape_markdown(found['title'])}"]
    for name, table in found["tables"].items():
        parts.append(f"## {tables.escape_markdown(_heading(name, table))}")
        for block in table["blocks"]:
            if block["title"]:
                parts.append(tables.escape_markdown(f"{block['title']}:"))
            parts.append(tables.markdown(block["header"], block["rows"], align=block["align"]))
        parts.append("\n".join(f"- {tables.escape_markdown(note)}" for note in table["notes"]))
    parts.append(
        "## What it was made from\n\n"
        + "\n".join(f"- {key}: `{value}`" for key, value in found["sha256"].items())
        + f"\n- each run: `{TABLES}.json` and `{RUNS}/`"
    )
    return "\n\n".join(parts) + "\n"


def _latex(found: Mapping[str, Any]) -> str:
    parts = []
    for name, table in found["tables"].items():
        parts.append("\n".join(f"% {' '.join(note.split())}" for note in table["notes"]))
        for block in table["blocks"]:
            caption = f"{table['title'].rstrip('.') or f'Table {name}'}."
            caption += f" {block['title']}." if block["title"] else ""
            end = "" if block["name"] == "rows" else f"-{block['name']}"
            parts.append(
                tables.latex(
                    block["header"], block["rows"], caption=caption,
                    label=f"tab:{found['name']}-{name}{end}", align=block["align"],
                )
            )  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _heading(name: str, table: Mapping[str, Any]) -> str:
    title = table["title"].rstrip(".")
    return f"Table {name}. {title}." if title else f"Table {name}."


def printed(found: Mapping[str, Any]) -> str:
    """Return the tables for a terminal, without the figures of others."""
    parts = []
    for name, table in found["tables"].items():
        lines = [_heading(name, table)]
        for block in table["blocks"]:
            if block["name"] == "paper":  # a screen has little room
                continue
            lines += ["", f"{block['title']}:"] if block["title"] else []
            lines += ["", tables.text(block["header"], block["rows"], align=block["align"])]
        lines += ["", *table["notes"]]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
