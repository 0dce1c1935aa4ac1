"""A download from the first question to the last file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from arena._internal.workdir import only_writer
from arena.errors import DataError
from corpus_builder.download._options import DATASETS, Estimate, Options

LOCK = ".download.lock"


def download(
    output: str | Path,
    release: str = "latest",
    datasets: Sequence[str] = DATASETS,
    options: Options | None = None,
    *,
    dry_run: bool = False,
    tell_estimate: Callable[[Estimate], None] = lambda estimate: None,
    tell: Callable[[str], None] = lambda line: None,
    sleep: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Fetch datasets of a release of Semantic Scholar; go on where an earlier call ended.

    Args:
        output: directory; ``release.json`` there says what it holds.
        release: id, or ``latest``, which stays the same release in the same directory.
        datasets: names.
        options: how to go about it.
        dry_run: only find out how much there is; nothing is written.
        tell_estimate: told before the first file is fetched.
        tell: told what happens, a line each.
        sleep: waits for a number of seconds.

    Returns:
        ``release``, ``datasets`` (``files`` and ``bytes`` of each), ``here_bytes`` before,
        ``needed_bytes``, ``free_bytes``; and unless `dry_run`, ``fetched`` (``files``, and
        ``bytes`` that came over the network).

    Raises:
        UnknownNameError: for the name of a release or dataset that is none.
        DataError: if the disk is too small, there is no key or it is refused, the directory holds
            another release, or files could not be fetched.
        ArenaError: if another process writes the directory, or the API does not answer.
    """
    from corpus_builder.download._steps import Steps

    options = (options or Options()).checked()
    if not datasets:
        raise DataError(f"no dataset is named. Name some, such as {','.join(DATASETS)}.")
    directory = Path(output)
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{str(directory)!r} is no directory. Name another one.")
    with contextlib.ExitStack() as stack:
        if not dry_run:
            if not directory.exists():
                directory.mkdir(parents=True)
                stack.callback(_remove_empty, directory)
            stack.enter_context(only_writer(directory / LOCK, directory))
        steps = stack.enter_context(Steps(directory, options, dry_run, tell, sleep))
        steps.resolve(release, list(dict.fromkeys(datasets)))
        estimate = steps.estimate()
        tell_estimate(estimate)
        report: dict[str, Any] = {
            **estimate._asdict(),
            "datasets": {
                name: {"files": files, "bytes": size}
                for name, (files, size) in estimate.datasets.items()
            },
        }
        if dry_run:
            return report
        if estimate.needed_bytes > estimate.free_bytes:
            raise DataError(
                f"{estimate.needed_bytes:,} bytes are still to be fetched, but only "
                f"{estimate.free_bytes:,} are free in {str(directory)!r}. Make room, or name "
                "another directory or fewer datasets."
            )
        report["fetched"] = steps.fetch(estimate.needed_bytes)
        return report


def _remove_empty(directory: Path) -> None:
    with contextlib.suppress(OSError):
        directory.rmdir()
