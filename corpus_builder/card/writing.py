"""Makes a card and puts it into its corpus."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb

from arena._internal.cores import cores
from arena._internal.files import sha256_file
from arena.corpus import layout
from arena.errors import CorpusError
from corpus_builder._duckdb import connected
from corpus_builder._register import register_card
from corpus_builder.card.facts import CardFacts, measure
from corpus_builder.card.page import files_of

MEMORY = 1 << 30
_LABELS = (layout.SURVEYS, layout.GOLD, layout.MIND_MAPS)


def write_card(
    directory: str | Path,
    *,
    memory: int = MEMORY,
    threads: int | None = None,
    scratch: Path | None = None,
) -> dict[str, Any]:
    """Write the dataset card of a corpus into its folder ``card``, in place of an older one.

    The card is ``README.md`` and pictures: dates, and the paper's figure 4 (section 4, Dataset
    Composition) for this corpus. It appears whole or not at all, and nothing else of the corpus
    changes but ``card`` and ``manifest_sha256`` in its manifest. The same corpus gives the same
    bytes, whatever memory and threads.

    Args:
        directory: Directory of the corpus.
        memory: Bytes that DuckDB may manage; the rest goes to `scratch`.
        threads: Threads that DuckDB may use; as many as there are processors if None.
        scratch: An existing directory; by default one of the system's for temporary files.

    Returns:
        ``files``: name in the corpus -> ``bytes``, ``sha256``; ``counts``: the card in numbers.

    Raises:
        CorpusError: if `directory` holds no corpus, one that was changed, or something else in
            the card's place.
        ArenaError: if another process holds the manifest for a minute.
        OSError: if the disk is full or not writable; the corpus is as before.
    """
    root = Path(os.path.realpath(directory))
    manifest = layout.read_manifest(root)
    _check_labels(root, manifest)
    try:
        facts = _measure(root, memory, threads or cores(), scratch)
    except duckdb.Error as error:
        raise _from_duckdb(root, error) from error
    files = files_of(manifest, facts)
    try:
        entries = register_card(root, manifest["content_sha256"], files)
    except OSError as error:
        if error.errno is None or error.errno == errno.ENOENT:
            raise
        raise OSError(
            f"cannot write the card into {str(root)!r}: "
            f"{(error.strerror or str(error)).rstrip('.')}. The corpus is as before; free some "
            "disk space, or mend the permissions."
        ) from error
    return {"files": entries, "counts": _counts(facts)}


def _measure(root: Path, memory: int, threads: int, scratch: Path | None) -> CardFacts:
    with ExitStack() as stack:
        if scratch is None:
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-card-")))
        return measure(stack.enter_context(connected(scratch / "spill", memory, threads)), root)


def _check_labels(root: Path, manifest: dict[str, Any]) -> None:
    """Refuse labels of the same size that are not those of the manifest, as a run does."""
    for name in _LABELS:
        if sha256_file(root / name) != manifest["files"][name]["sha256"]:
            raise CorpusError(
                f"{str(root / name)!r} is not as it was built. Build the corpus again, or copy it "
                "again."
            )


def _counts(facts: CardFacts) -> dict[str, int]:
    everyone = facts.covered[0] if facts.covered else None
    return {
        "papers": facts.papers.papers,
        "papers_with_discipline": facts.papers.known,
        "surveys": facts.surveys.papers,
        "surveys_with_discipline": facts.surveys.known,
        "surveys_with_references": everyone.surveys if everyone else 0,
        "surveys_half_in_corpus": everyone.available[50] if everyone else 0,
        "surveys_half_in_reach": everyone.gold[50] if everyone else 0,
        "references": facts.listed,
        "references_in_corpus": facts.available,
        "references_in_reach": facts.gold,
        "mind_maps": sum(facts.mind_maps.points.values()),
        "mind_maps_unreadable": facts.mind_maps.unreadable,
    }


def _from_duckdb(root: Path, error: duckdb.Error) -> Exception:
    text = str(error).splitlines()[0].rstrip(".")
    if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException):
        return OSError(
            f"the card of {str(root)!r} cannot be counted: {text}. Free some disk space in the "
            "folder for temporary files (TMPDIR)."
        )
    return CorpusError(
        f"{str(root)!r} cannot be read: {text}. `arena-corpus verify` names what is damaged."
    )
