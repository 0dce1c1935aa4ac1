"""``arena-corpus digest``: what a language model makes of each paper."""

from __future__ import annotations

import time
from typing import Any

from arena.cli.app import print_json, printable, resumable
from arena.cli.run import parse_surveys


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
    """Make summaries or contributions of papers, which episodes show; the same command resumes.

    By default of the papers that surveys cite: enough for organization with the survey's own
    references, and too little for episodes that search.

    Args:
        directory (DIR): A built corpus.
        input (NAME): Input to make (`arena list inputs`).
        llm_option: Option of the language model: model, prompts (a folder), base_url, store,
            max_tokens, and others.
        surveys (IDS|N): Only references of these surveys, ids with commas or the first N.
        all: Digest every paper that can be found.
        characters: Most characters of a paper in a request.
        overwrite: Replace the digests of that input once the new ones are made.
        json: Print JSON instead of text.

    Example:
        arena-corpus digest demo/world --input summary --llm-option model=gpt-4o
    """
    from arena.tasks import TaskSet
    from corpus_builder.digest import make_digests

    started = time.monotonic()
    with resumable():
        manifest = make_digests(
            directory,
            input,
            llm_option or {},
            surveys=parse_surveys(surveys, () if surveys is None else TaskSet(directory).surveys),
            every=all,
            characters=characters,
            overwrite=overwrite,
        )
    if json:
        print_json(manifest)
        return
    counts = manifest["counts"]
    print(printable(describe_digests(manifest["input"], manifest), 1000))
    if counts["failed"]:
        print(f"{counts['failed']:,} papers failed and are shown by title and abstract; their ids "
              f"and reasons are in digest/{manifest['input']}/failed.jsonl")  # fmt: skip
    print(f"made in {time.monotonic() - started:.1f} s")


def describe_digests(name: str, manifest: dict[str, Any]) -> str:
    """Return digests in a few words, such as ``"summary of 20 of 20 papers by gpt-4o"``."""
    counts, model = manifest["counts"], manifest["config"]["model"]
    return f"{name} of {counts['digests']:,} of {counts['papers']:,} papers by {model}"
