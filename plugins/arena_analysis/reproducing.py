"""Expected numbers: the commands that make them, run again, and what came out beside them.

A file ``NAME.yaml`` is about one corpus: what of the data it ``needs`` and where to ``get`` that,
commands that ``prepare`` it, its ``sha256``, and ``runs`` by name, each a ``command`` and the
``expected`` means of its metrics. In commands ``{data}`` is the folder of data, ``{work}`` that of
corpora (the corpus is ``{work}/corpus``), and ``{output}`` the run. An expectation is called
``NAME.RUN METRIC``.
"""

from __future__ import annotations

import io
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import arena.cli
import corpus_builder.cli
from arena.corpus import Corpus
from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import read_json
from arena.kit.terminal import progress

_PROGRAMS = {"arena": arena.cli.main, "arena-corpus": corpus_builder.cli.main}
_KEYS = {
    "needs": list,
    "get": str,
    "prepare": list,
    "sha256": str,
    "tolerance": float,
    "runs": dict,
}


class Checked(NamedTuple):
    """An expectation beside what was found; `found` and `metric` are None where nothing ran."""

    name: str
    metric: str | None
    expected: float | None
    found: float | None
    outcome: str


def read_expected(folder: str | Path) -> dict[str, dict[str, Any]]:
    """Return name -> content of the files of expectations in a folder.

    Raises:
        DataError: if there is none, or one lacks a key.
    """
    files = {path.stem: path for path in sorted(Path(folder).glob("*.yaml"))}
    if not files:
        raise DataError(f"{str(folder)!r} has no expectations. Run this in a clone of the gym, "
                        "or name a folder with --expected.")  # fmt: skip
    found = {name: yaml.safe_load(path.read_text("utf-8")) for name, path in files.items()}
    for name, content in found.items():
        for key, kind in _KEYS.items():
            if not isinstance(content, dict) or not isinstance(content.get(key), kind):
                raise DataError(f"{str(files[name])!r}: give {key!r}, a {kind.__name__}.")
    return found


def reproduce(
    expected: dict[str, dict[str, Any]], names: Sequence[str] = (), data: str | Path | None = None
) -> Iterator[Checked]:
    """Run the commands of expectations; yield each beside what was found.

    Args:
        expected: What `read_expected` returns.
        names: Corpora, or runs as ``CORPUS.RUN``; by default all.
        data: Folder that has the public data sets.

    Raises:
        UnknownNameError: for a name that is not there, before anything runs.
        DataError: if a command fails.
    """
    known = [*expected, *(f"{name}.{run}" for name in expected for run in expected[name]["runs"])]
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"no expectation is called {clip(name)}.{did_you_mean(name, known)}"
            )
    for name, content in expected.items():
        runs = {
            f"{name}.{run}": about
            for run, about in content["runs"].items()
            if not names or name in names or f"{name}.{run}" in names
        }
        missing = [file for file in content["needs"] if not (data and Path(data, file).exists())]
        if runs and missing:
            where = f"{', '.join(missing)} in the folder of --data"
            yield Checked(name, None, None, None, f"not at hand: {where}. {content['get']}")
        elif runs:
            with tempfile.TemporaryDirectory(prefix="reproduce-") as work:
                yield from _reproduce(name, content, runs, Path(work), data)


def _reproduce(
    name: str, content: dict[str, Any], runs: dict[str, Any], work: Path, data: str | Path | None
) -> Iterator[Checked]:
    places = {"data": str(data), "work": str(work)}
    steps = progress(total=len(content["prepare"]) + len(runs), desc=name, unit="command")
    with steps:
        for command in content["prepare"]:
            _call(command, places)
            steps.update()
        if (made := Corpus.open(work / "corpus").sha256) != content["sha256"]:
            outcome = f"this corpus is another one: {made}, not {content['sha256']}"
            yield Checked(name, None, None, None, outcome)
            return
        for run, about in runs.items():
            _call(about["command"], places | {"output": str(work / run)})
            means = read_json(work / run / "metrics.json")["mean"]
            for metric, value in about["expected"].items():
                found = means.get(metric)
                if found is None:
                    outcome = "differs: the run has no such metric"
                elif abs(found - value) <= content["tolerance"]:
                    outcome = "equal"
                else:
                    outcome = f"differs by {found - value:+.6f}"
                yield Checked(run, metric, value, found, outcome)
            steps.update()


def _call(command: str, places: dict[str, str]) -> None:
    program, *words = shlex.split(command)
    if program not in _PROGRAMS:
        raise DataError(f"{command!r}: begin with one of {', '.join(_PROGRAMS)}.")
    with redirect_stdout(io.StringIO()):
        status = _PROGRAMS[program]([word.format(**places) for word in words])
    if status:
        raise ArenaError(f"`{command}` ended with status {status}; its message stands above.")
