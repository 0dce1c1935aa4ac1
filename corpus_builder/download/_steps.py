"""The steps of a download: what is there, what is here, and the rest of it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from arena.errors import DataError, clip
from corpus_builder.download._api import Api, Links, unknown_dataset
from corpus_builder.download._errors import FailedError, StoppedError
from corpus_builder.download._key import ApiKey
from corpus_builder.download._meter import Meter
from corpus_builder.download._names import safe_name
from corpus_builder.download._options import Estimate, Options
from corpus_builder.download._partial import Partial
from corpus_builder.download._patience import Patience
from corpus_builder.download._record import RECORD, Entry, Record, clear_leftovers
from corpus_builder.download._threads import Done, in_threads
from corpus_builder.download._transfer import Source, check, fetch, look
from corpus_builder.download._web import Web

T = TypeVar("T")
R = TypeVar("R")


class Steps:
    """What the steps of one download share; to be taken in the order of the methods.

    Args:
        directory: where the files go.
        options: how to go about it.
        dry_run: write nothing.
        tell: told what happens, a line each.
        sleep: waits for a number of seconds; None for a wait that ends when all shall.
    """

    def __init__(
        self,
        directory: Path,
        options: Options,
        dry_run: bool,
        tell: Callable[[str], None],
        sleep: Callable[[float], None] | None,
    ) -> None:
        self._directory, self._options, self._tell = directory, options, tell
        self._record_path = None if dry_run else directory / RECORD
        self._stop = threading.Event()
        self._patience = Patience(options.attempts, self._sleep if sleep is None else sleep)
        self._web = self._make_web()
        self._api = Api(
            self._web,
            options.base_url,
            lambda: ApiKey.from_environment(options.key_env),
            options.rate,
            self._patience,
        )
        self._links: dict[str, Links] = {}
        self._todo: list[tuple[str, Entry]] = []

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._web.close()

    def resolve(self, release: str, datasets: list[str]) -> None:
        """Find out which release is meant, and all files of the datasets."""
        record, known = Record.read(self._directory, self._record_path), None
        if record is not None and release not in ("latest", record.release):
            raise DataError(
                f"{str(self._directory)!r} holds release {record.release}, not {clip(release)}: "
                "two releases must not be mixed. Name another directory."
            )
        new = [name for name in datasets if record is None or name not in record.datasets]
        if new:
            ApiKey.from_environment(self._options.key_env)  # before anything is asked for
            told, known = self._api.release(release if record is None else record.release)
            record = record or Record(self._record_path, told)
        assert record is not None
        for name in new:
            if name not in (known or ()):
                raise unknown_dataset(name, record.release, known or [])
        self._record, self._names = record, datasets
        if self._record_path is not None:
            clear_leftovers(self._directory)
        if new:
            record.save()  # from now on `latest` is this release
        for name in new:
            self._list(safe_name(name, "dataset"))
        for name in datasets:
            if name not in self._links:
                files = set(record.datasets[name])
                self._links[name] = Links(self._api, record.release, name, files)

    def _list(self, dataset: str) -> None:
        """Put all files of a dataset, with their sizes, into the record."""
        links = self._links[dataset] = Links(self._api, self._record.release, dataset, None)
        names = links.names()
        self._tell(f"{dataset}: asking for the sizes of {len(names):,} files")

        def ask(web: Web, name: str) -> Entry:
            return look(Source(web, links, dataset, name), self._patience)

        entries = []
        with closing(self._each(ask, names)) as results:
            for done in results:
                if done is not None:
                    try:
                        entries.append(done.result())
                    except FailedError as error:
                        raise DataError(
                            f"the size of a file cannot be had: {error}. The same command goes on "
                            "from here."
                        ) from None
        self._record.put(dataset, entries)

    def estimate(self) -> Estimate:
        """Compare what there is with what is here, and decide what is to be done."""
        here = needed = 0
        sizes = {}
        for dataset in self._names:
            entries = self._record.datasets[dataset].values()
            sizes[dataset] = (len(entries), sum(entry.bytes for entry in entries))
            for entry in entries:
                path = self._path(dataset, entry)
                if _has_size(path, entry.bytes):
                    here += entry.bytes
                    if entry.sha256 is None or self._options.verify:
                        self._todo.append((dataset, entry))
                    continue
                if path.exists():
                    self._tell(f"{dataset}/{entry.name} has not its size: it is fetched again")
                part = min(Partial(path).size, entry.bytes)
                here += part
                needed += entry.bytes - part
                self._todo.append((dataset, entry))
        place = self._directory.absolute()
        while not place.exists():
            place = place.parent
        return Estimate(self._record.release, sizes, here, needed, shutil.disk_usage(place).free)

    def fetch(self, needed: int) -> dict[str, int]:
        """Do what is to be done; return how many files were fetched, and bytes received.

        Raises:
            DataError: if files could not be fetched.
        """
        failures: list[str] = []
        fetched = in_a_row = 0
        to_check = sum(
            entry.bytes
            for name, entry in self._todo
            if _has_size(self._path(name, entry), entry.bytes)
        )
        meter = Meter(needed, to_check)

        def work(web: Web, item: tuple[str, Entry]) -> tuple[Entry, bool]:
            return self._complete(web, *item, meter)

        with closing(meter), closing(self._each(work, self._todo)) as results:
            for done in results:
                meter.show(self._tell)
                if done is None:
                    continue
                try:
                    entry, was_fetched = done.result()
                except FailedError as error:
                    failures.append(str(error))
                    self._tell(f"given up for now: {error}")
                    in_a_row += 1
                    if in_a_row >= max(3, self._options.parallel):
                        break  # it is not the files
                    continue
                in_a_row = 0
                fetched += was_fetched
                self._record.renew(done.item[0], entry)
        if failures:
            raise self._incomplete(failures)
        return {"files": fetched, "bytes": meter.received}

    def _complete(self, web: Web, dataset: str, entry: Entry, meter: Meter) -> tuple[Entry, bool]:
        """Make sure of one file; return what is known of it, and whether it was fetched."""
        path, label = self._path(dataset, entry), f"{dataset}/{entry.name}"
        path.parent.mkdir(exist_ok=True)
        if _has_size(path, entry.bytes):
            sound = check(path, entry, meter.read, self._stop)
            if sound is not None:
                Partial(path).discard()
                return sound, False
            self._tell(f"{label} is damaged: it is fetched again")
        source = Source(web, self._links[dataset], dataset, entry.name)
        return fetch(source, entry, path, self._patience, meter.add), True

    def _incomplete(self, failures: list[str]) -> DataError:
        """Return the error that says what is done and what not."""
        files = [
            (name, entry) for name in self._names for entry in self._record.datasets[name].values()
        ]
        complete = sum(
            entry.sha256 is not None and _has_size(self._path(name, entry), entry.bytes)
            for name, entry in files
        )
        more = f"; {len(failures) - 1} more failed" if failures[1:] else ""
        return DataError(
            f"{complete} of {len(files)} files are complete. {failures[0]}{more}. The same command "
            "goes on from here."
        )

    def _path(self, dataset: str, entry: Entry) -> Path:
        return self._directory / dataset / entry.name

    def _each(
        self, function: Callable[[Web, T], R], items: Sequence[T]
    ) -> Generator[Done[T, R] | None]:
        return in_threads(function, items, self._options.parallel, self._make_web, self._stop)

    def _make_web(self) -> Web:
        return Web(self._options.patience, self._stop)

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise StoppedError


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
