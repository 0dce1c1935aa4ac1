"""Corpora that are made when somebody names them: ``corpus="synthetic:seed=7,papers=1000"``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from arena.corpus import layout
from arena.corpus.integrity import cache_directory
from arena.corpus.schemes import corpus_scheme
from arena.kit.code import code_sha256
from arena.kit.files import sha256_json
from arena.kit.options import check_names, parameters_of
from arena.kit.workdir import exclusive_lock
from arena.tasks.profiles import profile_file
from corpus_builder.build import build
from corpus_builder.sources.synthetic import SyntheticSource
from corpus_builder.synthetic import SyntheticConfig

MOST_BYTES = 4_000_000_000
"""Bytes of made corpora that are kept; beyond them those go that were not opened for longest."""
_PATIENCE = 3600.0  # seconds that a process waits for another one that makes the same corpus


@corpus_scheme("synthetic")
def synthetic(**knobs: Any) -> Path:
    """A made-up field of science, by the options of ``arena-corpus build synthetic``.

    It is made once and kept in the cache, with the bytes that the command writes. As with Procgen's
    levels (Cobbe et al. 2020, "Leveraging Procedural Generation to Benchmark Reinforcement
    Learning"), a range of seeds is a set for training and another one a set for tests.
    """
    check_names("corpus scheme synthetic", knobs, parameters_of(SyntheticConfig))
    source = SyntheticSource.of(knobs)
    made_by = code_sha256("corpus_builder.build", SyntheticSource)
    folder = cache_directory() / "corpora"
    of = {"source": source.describe(), "code": made_by, "format": layout.FORMAT_VERSION}
    directory = folder / f"synthetic-{sha256_json(of)[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder / f".{directory.name}.lock", directory, _PATIENCE):
        if not (directory / layout.MANIFEST).is_file():
            build(source, directory)
        os.utime(directory)  # its last use
    _forget_oldest(folder, directory)
    return directory


def _forget_oldest(folder: Path, kept: Path) -> None:
    """Remove the corpora that were not used for longest until the others fit into `MOST_BYTES`."""
    made = [each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")]
    used = {each: each.stat().st_mtime_ns for each in made}
    total = 0
    for each in sorted(made, key=lambda each: (each != kept, -used[each])):
        total += sum(file.stat().st_size for file in each.rglob("*") if file.is_file())
        if total > MOST_BYTES and each != kept:
            shutil.rmtree(each, ignore_errors=True)
            profile_file(each).unlink(missing_ok=True)
