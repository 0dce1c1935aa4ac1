"""``arena-corpus prompts``: requests for reports, written by a language model."""

from __future__ import annotations

from typing import Any

from arena.cli.app import print_json, printable, resumable
from arena.cli.run import parse_surveys


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
        llm_option: Option of the language model: model, prompts (a folder), base_url, store,
            max_tokens, and others.
        surveys (IDS|N): Only these surveys, ids with commas or the first N.
        characters: Most characters of a survey's text in a request.

    Example:
        arena-corpus prompts demo/world --output prompts.jsonl --llm-option model=gpt-4o
    """
    from arena.tasks import PROMPT_LEVELS
    from corpus_builder.prompt_writing import write_prompts

    chosen = parse_surveys(surveys, ())
    with resumable():
        report = write_prompts(
            source, output, llm_option or {}, surveys=chosen, characters=characters
        )
    if json:
        print_json(report)
        return
    counts = report["counts"]
    levels = ", ".join(f"{counts[level]:,} {level}" for level in PROMPT_LEVELS)
    print(
        printable(f"{counts['surveys']:,} surveys by {report['config']['model']}: {levels}", 1000)
    )
    if counts["failed"]:
        print(f"{counts['failed']:,} prompts failed; the key `failed` of {output} says why.")
    if counts["unknown"]:
        print(f"{counts['unknown']:,} surveys are of unknown domain.")
