"""``arena-corpus info``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from arena import command_line
from arena.corpus import indexes, layout

SUMMARY = "Describe a corpus: what it holds and how it was made."
EXAMPLE = "arena-corpus info demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("directory", metavar="DIR", help="a built corpus")


def execute(arguments: argparse.Namespace) -> None:
    """Print the card."""
    manifest = layout.read_manifest(Path(arguments.directory))
    if arguments.json:
        command_line.print_json(manifest)
    else:
        print_card(manifest, arguments.directory)


def print_card(manifest: dict[str, Any], directory: str) -> None:
    """Print a corpus' manifest for a person to read."""
    counts, source = manifest["counts"], manifest["source"]
    size = sum(entry["bytes"] for entry in manifest["files"].values())
    listed = sum(n for key, n in counts.items() if key.startswith("survey_references_"))
    rows = [
        ("corpus", directory),
        ("source", source["source"]),
        ("papers", f"{counts['papers']:,} ({counts['searchable']:,} searchable, "
                   f"{counts['undated']:,} undated, {counts['survey_papers']:,} surveys)"),
        ("dates", f"{manifest['dates']['first']} to {manifest['dates']['last']}"
                  if counts["searchable"] else "none"),
        ("full text", f"{counts['sections']:,} sections"),
        ("citations", f"{counts['references']:,} between searchable papers "
                      f"({counts['dangling_references']:,} to unknown papers left out)"),
        ("survey tasks", f"{counts['surveys']:,} ({counts['surveys_with_gold']:,} can be scored, "
                         f"{counts['mind_maps']:,} with a mind-map)"),
        ("their references", f"{listed:,} listed: {counts['survey_references_gold']:,} in reach, "
                             f"{counts['survey_references_unknown']:,} unknown, "
                             f"{counts['survey_references_undated']:,} undated, "
                             f"{counts['survey_references_survey']:,} surveys, "
                             f"{counts['survey_references_not_before']:,} not before their survey"),
        *_yield_of(source),
        *_indexes_of(manifest, Path(directory)),
        ("size", f"{size / 1e6:,.1f} MB without indexes"),
        ("sha256", manifest["content_sha256"]),
    ]  # fmt: skip
    if not counts["searchable"]:
        why = (
            "undated (key `date`)"
            if counts["undated"] == counts["papers"]
            else "undated or surveys"
        )
        rows.append(("warning", f"nothing can be found: all {counts['papers']:,} papers are {why}"))
    if not counts["surveys"]:
        rows.append(("note", "there is no survey task: the corpus can be searched, not scored on"))
    elif not counts["surveys_with_gold"] and not listed and counts["mind_maps"]:
        rows.append(("note", "no survey lists a paper: their labels are their mind-maps alone"))
    elif not counts["surveys_with_gold"]:
        why = "none lists a paper of this corpus from before its date (key `references`)"
        rows.append(("warning", f"no survey can be scored: {why}; are the two files swapped?"))
    if known := counts["survey_papers_unflagged"]:
        rows.append(("note", f"{known:,} papers have the id or title of a survey task, so they "
                             "count as that survey"))  # fmt: skip
    if counts["unflagged_survey_titles"]:
        rows.append(("note", f"{counts['unflagged_survey_titles']:,} searchable papers have "
                             "'survey' in the title but are not flagged is_survey"))  # fmt: skip
    if source.get("note"):
        rows.append(("note", source["note"]))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:{width}}  {command_line.printable(str(value), 1000)}")


def _yield_of(source: dict[str, Any]) -> list[tuple[str, str]]:
    """Return rows about the join of a published data set to a collection."""
    from corpus_builder.sources.join_counts import yield_rows

    return yield_rows(source["yield"]) if "yield" in source else []


def _indexes_of(manifest: dict[str, Any], directory: Path) -> list[tuple[str, str]]:
    """Return a row an index; the first one names them."""
    found = indexes.describe_indexes(directory, sorted(manifest["indexes"])).values()
    return [("" if row else "indexes", text) for row, text in enumerate(found or ["none"])]
