"""Files over HTTP: fetched side by side, resumed after broken connections and kills, verified."""

from __future__ import annotations

import gzip
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson
import requests
import urllib3
from requests.adapters import HTTPAdapter

from arena.errors import DataError
from arena.kit.files import atomic_write, sha256_file
from arena.kit.terminal import progress
from arena.kit.workdir import clear_temporary, exclusive_lock
from arena.text.display import count, whole_letters

T = TypeVar("T")

KEY_HEADER = "x-api-key"
CONTINUES = "The same command continues from here."
ATTEMPTS = 6  # in a row that bring nothing
PATIENCE = 60.0  # seconds without a byte
PAUSE = 1.0  # seconds before the second attempt; then they double, to a minute at most
LARGEST, LONGEST = 64 << 20, 60  # bytes of JSON, unpacked, and seconds that it may take
_LONGEST_WAIT = 900  # seconds that a server may ask for; a spent budget asks for hours
_RESTARTS = 3  # attempts at a file whose content turned out to be wrong each time
_MAY_PASS = (408, 425, 429, 500, 502, 503, 504)


class FailedError(Exception):
    """One file, or one answer, cannot be fetched; others may."""


class RetryError(Exception):
    """An attempt failed for a reason that may pass; the server asks for so many seconds."""

    def __init__(self, reason: str, wait: float = 0) -> None:
        super().__init__(reason)
        self.wait = wait


class RemoteFile(NamedTuple):
    """A file to be fetched; `label` is its dataset and name, for messages.

    `link` returns its address, another one after the address that it is given was refused;
    `sha256` is the hash that it must have, if that is known.
    """

    label: str
    path: Path
    link: Callable[[str], str]
    sha256: str | None = None
    headers: Mapping[str, str] = {}

    @property
    def part(self) -> Path:
        """The part of it that has been received."""
        return self.path.with_name(f".{self.path.name}.part")

    @property
    def etag(self) -> Path:
        """The strong ETag of the object of which `part` is the beginning."""
        return self.path.with_name(f".{self.path.name}.etag")

    def discard(self) -> None:
        """Remove what has been received, the bytes first."""
        self.part.unlink(missing_ok=True)
        self.etag.unlink(missing_ok=True)

    def damage(self, path: Path) -> str | None:
        """Return why a file at `path` is not this one, or None."""
        sha256 = sha256_file(path)
        if self.sha256 not in (None, sha256):
            return f"SHA-256 {sha256} instead of {self.sha256}"
        if self.path.suffix != ".gz":
            return None
        try:
            with gzip.open(path) as file:
                while file.read(1 << 20):
                    pass
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            return f"it is damaged at its source ({error})"
        return None if path.stat().st_size else "it is empty at its source"


