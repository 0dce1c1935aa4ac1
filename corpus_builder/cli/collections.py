"""``arena-corpus list collections`` and ``arena-corpus download NAME``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.cli.app import add_command, print_json, print_table
from arena.errors import DataError
from corpus_builder.cli.build import fetch_collection


def list_collections(*, json: bool = False) -> None:
    """List the collections that `arena-corpus download NAME` fetches.

    Example:
        arena-corpus list collections
    """
    from corpus_builder.download import collections

    known = collections()
    if json:
        print_json({name: _described(about) for name, about in known.items()})
        return
    rows = [tuple(_described(about).values()) for about in known.values()]
    columns = ("collection", "contains", "good for", "licence", "day", "files")
    print_table([(name, *row[:5]) for name, row in zip(known, rows, strict=True)], columns)
    print(
        "No address was tried over a network unless it is marked as tried; downloads are tested "
        "against a server of the tests. ARENA_COLLECTIONS=FILE adds collections of your own."
    )


def _described(about: Mapping[str, Any]) -> dict[str, Any]:
    files = about.get("files", {})
    known = sum(sha256 is not None for sha256 in files.values())
    held = f"{len(files):,} files, {known:,} with a known SHA-256" if files else "none"
    for key in ("archive", "folder"):
        held = f"{key} {about[key]}" if key in about else held
    if "why" in about:
        held = "none: get it by hand"
    return {
        "contains": about.get("contains"),
        "good_for": about.get("good_for"),
        "licence": about.get("licence") or "not said",
        "day": about.get("day"),
        "files": held + " (tried)" * bool(about.get("tried")),
        "home": about["home"],
        "sha256": about.get("sha256"),
    }


def add_collections(group: Any) -> None:
    """Add a command for each collection to ``arena-corpus download``."""
    from corpus_builder.download.published import addresses, collections

    try:
        known = collections()
    except DataError:  # `list collections` says what is wrong with a file of the user
        known = addresses()
    for name, about in known.items():
        add_command(
            group,
            name,
            _download,
            summary=f"{about.get('contains') or 'A collection of yours'}.",
            example=f"arena-corpus download {name} --output DIR",
            computed={"name": lambda _, name=name: name},  # type: ignore[misc]
        )


def _download(*, name: str, output: str, mirror: str | None = None, json: bool = False) -> None:
    """Fetch a collection; killed at any moment, the same command continues.

    Args:
        output (DIR): A folder for the files, or one to continue.
        mirror (URL): Another server with the same files (default: the environment variable
            ARENA_MIRROR).
    """
    from corpus_builder.download import collections

    about = collections()[name]
    if not json:
        print(f"{name}: licence {about.get('licence') or 'not said'}, {about['home']}", flush=True)
    report = fetch_collection(name, output, mirror, quiet=json)
    if json:
        print_json({**_described(about), **report})
    elif about.get("good_for"):
        print(f"Good for {about['good_for']}.")
