"""Files over HTTP: fetched side by side, resumed after broken connections and kills, verified."""

from __future__ import annotations

import errno
import http.cookiejar
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.pool import ThreadPool
from typing import NoReturn, TypeVar

import requests
import urllib3
from requests.adapters import HTTPAdapter

from arena._internal.terminal import progress
from arena.errors import DataError
from corpus_builder.download.parts import (
    Claims,
    PartFile,
    RemoteFile,
    claims,
    compare,
    gzip_damage,
)

T = TypeVar("T")

KEY_HEADER = "x-api-key"
GO_ON = "The same command goes on from here."
LONGEST_PAUSE = 900.0
"""Seconds; if a server asks for a longer pause, the request fails."""

_BLOCK = 1 << 18
_SLOWEST = 1024  # bytes a second; a connection that gives less counts as dead
_RESTARTS = 3  # attempts at a file whose content turned out to be wrong each time
_FIRST_PAUSE, _LONGEST_BACKOFF = 0.5, 60.0
_REDIRECTS = 5


class TransientError(Exception):
    """An attempt failed for a reason that may pass.

    Attributes:
        pause: Seconds that the server asked for, or None.
    """

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class RestartError(Exception):
    """The received bytes are wrong: the file must be fetched from its beginning."""


class FailedError(Exception):
    """One file, or one answer, cannot be fetched; others may."""


class StoppedError(Exception):
    """The download stops: another thread failed, too many files did, or the user pressed Ctrl-C."""


