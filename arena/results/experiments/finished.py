"""Recognise an experiment that is finished and unchanged, of which nothing needs to be made."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena._internal.code import code_sha256
from arena._internal.files import sha256_file, sha256_json
from arena._internal.workdir import LOCK
from arena.corpus import Corpus
from arena.corpus.digests import TITLE_ABSTRACT
from arena.plugins import loaded_files
from arena.results.experiments.config import Experiment
from arena.results.experiments.grid import Cell

FINISHED = "finished.sha256"
"""The file with the fingerprint: like ``machine.json`` it differs from machine to machine."""


def fingerprint(
    experiment: Experiment,
    manifest: Mapping[str, Any],
    cells: Mapping[str, Cell],
    corpus: Corpus,
    output: Path,
) -> str:
    """Return a hash of all that an experiment is made from and with, and of all its files.

    It may change where no result does: with a file next to a plug-in, or any installed package.
    """
    environments = [cell.config for cell in cells.values()]
    engines = {name for each in environments for name in (each.retriever, *each.retrievers)}
    shown = {each.show for each in environments} - {TITLE_ABSTRACT}
    near = {path for file in loaded_files() for path in Path(file).parent.glob("*.py")}
    packages = Path(sysconfig.get_path("purelib")).glob("*.dist-info")
    made = (path for path in output.rglob("*") if path.is_file())
    files = {path.relative_to(output).as_posix(): path for path in made}
    return sha256_json([
        manifest,
        experiment.judge,
        {name: corpus.index_sha256(name) for name in engines},
        {name: corpus.digests(name).sha256 for name in shown},
        code_sha256("arena.results.experiments", *(cell.player.kind for cell in cells.values())),
        sorted(map(sha256_file, near)),
        [sys.version, *sorted(path.name for path in packages)],
        {name: sha256_file(path) for name, path in files.items() if name not in (FINISHED, LOCK)},
    ])  # fmt: skip
