"""``arena-corpus digest``: what a language model makes of each paper."""

from __future__ import annotations

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
    """Let a model digest the papers that surveys cite; the same command resumes after a break.

    Args:
        directory (DIR): A built corpus.
        input (NAME): Input to make (`arena list inputs`).
        llm_option: Option of the language model: model, prompts (a folder), base_url, store,
            max_tokens, and others.
        surveys (IDS|N): Only references of these surveys, ids with commas or the first N.
        all: Digest every paper that can be found, for episodes that search.
        characters: Most characters of a paper in a request.
        overwrite: Replace the digests of that input once the new ones are made.

    Example:
        arena-corpus digest demo/world --input summary --llm-option model=gpt-4o
    """
    from arena.tasks import TaskSet
    from corpus_builder.digest import make_digests

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
    name, counts = manifest["input"], manifest["counts"]
    text = f"{name} of {counts['digests']:,} of {counts['papers']:,} papers"
    print(printable(f"{text} by {manifest['config']['model']}", 1000))
    if counts["failed"]:
        print(f"The others failed; digest/{name}/failed.jsonl says why. Their abstract is shown.")