class Fetcher(requests.Session):
    """Fetches and verifies the files of one download, `parallel` at once.

    `on_message` is called with each line of progress.
    """

    def __init__(self, parallel: int, on_message: Callable[[str], None]) -> None:
        super().__init__()
        self._parallel, self.on_message, self._stop = parallel, on_message, threading.Event()
        self.max_redirects = 5
        self.auth = lambda request: request  # otherwise requests sends what ~/.netrc has
        # Ranges and hashes are those of the stored bytes.
        self.headers.update({"Accept-Encoding": "identity", "User-Agent": "researcharena"})
        for scheme in ("http://", "https://"):
            self.mount(scheme, HTTPAdapter(pool_maxsize=parallel + 1))

    def close(self) -> None:
        """Stop all threads."""
        self._stop.set()
        super().close()

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Drop key and token when a redirect leads to another host or port."""
        if self.should_strip_auth(str(response.request.url), str(prepared_request.url)):
            for header in (KEY_HEADER, "Authorization"):
                prepared_request.headers.pop(header, None)

    def ask(self, url: str, server: str, **options: Any) -> tuple[int, Any]:
        """Return status and JSON of the answer to a GET; None in place of other content.

        Raise FailedError, which names the server, if it cannot be had, or is too large.
        """

        def attempt() -> tuple[int, Any]:
            with self._request(url, server, **options) as response:
                status, body = response.status_code, _read(response, server)
            try:
                return status, orjson.loads(whole_letters(body))
            except ValueError:
                if status == 200:
                    raise RetryError(f"{server} answered without JSON") from None
                return status, None

        return self._retry(attempt)

    def _retry(self, attempt: Callable[[], T], size: Callable[[], int] = lambda: 0) -> T:
        """Return what `attempt` returns; repeat it after what may pass.

        An attempt after which `size` has grown does not count. Raise FailedError at the end.
        """
        failures, most = 0, size()
        while not self._stop.is_set():
            wait = 0.0
            try:
                return attempt()
            except RetryError as error:
                reason, wait = str(error), error.wait
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                reason = _reason(error)
            failures, most = (1 if size() > most else failures + 1), max(most, size())
            if wait > _LONGEST_WAIT:
                raise FailedError(f"{reason} and asks to wait {wait / 3600:.1f} hours")
            if failures >= ATTEMPTS:
                raise FailedError(f"{reason} (in each of {count(failures, 'attempt')})")
            self._stop.wait(max(wait, min(PAUSE * 2 ** (failures - 1), 60)))
        raise FailedError("the download was stopped")

    def _request(self, url: str, server: str, **options: Any) -> requests.Response:
        """Return the response to a GET; the caller reads its body and closes it."""
        response = self.get(url, stream=True, timeout=PATIENCE, **options)
        if response.status_code in _MAY_PASS:
            response.close()
            wait = response.headers.get("Retry-After", "")
            reason = f"{server} answered {response.status_code}"
            raise RetryError(reason, float(wait) if wait.isdecimal() else 0)
        return response

    def _fetch(self, file: RemoteFile, received: Callable[[int], None]) -> bool:
        """Fetch a file, or the rest of it; return whether it was not there."""
        file.path.parent.mkdir(parents=True, exist_ok=True)
        if file.path.exists():
            if not file.damage(file.path):
                file.etag.unlink(missing_ok=True)  # left by a kill after the file was put
                return False
            self.on_message(f"{file.label} is damaged: fetching it again")
        try:
            for _ in range(_RESTARTS):
                self._retry(lambda: self._receive(file, received), lambda: _size_of(file.part))
                wrong = file.damage(file.part)
                if wrong is None:
                    with file.part.open("rb") as opened:
                        os.fsync(opened.fileno())
                    file.part.replace(file.path)
                    file.etag.unlink(missing_ok=True)
                    return True
                file.discard()
        except OSError as error:
            raise DataError(
                f"cannot write {str(file.path)!r}: {error.strerror or error}. Make room; the same "
                "command continues from here."
            ) from None
        raise FailedError(f"{wrong} ({_RESTARTS} times)")

    def _receive(self, file: RemoteFile, received: Callable[[int], None]) -> None:
        """Receive an object from its beginning, or the rest of the same object."""
        have, link, headers = _size_of(file.part), file.link(""), {**file.headers}
        if have and file.etag.is_file():
            headers |= {"Range": f"bytes={have}-", "If-Range": file.etag.read_text()}
        with self._request(link, "the storage", headers=headers) as response:
            status, span = response.status_code, response.headers.get("Content-Range", "")
            size = response.headers.get("Content-Length", "")
            if status == 416 and span == f"bytes */{have}":
                return  # it is complete
            if status == 206 and span.startswith(f"bytes {have}-"):
                size = span.rpartition("/")[2]
            elif status in (200, 206, 416):  # the whole, requested or because it changed
                file.discard()
                if status != 200:
                    raise RetryError(f"the object has changed, or ends before byte {have:,}")
                if (tag := response.headers.get("ETag", "")).startswith('"'):
                    atomic_write(file.etag, tag)  # W/"..." does not promise the bytes
            else:
                reason = f"the storage answered {status} ({response.reason})"
                # Amazon S3 answers 403 when a link has expired, or 400 when its token has.
                if status in (400, 401, 403) and file.link(link) != link:
                    raise RetryError(reason)
                raise FailedError(reason)
            with file.part.open("ab") as opened:
                while data := response.raw.read1(1 << 18, decode_content=False):
                    if self._stop.is_set():
                        raise FailedError("the download was stopped")
                    opened.write(data)
                    received(len(data))
        if size.isdecimal() and _size_of(file.part) < int(size):
            have = _size_of(file.part)
            raise RetryError(f"the connection ended after {have:,} of {int(size):,} bytes")

    def fetch_all(
        self, files: Sequence[RemoteFile], on_done: Callable[[RemoteFile], None]
    ) -> dict[str, int]:
        """Fetch files; return the number of fetched ``files`` and received ``bytes``.

        `on_done` gets each file that is there and verified.
        """
        counts, lock = {"files": 0, "bytes": 0}, threading.Lock()
        failures = list[str]()
        with progress(desc="download", unit="B", unit_scale=True) as bar:

            def received(count: int) -> None:
                with lock:
                    bar.update(count)
                    counts["bytes"] += count

            def work(file: RemoteFile) -> tuple[RemoteFile, bool, str]:
                try:
                    return file, self._fetch(file, received), ""
                except FailedError as error:
                    return file, False, f"{file.label}: {error}"

            # Its threads, unlike those of an executor, do not make Ctrl-C wait for a dead
            # connection; what they write can be resumed at any moment.
            with ThreadPool(max(1, min(self._parallel, len(files)))) as pool:
                for file, new, failure in pool.imap_unordered(work, files):
                    counts["files"] += new
                    if failure:
                        failures.append(failure)
                        self.on_message(f"given up for now: {failure}")
                    else:
                        on_done(file)
        if failures:
            more = f"; {len(failures) - 1} more failed" if failures[1:] else ""
            whole, files_are = len(files) - len(failures), count(len(files), "file is", "files are")
            raise DataError(f"{whole} of {files_are} complete. {failures[0]}{more}. {CONTINUES}")
        return counts


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _read(response: requests.Response, server: str) -> bytes:
    """Return the body of a response, unpacked."""
    parts, size, end = [], 0, time.monotonic() + LONGEST
    while part := response.raw.read1(1 << 16, decode_content=True):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise FailedError(f"the answer of {server} has more than {LARGEST:,} bytes")
        if time.monotonic() > end:
            raise FailedError(f"the answer of {server} takes more than {LONGEST} s")
    return b"".join(parts)


def _reason(error: BaseException) -> str:
    """Say why a connection failed without the error's own words: they repeat the signed address."""
    cause = error
    while cause.__context__ is not None and not getattr(cause, "strerror", None):
        cause = cause.__context__
    return getattr(cause, "strerror", "") or f"the connection failed ({type(error).__name__})"


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Lock a directory of downloads; remove it again if nothing was written."""
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{str(directory)!r} is not a directory. Name another one.")
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with exclusive_lock(directory / ".download.lock", directory):
            clear_temporary([directory], deep=True)
            yield
    finally:
        with suppress(OSError):
            directory.rmdir()
