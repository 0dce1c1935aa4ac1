"""The audit: all environments, then all doors of views, against the files."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Sequence
from pathlib import Path

from arena._internal.code import code_sha256
from arena._internal.progress import progress
from arena.audit._bm25 import MAX_CHARACTERS, Bm25, characters
from arena.audit._doors import Doors
from arena.audit._drive import Driver, Shared
from arena.audit._facts import Facts
from arena.audit._files import check_files
from arena.audit._kinds import KINDS
from arena.audit._report import Log, Report
from arena.corpus import Corpus
from arena.corpus.indexes import read_index
from arena.errors import DataError, clip

MOST = 10**8


def audit(
    corpus: str | Path,
    actions: int = 10_000,
    seed: int = 0,
    retrievers: Sequence[str] = ("bm25",),
) -> Report:
    """Fuzz every tool of every environment over a corpus, and hold each answer against its files.

    A tenth as many views are opened besides, at random days and without random papers.

    Args:
        corpus: a built corpus; it is only read. All its papers are held in memory.
        actions: to be sent to environments, from 1 to 100,000,000.
        seed: of all chance, from 0 to 100,000,000; the same corpus, code and arguments give the
            same report, but for the seconds.
        retrievers: engines to search with; the first is the environments' own.

    Returns:
        What was found and how much was looked at. It does not stop at a finding.

    Raises:
        CorpusError, UnknownNameError: if the corpus or an engine cannot be opened.
        DataError: if `actions`, `seed` or `retrievers` are none.
    """
    begun = time.perf_counter()
    for name, value, least in (("actions", actions, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
            raise DataError(f"{name}={clip(value)}: give an integer from {least} to {MOST}.")
    if isinstance(retrievers, str) or not retrievers:
        raise DataError(f"retrievers={clip(retrievers)}: give a list of names.")
    opened = Corpus.open(corpus)
    names = tuple(dict.fromkeys(retrievers))
    for name in names:
        opened.retriever(name)
    facts, log = Facts(opened.directory), Log()
    check_files(facts, log)
    scorers = _scorers(opened, facts, names)
    views = max(1, actions // 10)
    surveys = random.Random(f"{seed} surveys").sample(list(facts.surveys), len(facts.surveys))
    turns = itertools.cycle(surveys)
    with progress(total=actions + views, desc="audit", unit="action") as bar:
        shared = Shared(str(opened.directory), facts, names, scorers, turns, {}, log, bar.update)
        for number, kind in enumerate(KINDS):
            share = actions * (number + 1) // len(KINDS) - actions * number // len(KINDS)
            rng = random.Random(f"{seed} {kind.name}")
            Driver(kind, shared, rng).play(share)
        doors = Doors(opened, facts, names, scorers, random.Random(f"{seed} views"), log)
        for _ in range(views):
            doors.ask()
            bar.update(1)
    log.counts["surveys"], log.counts["cutoffs"] = len(log.surveys), len(log.cutoffs)
    return Report(
        tuple(log.findings),
        dict(sorted(log.by_check.items())),
        dict(sorted(log.counts.items())),
        dict(sorted(log.tools.items())),
        dict(log.environments),
        dict(sorted(log.doors.items())),
        dict(sorted(log.refused.items())),
        _hashes(opened, names),
        {
            "actions": actions,
            "seed": seed,
            "retrievers": list(names),
            "scores_not_compared": [name for name in names if name not in scorers],
        },
        time.perf_counter() - begun,
    )


def _scorers(corpus: Corpus, facts: Facts, names: tuple[str, ...]) -> dict[str, Bm25]:
    """Return a second BM25 for each index that is one, unless there is too much text."""
    found: dict[str, Bm25] = {}
    if characters(facts) > MAX_CHARACTERS:
        return found
    for name in names:
        if "(" in name:  # a combination
            continue
        manifest = read_index(corpus.directory, name, corpus.sha256)
        if manifest["engine"] == "bm25":
            found[name] = Bm25(facts, tuple(manifest["fields"]))
    return found


def _hashes(corpus: Corpus, names: tuple[str, ...]) -> dict[str, str]:
    indexes = {f"index {name}": corpus.index_sha256(name) for name in names}
    tasks = str(corpus.manifest["tasks_sha256"])
    return {"corpus": corpus.sha256, "tasks": tasks, **indexes, "code": code_sha256()}