class Fetcher(requests.Session):
    """Fetches and verifies the files of one download, several at once.

    Args:
        parallel: Number of files fetched at once.
        patience: Seconds without a byte, or with hardly any, after which a connection is dropped.
        attempts: Number of attempts in a row without a byte.
        on_message: Function called with each line of progress.
        sleep: Function that waits for a number of seconds.
    """

    def __init__(
        self,
        parallel: int,
        patience: float,
        attempts: int,
        on_message: Callable[[str], None],
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__()
        self._parallel, self._patience, self._attempts = parallel, patience, attempts
        self.on_message, self._stop = on_message, threading.Event()
        self.sleep = self._wait if sleep is None else sleep
        self.max_redirects = _REDIRECTS
        self.auth = lambda request: request  # otherwise requests sends what ~/.netrc holds
        self.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        # Sizes and checksums are those of the stored bytes.
        self.headers.update({"Accept-Encoding": "identity", "User-Agent": "researcharena"})
        for scheme in ("http://", "https://"):
            self.mount(scheme, HTTPAdapter(pool_maxsize=parallel + 1))

    def close(self) -> None:
        """Stop all threads."""
        self._stop.set()
        super().close()

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise StoppedError

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Drop key and token when a redirect leads to another host or port."""
        if self.should_strip_auth(str(response.request.url), str(prepared_request.url)):
            for header in (KEY_HEADER, "Authorization"):
                prepared_request.headers.pop(header, None)

    def open(self, url: str, headers: Mapping[str, str], server: str) -> requests.Response:
        """Return the response to a GET; the caller reads its body and closes it.

        Raises:
            TransientError: If no response came, or one that says that a later request may succeed;
                the message names the server.
        """
        try:
            response = self.get(url, headers=headers, stream=True, timeout=self._patience)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            self._fail(error)
        status, pause = response.status_code, None
        if status not in (408, 425, 429) and status < 500:
            return response
        response.close()
        with suppress(urllib3.exceptions.InvalidHeader):
            pause = urllib3.Retry().parse_retry_after(response.headers.get("Retry-After", ""))
        raise TransientError(f"{server} answered {status}", pause)

    def blocks(self, response: requests.Response) -> Iterator[bytes]:
        """Yield the body as the server stores it, in blocks of at most 256 KiB.

        Raises:
            TransientError: If the connection breaks or nearly stands still.
            StoppedError: If the whole download stops.
        """
        begun, received = time.monotonic(), 0
        while True:
            try:
                data = response.raw.read1(_BLOCK, decode_content=False)
            except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
                self._fail(error)
            if self._stop.is_set():
                raise StoppedError
            if not data:
                return
            yield data
            received += len(data)
            seconds = time.monotonic() - begun
            if seconds >= self._patience:
                if received < _SLOWEST * seconds:
                    raise TransientError(
                        f"fewer than {_SLOWEST} bytes a second for {self._patience:g} s"
                    )
                begun, received = time.monotonic(), 0

    def text(self, response: requests.Response) -> bytes:
        """Return a short body.

        Raises:
            TransientError: If the connection breaks.
        """
        try:
            return response.content
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> NoReturn:
        """Raise `TransientError` without the error's own words: they repeat the signed address."""
        causes = [error]
        for cause in causes:  # grows
            inner = (*cause.args, getattr(cause, "reason", None), cause.__cause__)
            inner = (*inner, cause.__context__)
            causes += [e for e in inner if isinstance(e, BaseException) and e not in causes]
        wrong_link = requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL
        timeouts = requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError
        # A refused connection is a time-out to urllib3, so the system's own words come first.
        reasons = [e.strerror for e in causes if isinstance(e, OSError) and e.strerror]
        for kind, reason in (
            (timeouts, f"no byte within {self._patience:g} s"),
            (urllib3.exceptions.IncompleteRead, "the connection ended early"),
            (requests.TooManyRedirects, f"redirected more than {_REDIRECTS} times"),
            (wrong_link, "redirected to something that is no http address"),
            (Exception, f"the connection failed ({type(error).__name__})"),
        ):
            reasons += [reason] * any(isinstance(cause, kind) for cause in causes)
        raise TransientError(reasons[0]) from None

    def retry(
        self, attempt: Callable[[], T], key: str, progress: Callable[[], int] = lambda: 0
    ) -> T:
        """Return what `attempt` returns; repeat it after a `TransientError` or `RestartError`.

        It fails after so many attempts in a row without `progress`, a number of bytes. Pauses
        double from half a second to a minute, or are those that the server asks for. Their jitter
        depends on `key` and the attempt alone.

        Raises:
            FailedError: If all attempts fail.
        """
        failures = restarts = total = 0
        while True:
            before, pause = progress(), 0.0
            total += 1
            try:
                return attempt()
            except RestartError as error:
                failures, restarts = 0, restarts + 1
                if restarts >= _RESTARTS:
                    raise FailedError(f"{error} ({restarts} times)") from None
            except TransientError as error:
                pause = error.pause or 0.0
                failures = 1 if progress() > before else failures + 1
                if failures >= self._attempts or pause > LONGEST_PAUSE:
                    more = f" and asks to wait for {pause:,.0f} s" if pause else ""
                    raise FailedError(f"{error}{more} (attempt {total})") from None
            number = max(failures - 1, 0)
            jitter = random.Random(f"{key} {number}").uniform(0.5, 1.0)
            self.sleep(max(pause, min(_LONGEST_BACKOFF, _FIRST_PAUSE * 2.0**number) * jitter))

    def look_up(self, file: RemoteFile) -> Claims:
        """Return what is said of a file after a request for its first byte: HEAD is not allowed.

        Raises:
            FailedError: If the storage does not say how large it is.
        """

        def attempt() -> Claims:
            with self._request(file, {"Range": "bytes=0-0"}) as response:
                size = _content_range(response)[1]
                if response.status_code == 200:
                    # Without an ETag it is not the storage's answer but, say, a proxy's page.
                    size = _length(response) if "ETag" in response.headers else None
                elif response.status_code == 206:
                    self.text(response)  # frees the connection
                if size is None:
                    raise TransientError("the storage does not say how large the object is")
                return claims(size, response.headers)

        return self.retry(attempt, file.label)

    def fetch(self, file: RemoteFile, part: PartFile) -> Claims:
        """Fetch a file, or the rest of it; return its size, its SHA-256, and the storage's MD5.

        Raises:
            FailedError: If the file cannot be fetched, or is not what it should be.
            DataError: If the disk is full.
        """

        def attempt() -> Claims:
            if part.claims is None or part.size != part.claims.bytes:
                self._receive(file, part)
            said = part.claims or Claims()
            sha256, wrong = compare(part.path, said, Claims(sha256=file.pinned))
            damage = gzip_damage(part.path, part.final.suffix)
            if wrong or damage:
                part.discard()
                if not wrong and (said.md5 or file.pinned):
                    # These are the storage's bytes: another attempt brings the same.
                    raise FailedError(f"damaged at its source: {damage}")
                raise RestartError(wrong or damage)
            whole = said._replace(bytes=part.size, sha256=sha256)
            part.publish()
            return whole

        if not part.resumes:
            part.discard()
        try:
            return self.retry(attempt, file.label, lambda: part.most)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise DataError(
                f"the disk is full ({str(part.final.parent)!r}). Make room; the same command goes "
                "on from here."
            ) from None

    def _request(self, file: RemoteFile, headers: Mapping[str, str]) -> requests.Response:
        """Return a response of status 200, 206 or 416."""
        link = file.link()
        response = self.open(link, {**file.headers, **headers}, "the storage")
        status = response.status_code
        if status in (200, 206, 416):
            return response
        response.close()
        reason = f"the storage answered {status} ({response.reason or 'no reason'})"
        # Amazon S3 answers 403 when a link has expired, or 400 when its token has.
        if file.expire and status in (400, 401, 403):
            file.expire(link)
            raise TransientError(reason)
        raise FailedError(reason)

    def _receive(self, file: RemoteFile, part: PartFile) -> None:
        """Receive an object from its beginning, or the rest of the same object."""
        have, known, headers = part.size, file.known.bytes, {}
        if have and part.claims and part.claims.etag:
            headers = {"Range": f"bytes={have}-", "If-Range": part.claims.etag}
        with self._request(file, headers) as response:
            if response.status_code == 200:  # the whole object, requested or because it changed
                size = _length(response) or known
                claimed = claims(size, response.headers)
                if known not in (None, size) and claimed.etag is None:
                    # Not the object but, say, a proxy's page: keep what is on disk.
                    raise TransientError(f"{size:,} bytes were announced instead of {known:,}")
                part.begin(claimed)
            elif response.status_code == 206 and part.claims and headers:
                first, size = _content_range(response)
                etag = claims(None, response.headers).etag
                same = etag in (None, part.claims.etag) and size in (
                    None,
                    part.claims.bytes or size,
                )
                if first != have or not same:
                    part.discard()
                    raise RestartError("the object has changed")
            elif have:
                part.discard()
                raise RestartError(f"the object ends before byte {have:,}")
            else:
                raise TransientError(
                    f"the storage answered {response.status_code} to a request without a range"
                )
            for block in self.blocks(response):
                part.append(block)
        whole = part.claims and part.claims.bytes
        if not part.path.exists():
            part.append(b"")
        if whole is not None and part.size < whole:
            raise TransientError(f"the connection ended after {part.size:,} of {whole:,} bytes")

    def in_threads(
        self, function: Callable[[RemoteFile], Claims], files: Sequence[RemoteFile]
    ) -> Generator[tuple[RemoteFile, Claims | FailedError | StoppedError]]:
        """Yield each file with its result, or why it has none, as it is done.

        Any other error is raised and stops all threads; so does closing the iterator early.
        """

        def work(file: RemoteFile) -> tuple[RemoteFile, Claims | FailedError | StoppedError]:
            try:
                if self._stop.is_set():
                    raise StoppedError
                return file, function(file)
            except FailedError as error:
                return file, FailedError(f"{file.label}: {error}")
            except StoppedError as error:
                return file, error

        # Its threads, unlike those of an executor, do not make Ctrl-C wait for a dead connection;
        # what they write can be resumed at any moment.
        pool = ThreadPool(max(1, min(self._parallel, len(files))))
        try:
            yield from pool.imap_unordered(work, files)
        except BaseException:
            self._stop.set()
            raise
        finally:
            pool.terminate()

    def fetch_all(
        self,
        files: Sequence[RemoteFile],
        on_done: Callable[[RemoteFile, Claims], None],
        verify: bool = False,
    ) -> dict[str, int]:
        """Fetch or verify files; return the number of fetched ``files`` and received ``bytes``.

        Args:
            files: The files.
            on_done: Function called with each verified file and what is known of it now.
            verify: Verify files again that have been.

        Raises:
            DataError: If files could not be fetched.
        """
        todo = [file for file in files if verify or not (file.here and file.known.sha256)]
        for file in todo:
            if file.path.exists() and not file.here:
                self.on_message(f"{file.label} has a wrong size: fetching it again")
        total, whole = sum(file.known.bytes or 0 for file in todo), len(files) - len(todo)
        counts, lock, failed = {"files": 0, "bytes": 0}, threading.Lock(), 0
        failures: list[FailedError] = []
        with progress(
            total=total, desc="download", unit="B", unit_scale=True, smoothing=0.05
        ) as bar:

            def received(count: int) -> None:
                with lock:
                    bar.update(count)
                    counts["bytes"] += max(count, 0)

            def complete(file: RemoteFile) -> Claims:
                nonlocal failed  # files in a row, in all threads
                file.path.parent.mkdir(parents=True, exist_ok=True)
                part = PartFile(file.path, received)
                if file.here:
                    sha256, wrong = compare(file.path, file.known)
                    if not (wrong or gzip_damage(file.path)):
                        part.discard()
                        return file.known._replace(sha256=sha256)
                    self.on_message(f"{file.label} is damaged: fetching it again")
                bar.update(part.size)
                try:
                    fetched = self.fetch(file, part)
                except FailedError:
                    with lock:
                        failed += 1
                    if failed >= max(3, self._parallel):
                        self._stop.set()  # the server, not the files, causes this
                    raise
                with lock:
                    counts["files"], failed = counts["files"] + 1, 0
                return fetched

            for file, now in self.in_threads(complete, todo):
                if isinstance(now, Claims):
                    whole += 1
                    on_done(file, now)
                elif isinstance(now, FailedError):
                    failures.append(now)
                    self.on_message(f"given up for now: {now}")
        if failures:
            more = f"; {len(failures) - 1} more failed" if failures[1:] else ""
            raise DataError(
                f"{whole} of {len(files)} files are complete. {failures[0]}{more}. {GO_ON}"
            )
        return counts


def _length(response: requests.Response) -> int | None:
    """Return the announced number of bytes of the body."""
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isdecimal() else None


def _content_range(response: requests.Response) -> tuple[int | None, int | None]:
    """Return the first byte and the size of the whole object from ``Content-Range``."""
    text = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", text.strip(), re.ASCII)
    if match is None:
        return None, None
    first = None if match[1] is None else int(match[1])
    return first, None if match[2] == "*" else int(match[2])
