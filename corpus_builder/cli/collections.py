"""``arena-corpus list collections`` and ``arena-corpus download NAME``."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from typing import Any

from arena.cli.app import print_json, print_table, resumable
from arena.text.display import count
from corpus_builder.cli.build import add_asked, fetch_collection, printer
from corpus_builder.collections import collections


def list_collections(*, json: bool = False) -> None:
    """List the collections that `arena-corpus download NAME` fetches.

    Example:
        arena-corpus list collections
    """
    known = collections()
    if json:
        print_json(known)
        return
    columns = ("contains", "good_for", "licence", "day")
    rows = [(name, *map(of.get, columns), _held(of)) for name, of in known.items()]
    print_table(rows, ("collection", *columns, "files"))
    print(
        "No address was tried over a network unless it is marked as tried; downloads are tested "
        "against a server of the tests."
    )


def download_openalex(
    *,
    output: str,
    before: str,
    papers: int = 10_000,
    query: str | None = None,
    seeds: str | None = None,
    hops: int = 1,
    base_url: str = "https://api.openalex.org",
    json: bool = False,
) -> None:
    """Works of OpenAlex, through its API: what a search finds, or what is around your papers.

    Args:
        output (DIR): A new folder, or one to continue.
        papers: End once there are so many works.
        query (TEXT): What to search for.
        seeds (FILE): Papers of yours, with DOIs or arXiv identifiers, whose references and
            citations are wanted.
        hops: How often to follow references and citations, 1 to 3 times.
        base_url (URL): Address of the API.

    Example:
        arena-corpus download openalex --query "dense retrieval" --before 2024-01-01 --output DIR
    """
    from corpus_builder.download.openalex import WORKS, download_works

    with resumable():
        report = download_works(output, before, papers, query=query, seeds=seeds, hops=hops,
                                base_url=base_url, on_message=printer(json))  # fmt: skip
    if json:
        print_json(report)
        return
    left_out = "".join(f"; {number:,} {why}" for why, number in report["left_out"].items())
    works, calls = count(report["works"], "work is", "works are"), count(report["calls"], "call")
    print(f"{works} here, {calls} for ${report['dollars']:.4f} made now{left_out}.")
    file = shlex.quote(f"{output}/{WORKS}")
    print(f"Next: arena-corpus build library --papers {file} --output DIR")


def _held(about: Mapping[str, Any]) -> str:
    """Say what a download fetches, and how much of it is verified from the first time on."""
    files = about.get("files", {})
    known = sum(sha256 is not None for sha256 in files.values())
    held = f"{len(files):,}, {known:,} with a known SHA-256" if files else "get them by hand"
    return held + " (tried)" * bool(about.get("tried"))


def add_collections(group: Any, asked: Collection[str] | None) -> None:
    """Add a command for each collection to ``arena-corpus download``."""
    for name, about in collections().items():
        add_asked(
            group,
            asked,
            name,
            _download,
            summary=f"{about['contains']}.",
            example=f"arena-corpus download {name} --output DIR",
            computed={"name": lambda _, name=name: name},
        )


def _download(*, name: str, output: str, mirror: str | None = None, json: bool = False) -> None:
    """Fetch a collection; killed at any moment, the same command continues.

    Args:
        output (DIR): A folder for the files, or one to continue.
        mirror (URL): Another server with the same files (default: the environment variable
            ARENA_MIRROR).
    """
    about = collections()[name]
    if not json:
        print(f"{name}: licence {about.get('licence') or 'not said'}, {about['home']}", flush=True)
    report = fetch_collection(name, output, mirror, quiet=json)
    if json:
        print_json(report)
    elif about.get("good_for"):
        print(f"Good for {about['good_for']}.")
