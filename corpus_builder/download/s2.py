"""Datasets of a release of Semantic Scholar, through its Datasets API."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlsplit

from annotated_types import Interval

from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.kit.files import schema_error
from arena.kit.options import checked
from arena.kit.workdir import other_files
from corpus_builder.download.fetch import (
    CONTINUES,
    KEY_HEADER,
    FailedError,
    Fetcher,
    RemoteFile,
    writing,
)
from corpus_builder.release.folder import RECORD, FileEntry, Record, safe_name

BASE_URL = "https://api.semanticscholar.org/datasets/v1"
DATASETS = ("papers", "abstracts", "citations", "s2orc")
FORM = "https://www.semanticscholar.org/product/api#api-key-form"
KEY = "S2_API_KEY"
INTERVAL = 1.0  # seconds between requests to the API


def object_name(link: object) -> str:
    """Return the file name for a link: the last part of its path, with ``.gz``.

    >>> object_name("https://s3.example/2024-02-06/papers/00_a%2Bb.gz?Expires=1&Signature=x")
    '00_a+b.gz'
    """
    if not isinstance(link, str) or not link.startswith(("https://", "http://")):
        # The message must not show the link: anyone who has it can fetch the object.
        raise DataError("the server gives something for a link that is not an http address.")
    name = safe_name(unquote(urlsplit(link).path.rpartition("/")[2]), "file")
    return name if name.endswith(".gz") else f"{name}.gz"


@checked
def download(
    output: str | Path,
    release: str = "latest",
    datasets: tuple[str, ...] = DATASETS,
    *,
    parallel: Annotated[int, Interval(ge=1, le=64)] = 4,
    base_url: str = BASE_URL,
    on_message: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Fetch datasets of a release of Semantic Scholar; continue where an earlier call stopped.

    Args:
        output (DIR): A new directory, or one to continue.
        release (ID): Release such as 2024-02-06.
        datasets (NAMES): Datasets with commas.
        parallel: Files at once.
        base_url (URL): Address of the API.
        on_message: Called with each line of progress.

    Example:
        arena-corpus download s2orc --release latest --output DIR

    Returns:
        ``release``, ``datasets`` (name -> number of files), and of this call the number of
        ``files`` and the received ``bytes``.
    """
    if not base_url.startswith(("http://", "https://")):
        raise DataError(f"base URL {clip(base_url)}: must begin with https:// or http://.")
    if not datasets:
        raise DataError(f"no dataset is named. Name some, such as {','.join(DATASETS)}.")
    directory, names = Path(output), list(dict.fromkeys(datasets))
    with ExitStack() as stack:
        stack.enter_context(writing(directory))
        fetcher = stack.enter_context(closing(Fetcher(parallel, on_message)))
        api = _Api(fetcher, base_url)
        record = _listed(api, directory, release, names)
        missing = {
            directory / name / entry.name: entry
            for name in names
            for entry in record.datasets[name]
            if not _is_there(directory / name / entry.name, entry.bytes)
        }
        files = [
            RemoteFile(f"{path.parent.name}/{path.name}", path, partial(api.link, record, path))
            for path in missing
        ]

        def on_done(file: RemoteFile) -> None:
            missing[file.path].bytes = file.path.stat().st_size
            record.write(directory)

        counts = fetcher.fetch_all(files, on_done)
        sizes = {name: len(record.datasets[name]) for name in names}
        return {"release": record.release, "datasets": sizes, **counts}


def _is_there(path: Path, size: int | None) -> bool:
    return path.is_file() and path.stat().st_size == size


