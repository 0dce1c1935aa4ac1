"""Files over HTTP: fetched side by side, resumed after broken connections and kills, verified.

Errors and messages hold no address: whoever has a signed one can fetch the file.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import http.cookiejar
import json
import math
import multiprocessing
import os
import random
import re
import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

import requests
import urllib3
from requests.adapters import HTTPAdapter

from arena._internal.files import write_json
from arena._internal.progress import progress
from arena._internal.workdir import clear_temporary, only_writer
from arena.errors import DataError

T = TypeVar("T")

KEY_HEADER = "x-api-key"
GO_ON = "The same command goes on from here."
LONGEST_PAUSE = 900.0
"""Seconds; if a server asks for a longer pause, the request fails."""

_LOCK = ".download.lock"
_BLOCK = 1 << 18
_SLOWEST = 1024  # bytes a second; a connection that gives less counts as dead
_RESTARTS = 3  # attempts at a file whose content turned out to be wrong each time
_FIRST_PAUSE, _LONGEST_BACKOFF = 0.5, 60.0
_REDIRECTS = 5
_TICK = 0.2  # seconds between two looks at the clock while no file completes
_MEASURED = 5.0  # seconds from the first byte until the rate is reported


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
    """The whole download stops: another thread failed, or the user pressed Ctrl-C."""


class Claims(NamedTuple):
    """What a server or a publisher says of a file, None where it says nothing; ETags are strong."""

    bytes: int | None = None
    etag: str | None = None
    md5: str | None = None
    sha256: str | None = None


def claims(size: int | None, headers: Mapping[str, str]) -> Claims:
    """Return what the headers of a response say of an object of so many bytes."""
    etag = headers.get("ETag", "").strip()
    if not re.fullmatch(r'"[^"\x00-\x1f]{1,200}"', etag):  # W/"..." does not promise the bytes
        return Claims(size)
    # The ETag is the MD5 for an object put in one part, but not if it is encrypted with a key of
    # its own (Amazon S3 API reference, "Object": ETag).
    keyed = "kms" in headers.get("x-amz-server-side-encryption", "") or (
        "x-amz-server-side-encryption-customer-algorithm" in headers
    )
    is_md5 = re.fullmatch('"[0-9a-f]{32}"', etag) and not keyed
    return Claims(size, etag, etag.strip('"') if is_md5 else None)


def compare(path: Path, *claimed: Claims) -> tuple[str, str | None]:
    """Return the SHA-256 of a file, and how it differs from what is said of it, or None."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    for claim in claimed:
        if claim.bytes not in (None, size := path.stat().st_size):
            return sha256, f"size {size} instead of {claim.bytes}"
        if claim.md5 is not None:
            with path.open("rb") as file:
                md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
            if md5.hexdigest() != claim.md5:
                return sha256, f"MD5 {md5.hexdigest()} instead of {claim.md5}"
        if claim.sha256 not in (None, sha256):
            return sha256, f"SHA-256 {sha256} instead of {claim.sha256}"
    return sha256, None


def gzip_damage(path: Path, suffix: str | None = None) -> str | None:
    """Return why a file named ``*.gz`` is no complete gzip file, or None."""
    if (suffix or path.suffix) != ".gz":
        return None
    if not path.stat().st_size:
        return "it is empty"
    try:
        with gzip.open(path) as file:
            while file.read(1 << 20):
                pass
    except EOFError:
        return "the gzip stream is cut off"
    except (gzip.BadGzipFile, zlib.error) as error:
        return f"no sound gzip stream ({error})"
    return None


class RemoteFile(NamedTuple):
    """A file to be fetched.

    Attributes:
        label: Dataset and name, for messages.
        path: Where it appears.
        link: Function that returns its address, which may expire.
        known: What is recorded of it; another version of the file replaces it.
        pinned: SHA-256 that it must have, or None.
        headers: Headers of each request.
        expire: Function that is called with an address that the server refuses, or None.
    """

    label: str
    path: Path
    link: Callable[[], str]
    known: Claims = Claims()
    pinned: str | None = None
    headers: Mapping[str, str] = {}
    expire: Callable[[str], None] | None = None

    @property
    def here(self) -> bool:
        """Whether a file of the right size is there."""
        return self.path.is_file() and self.known.bytes in (None, self.path.stat().st_size)


