"""Files that are received in parts until each is complete and verified, or given up."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import math
import os
import queue
import re
import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import requests

from arena._internal.files import write_json
from arena._internal.progress import progress
from arena._internal.workdir import clear_temporary, only_writer
from arena.errors import DataError
from corpus_builder.download.http import (
    FailedError,
    HttpSession,
    RestartError,
    StoppedError,
    TransientError,
    check_status,
    content_length,
    content_range,
    retry,
)

T = TypeVar("T")
R = TypeVar("R")

GO_ON = "The same command goes on from here."

_LOCK = ".download.lock"
_TICK = 0.2  # seconds between two looks at the clock while no file completes
_FAREWELL = 2.0  # seconds in which threads that do not wait for the network end
_MEASURED = 5.0  # seconds from the first byte until the rate is reported


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
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            sha256.update(block)
            md5.update(block)
    for claim in claimed:
        for text, have, wanted in (
            ("size", path.stat().st_size, claim.bytes),
            ("MD5", md5.hexdigest(), claim.md5),
            ("SHA-256", sha256.hexdigest(), claim.sha256),
        ):
            if wanted not in (None, have):
                return sha256.hexdigest(), f"{text} {have} instead of {wanted}"
    return sha256.hexdigest(), None


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


class PartFile:
    """A file that is being received: ``.NAME.part``, and ``.NAME.part.json`` with its claims.

    At every moment, also after a kill, the first holds the beginning of the object that the second
    describes, or nothing. A power failure may break that; the checks of the complete file find it.

    Args:
        final: Path of the complete file.
        received: Function that counts received bytes; negative numbers are discarded bytes.
    """

    def __init__(self, final: Path, received: Callable[[int], None] = lambda count: None) -> None:
        self.final, self.path = final, final.with_name(f".{final.name}.part")
        self._claims_path = final.with_name(f".{final.name}.part.json")
        self._received = received
        self.most = 0  # the most bytes so far; bytes that come twice do not count as progress
        try:
            self.claims: Claims | None = Claims(**json.loads(self._claims_path.read_bytes()))
        except (OSError, ValueError, TypeError):
            self.claims = None

    @property
    def size(self) -> int:
        """Number of bytes on disk."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def open(self) -> None:
        """Discard what is on disk if the transfer cannot continue from there."""
        whole = self.claims and self.claims.bytes
        if self.claims is None or not self.claims.etag or (whole is not None and self.size > whole):
            self.discard()
        self.most = self.size

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


class RemoteFile(NamedTuple):
    """Where a file comes from.

    Attributes:
        transfers: Connections and threads.
        label: Dataset and name, for messages.
        link: Function that returns the address, which may expire.
        expire: Function that is called with an address that the server refuses, or None.
        headers: Headers of each request.
    """

    transfers: Transfers
    label: str
    link: Callable[[], str]
    expire: Callable[[str], None] | None
    headers: Mapping[str, str] = {}

    def open(self, headers: Mapping[str, str]) -> requests.Response:
        """Return a response of status 200, 206 or 416.

        Raises:
            TransientError: If a later attempt may succeed.
            FailedError: If none will.
        """
        link = self.link()
        response = self.transfers.session.open(link, {**self.headers, **headers})
        status = response.status_code
        if status in (200, 206, 416):
            return response
        with response:
            check_status(response, "the storage")
            reason = f"the storage answered {status} ({response.reason or 'no reason'})"
        # Amazon S3 answers 403 when a link has expired, or 400 when its token has.
        if self.expire and status in (400, 401, 403):
            self.expire(link)
            raise TransientError(reason)
        raise FailedError(reason)

    def retry(self, attempt: Callable[[], T], progress: Callable[[], int] = lambda: 0) -> T:
        """Return what `attempt` returns, see `retry`; errors name the file."""
        attempts, sleep = self.transfers.attempts, self.transfers.sleep
        try:
            return retry(attempt, self.label, attempts, sleep, progress)
        except FailedError as error:
            raise FailedError(f"{self.label}: {error}") from None


