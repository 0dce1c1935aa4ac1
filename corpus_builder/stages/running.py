"""Run the stages of a build one after the other, each once."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb

from arena import __version__
from arena._internal.files import sha256_json, write_json
from arena._internal.workdir import clear_leftovers, only_writer, other_files
from arena.corpus import layout
from arena.errors import CorpusError, DataError, did_you_mean
from corpus_builder.build import check_output
from corpus_builder.database import readable_errors
from corpus_builder.stages.base import Plan, Stage, Steps
from corpus_builder.stages.corpus import CARD, INDEX, is_intact, is_ours
from corpus_builder.stages.mind_maps import MIND_MAPS
from corpus_builder.stages.reading import PARSE
from corpus_builder.stages.references import REFERENCES
from corpus_builder.stages.surveys import SURVEYS

STAGES: tuple[Stage, ...] = (PARSE, SURVEYS, REFERENCES, MIND_MAPS, INDEX, CARD)

_DONE = "stage.json"
_BEGUN = "begun.json"
_log = logging.getLogger(__name__)


def run_stages(
    plan: Plan,
    only: str | None = None,
    on_report: Callable[[str, dict[str, Any], bool], None] | None = None,
    on_start: Callable[[str], None] | None = None,
) -> dict[str, dict[str, Any]]:
    """Run the stages of a build that no earlier run has completed.

    The directory of the stages, beside the output, keeps the output and the report of each. The
    same call continues a build that failed, was interrupted or killed; a stage runs again only if
    its input or configuration has changed. No result depends on memory, workers, executor or
    interruptions.

    Args:
        plan: The build.
        only: Name of the only stage to run.
        on_report: Function called with the name and the report of each completed stage, and
            whether this call has run it.
        on_start: Function called with the name of each stage that this call runs.

    Returns:
        The report of each completed stage, by name, in order.

    Raises:
        UnknownNameError, DataError: If the configuration or too many records are unusable, or a
            stage before `only` is not complete.
        CorpusError: If the output cannot be used.
        OSError: If the disk is full or not writable; completed work is kept.
    """
    names = [stage.name for stage in STAGES]
    if only is not None and only not in names:
        raise DataError(f"no stage named {only!r}.{did_you_mean(only, names)}")
    check_work(plan)
    inputs = {stage.name: stage.inputs(plan) for stage in STAGES}  # bad ones fail before any work
    advice = (
        "What is done is kept; free some disk space, mend the permissions, or give more --memory, "
        "and the same command goes on."
    )
    damaged = f"Remove the damaged stage from {str(plan.work)!r}, and the same command makes it."
    try:
        with readable_errors(f"the build of {plan.shown!r} stopped", advice, damaged):
            plan.work.mkdir(parents=True, exist_ok=True)
            with only_writer(plan.work.with_name(f".{plan.work.name}.lock"), plan.work):
                return dict(_reports(plan, inputs, only, on_report, on_start))
    finally:
        plan.executor.close()


def _reports(
    plan: Plan, inputs: dict[str, Any], only: str | None, on_report: Any, on_start: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and report of each stage, after it has run if it has to."""
    key, again = sha256_json([__version__, layout.FORMAT_VERSION, plan.source]), False
    for stage in STAGES:
        key = sha256_json([key, stage.name, inputs[stage.name]])
        report = None if again else _done(plan.stage(stage.name), key)
        if report is not None and stage is INDEX and not is_intact(plan, report):
            _clear(plan, stage)  # the output was moved away
            report = None
        now = report is None
        if report is None:
            again = True
            if only not in (None, stage.name):
                raise DataError(
                    f"the stage {stage.name!r} comes before {only!r} and is not done with "
                    f"this input and configuration. Run it first, with --stage "
                    f"{stage.name}, or leave out --stage."
                )
            if on_start is not None:
                on_start(stage.name)
            report = _run(plan, stage, key)
        yield stage.name, report
        if on_report is not None:
            on_report(stage.name, report, now)
        if stage.name == only:
            break


def check_work(plan: Plan) -> None:
    """Raise `CorpusError` if the output, or the directory of stages, holds other files."""
    check_output(plan.output, plan.overwrite or is_ours(plan))
    if plan.work.exists():
        known = {stage.name for stage in STAGES}
        others = other_files(plan.work, known)
        if others:
            raise CorpusError(
                f"{str(plan.work)!r} holds {others[0]!r}, which is no stage; the build "
                "needs that name. Move it away or name another output."
            )


def _read(path: Path, key: str) -> Any:
    """Return a value of a JSON file, or None if it is missing or damaged."""
    try:
        return json.loads(path.read_bytes())[key]
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _done(directory: Path, key: str) -> dict[str, Any] | None:
    """Return the report of a stage that was completed with `key`, or None."""
    report = _read(directory / _DONE, "report")
    done = isinstance(report, dict) and _read(directory / _DONE, "key") == key
    return report if done else None


def _run(plan: Plan, stage: Stage, key: str) -> dict[str, Any]:
    directory = plan.stage(stage.name)
    # A stage that is done is done with another key, or it would not run.
    if (directory / _DONE).exists() or _read(directory / _BEGUN, "key") != key:
        _clear(plan, stage)
    directory.mkdir(parents=True, exist_ok=True)
    clear_leftovers(directory)
    write_json(directory / _BEGUN, {"key": key})
    steps = Steps(directory)
    _log.info("stage %s", stage.name)
    try:
        report = stage.run(plan, steps)
    except duckdb.OutOfMemoryException:
        # With fewer threads, fewer blocks must be in memory at once.
        _log.warning("stage %s ran out of memory; once more with one thread", stage.name)
        report = stage.run(plan._replace(resources=plan.resources._replace(workers=1)), steps)
    shutil.rmtree(directory / ".scratch", ignore_errors=True)
    clear_leftovers(directory)  # of tasks of a lost machine
    write_json(directory / _DONE, {"key": key, "report": report})
    return report


def _clear(plan: Plan, stage: Stage) -> None:
    """Remove the files of a stage, except those in `Stage.keeps`."""
    directory = plan.stage(stage.name)
    for name in (_DONE, _BEGUN):  # first: half of a stage must not pass for a complete one
        (directory / name).unlink(missing_ok=True)
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.name in stage.keeps:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
