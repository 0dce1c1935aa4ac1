"""``arena-corpus tasks``, ``digest``, ``prompts`` and ``select``: made of corpora, and for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from arena.cli.app import print_json, resumable
from arena.cli.run import parse_topics
from arena.dates import UNDATED
from arena.kit.workdir import exclusive_lock
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


def digest(
    directory: str,
    *,
    input: str,
    llm_option: dict[str, Any] | None = None,
    surveys: str | None = None,
    all: bool = False,
    characters: int = 20_000,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Let a model digest the papers that surveys cite; the same command resumes after a break.

    Args:
        directory (DIR): A built corpus.
        input (NAME): Input to make (`arena list paper_texts`).
        llm_option: Option of the model's client (docs/llm.md), or prompts=DIR with own templates.
        surveys (IDS|N): Only references of these surveys, ids with commas or the first N.
        all: Digest every paper that can be found, for episodes that search.
        characters: Most characters of a paper in a request.
        overwrite: Replace the digests of that input once the new ones are made.

    Example:
        arena-corpus digest demo/synthetic --input summary --llm-option model=gpt-4o
    """
    from arena.tasks import TaskSet
    from corpus_builder.digest import make_digests

    with resumable():
        manifest = make_digests(
            directory,
            input,
            llm_option or {},
            surveys=parse_topics(surveys, () if surveys is None else TaskSet(directory).topics),
            every=all,
            characters=characters,
            overwrite=overwrite,
        )
    if json:
        print_json(manifest)
        return
    name, counts = manifest["input"], manifest["counts"]
    text = f"{name} of {counts['digests']:,} of {count(counts['papers'], 'paper')}"
    print(printable(f"{text} by {manifest['config']['model']}", 1000))
    if counts["failed"]:
        print(f"The others failed; digest/{name}/failed.jsonl says why. Their abstract is shown.")


def prompts(
    source: str,
    *,
    output: str,
    llm_option: dict[str, Any] | None = None,
    surveys: str | None = None,
    characters: int = 20_000,
    json: bool = False,
) -> None:
    """Let a model write prompts for surveys; the same command resumes after a break.

    Args:
        source (DIR|FILE): A built corpus, or surveys as JSON lines.
        output (FILE): JSON lines to write, for `arena-corpus build SOURCE --prompts FILE`.
        llm_option: Option of the model's client (docs/llm.md), or prompts=DIR with own templates.
        surveys (IDS|N): Only these surveys, ids with commas or the first N.
        characters: Most characters of a survey's text, the abstract first, in a request.

    Example:
        arena-corpus prompts demo/synthetic --output prompts.jsonl --llm-option model=gpt-4o
    """
    from arena.tasks import PROMPT_LEVELS
    from corpus_builder.prompt_writing import write_prompts

    chosen = parse_topics(surveys, ())
    lock = Path(output).absolute().with_name(f".{Path(output).name}.lock")
    with resumable(), exclusive_lock(lock, Path(output)):
        report = write_prompts(
            source, output, llm_option or {}, surveys=chosen, characters=characters
        )
    if json:
        print_json(report)
        return
    counts = report["counts"]
    levels = ", ".join(f"{counts[level]:,} {level}" for level in PROMPT_LEVELS)
    print(
        printable(
            f"{count(counts['surveys'], 'survey')} by {report['config']['model']}: {levels}", 1000
        )
    )
    if counts["failed"]:
        print(f"{count(counts['failed'], 'prompt')} failed; the key `failed` of {output} says why.")
    if counts["unknown"]:
        print(f"{count(counts['unknown'], 'survey is', 'surveys are')} of unknown domain.")


def select(
    metadata: str,
    *,
    output: str,
    title: str = "survey|review",
    since: str = "2020",
    before: str | None = None,
    unpublished: bool = False,
    journal_ref: bool = False,
    any_licence: bool = False,
    venue: str | None = None,
    judge: str = "rules",
    judge_option: dict[str, Any] | None = None,
    citations: str | None = None,
    top: int | None = None,
    sources: str | None = None,
    prompts: str | None = None,
    max_surveys: int | None = None,
    seed: int = 0,
    format: Literal["reportbench", "bloom-eval"] = "reportbench",
    json: bool = False,
) -> None:
    """Select surveys from arXiv's metadata, as ReportBench and Bloom-Eval select theirs.

    Args:
        metadata (FILE): arXiv's metadata as JSON lines, plain or gzip.
        output (DIR): Directory to write.
        title (REGEX): What a title must contain, in any case.
        since (DATE): First day of a first version: YYYY-MM-DD, YYYY-MM or YYYY.
        unpublished: Keep papers whose comments do not call them published or accepted.
        journal_ref: Keep papers with a journal reference, too.
        any_licence: Keep papers that may not be shared, too.
        venue (REGEX): What the journal or the comments must contain.
        judge (NAME): Judge of title and abstract: rules, llm or all.
        judge_option: Option of the judge, such as model=NAME of llm (docs/surveys.md).
        citations (FILE): JSON lines of arxiv_id and citation_count, for --top.
        top: Keep the most cited of computer science, and as many of other fields.
        sources (DIR): LaTeX sources: a folder ID or an archive ID.tar.gz for each paper; one
            without a source or without references is left out. Prompts are written of their text.
        prompts (FILE): What `arena-corpus prompts DIR/ReportBench_selected.jsonl` wrote; a paper
            without a prompt is left out.
        max_surveys: Draw this many, the domains in turn (default: all).
        seed: Seed of the draw, and of the level of each prompt.
        format: Whose data DIR is like; bloom-eval has a report for each topic.

    Example:
        arena-corpus select arxiv.jsonl.gz --sources tex --max-surveys 100 --output selected
    """
    from corpus_builder.selection import select_surveys

    with resumable():
        report = select_surveys(
            metadata, output, title=title, since=since, before=before, unpublished=unpublished,
            journal_ref=journal_ref, any_licence=any_licence, venue=venue, judge=judge,
            judge_option=judge_option, citations=citations, top=top, sources=sources,
            prompts=prompts, max_surveys=max_surveys, seed=seed, form=format,
        )  # fmt: skip
    if json:
        print_json(report)
        return
    print_rows([(name.replace("_", " "), f"{n:,}") for name, n in report["counts"].items()])
    for kind in ("domains", "venues"):
        print_rows([(f"{number:,}", printable(name)) for name, number in report[kind].items()])
    if sources is None and report["domains"]:
        print(
            "No references: name LaTeX sources with --sources for what `build reportbench` or "
            "`evaluate bloom-eval` reads."
        )