class PartFile:
    """A file that is being received: ``.NAME.part``, and ``.NAME.part.json`` with its claims.

    At every moment, also after a kill, the first holds the beginning of the object that the second
    describes, or nothing. A power failure may break that; the checks of the complete file find it.
    A transfer can continue only if the object has a strong ETag.

    Args:
        final: Path of the complete file.
        received: Function that counts received bytes; negative numbers are discarded bytes.
    """

    def __init__(self, final: Path, received: Callable[[int], None] = lambda count: None) -> None:
        self.final, self.path = final, final.with_name(f".{final.name}.part")
        self._claims_path = final.with_name(f".{final.name}.part.json")
        self._received = received
        try:
            self.claims: Claims | None = Claims(**json.loads(self._claims_path.read_bytes()))
        except (OSError, ValueError, TypeError, RecursionError):
            self.claims = None
        self.most = self.size  # bytes that come twice do not count as progress

    @property
    def size(self) -> int:
        """Number of bytes on disk."""
        return self.path.stat().st_size if self.path.is_file() else 0

    @property
    def resumes(self) -> bool:
        """Whether what is on disk can be the beginning of the object."""
        claims = self.claims
        if claims is None or not isinstance(claims.etag, str) or not claims.etag:
            return False
        return claims.bytes is None or (type(claims.bytes) is int and self.size <= claims.bytes)

    def begin(self, claims: Claims) -> None:
        """Start an object from its first byte."""
        self.discard()
        write_json(self._claims_path, claims._asdict())
        self.claims = claims

    def append(self, data: bytes) -> None:
        """Add the next bytes."""
        self._received(len(data))
        with self.path.open("ab", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
        self.most = max(self.most, self.size)

    def discard(self) -> None:
        """Remove both files, the bytes first."""
        self._received(-self.size)
        self.path.unlink(missing_ok=True)
        self._claims_path.unlink(missing_ok=True)
        self.claims = None

    def publish(self) -> None:
        """Move the complete file to its final path."""
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
        self.path.replace(self.final)
        self._claims_path.unlink(missing_ok=True)


class Fetcher(requests.Session):
    """The connections and threads of one download.

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
            StoppedError: If the whole download stops.
        """
        try:
            response = self.get(url, headers=headers, stream=True, timeout=self._patience)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            self._fail(error)
        status, pause = response.status_code, None
        if self._stop.is_set():
            response.close()
            raise StoppedError
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

    def text(self, response: requests.Response, limit: int) -> bytes:
        """Return a short body.

        Raises:
            TransientError: If the connection breaks, or the body is longer than `limit` bytes.
        """
        body = bytearray()
        for block in self.blocks(response):
            body += block
            if len(body) > limit:
                raise TransientError(f"an answer of more than {limit:,} bytes")
        announced = _length(response)
        if announced is not None and len(body) < announced:
            raise TransientError(f"the connection ended after {len(body):,} of {announced} bytes")
        return bytes(body)

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
        if spoken := [e.strerror for e in causes if isinstance(e, OSError) and e.strerror]:
            raise TransientError(spoken[0]) from None
        for kind, reason in (
            (timeouts, f"no byte within {self._patience:g} s"),
            (urllib3.exceptions.IncompleteRead, "the connection ended early"),
            (requests.TooManyRedirects, f"redirected more than {_REDIRECTS} times"),
            (wrong_link, "redirected to something that is no http address"),
        ):
            if any(isinstance(cause, kind) for cause in causes):
                raise TransientError(reason) from None
        raise TransientError(f"the connection failed ({type(error).__name__})") from None

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
                    self.text(response, 1)  # frees the connection
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
    ) -> Generator[tuple[RemoteFile, Claims | FailedError] | None]:
        """Yield each file with its result or its `FailedError`, and None five times a second.

        Any other error is raised and stops all threads; so does closing the iterator early.
        """

        def work(file: RemoteFile) -> tuple[RemoteFile, Claims | FailedError]:
            if self._stop.is_set():
                raise StoppedError
            try:
                return file, function(file)
            except FailedError as error:
                return file, FailedError(f"{file.label}: {error}")

        # Its threads, unlike those of an executor, do not make Ctrl-C wait for a dead connection;
        # what they write can be resumed at any moment.
        left, pool = len(files), ThreadPool(max(1, min(self._parallel, len(files))))
        results = pool.imap_unordered(work, files)
        try:
            while left:
                try:
                    result = results.next(_TICK)
                except multiprocessing.TimeoutError:
                    yield None
                    continue
                left -= 1
                yield result
        finally:
            if left:
                self._stop.set()
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
        counts, lock, since = {"files": 0, "bytes": 0}, threading.Lock(), math.inf
        total = sum(file.known.bytes or 0 for file in todo)
        bar = progress(total=total, desc="download", unit="B", unit_scale=True, smoothing=0.05)

        def received(count: int) -> None:
            nonlocal since
            with lock:
                bar.update(count)
                if count > 0:
                    counts["bytes"] += count
                    since = min(since, time.monotonic())

        def complete(file: RemoteFile) -> Claims:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            part = PartFile(file.path, received)
            if file.here:
                sha256, wrong = compare(file.path, file.known)
                if not (wrong or gzip_damage(file.path)):
                    part.discard()
                    return file.known._replace(sha256=sha256)
                self.on_message(f"{file.label} is damaged: fetching it again")
            bar.update(part.size)
            fetched = self.fetch(file, part)
            with lock:
                counts["files"] += 1
            return fetched

        failures: list[FailedError] = []
        failed = 0  # in a row, in all threads; counted there, so that none begins another file

        def counted(file: RemoteFile) -> Claims:
            nonlocal failed
            try:
                done = complete(file)
            except FailedError as error:
                with lock:
                    failures.append(FailedError(f"{file.label}: {error}"))
                    failed += 1
                    if failed >= max(3, self._parallel):
                        self._stop.set()  # the server, not the files, causes this
                raise
            failed = 0
            return done

        whole, estimated = len(files) - len(todo), False
        threads = closing(self.in_threads(counted, todo))
        with closing(bar), _until_stopped(failures), threads as results:
            for result in results:
                if not estimated and (seconds := time.monotonic() - since) >= _MEASURED:
                    estimated, rate = True, counts["bytes"] / seconds
                    left = bar.format_interval(max(0, total - bar.n) / rate)
                    self.on_message(f"{format_bytes(rate)}/s: about {left} left")
                if result is None:
                    continue
                file, now = result
                if not isinstance(now, FailedError):
                    whole += 1
                    on_done(file, now)
                    continue
                self.on_message(f"given up for now: {now}")
        if failures:
            more = f"; {len(failures) - 1} more failed" if failures[1:] else ""
            raise DataError(
                f"{whole} of {len(files)} files are complete. {failures[0]}{more}. {GO_ON}"
            )
        return counts


@contextmanager
def _until_stopped(failures: Sequence[FailedError]) -> Iterator[None]:
    """Go on after a stop if failures are its cause; the user's Ctrl-C goes through."""
    try:
        yield
    except StoppedError:
        if not failures:
            raise


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


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Hold a directory of downloads; remove it again if nothing was written.

    Raises:
        DataError: If it is a file.
        ArenaError: If another process holds it.
    """
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{str(directory)!r} is no directory. Name another one.")
    new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with only_writer(directory / _LOCK, directory):
            clear_temporary([directory])
            yield
    finally:
        if new:
            with suppress(OSError):
                directory.rmdir()


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
