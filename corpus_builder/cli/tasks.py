"""``arena-corpus tasks``: discovery and selection tasks of ordinary papers."""

from __future__ import annotations

from arena.cli.app import print_json
from arena.cli.run import parse_surveys
from corpus_builder.cli.info import print_rows


def tasks(
    directory: str,
    *,
    output: str,
    least: int = 10,
    most: int | None = None,
    seed: int = 0,
    test: str | None = None,
    before: str | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Make training tasks of all papers that cite enough, dated before the surveys to test on.

    Args:
        directory (DIR): A built corpus.
        output (TASKS): A new directory outside of it, for --tasks of `arena run`.
        least: References in reach that a paper needs.
        most: Draw this many (default: all).
        seed: Seed of the draw.
        test (IDS|N): Surveys to test on, ids with commas or the first N (default: all).
        before (DATE): Only papers before this day (default: that of the first test survey).
        overwrite: Replace a task set in TASKS.

    Example:
        arena-corpus tasks demo/world --output demo/world-tasks
    """
    from arena.tasks import TaskSet
    from corpus_builder.paper_tasks import write_paper_tasks

    known = () if test is None else TaskSet(directory).surveys
    manifest = write_paper_tasks(
        directory,
        output,
        least=least,
        most=most,
        seed=seed,
        test=parse_surveys(test, known),
        before=before,
        overwrite=overwrite,
    )
    if json:
        print_json(manifest)
        return
    counts, before = manifest["counts"], manifest["options"]["before"]
    rows = [
        ("tasks", f"{counts['tasks']:,} of {counts['candidates']:,} papers before {before} with at "
                  f"least {least} references in reach; {counts['same_title']:,} share their title"),
        ("labels", f"{counts['labels']:,} references in reach, {counts['influential']:,} of them "
                   "influential"),
        ("sha256", manifest["tasks_sha256"]),
    ]  # fmt: skip
    print_rows(rows)
