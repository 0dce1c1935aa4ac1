"""A download from the first request to the last file."""

from __future__ import annotations

import contextlib
import math
import queue
import shutil
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from arena._internal.progress import progress
from arena._internal.workdir import clear_temporary, only_writer
from arena.errors import DataError, clip
from corpus_builder.download.api import Api, ApiKey, Links, unknown_dataset
from corpus_builder.download.http import FailedError, HttpSession, StoppedError
from corpus_builder.download.record import RECORD, FileEntry, Record, safe_name
from corpus_builder.download.transfer import PartFile, RemoteFile, fetch, look_up, verify

T = TypeVar("T")
R = TypeVar("R")

BASE_URL = "https://api.semanticscholar.org/datasets/v1"
DATASETS = ("papers", "abstracts", "citations", "s2orc")
LOCK = ".download.lock"

_TICK = 0.2  # seconds between two looks at the clock while no file completes
_FAREWELL = 2.0  # seconds in which threads that do not wait for the network end
_MEASURED = 5.0  # seconds from the first byte until the rate is reported


class DownloadEstimate(NamedTuple):
    """What a download will take.

    Attributes:
        release: Id of the release.
        datasets: Number of files and bytes of each dataset.
        here_bytes: Bytes of complete and partial files on disk.
        needed_bytes: Bytes still to be fetched.
        free_bytes: Free bytes on the disk.
    """

    release: str
    datasets: dict[str, tuple[int, int]]
    here_bytes: int
    needed_bytes: int
    free_bytes: int


class Options(NamedTuple):
    """Options of a download.

    Attributes:
        parallel: Number of files fetched at once, 1 to 64.
        key_env: Environment variable that holds the API key.
        base_url: Base URL of the API.
        rate: Most requests a second to the API.
        attempts: Number of attempts at a file or an API request in a row without a single byte.
        patience: Seconds without a byte after which a connection is dropped.
        verify: Read complete files again and compare their SHA-256.
    """

    parallel: int = 4
    key_env: str = "S2_API_KEY"
    base_url: str = BASE_URL
    rate: float = 1.0
    attempts: int = 8
    patience: float = 60.0
    verify: bool = False

    def checked(self) -> Options:
        """Return the options.

        Raises:
            DataError: If one is out of range.
        """
        for name, most in (("parallel", 64), ("attempts", 1000)):
            if not 1 <= getattr(self, name) <= most:
                raise DataError(f"{name} {getattr(self, name)}: must be from 1 to {most}.")
        for name in ("rate", "patience"):
            if not 0 < getattr(self, name) < math.inf:
                raise DataError(f"{name} {getattr(self, name)}: must be more than 0.")
        if not self.base_url.startswith(("http://", "https://")):
            raise DataError(f"base URL {clip(self.base_url)}: must begin with https:// or http://.")
        return self