def _listed(api: _Api, directory: Path, release: str, names: list[str]) -> Record:
    """Return the record of a directory, which lists the files of the datasets."""
    record, known = Record.read(directory), list[str]()
    if record is None and any(name[0] != "." for name in other_files(directory, ())):
        raise DataError(
            f"{str(directory)!r} contains files but no {RECORD}, so it is not a download. Name "
            "another directory."
        )
    if record is not None and release not in ("latest", record.release):
        raise DataError(
            f"{str(directory)!r} contains release {record.release}, not {clip(release)}: two "
            "releases must not be mixed. Name another directory."
        )
    new = [name for name in names if record is None or name not in record.datasets]
    if new:
        read_key()  # fails before the first request
        id_, known = api.release(release if record is None else record.release)
        record = record or Record(release=id_)
    assert record is not None
    if unknown := set(new).difference(known):
        name = min(unknown)
        raise UnknownNameError(
            f"unknown dataset {clip(name)} in release {record.release}.{did_you_mean(name, known)}"
        )
    for name in new:
        links = sorted(api.links(record.release, safe_name(name, "dataset")))
        record.datasets[name] = [FileEntry(name=link) for link in links]
        record.write(directory)  # from now on `latest` is this release
    return record


def read_key() -> str:
    """Return the API key in the environment variable; no message shows it."""
    key = os.environ.get(KEY, "").strip()
    # The library's error for other letters would show the value.
    if not key or not all("!" <= letter <= "~" for letter in key):
        raise DataError(
            f"no key of the Datasets API: the environment variable {KEY} is not set, or contains "
            f"letters that no key has. Ask for a key at {FORM}, then `export {KEY}=...`."
        )
    return key


class _Api:
    """Client of the API; sends one request after the other, one each `INTERVAL`."""

    def __init__(self, fetcher: Fetcher, base_url: str) -> None:
        self._fetcher, self._base_url = fetcher, base_url.rstrip("/")
        self._lock, self._next = threading.Lock(), 0.0  # when the next request may begin
        self._links: dict[str, dict[str, str]] = {}  # dataset -> file -> link, until it expires

    def release(self, release: str) -> tuple[str, list[str]]:
        """Return the id of a release, or of the ``latest`` one, and the names of its datasets."""
        answer = self._get(f"/release/{quote(release, safe='')}")
        if answer is None:
            raise UnknownNameError(f"unknown release {clip(release)}.")
        if why := schema_error(answer, {"release_id": str, "datasets": list}):
            raise ArenaError(f"the Datasets API describes no release: {why}. Is the URL right?")
        named = [of["name"] for of in answer["datasets"] if not schema_error(of, {"name": str})]
        return safe_name(answer["release_id"], "release"), named

    def links(self, release: str, dataset: str) -> dict[str, str]:
        """Ask for the links of a dataset, and return them by file name."""
        path = f"/release/{quote(release, safe='')}/dataset/{quote(dataset, safe='')}"
        answer = self._get(path, read_key())
        if schema_error(answer, {"files": list}) or not answer["files"]:
            raise ArenaError(f"the Datasets API lists no files of {dataset!r}. Is the URL right?")
        self._links[dataset] = {object_name(link): link for link in answer["files"]}
        return self._links[dataset]

    def link(self, record: Record, path: Path, refused: str) -> str:
        """Return the link to a file; all links are asked for again once one was refused."""
        dataset = path.parent.name
        with self._lock:
            links = self._links.get(dataset)
            if links is None or (refused and links[path.name] == refused):
                links = self.links(record.release, dataset)
            if path.name not in links:
                raise DataError(
                    f"the list of the files of {dataset!r} in release {record.release} has "
                    f"changed: it lacks {path.name}. Download into another directory."
                )
            return links[path.name]

    def _get(self, path: str, key: str = "") -> Any:
        """Return the JSON at `path`, or None if the API has nothing there."""
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + INTERVAL
        headers = {KEY_HEADER: key} if key else {}
        try:
            status, answer = self._fetcher.ask(self._base_url + path, "the API", headers=headers)
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
            refused = "the key" if key else "the request"
            raise DataError(f"the Datasets API refuses {refused} ({said}). Is the key right?")
        raise ArenaError(f"the Datasets API answered {path} with {said}.")
