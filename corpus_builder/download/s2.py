"""Datasets of a release of Semantic Scholar, through its Datasets API."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlsplit

import requests
from annotated_types import Ge, Interval

from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.kit.options import checked
from arena.kit.workdir import other_files
from arena.text.display import count
from corpus_builder.download.fetch import (
    CONTINUES,
    KEY_HEADER,
    FailedError,
    Fetcher,
    Known,
    RemoteFile,
    RetryError,
    size_of,
    writing,
)
from corpus_builder.release.folder import RECORD, FileEntry, Record, safe_name

BASE_URL = "https://api.semanticscholar.org/datasets/v1"
DATASETS = ("papers", "abstracts", "citations", "s2orc")
FORM = "https://www.semanticscholar.org/product/api#api-key-form"

_SUFFIX = ".gz"


def object_name(link: object) -> str:
    """Return the file name for a link: the last part of its path, with ``.gz``.

    >>> object_name("https://s3.example/2024-02-06/papers/00_a%2Bb.gz?Expires=1&Signature=x")
    '00_a+b.gz'
    """
    if not isinstance(link, str) or not link.startswith(("https://", "http://")):
        # The message must not show the link: anyone who has it can fetch the object.
        raise DataError("the server gives something for a link that is not an http address.")
    name = safe_name(unquote(urlsplit(link).path.rpartition("/")[2]), "file")
    return name if name.endswith(_SUFFIX) else name + _SUFFIX


@checked
def download(
    output: str | Path,
    release: str = "latest",
    datasets: Sequence[str] = DATASETS,
    *,
    parallel: Annotated[int, Interval(ge=1, le=64)] = 4,
    key_env: str = "S2_API_KEY",
    base_url: str = BASE_URL,
    rate: Annotated[float, Ge(1e-6)] = 1.0,
    attempts: Annotated[int, Interval(ge=1, le=1000)] = 8,
    patience: Annotated[float, Ge(1e-3)] = 60.0,
    verify: bool = False,
    dry_run: bool = False,
    on_estimate: Callable[[dict[str, Any]], None] = lambda estimate: None,
    on_message: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Fetch datasets of a release of Semantic Scholar; continue where an earlier call stopped.

    The options are those of ``arena-corpus download s2orc --help``. `on_estimate` gets the report
    before the first file is fetched, `on_message` each line of progress.

    Returns:
        ``release``, ``datasets`` (``files`` and ``bytes`` of each), ``here_bytes`` before,
        ``needed_bytes``, ``free_bytes``; and unless `dry_run`, ``fetched`` (number of ``files``,
        and ``bytes`` received).
    """
    if not base_url.startswith(("http://", "https://")):
        raise DataError(f"base URL {clip(base_url)}: must begin with https:// or http://.")
    if not datasets:
        raise DataError(f"no dataset is named. Name some, such as {','.join(DATASETS)}.")
    directory, names = Path(output), list(dict.fromkeys(datasets))
    with ExitStack() as stack:
        if not dry_run:
            stack.enter_context(writing(directory))
        fetcher = Fetcher(parallel, patience, attempts, on_message)
        stack.enter_context(closing(fetcher))
        api = _Api(fetcher, base_url, key_env, rate, directory, write=not dry_run)
        record = api.list_files(release, names)
        entries = {(name, entry.name): entry for name in names for entry in record.datasets[name]}
        files = [api.file(*key, entry) for key, entry in entries.items()]
        report = _estimate(directory, record, names, files)
        on_estimate(report)
        if dry_run:
            return report
        if report["needed_bytes"] > report["free_bytes"]:
            raise DataError(
                f"{report['needed_bytes']:,} bytes are still to be fetched, but only "
                f"{report['free_bytes']:,} are free in {str(directory)!r}. Make room, or name "
                "another directory or fewer datasets."
            )

        def on_done(file: RemoteFile, now: Known) -> None:
            entry = entries[file.path.parent.name, file.path.name]
            entry.bytes, entry.md5, entry.sha256 = now.bytes or 0, now.md5, now.sha256
            record.write(directory)

        report["fetched"] = fetcher.fetch_all(files, on_done, verify=verify)
        return report


