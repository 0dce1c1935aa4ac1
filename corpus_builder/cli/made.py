"""``arena-corpus tasks``, and what ``digest``, ``prompts`` and ``select`` have made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.cli.app import print_json
from arena.cli.run import parse_topics
from arena.dates import UNDATED
from arena.text.display import count, printable
from corpus_builder.cli.info import print_rows


def tasks(
    directory: str,
    *,
    output: str,
    least: int = 10,
    max_tasks: int | None = None,
    seed: int = 0,
    test: str | None = None,
    before: str | None = None,
    questions: dict[str, Any] | None = None,
    days: str | None = None,
    part: str = "1/1",
    horizon: bool = False,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Make tasks of papers that cite enough, dated before the surveys to test on, or of questions.

    The options --least to --test are for papers, --days to --part for --questions.

    Args:
        directory (DIR): A built corpus.
        output (TASKS): A new directory outside of it, for --tasks of `arena run`.
        least: References in reach that a paper needs.
        max_tasks: Draw this many (default: all).
        seed: Seed of the draw.
        test (IDS|N): Surveys to test on, ids with commas or the first N (default: all).
        before (DATE): Only papers before this day (default: that of the first test survey); with
            --questions the cutoff of those without a day.
        questions (FORMAT=PATH): Questions with gold papers, in place of papers (docs/questions.md).
        days (FILE): AutoScholarQuery's questions, whose days those of the same ids take.
        part (K/N): The K-th of N parts of the questions; what belongs together is in one part.
        horizon: Make each task as of three days: before its first gold paper, with half of its
            gold, and its own (docs/questions.md).
        overwrite: Replace a task set in TASKS.

    Example:
        arena-corpus tasks demo/synthetic --output demo/synthetic-tasks
    """
    from arena.tasks import TaskSet
    from corpus_builder.paper_tasks import write_paper_tasks
    from corpus_builder.question_tasks import write_question_tasks

    if not questions:
        named = parse_topics(test, () if test is None else TaskSet(directory).topics)
        manifest = write_paper_tasks(
            directory, output, least=least, max_tasks=max_tasks, seed=seed,
            test=named, before=before, horizon=horizon, overwrite=overwrite,
        )  # fmt: skip
    else:
        manifest = write_question_tasks(
            directory, output, questions, days=days, before=before, part=part, horizon=horizon,
            overwrite=overwrite,
        )  # fmt: skip
    if json:
        print_json(manifest)
        return
    shown = [(name.replace("_", " "), f"{n:,}") for name, n in manifest["counts"].items()]
    until = manifest["options"].get("before")
    undated = [("cutoff", f"{UNDATED}: it hides no paper")] * ("undated" in manifest["options"])
    shown += undated or ([("before", until)] if until else [])
    print_rows([*shown, ("sha256", manifest["tasks_sha256"])])


def show_digests(manifest: dict[str, Any], _: Mapping[str, Any]) -> None:
    """Say how many digests `make_digests` has made."""
    name, counts = manifest["input"], manifest["counts"]
    text = f"{name} of {counts['digests']:,} of {count(counts['papers'], 'paper')}"
    print(printable(f"{text} by {manifest['config']['model']}", 1000))
    if counts["failed"]:
        print(f"The others failed; digest/{name}/failed.jsonl says why. Their abstract is shown.")


def show_prompts(report: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Say how many prompts `write_prompts` has written."""
    from arena.tasks import PROMPT_LEVELS

    counts = report["counts"]
    levels = ", ".join(f"{counts[level]:,} {level}" for level in PROMPT_LEVELS)
    print(
        printable(
            f"{count(counts['surveys'], 'survey')} by {report['config']['model']}: {levels}", 1000
        )
    )
    if counts["failed"]:
        failed = count(counts["failed"], "prompt")
        print(f"{failed} failed; the key `failed` of {given['output']} says why.")
    if counts["unknown"]:
        print(f"{count(counts['unknown'], 'survey is', 'surveys are')} of unknown domain.")


def show_selection(report: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Say what each step of `select_surveys` has left."""
    print_rows([(name.replace("_", " "), f"{n:,}") for name, n in report["counts"].items()])
    for kind in ("domains", "venues"):
        print_rows([(f"{number:,}", printable(name)) for name, number in report[kind].items()])
    if given["sources"] is None and report["domains"]:
        print(
            "No references: name LaTeX sources with --sources for what `build reportbench` or "
            "`evaluate bloom-eval` reads."
        )
