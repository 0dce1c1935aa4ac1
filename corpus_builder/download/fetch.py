"""Files over HTTP: fetched side by side, resumed after broken connections and kills, verified."""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.pool import ThreadPool
from pathlib import Path

import requests

from arena._internal.tables import progress
from arena._internal.workdir import clear_temporary, only_writer
from arena.errors import DataError
from corpus_builder.download.connections import (
    Connections,
    FailedError,
    RestartError,
    StoppedError,
    TransientError,
)
from corpus_builder.download.parts import (
    Claims,
    PartFile,
    RemoteFile,
    claims,
    compare,
    gzip_damage,
)

GO_ON = "The same command goes on from here."

_LOCK = ".download.lock"


class Fetcher(Connections):
    """Fetches and verifies files, several at once; arguments as `Connections`."""

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