def look_up(source: RemoteFile) -> Claims:
    """Return what is said of an object after a request for its first byte: HEAD is not allowed.

    Raises:
        FailedError: If the storage does not say how large it is.
    """

    def attempt() -> Claims:
        with source.open({"Range": "bytes=0-0"}) as response:
            size = content_range(response)[1]
            if response.status_code == 200:
                # Without an ETag it is not the storage's answer but, say, a proxy's page.
                size = content_length(response) if "ETag" in response.headers else None
            elif response.status_code == 206:
                source.transfers.session.text(response, 1)  # frees the connection
            if size is None:
                raise TransientError("the storage does not say how large the object is")
            return claims(size, response.headers)

    return source.retry(attempt)


def fetch(job: FetchJob, part: PartFile) -> Claims:
    """Fetch a file, or the rest of it; return its size, its SHA-256, and the storage's MD5.

    Raises:
        FailedError: If the file cannot be fetched, or is not what it should be.
        DataError: If the disk is full.
    """
    part.open()
    try:
        return job.source.retry(lambda: _attempt(job, part), lambda: part.most)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DataError(
            f"the disk is full ({str(part.final.parent)!r}). Make room; the same command goes on "
            "from here."
        ) from None


def _attempt(job: FetchJob, part: PartFile) -> Claims:
    if part.claims is None or part.size != part.claims.bytes:
        _receive(job.source, job.known.bytes, part)
    said, pinned = part.claims or Claims(), Claims(sha256=job.pinned)
    sha256, wrong = compare(part.path, said, pinned)
    damage = gzip_damage(part.path, part.final.suffix)
    if wrong or damage:
        part.discard()
        if not wrong and (said.md5 or job.pinned):
            # These are the storage's bytes: another attempt brings the same.
            raise FailedError(f"damaged at its source: {damage}")
        raise RestartError(wrong or damage)
    whole = said._replace(bytes=part.size, sha256=sha256)
    part.publish()
    return whole


def _receive(source: RemoteFile, known: int | None, part: PartFile) -> None:
    """Receive an object from its beginning, or the rest of the same object."""
    have, headers = part.size, {}
    if have and part.claims and part.claims.etag:
        headers = {"Range": f"bytes={have}-", "If-Range": part.claims.etag}
    with source.open(headers) as response:
        if response.status_code == 200:  # the whole object, requested or because it changed
            size = content_length(response) or known
            claimed = claims(size, response.headers)
            if known not in (None, size) and claimed.etag is None:
                # Not the object but, say, a proxy's page: keep what is on disk.
                raise TransientError(f"{size:,} bytes were announced instead of {known:,}")
            part.begin(claimed)
        elif response.status_code == 206 and part.claims and headers:
            first, size = content_range(response)
            etag = claims(None, response.headers).etag
            same = size in (None, part.claims.bytes or size) and etag in (None, part.claims.etag)
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
        for block in source.transfers.session.blocks(response):
            part.append(block)
    whole = part.claims and part.claims.bytes
    if not part.path.exists():
        part.append(b"")
    if whole is not None and part.size < whole:
        raise TransientError(f"the connection ended after {part.size:,} of {whole:,} bytes")


class FetchJob(NamedTuple):
    """A file to be fetched.

    Attributes:
        source: Where it comes from.
        known: What is recorded of it; another version of the file replaces it.
        path: Where it appears.
        pinned: SHA-256 that it must have, or None.
    """

    source: RemoteFile
    known: Claims
    path: Path
    pinned: str | None = None

    @property
    def here(self) -> bool:
        """Whether a file of the right size is there."""
        return self.path.is_file() and self.known.bytes in (None, self.path.stat().st_size)