def download(
    output: str | Path,
    release: str = "latest",
    datasets: Sequence[str] = DATASETS,
    options: Options | None = None,
    *,
    dry_run: bool = False,
    on_estimate: Callable[[DownloadEstimate], None] = lambda estimate: None,
    on_message: Callable[[str], None] = lambda line: None,
    sleep: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Fetch datasets of a release of Semantic Scholar; continue where an earlier call stopped.

    Args:
        output: Directory of the files; its ``release.json`` lists them.
        release: Id, or ``latest``, which stays the same release in the same directory.
        datasets: Names of the datasets.
        options: Options of the download.
        dry_run: Only return how much there is to fetch; write nothing.
        on_estimate: Function called before the first file is fetched.
        on_message: Function called with each line of progress.
        sleep: Function that waits for a number of seconds.

    Returns:
        ``release``, ``datasets`` (``files`` and ``bytes`` of each), ``here_bytes`` before,
        ``needed_bytes``, ``free_bytes``; and unless `dry_run`, ``fetched`` (number of ``files``,
        and ``bytes`` received).

    Raises:
        UnknownNameError: If the release or a dataset does not exist.
        DataError: If the disk is too small, there is no key or it is refused, the directory holds
            another release, or files could not be fetched.
        ArenaError: If another process writes the directory, or the API does not answer.
    """
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
                stack.callback(_remove_if_empty, directory)
            stack.enter_context(only_writer(directory / LOCK, directory))
        job = stack.enter_context(_Download(directory, options, on_message, sleep))
        job.resolve(release, list(dict.fromkeys(datasets)), dry_run)
        estimate = job.estimate()
        on_estimate(estimate)
        report = estimate._asdict()
        report["datasets"] = {
            name: {"files": files, "bytes": size}
            for name, (files, size) in estimate.datasets.items()
        }
        if dry_run:
            return report
        if estimate.needed_bytes > estimate.free_bytes:
            raise DataError(
                f"{estimate.needed_bytes:,} bytes are still to be fetched, but only "
                f"{estimate.free_bytes:,} are free in {str(directory)!r}. Make room, or name "
                "another directory or fewer datasets."
            )
        report["fetched"] = job.fetch(estimate.needed_bytes)
        return report


def format_bytes(count: float) -> str:
    """Return a number of bytes as text.

    >>> format_bytes(999), format_bytes(64_250_000_000)
    ('999 B', '64.2 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.95:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


class _Download:
    """The state of one call of `download`; its methods are called in their order."""

    def __init__(
        self,
        directory: Path,
        options: Options,
        on_message: Callable[[str], None],
        sleep: Callable[[float], None] | None,
    ) -> None:
        self._directory, self._options, self._on_message = directory, options, on_message
        self._stop = threading.Event()
        self._sleep = self._wait if sleep is None else sleep
        self._session = HttpSession(options.patience, options.parallel, self._stop)
        self._api = Api(
            self._session, options.base_url, options.key_env, options.rate, options.attempts,
            self._sleep,
        )  # fmt: skip
        self._links: dict[str, Links] = {}
        self._todo: list[tuple[str, FileEntry]] = []

    def __enter__(self) -> _Download:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._session.close()

    def resolve(self, release: str, datasets: list[str], dry_run: bool) -> None:
        """Find the release, and list all files of the datasets in the record."""
        record, known = Record.read(self._directory, dry_run), None
        if record is not None and release not in ("latest", record.release):
            raise DataError(
                f"{str(self._directory)!r} holds release {record.release}, not {clip(release)}: "
                "two releases must not be mixed. Name another directory."
            )
        new = [name for name in datasets if record is None or name not in record.datasets]
        if new:
            ApiKey.from_environment(self._options.key_env)  # fails before the first request
            id_, known = self._api.release(release if record is None else record.release)
            record = record or Record(None if dry_run else self._directory / RECORD, id_)
        assert record is not None
        for name in new:
            if name not in (known or ()):
                raise unknown_dataset(name, record.release, known or [])
        self._record, self._names = record, datasets
        if not dry_run:
            folders = [path for path in self._directory.glob("*") if path.is_dir()]
            clear_temporary([self._directory, *folders])
        if new:
            record.save()  # from now on `latest` is this release
        for name in datasets:
            files = set(record.datasets[name]) if name in record.datasets else None
            self._links[name] = Links(self._api, record.release, name, files)
        for name in new:
            self._list(safe_name(name, "dataset"))

    def _list(self, dataset: str) -> None:
        """Record all files of a dataset with their sizes."""
        names = self._links[dataset].names()
        self._on_message(f"{dataset}: requesting the sizes of {len(names):,} files")
        entries = []
        with contextlib.closing(
            self._in_threads(lambda name: look_up(self._source(dataset, name)), names)
        ) as results:
            for result in results:
                try:
                    entries += [result[1].result()] if result else []
                except FailedError as error:
                    raise DataError(
                        f"the size of a file is not known: {error}. The same command goes on "
                        "from here."
                    ) from None
        self._record.add_dataset(dataset, entries)

    def estimate(self) -> DownloadEstimate:
        """Compare the record with the files on disk, and list what is to be done."""
        here = needed = 0
        sizes = {}
        for dataset in self._names:
            entries = self._record.datasets[dataset].values()
            sizes[dataset] = (len(entries), sum(entry.bytes for entry in entries))
            for entry in entries:
                path = self._path(dataset, entry)
                if _has_size(path, entry):
                    here += entry.bytes
                    if entry.sha256 is None or self._options.verify:
                        self._todo.append((dataset, entry))
                    continue
                if path.exists():
                    self._on_message(f"{dataset}/{entry.name} has a wrong size: fetching it again")
                part = min(PartFile(path).size, entry.bytes)
                here += part
                needed += entry.bytes - part
                self._todo.append((dataset, entry))
        place = self._directory.absolute()
        while not place.exists():
            place = place.parent
        return DownloadEstimate(
            self._record.release, sizes, here, needed, shutil.disk_usage(place).free
        )

    def fetch(self, needed: int) -> dict[str, int]:
        """Fetch and verify files; return the number of fetched files and of received bytes.

        Raises:
            DataError: If files could not be fetched.
        """
        failures: list[str] = []
        fetched = in_a_row = 0
        meter = _Meter(needed, [e.bytes for d, e in self._todo if _has_size(self._path(d, e), e)])
        with (
            contextlib.closing(meter),
            contextlib.closing(
                self._in_threads(lambda item: self._complete(*item, meter), self._todo)
            ) as results,
        ):
            for result in results:
                meter.report_rate(self._on_message)
                if result is None:
                    continue
                (dataset, _), future = result
                try:
                    entry, was_fetched = future.result()
                except FailedError as error:
                    failures.append(str(error))
                    self._on_message(f"given up for now: {error}")
                    in_a_row += 1
                    if in_a_row >= max(3, self._options.parallel):
                        break  # the server, not the files, causes this
                    continue
                in_a_row = 0
                fetched += was_fetched
                self._record.update(dataset, entry)
        if failures:
            raise self._incomplete(failures)
        return {"files": fetched, "bytes": meter.received}

    def _complete(self, dataset: str, entry: FileEntry, meter: _Meter) -> tuple[FileEntry, bool]:
        """Verify or fetch one file; return its entry, and whether it was fetched."""
        path = self._path(dataset, entry)
        path.parent.mkdir(exist_ok=True)
        if _has_size(path, entry):
            verified = verify(path, entry, meter.read, self._stop)
            if verified is not None:
                PartFile(path).discard()
                return verified, False
            self._on_message(f"{dataset}/{entry.name} is damaged: fetching it again")
        return fetch(self._source(dataset, entry.name), entry, path, meter.add), True

    def _incomplete(self, failures: list[str]) -> DataError:
        """Return the error that says how much is complete, and why the rest is not."""
        complete = [
            entry.sha256 is not None and _has_size(self._path(name, entry), entry)
            for name in self._names
            for entry in self._record.datasets[name].values()
        ]
        more = f"; {len(failures) - 1} more failed" if failures[1:] else ""
        return DataError(
            f"{sum(complete)} of {len(complete)} files are complete. {failures[0]}{more}. The same "
            "command goes on from here."
        )

    def _source(self, dataset: str, name: str) -> RemoteFile:
        label = f"{dataset}/{name}"
        return RemoteFile(
            self._session, self._links[dataset], name, label, self._options.attempts, self._sleep
        )

    def _path(self, dataset: str, entry: FileEntry) -> Path:
        return self._directory / dataset / entry.name

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise StoppedError

    def _in_threads(
        self, function: Callable[[T], R], items: Sequence[T]
    ) -> Generator[tuple[T, Future[R]] | None]:
        """Yield each item with its result as it completes, and None about five times a second.

        An error other than `FailedError` stops all threads; so does closing the iterator early.
        """
        waiting: queue.SimpleQueue[T] = queue.SimpleQueue()
        completed: queue.SimpleQueue[tuple[T, Future[R]]] = queue.SimpleQueue()
        for item in items:
            waiting.put(item)

        def work() -> None:
            with contextlib.suppress(queue.Empty):
                while not self._stop.is_set():
                    item = waiting.get_nowait()
                    future: Future[R] = Future()
                    try:
                        future.set_result(function(item))
                    except StoppedError:
                        return
                    except BaseException as error:
                        if not isinstance(error, FailedError):
                            self._stop.set()  # the next file would end no better
                        future.set_exception(error)
                    completed.put((item, future))

        # Daemon threads, unlike those of an executor, do not make Ctrl-C wait for a dead
        # connection; what they write can be resumed at any moment.
        number = min(self._options.parallel, len(items))
        threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
        for thread in threads:
            thread.start()
        left = len(items)
        try:
            while left:
                try:
                    result = completed.get(timeout=_TICK)
                except queue.Empty:
                    yield None
                    continue
                left -= 1
                yield result
        finally:
            if left:
                self._stop.set()
            end = time.monotonic() + _FAREWELL
            for thread in threads:
                thread.join(max(0.0, end - time.monotonic()))


class _Meter:
    """Counts the bytes of all threads: a bar on a terminal, and one line that gives the rate."""

    def __init__(self, needed: int, to_read: list[int]) -> None:
        self.received = 0
        self._left = needed
        self._since: float | None = None
        self._reported = False
        self._lock = threading.Lock()
        total = needed + sum(to_read)
        self._bar = progress(
            total=total, desc="download", unit="B", unit_scale=True, smoothing=0.05
        )

    def add(self, count: int) -> None:
        """Count received bytes or, if negative, discarded ones."""
        with self._lock:
            if count > 0:
                self.received += count
                self._since = self._since or time.monotonic()
            self._left -= count
            self._bar.update(count)

    def read(self, count: int) -> None:
        """Count bytes read from the disk."""
        with self._lock:
            self._bar.update(count)

    def report_rate(self, on_message: Callable[[str], None]) -> None:
        """Report the rate once, after five seconds."""
        with self._lock:
            seconds = time.monotonic() - (self._since or math.inf)
            if self._reported or seconds < _MEASURED:
                return
            self._reported = True
            rate, left = self.received / seconds, self._left
        on_message(f"{format_bytes(rate)}/s: about {self._bar.format_interval(left / rate)} left")

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


def _has_size(path: Path, entry: FileEntry) -> bool:
    return path.is_file() and path.stat().st_size == entry.bytes


def _remove_if_empty(directory: Path) -> None:
    with contextlib.suppress(OSError):
        directory.rmdir()
