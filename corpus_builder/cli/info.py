"""``arena-corpus card``, ``index``, ``info`` and ``verify``: built corpora."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any

from arena.cli.app import parse_size, print_json
from arena.cli.repair import build_command
from arena.corpus import indexes, layout
from arena.dates import UNDATED
from arena.errors import CorpusError, DataError
from arena.text.display import count, printable
from corpus_builder.library.summary import library_rows
from corpus_builder.records import PAPER_KEYS, SURVEY_KEYS, nearest_key
from corpus_builder.sources.matching import yield_rows


def info(directory: str, *, json: bool = False) -> None:
    """Describe a corpus: what it contains and how it was made.

    Args:
        directory (DIR): A built corpus.

    Example:
        arena-corpus info demo/synthetic
    """
    manifest = layout.read_manifest(Path(directory))
    if json:
        print_json(manifest)
    else:
        print_card(manifest, directory)


def card(directory: str, *, memory: str = "1GB", json: bool = False) -> None:
    """Write the dataset card of a corpus: counts, the paper's figure 4, what was lost.

    Args:
        directory (DIR): A built corpus.
        memory (SIZE): Memory for counting.

    Example:
        arena-corpus card demo/synthetic
    """
    from corpus_builder.card import write_card

    written = write_card(directory, memory=parse_size("--memory", memory))
    if json:
        print_json(written)
        return
    print(f"card  {', '.join(written)}")


def index(
    directory: str,
    *,
    engine: str,
    name: str | None = None,
    fields: tuple[str, ...] | None = None,
    encoder: str | None = None,
    option: dict[str, Any] | None = None,
    executor: str = "local",
    workers: int | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Add an index to a built corpus; the index appears whole or not at all.

    Args:
        directory (DIR): A built corpus.
        engine (NAME): Engine of the index; see `arena list retrievers`.
        name (NAME): Name of the index (default: that of its engine).
        fields (NAMES): Indexed fields, of title,abstract,fulltext (default: as the corpus was
            built).
        encoder (NAME): Short for --option encoder=NAME; see `arena list encoders`.
        option: Option of the engine for building.
        executor (NAME): Executor that encodes vectors: local or ray.
        workers: Processes that encode (default: 1; with ray one a processor of the cluster).
        overwrite: Replace an index of that name once this one is built.

    Example:
        arena-corpus index demo/synthetic --engine bm25 --name titles --fields title
    """
    from arena.executors import make_executor
    from corpus_builder.index import build_index

    started = time.monotonic()
    options = option or {}
    if encoder is not None and options.setdefault("encoder", encoder) != encoder:
        raise DataError("--encoder and --option encoder=... differ. Give one of them.")
    with closing(make_executor(executor, workers)) as pool:
        manifest = build_index(
            directory,
            engine,
            name=name,
            fields=fields,
            options=options,
            overwrite=overwrite,
            executor=pool,
        )
    if json:
        print_json(manifest)
        return
    size = sum(entry["bytes"] for entry in manifest["files"].values())
    print(f"index   {indexes.describe_index(manifest['name'], manifest)}")
    print(f"size    {size / 1e6:,.1f} MB")
    if "built_before" in manifest:
        print("built before from the same input: nothing is left to do")
    else:
        print(f"built in {time.monotonic() - started:.1f} s")


def verify(directory: str, *, json: bool = False) -> None:
    """Hash every file of a corpus again and name what differs.

    The exit status is 2 if a file differs.

    Args:
        directory (DIR): A built corpus.

    Example:
        arena-corpus verify demo/synthetic
    """
    from corpus_builder.manifest import verify as verify_files

    root = Path(directory)
    report = verify_files(root)
    if json:
        print_json(report)
    else:
        for name, problem in report["problems"].items():
            print(f"{name if name.isprintable() else repr(name)}: {problem}")
    if report["problems"]:
        names = list(report["problems"])
        one, several = f"file of {directory!r} differs", f"files of {directory!r} differ"
        differ = count(len(names), one, several)
        raise CorpusError(f"{differ} from the manifest. {_cure(root, names)}")
    if not json:
        print(f"{count(report['files'], 'file is', 'files are')} as built.")


def _cure(root: Path, names: list[str]) -> str:
    """Say what to do; a damaged index does not ask for another corpus."""
    if all(PurePosixPath(name).parts[0] == layout.CARD for name in names):
        return f"Write the card again: `arena-corpus card {shlex.quote(str(root))}`."
    places = {PurePosixPath(name).parts[:2] for name in names}
    if all(len(place) == 2 and place[0] in (layout.DIGESTS, layout.INDEXES) for place in places):
        commands = [f"`{build_command(root.joinpath(*place))}`" for place in sorted(places)]
        return f"Build again what is damaged: {', '.join(commands)}."
    return "Build the corpus again, or copy it again."