class Transfers:
    """The connections and threads of one download.

    Args:
        parallel: Number of files fetched at once.
        patience: Seconds without a byte after which a connection is dropped.
        attempts: Number of attempts at a file in a row without a byte.
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
        self._parallel, self.attempts, self.on_message = parallel, attempts, on_message
        self._stop = threading.Event()
        self.sleep = self._wait if sleep is None else sleep
        self.session = HttpSession(patience, parallel, self._stop)

    def close(self) -> None:
        """Stop all threads."""
        self._stop.set()
        self.session.close()

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise StoppedError

    def in_threads(
        self, function: Callable[[T], R], items: Sequence[T]
    ) -> Generator[tuple[T, R | FailedError] | None]:
        """Yield each item with its result or its `FailedError`, and None five times a second.

        Any other error is raised and stops all threads; so does closing the iterator early.
        """
        completed: queue.SimpleQueue[tuple[T, Any]] = queue.SimpleQueue()
        waiting, lock = iter(list(items)), threading.Lock()

        def work() -> None:
            while not self._stop.is_set():
                with lock:
                    if (item := next(waiting, None)) is None:
                        return
                try:
                    completed.put((item, function(item)))
                except BaseException as error:
                    completed.put((item, error))

        # Daemon threads, unlike those of an executor, do not make Ctrl-C wait for a dead
        # connection; what they write can be resumed at any moment.
        number = min(self._parallel, len(items))
        threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
        for thread in threads:
            thread.start()
        left = len(items)
        try:
            while left:
                try:
                    item, result = completed.get(timeout=_TICK)
                except queue.Empty:
                    yield None
                    continue
                if isinstance(result, BaseException) and not isinstance(result, FailedError):
                    raise result
                left -= 1
                yield item, result
        finally:
            if left:
                self._stop.set()
            end = time.monotonic() + _FAREWELL
            for thread in threads:
                thread.join(max(0.0, end - time.monotonic()))

    def fetch_all(
        self,
        jobs: Sequence[FetchJob],
        on_done: Callable[[FetchJob, Claims], None],
        verify: bool = False,
    ) -> dict[str, int]:
        """Fetch or verify files; return the number of fetched ``files`` and received ``bytes``.

        Args:
            jobs: The files.
            on_done: Function called with each verified file and what is known of it now.
            verify: Verify files again that have been.

        Raises:
            DataError: If files could not be fetched.
        """
        todo = [job for job in jobs if verify or not (job.here and job.known.sha256)]
        for job in todo:
            if job.path.exists() and not job.here:
                self.on_message(f"{job.source.label} has a wrong size: fetching it again")
        counts, lock, since = {"files": 0, "bytes": 0}, threading.Lock(), math.inf
        total = sum(job.known.bytes or 0 for job in todo)
        bar = progress(total=total, desc="download", unit="B", unit_scale=True, smoothing=0.05)

        def received(count: int) -> None:
            nonlocal since
            with lock:
                bar.update(count)
                if count > 0:
                    counts["bytes"] += count
                    since = min(since, time.monotonic())

        def complete(job: FetchJob) -> Claims:
            job.path.parent.mkdir(parents=True, exist_ok=True)
            part = PartFile(job.path, received)
            if job.here:
                sha256, wrong = compare(job.path, job.known)
                if not (wrong or gzip_damage(job.path)):
                    part.discard()
                    return job.known._replace(sha256=sha256)
                self.on_message(f"{job.source.label} is damaged: fetching it again")
            bar.update(part.size)
            fetched = fetch(job, part)
            with lock:
                counts["files"] += 1
            return fetched

        failures: list[FailedError] = []
        complete_files, in_a_row, estimated = len(jobs) - len(todo), 0, False
        with closing(bar), closing(self.in_threads(complete, todo)) as results:
            for result in results:
                if not estimated and (seconds := time.monotonic() - since) >= _MEASURED:
                    estimated, rate = True, counts["bytes"] / seconds
                    left = bar.format_interval(max(0, total - bar.n) / rate)
                    self.on_message(f"{format_bytes(rate)}/s: about {left} left")
                if result is None:
                    continue
                if isinstance(error := result[1], FailedError):
                    failures.append(error)
                    self.on_message(f"given up for now: {error}")
                    in_a_row += 1
                    if in_a_row >= max(3, self._parallel):
                        break  # the server, not the files, causes this
                    continue
                in_a_row, complete_files = 0, complete_files + 1
                on_done(result[0], error)
        if failures:
            more = f"; {len(failures) - 1} more failed" if failures[1:] else ""
            raise DataError(
                f"{complete_files} of {len(jobs)} files are complete. {failures[0]}{more}. {GO_ON}"
            )
        return counts


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