def _estimate(
    directory: Path, record: Record, names: list[str], files: Sequence[RemoteFile]
) -> dict[str, Any]:
    """Return what there is to fetch, what is here already, and the room on the disk."""
    sizes, here = {}, 0
    for name in names:
        listed = record.datasets[name]
        sizes[name] = {"files": len(listed), "bytes": sum(entry.bytes or 0 for entry in listed)}
    for file in files:
        size = file.known.bytes or 0
        here += size if file.here else min(size_of(file.part), size)
    parents = (directory.absolute(), *directory.absolute().parents)
    return {
        "release": record.release,
        "datasets": sizes,
        "here_bytes": here,
        "needed_bytes": sum(size["bytes"] for size in sizes.values()) - here,
        "free_bytes": shutil.disk_usage(next(each for each in parents if each.exists())).free,
    }


def read_key(variable: str) -> str:
    """Return the API key in an environment variable; no message shows it."""
    if variable not in os.environ:
        raise DataError(
            f"no key of the Datasets API: the environment variable {variable!r} is not set. "
            f"Ask for a key at {FORM}, then `export {variable}=...`."
        )
    key = os.environ[variable].strip()
    # The library's error for other letters would show the value.
    if not key or not all("!" <= letter <= "~" for letter in key):
        raise DataError(
            f"the key in the environment variable {variable!r} is empty or contains spaces or "
            "letters that no key has. Copy it again."
        )
    return key


