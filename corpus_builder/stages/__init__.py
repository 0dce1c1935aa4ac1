"""The stages that turn a release into a corpus; each can resume and writes a report."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from typing import Any

import duckdb

from arena.corpus import layout
from arena.errors import CorpusError, DataError, did_you_mean
from arena.kit.files import sha256_json
from arena.kit.workdir import clear_temporary, exclusive_lock, other_files
from arena.version import __version__
from corpus_builder.build import check_output
from corpus_builder.database import readable_errors
from corpus_builder.files import read_report, write_report
from corpus_builder.stages.base import Config, Plan, Stage, Steps, plan, read_config
from corpus_builder.stages.corpus import CARD, INDEX, is_intact, is_ours
from corpus_builder.stages.mind_maps import MIND_MAPS
from corpus_builder.stages.reading import PARSE
from corpus_builder.stages.references import REFERENCES
from corpus_builder.stages.surveys import SURVEYS

__all__ = ["STAGES", "Config", "Plan", "Stage", "Steps", "plan", "read_config", "run_stages"]

STAGES: tuple[Stage, ...] = (PARSE, SURVEYS, REFERENCES, MIND_MAPS, INDEX, CARD)

_DONE = "stage.json"
_log = logging.getLogger(__name__)


def run_stages(
    plan: Plan,
    only: str | None = None,
    on_report: Callable[[str, dict[str, Any], bool], None] = lambda name, report, now: None,
    on_start: Callable[[str], None] = lambda name: None,
) -> dict[str, dict[str, Any]]:
    """Run the stages of a build that no earlier run has completed.

    The directory of the stages, next to the output, keeps the output and the report of each. The
    same call continues a build that failed, was interrupted or killed; a stage runs again only if
    its input or configuration has changed, or its report is damaged. No result depends on memory,
    workers, executor or interruptions.

    Args:
        plan: The build.
        only: Name of the only stage to run.
        on_report: Function called with the name and the report of each completed stage, and
            whether this call has run it.
        on_start: Function called with the name of each stage that this call runs.

    Returns:
        The report of each completed stage, by name, in order.
    """
    names = [stage.name for stage in STAGES]
    if only is not None and only not in names:
        raise DataError(f"no stage named {only!r}.{did_you_mean(only, names)}")
    check_output(plan.output, plan.overwrite or is_ours(plan))
    if plan.work.exists() and (others := other_files(plan.work, names)):
        raise CorpusError(
            f"{str(plan.work)!r} has {others[0]!r}, which is not a stage; the build needs that "
            "name. Move it away or name another output."
        )
    inputs = {stage.name: stage.inputs(plan) for stage in STAGES}  # bad ones fail before any work
    advice = (
        "What is done is kept; free some disk space, fix the permissions, or give more --memory, "
        "and the same command continues."
    )
    damaged = f"Remove the damaged stage from {str(plan.work)!r}, and the same command makes it."
    reports: dict[str, dict[str, Any]] = {}
    key, again = sha256_json([__version__, layout.FORMAT_VERSION, plan.source]), False
    try:
        with readable_errors(f"the build of {plan.shown!r} stopped", advice, damaged):
            plan.work.mkdir(parents=True, exist_ok=True)
            with exclusive_lock(plan.work.with_name(f".{plan.work.name}.lock"), plan.work):
                for stage in STAGES[: names.index(only) + 1 if only else None]:
                    key = sha256_json([key, stage.name, inputs[stage.name]])
                    report = read_report(plan.stage(stage.name) / _DONE, key)
                    # After an earlier stage has run, and where the output was moved away.
                    if again or (report and stage is INDEX and not is_intact(plan, report)):
                        report = None
                    again = now = report is None
                    if report is None:
                        if only not in (None, stage.name):
                            raise DataError(
                                f"the stage {stage.name!r} comes before {only!r} and is not done "
                                "with this input and configuration. Run it first, with --stage "
                                f"{stage.name}, or leave out --stage."
                            )
                        on_start(stage.name)
                        report = _run(plan, stage, key, reports)
                    reports[stage.name] = report
                    on_report(stage.name, report, now)
                return reports
    finally:
        plan.executor.close()


def _run(plan: Plan, stage: Stage, key: str, reports: dict[str, Any]) -> dict[str, Any]:
    """Run a stage from the beginning, or where a killed run with the same key stopped."""
    directory = plan.stage(stage.name)
    # A stage that is done is done with another key, or it would not run.
    if (directory / _DONE).exists() or read_report(directory / Steps.FILE, key) is None:
        for name in (_DONE, Steps.FILE):  # first: half of a stage must not pass for a complete one
            (directory / name).unlink(missing_ok=True)
        for path in directory.iterdir() if directory.is_dir() else ():
            if path.name not in stage.keeps and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in stage.keeps:
                path.unlink()
    directory.mkdir(parents=True, exist_ok=True)
    clear_temporary([directory], deep=True)
    steps = Steps(directory, key, reports)
    if not steps.done:
        steps.forget()  # from now on the files are of this key
    _log.info("stage %s", stage.name)
    try:
        report = stage.run(plan, steps)
    except duckdb.OutOfMemoryException:
        # With fewer threads, fewer blocks must be in memory at once.
        _log.warning("stage %s ran out of memory; once more with one thread", stage.name)
        report = stage.run(plan._replace(workers=1), steps)
    shutil.rmtree(directory / ".scratch", ignore_errors=True)
    clear_temporary([directory], deep=True)  # of tasks of a lost machine
    write_report(directory / _DONE, key, report)
    return report