def print_card(manifest: dict[str, Any], directory: str, most: int | None = None) -> None:
    """Print a corpus' manifest for a person to read, `most` rows of it beside the warnings."""
    from corpus_builder.card.page import command

    counts, source = manifest["counts"], manifest["source"]
    size = sum(entry["bytes"] for entry in manifest["files"].values())
    described = list(
        indexes.describe_indexes(Path(directory), sorted(manifest["indexes"])).values()
    ) or ["none"]
    listed = sum(n for key, n in counts.items() if key.startswith("survey_references_"))
    made = " ".join(command(manifest).replace("\\\n", " ").split())
    rows = [
        ("corpus", f"{directory} ({source['source']}, {size / 1e6:,.1f} MB without indexes)"),
        *([("made by", made)] if source["source"] == "synthetic" else []),
        ("papers", f"{counts['papers']:,} ({counts['searchable']:,} searchable, "
                   f"{counts['undated']:,} undated, {count(counts['survey_papers'], 'survey')})"
                   + (" of {first} to {last}".format(**manifest["dates"])
                      if counts["searchable"] else "")
                   + f"; {count(counts['abstracts'], 'abstract')}, "
                   f"{count(counts['sections'], 'section')} of full text"
                   + ("; {dated:,} dated by the surveys that list them, {added:,} added"
                      .format(**source["listed_papers"]) if "listed_papers" in source else "")),
        ("citations", f"{counts['references']:,} between searchable papers "
                      f"({counts['dangling_references']:,} to unknown papers left out)"),
        *([("survey tasks",
            f"{counts['surveys']:,} ({counts['surveys_with_gold']:,} can be scored, "
            f"{counts['mind_maps']:,} with a mind-map); {count(listed, 'reference')}: "
            f"{counts['survey_references_gold']:,} in reach, "
            f"{counts['survey_references_unknown']:,} unknown, "
            f"{counts['survey_references_undated']:,} undated, "
            f"{count(counts['survey_references_survey'], 'survey')}, "
            f"{counts['survey_references_not_before']:,} not before their survey")]
          if counts["surveys"] else []),
        ("indexes", "; ".join(described)),
        ("sha256", manifest["content_sha256"]),
        *_report_rows(counts),
        *(yield_rows(source["yield"]) if "yield" in source else ()),
        *([("digests", ", ".join(manifest["digests"]))] if "digests" in manifest else []),
        *(library_rows(manifest, Path(directory)) if "library" in source else ()),
        *_notes(manifest, listed),
    ]  # fmt: skip
    warnings = [row for row in rows if row[0] in _WARNINGS]
    rows = [row for row in rows if row not in warnings]
    if most is not None and (more := rows[most:]):
        text = f"{len(more) + 1} more rows; `arena-corpus info {directory}` has all"
        rows[most - 1 :] = [("more", text)]
    print_rows([*rows, *warnings])


_WARNINGS = ("warning", "lost", "left out")


def _notes(manifest: dict[str, Any], listed: int) -> Iterator[tuple[str, str]]:
    """Yield warnings and notes; `listed` is the number of references that surveys list."""
    counts = manifest["counts"]
    if not counts["searchable"]:
        why = (
            "undated (key `date`)"
            if counts["undated"] == counts["papers"]
            else "undated or surveys"
        )
        yield "warning", f"nothing can be found: all {counts['papers']:,} papers are {why}"
    if stand_in := counts.get("papers_stand_in_dates"):
        yield "warning", f"{UNDATED}: {stand_in:,} papers have one day in place of a date"
    if not counts["surveys"]:
        yield "warning", "there is no survey task: the corpus can be searched, not scored on"
    elif not counts["surveys_with_gold"] and not listed and counts["mind_maps"]:
        yield "note", "no survey lists a paper: their labels are their mind-maps alone"
    elif not counts["surveys_with_gold"]:
        why = "none lists a paper of this corpus from before its date (key `references`)"
        known = any(counts[f"survey_references_{kind}"] for kind in ("not_before", "undated"))
        asked = "is its day right?" if known else "are the two files swapped?"
        yield "warning", f"no survey can be scored: {why}; {asked}"
    if known := counts["survey_papers_unflagged"]:
        yield (
            "note",
            f"{count(known, 'paper has', 'papers have')} the id or title of a survey, "
            "taken for that one",
        )
    if unflagged := counts["unflagged_survey_titles"]:
        yield (
            "note",
            f"{count(unflagged, 'searchable paper has', 'searchable papers have')} 'survey' in "
            "the title and no flag is_survey",
        )
    if cleaned := [f"{counts[key]:,} {key.replace('_', ' ')}" for key in _CLEANED if key in counts]:
        yield "note", ", ".join(cleaned)
    for what, keys in manifest.get("unknown_keys", {}).items():
        read = PAPER_KEYS if what == "papers" else SURVEY_KEYS
        unlike = []
        for key, number in keys.items():
            named = f"{key!r} of {count(number, what.removesuffix('s'))}"
            if meant := nearest_key(key, read):
                yield "warning", f"the key {named} is not read. Did you mean {meant!r}?"
            else:
                unlike.append(named)
        if unlike:
            named = ", ".join(unlike[:_KEYS]) + ", ..." * (len(unlike) > _KEYS)
            keys, are = ("key", "is") if len(unlike) == 1 else ("keys", "are")
            yield "note", f"the {keys} {named} {are} not read."
    if note := manifest["source"].get("note"):
        yield "warning", note


def print_rows(rows: Sequence[tuple[str, object]]) -> None:
    """Print names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        print(f"{name:{width}}  {printable(str(value), 1000)}")


_CLEANED = ("titles_cleaned", "titles_retracted", "abstracts_cleaned", "placeholder_dates")
_FLAGGED = {
    "title": "contain their survey's title",
    "reference_title": "contain a reference's title",
    "no_cutoff": "name no cutoff",
    "other_cutoff": "name another cutoff than their survey's date",
}


def _report_rows(counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    parts = []
    if counts["prompts"]:
        flags = (f"{counts[f'prompts_{f}']:,} {why}" for f, why in _FLAGGED.items())
        parts.append(f"of {count(counts['prompts'], 'survey task')}: {', '.join(flags)}")
    if counts["outlines"] or counts["articles"]:
        outlines, articles = (count(counts[f"{each}s"], each) for each in ("outline", "article"))
        parts.append(f"{outlines}, {articles} of surveys")
    if parts:
        yield ("prompts" if counts["prompts"] else "articles"), "; ".join(parts)


_KEYS = 5
