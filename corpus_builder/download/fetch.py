"""Files over HTTP: fetched side by side, resumed after broken connections and kills, verified."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import requests
import urllib3
from requests.adapters import HTTPAdapter

from arena.errors import DataError
from arena.kit.files import atomic_write
from arena.kit.terminal import progress
from arena.kit.workdir import clear_temporary, exclusive_lock
from arena.text.display import count

T = TypeVar("T")

KEY_HEADER = "x-api-key"
CONTINUES = "The same command continues from here."
PAUSE = 0.5  # seconds before the second retry; then they double, to a minute at most
_BLOCK = 1 << 18
_RESTARTS = 3  # attempts at a file whose content turned out to be wrong each time
_MAY_PASS = (408, 425, 429, 500, 502, 503, 504)


class FailedError(Exception):
    """One file, or one answer, cannot be fetched; others may."""


class RestartError(Exception):
    """The received bytes are wrong: the file must be fetched from its beginning."""


class RetryError(Exception):
    """An attempt failed for a reason that may pass, with the response if there was one."""

    def __init__(self, reason: str, response: Any = None) -> None:
        super().__init__(reason)
        self.response = response


class Known(NamedTuple):
    """What a server, a publisher or a record says of a file; None where it says nothing."""

    bytes: int | None = None
    md5: str | None = None
    sha256: str | None = None


def known_of(size: int | None, headers: Mapping[str, str]) -> Known:
    """Return what the headers of a response say of an object of so many bytes.

    The ETag is the MD5 of an object put in one part, but not if it is encrypted with a key of its
    own (Amazon S3 API reference, "Object": ETag).
    """
    keyed = "kms" in headers.get("x-amz-server-side-encryption", "")
    md5 = re.fullmatch('"([0-9a-f]{32})"', headers.get("ETag", ""))
    return Known(size, None if md5 is None or keyed else md5[1])


def compare(path: Path, known: Known) -> tuple[str, str | None]:
    """Return the SHA-256 of a file, and how it differs from what is known of it, or None."""
    sha256, size = _digest(path, "sha256"), path.stat().st_size
    if known.bytes not in (None, size):
        return sha256, f"size {size} instead of {known.bytes}"
    if known.md5 is not None and (md5 := _digest(path, "md5")) != known.md5:
        return sha256, f"MD5 {md5} instead of {known.md5}"
    wrong = known.sha256 not in (None, sha256)
    return sha256, f"SHA-256 {sha256} instead of {known.sha256}" if wrong else None


def _digest(path: Path, name: str) -> str:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.new(name, usedforsecurity=False))
        return digest.hexdigest()


def gzip_damage(path: Path, suffix: str = ".gz") -> str | None:
    """Return why a file whose name ends with ``.gz`` is not a complete gzip file, or None."""
    if suffix != ".gz":
        return None
    try:
        with gzip.open(path) as file:
            while file.read(1 << 20):
                pass
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        return f"it is damaged at its source ({error})"
    return None if path.stat().st_size else "it is empty at its source"


class RemoteFile(NamedTuple):
    """A file to be fetched; `label` is its dataset and name, for messages.

    `link` returns its address, which may expire; `expire`, if any, is called with one that the
    server refuses. `known` is what is recorded of it, and `pinned` the SHA-256 that it must have,
    or None.
    """

    label: str
    path: Path
    link: Callable[[], str]
    known: Known = Known()
    pinned: str | None = None
    headers: Mapping[str, str] = {}
    expire: Callable[[str], None] | None = None

    @property
    def here(self) -> bool:
        """Whether a file of the right size is there."""
        return self.path.is_file() and self.known.bytes in (None, self.path.stat().st_size)

    @property
    def part(self) -> Path:
        """What has been received of it."""
        return self.path.with_name(f".{self.path.name}.part")

    @property
    def etag(self) -> Path:
        """The strong ETag of the object of which `part` is the beginning."""
        return self.path.with_name(f".{self.path.name}.etag")

    def discard(self, received: Callable[[int], None]) -> None:
        """Remove what has been received, the bytes first."""
        received(-size_of(self.part))
        self.part.unlink(missing_ok=True)
        self.etag.unlink(missing_ok=True)


def size_of(path: Path) -> int:
    """Return the number of bytes of a file, 0 if there is none."""
    return path.stat().st_size if path.is_file() else 0


class Fetcher(requests.Session):
    """Fetches and verifies the files of one download, `parallel` at once.

    A connection is dropped after `patience` seconds without a byte; `attempts` counts those in a
    row without one. `on_message` is called with each line of progress.
    """

    def __init__(
        self, parallel: int, patience: float, attempts: int, on_message: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._parallel, self._patience, self._attempts = parallel, patience, attempts
        self.on_message, self._stop = on_message, threading.Event()
        self._policy = urllib3.Retry(
            attempts - 1, backoff_factor=PAUSE, backoff_max=60, retry_after_max=900
        )
        self.max_redirects = 5
        self.auth = lambda request: request  # otherwise requests sends what ~/.netrc has
        # Sizes and checksums are those of the stored bytes.
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

    def retry(self, attempt: Callable[[], T], size: Callable[[], int] = lambda: 0) -> T:
        """Return what `attempt` returns; repeat it by urllib3's `Retry` after what may pass.

        An attempt after which `size` has grown does not count. Raise FailedError at the end.
        """
        policy, restarts, most = self._policy, 0, size()
        while not self._stop.is_set():
            response = None
            try:
                return attempt()
            except RestartError as error:
                restarts += 1
                if restarts >= _RESTARTS:
                    raise FailedError(f"{error} ({count(restarts, 'time')})") from None
                continue
            except RetryError as error:
                reason, response = str(error), error.response
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                if isinstance(error, OSError) and not isinstance(error, requests.RequestException):
                    raise  # of the disk
                reason = _reason(error, self._patience)
            if size() > most:
                most, policy = size(), self._policy
            try:
                policy = policy.increment("GET", error=Exception(reason))
            except urllib3.exceptions.MaxRetryError:
                raise FailedError(
                    f"{reason} (in each of {count(self._attempts, 'attempt')})"
                ) from None
            policy.sleep(response)
        raise FailedError("the download was stopped")

    def ask(self, url: str, headers: Mapping[str, str], server: str) -> requests.Response:
        """Return the response to a GET; the caller reads its body and closes it.

        Raise RetryError, which names the server, if a later request may succeed.
        """
        response = self.get(url, headers=headers, stream=True, timeout=self._patience)
        if response.status_code in _MAY_PASS:
            response.close()
            raise RetryError(f"{server} answered {response.status_code}", response.raw)
        return response

    def look_up(self, file: RemoteFile) -> Known:
        """Return what the storage says of a file when asked for its first byte."""

        def attempt() -> Known:
            with self._ask_storage(file, {"Range": "bytes=0-0"}) as response:
                size = response.headers.get("Content-Range", "").rpartition("/")[2]
                if response.status_code == 200 and "ETag" in response.headers:
                    size = response.headers.get("Content-Length", "")
                if not size.isdecimal():
                    raise RetryError("the storage does not say how large the object is")
                return known_of(int(size), response.headers)

        return self.retry(attempt)

    def _ask_storage(self, file: RemoteFile, headers: Mapping[str, str]) -> requests.Response:
        """Return a response of status 200, 206 or 416."""
        link = file.link()
        response = self.ask(link, {**file.headers, **headers}, "the storage")
        status = response.status_code
        if status in (200, 206, 416):
            return response
        response.close()
        reason = f"the storage answered {status} ({response.reason})"
        # Amazon S3 answers 403 when a link has expired, or 400 when its token has.
        if file.expire and status in (400, 401, 403):
            file.expire(link)
            raise RetryError(reason)
        raise FailedError(reason)

    def fetch(self, file: RemoteFile, received: Callable[[int], None]) -> Known:
        """Fetch a file, or the rest of it; return what is known of it now."""
        part = file.part

        def attempt() -> Known:
            known = self._receive(file, received)
            sha256, wrong = compare(part, known._replace(sha256=file.pinned))
            wrong = wrong or gzip_damage(part, file.path.suffix)
            if wrong:
                file.discard(received)
                raise RestartError(wrong)
            with part.open("rb") as opened:
                os.fsync(opened.fileno())
            whole = known._replace(bytes=size_of(part), sha256=sha256)
            part.replace(file.path)
            file.etag.unlink(missing_ok=True)
            return whole

        try:
            return self.retry(attempt, lambda: size_of(part))
        except OSError as error:
            raise DataError(
                f"cannot write {str(file.path)!r}: {error.strerror or error}. Make room; the same "
                "command continues from here."
            ) from None

    def _receive(self, file: RemoteFile, received: Callable[[int], None]) -> Known:
        """Receive an object from its beginning, or the rest of the same object."""
        part, have, before, headers = file.part, size_of(file.part), "", {}
        if have and file.etag.is_file():
            before = file.etag.read_text()
            headers = {"Range": f"bytes={have}-", "If-Range": before}
        with self._ask_storage(file, headers) as response:
            tag = response.headers.get("ETag", before)
            span = re.fullmatch(
                r"bytes (?:(\d+)-\d+|\*)/(\d+)", response.headers.get("Content-Range", "")
            )
            if response.status_code == 200:  # the whole object, requested or because it changed
                length = response.headers.get("Content-Length", "")
                size = int(length) if length.isdecimal() else None
                if file.known.bytes not in (None, size) and "ETag" not in response.headers:
                    # Not the object but, say, a proxy's page: keep what is on disk.
                    raise RetryError(f"{length} bytes were announced, not {file.known.bytes}")
                file.discard(received)
                if tag.startswith('"'):  # W/"..." does not promise the bytes
                    atomic_write(file.etag, tag)
            elif not (span and (span[1] or span[2]) == str(have) and tag == before != ""):
                file.discard(received)
                raise RestartError(f"the object has changed, or ends before byte {have:,}")
            else:
                size = int(span[2])
            if response.status_code != 416:  # it is complete already
                with part.open("ab") as opened:
                    while data := response.raw.read1(_BLOCK, decode_content=False):
                        if self._stop.is_set():
                            raise FailedError("the download was stopped")
                        opened.write(data)
                        received(len(data))
        if size is not None and size_of(part) < size:
            raise RetryError(f"the connection ended after {size_of(part):,} of {size:,} bytes")
        return known_of(size, response.headers)

    def in_threads(
        self, function: Callable[[RemoteFile], Known], files: Sequence[RemoteFile]
    ) -> Iterator[tuple[RemoteFile, Known | FailedError]]:
        """Yield each file with its result, or why it has none, as it is done."""

        def work(file: RemoteFile) -> tuple[RemoteFile, Known | FailedError]:
            try:
                return file, function(file)
            except FailedError as error:
                return file, FailedError(f"{file.label}: {error}")

        # Its threads, unlike those of an executor, do not make Ctrl-C wait for a dead connection;
        # what they write can be resumed at any moment.
        with ThreadPool(max(1, min(self._parallel, len(files)))) as pool:
            yield from pool.imap_unordered(work, files)

    def fetch_all(
        self,
        files: Sequence[RemoteFile],
        on_done: Callable[[RemoteFile, Known], None],
        verify: bool = False,
    ) -> dict[str, int]:
        """Fetch files; return the number of fetched ``files`` and received ``bytes``.

        With `verify`, complete files are read again. `on_done` gets each verified file.
        """
        todo = [file for file in files if verify or not (file.here and file.known.sha256)]
        counts, lock = {"files": 0, "bytes": 0}, threading.Lock()
        failures: list[FailedError] = []
        whole, in_a_row = len(files) - len(todo), 0
        total = sum(file.known.bytes or 0 for file in todo)
        with progress(total=total, desc="download", unit="B", unit_scale=True) as bar:

            def received(count: int) -> None:
                with lock:
                    bar.update(count)
                    counts["bytes"] += max(count, 0)

            def complete(file: RemoteFile) -> Known:
                file.path.parent.mkdir(parents=True, exist_ok=True)
                if file.path.exists():
                    sha256, wrong = compare(file.path, file.known)
                    if not (wrong or gzip_damage(file.path, file.path.suffix)):
                        file.etag.unlink(missing_ok=True)
                        return file.known._replace(sha256=sha256)
                    self.on_message(f"{file.label} is damaged: fetching it again")
                bar.update(size_of(file.part))
                fetched = self.fetch(file, received)
                with lock:
                    counts["files"] += 1
                return fetched

            for file, now in self.in_threads(complete, todo):
                if isinstance(now, Known):
                    whole, in_a_row = whole + 1, 0
                    on_done(file, now)
                    continue
                failures.append(now)
                self.on_message(f"given up for now: {now}")
                in_a_row += 1
                if in_a_row >= max(3, self._parallel):
                    break  # the server, not the files, causes this
        if failures:
            more = f"; {len(failures) - 1} more failed" if failures[1:] else ""
            raise DataError(
                f"{whole} of {count(len(files), 'file is', 'files are')} complete. "
                f"{failures[0]}{more}. {CONTINUES}"
            )
        return counts


def _reason(error: BaseException, patience: float) -> str:
    """Say why a connection failed without the error's own words: they repeat the signed address."""
    causes = [error]
    for cause in causes:  # grows
        inner = (*cause.args, getattr(cause, "reason", None), cause.__cause__, cause.__context__)
        causes += [e for e in inner if isinstance(e, BaseException) and e not in causes]
    # A refused connection is a time-out to urllib3, so the system's own words come first.
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return str(cause.strerror)
    if any(isinstance(e, requests.Timeout | urllib3.exceptions.TimeoutError) for e in causes):
        return f"no byte within {patience:g} s"
    return f"the connection failed ({type(error).__name__})"


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