class _Api:
    """Client of the API; sends one request after the other, at most `rate` a second."""

    def __init__(
        self,
        fetcher: Fetcher,
        base_url: str,
        key_env: str,
        rate: float,
        directory: Path,
        write: bool,
    ) -> None:
        self._fetcher, self._base_url, self._key_env = fetcher, base_url.rstrip("/"), key_env
        self._interval, self._directory, self._write = 1.0 / rate, directory, write
        self._next = 0.0  # when the next request may begin
        self._lock = threading.RLock()
        self._links: dict[str, dict[str, str]] = {}  # dataset -> file -> link, until it expires

    def list_files(self, release: str, names: list[str]) -> Record:
        """Find the release, and list all files of the datasets in its record."""
        directory = self._directory
        record, known = Record.read(directory), list[str]()
        if record is None and directory.is_dir():
            if any(name[0] != "." for name in other_files(directory, ())):
                raise DataError(
                    f"{str(directory)!r} contains files but no {RECORD}, so it is not a download. "
                    "Name another directory."
                )
        elif record is not None and release not in ("latest", record.release):
            raise DataError(
                f"{str(directory)!r} contains release {record.release}, not {clip(release)}: two "
                "releases must not be mixed. Name another directory."
            )
        new = [name for name in names if record is None or name not in record.datasets]
        if new:
            read_key(self._key_env)  # fails before the first request
            id_, known = self._release(release if record is None else record.release)
            record = record or Record(release=id_)
        assert record is not None
        self._record = record
        for name in new:
            if name not in known:
                raise _unknown_dataset(name, record.release, known)
        if new and self._write:
            record.write(directory)  # from now on `latest` is this release
        for name in new:
            files = [
                self.file(name, file)
                for file in sorted(self._link_table(safe_name(name, "dataset")))
            ]
            self._fetcher.on_message(f"{name}: requesting the sizes of {count(len(files), 'file')}")
            entries = []
            for file, said in self._fetcher.in_threads(self._fetcher.look_up, files):
                if not isinstance(said, Known):
                    raise DataError(f"the size of a file is not known: {said}. {CONTINUES}")
                entries.append(FileEntry(name=file.path.name, bytes=said.bytes or 0, md5=said.md5))
            record.datasets[name] = sorted(entries, key=lambda entry: entry.name)
            if self._write:
                record.write(directory)
        return record

    def file(self, dataset: str, name: str, entry: FileEntry | None = None) -> RemoteFile:
        """Return a file of a dataset; links are requested again when they expire."""

        def link() -> str:
            with self._lock:
                return self._link_table(dataset)[name]

        def expire(link: str) -> None:
            with self._lock:
                if self._links.get(dataset, {}).get(name) == link:
                    del self._links[dataset]

        known = Known(entry.bytes, entry.md5, entry.sha256) if entry else Known()
        path = self._directory / dataset / name
        return RemoteFile(f"{dataset}/{name}", path, link, known, expire=expire)

    def _release(self, release: str) -> tuple[str, list[str]]:
        """Return the id of a release, or of the ``latest`` one, and the names of its datasets."""
        answer = self._get(f"/release/{quote(release, safe='')}")
        if answer is None:
            known = self._get("/release/")
            if not isinstance(known, list):
                raise _undocumented("no list of releases")
            names = [*map(str, known), "latest"]
            raise UnknownNameError(
                f"unknown release {clip(release)}.{did_you_mean(release, names)}"
            )
        try:
            name = safe_name(answer["release_id"], "release")
            return name, [str(dataset["name"]) for dataset in answer["datasets"]]
        except (TypeError, KeyError):
            raise _undocumented("no description of a release") from None

    def _link_table(self, dataset: str) -> dict[str, str]:
        """Return the links of a dataset by file; a new list must name the same files."""
        with self._lock:
            if dataset in self._links:
                return self._links[dataset]
            release = self._record.release
            path = f"/release/{quote(release, safe='')}/dataset/{quote(dataset, safe='')}"
            answer = self._get(path, read_key(self._key_env))
            if answer is None:
                raise _unknown_dataset(dataset, release, self._release(release)[1])
            links = answer.get("files") if isinstance(answer, dict) else None
            if not isinstance(links, list) or not links:
                raise _undocumented(f"no files of the dataset {dataset!r}")
            by_name = {object_name(link): link for link in links}
            listed = {entry.name for entry in self._record.datasets.get(dataset, ())}
            if listed and (changed := sorted(listed ^ set(by_name))):
                raise DataError(
                    f"the list of the files of {dataset!r} in release {release} has changed: "
                    f"{changed[0]} for one is in one list alone. Files of the two lists must not "
                    "be mixed: download into another directory."
                )
            self._links[dataset] = by_name
            return by_name

    def _get(self, path: str, key: str | None = None) -> Any:
        """Return the JSON at `path`, or None if the API has nothing there."""
        headers = {KEY_HEADER: key} if key else {}

        def attempt() -> tuple[int, Any]:
            now = time.monotonic()
            if self._next > now:
                time.sleep(self._next - now)
            self._next = max(now, self._next) + self._interval
            with self._fetcher.ask(self._base_url + path, headers, "the API") as response:
                try:
                    return response.status_code, response.json()
                except requests.JSONDecodeError:
                    if response.status_code == 200:
                        raise RetryError("the API answered without JSON", response.raw) from None
                    return response.status_code, None

        with self._lock:
            try:
                status, answer = self._fetcher.retry(attempt)
            except FailedError as error:
                raise ArenaError(
                    f"the Datasets API cannot be asked for {path}: {error}. {CONTINUES}"
                ) from None
        if status in (200, 404):
            return answer if status == 200 else None
        said = f"status {status}"
        if isinstance(answer, dict):  # the API's own message, in which the key may be repeated
            text = str(answer.get("message") or answer.get("error") or "")
            said += f": {clip(text.replace(key or chr(0), '***'))}" if text else ""
        if status in (401, 403):
            raise DataError(
                f"the Datasets API refuses {'the key' if key else 'the request'} ({said}). Is the "
                "key right, and still valid?"
            )
        raise ArenaError(f"the Datasets API answered {path} with {said}.")


def _unknown_dataset(name: str, release: str, known: list[str]) -> UnknownNameError:
    return UnknownNameError(
        f"unknown dataset {clip(name)} in release {release}.{did_you_mean(name, known)}"
    )


def _undocumented(problem: str) -> ArenaError:
    return ArenaError(
        f"the Datasets API answered with something else than documented: {problem}. Is the base "
        "URL right?"
    )
