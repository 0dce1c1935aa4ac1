"""The transfer of one file: received in parts until it is complete and verified, or given up."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import requests

from arena._internal.files import write_json
from arena.errors import DataError
from corpus_builder.download.api import Links
from corpus_builder.download.checks import Claims, Digest, claims
from corpus_builder.download.http import (
    FailedError,
    HttpSession,
    RestartError,
    StoppedError,
    TransientError,
    check_status,
    content_range,
    retry,
)
from corpus_builder.download.record import FileEntry

_LONGEST_ERROR = 1 << 16


class PartFile:
    """A file that is being received: ``.NAME.part``, and ``.NAME.part.json`` with its claims.

    At every moment, also after a kill, the first holds the beginning of the object that the second
    describes, or nothing. A power failure may break that; the checks of the complete file find it.

    Args:
        final: Path of the complete file.
    """

    def __init__(self, final: Path) -> None:
        self.final = final
        self.claims: Claims | None = None
        self.digest = Digest()
        self._path = final.with_name(f".{final.name}.part")
        self._claims_path = final.with_name(f".{final.name}.part.json")

    @property
    def size(self) -> int:
        """Number of bytes on disk."""
        return self._path.stat().st_size if self._path.is_file() else 0

    def open(self) -> None:
        """Hash what is on disk; discard it if the transfer cannot continue from there."""
        self.digest, self.claims = Digest(), self._read_claims()
        if self.claims is None or not self.claims.etag or self.size > self.claims.bytes:
            self.discard()
        elif self._path.is_file():
            with self._path.open("rb") as file:
                while block := file.read(1 << 20):
                    self.digest.update(block)

    def begin(self, claims: Claims) -> None:
        """Start an object from its first byte."""
        self.discard()
        write_json(self._claims_path, claims._asdict())
        self.claims = claims

    def append(self, data: bytes) -> None:
        """Add the next bytes."""
        with self._path.open("ab", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
        self.digest.update(data)

    def discard(self) -> None:
        """Remove both files, the bytes first."""
        self._path.unlink(missing_ok=True)
        self._claims_path.unlink(missing_ok=True)
        self.digest, self.claims = Digest(), None

    def publish(self) -> None:
        """Move the complete file to its final path."""
        with self._path.open("rb") as file:
            os.fsync(file.fileno())
        self._path.replace(self.final)
        self._claims_path.unlink(missing_ok=True)

    def _read_claims(self) -> Claims | None:
        try:
            claims = Claims(**json.loads(self._claims_path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return claims if isinstance(claims.bytes, int) else None


class RemoteFile(NamedTuple):
    """Where a file comes from.

    Attributes:
        session: HTTP session.
        links: Links of the file's dataset.
        name: Name of the file.
        label: Dataset and name, for messages.
        attempts: Number of failures in a row after which the file is given up.
        sleep: Function that waits for a number of seconds.
    """

    session: HttpSession
    links: Links
    name: str
    label: str
    attempts: int
    sleep: Callable[[float], None]

    def open(self, headers: Mapping[str, str]) -> requests.Response:
        """Return a response of status 200, 206 or 416.

        Raises:
            TransientError: If a later attempt may succeed.
            FailedError: If none will.
        """
        link = self.links.get(self.name)
        response = self.session.open(link, headers)
        status = response.status_code
        if status in (200, 206, 416):
            return response
        with response:
            check_status(response, "the storage")
            code, message = self._reason(response)
        # Amazon S3 answers 403 "Request has expired", or 400 ExpiredToken.
        if status in (401, 403) or "Expired" in code:
            self.links.expire(self.name, link)
            raise TransientError(
                f"the storage answered {status} ({message or code or 'no reason'})"
            )
        raise FailedError(f"the storage answered {status} ({code or 'no reason'})")

    def retry(self, attempt: Callable[[], FileEntry], progress: Callable[[], int]) -> FileEntry:
        """Return what `attempt` returns, see `retry`; errors name the file."""
        try:
            return retry(attempt, self.label, self.attempts, self.sleep, progress)
        except FailedError as error:
            raise FailedError(f"{self.label}: {error}") from None

    def _reason(self, response: requests.Response) -> tuple[str, str]:
        """Return code and message of an error of Amazon S3."""
        try:
            text = self.session.text(response, _LONGEST_ERROR).decode("utf-8", "replace")
        except TransientError:
            return "", ""
        code, message = (
            match[1] if (match := re.search(rf"<{tag}>([\w .-]{{1,80}})</{tag}>", text)) else ""
            for tag in ("Code", "Message")
        )
        return code, message


def look_up(source: RemoteFile) -> FileEntry:
    """Return size and MD5 of an object from a request for its first byte: HEAD is not allowed.

    Raises:
        FailedError: If the storage does not say.
    """

    def attempt() -> FileEntry:
        with source.open({"Range": "bytes=0-0"}) as response:
            size = content_range(response)[1]
            if response.status_code == 200:
                length = response.headers.get("Content-Length", "")
                # Without an ETag it is not the storage's answer but, say, a proxy's page.
                size = int(length) if length.isdecimal() and "ETag" in response.headers else None
            elif response.status_code == 206:
                source.session.text(response, _LONGEST_ERROR)  # frees the connection
            if size is None:
                raise TransientError("the storage does not say how large the object is")
            return FileEntry(source.name, size, claims(size, response.headers, whole=False).md5)

    return source.retry(attempt, lambda: 0)


def fetch(
    source: RemoteFile, entry: FileEntry, path: Path, received: Callable[[int], None]
) -> FileEntry:
    """Fetch a file, or the rest of it; return its verified entry.

    Args:
        source: Where the file comes from.
        entry: What the record says of the file.
        path: Where the complete file appears.
        received: Function that counts received bytes; negative numbers are discarded bytes.

    Raises:
        FailedError: If the file cannot be fetched, or is not what the storage says.
        DataError: If the disk is full.
    """
    transfer = _Transfer(source, entry, PartFile(path), received)
    try:
        return source.retry(transfer.attempt, lambda: transfer.progress)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DataError(
            f"the disk is full ({str(path.parent)!r}). Make room; the same command goes on "
            "from here."
        ) from None


class _Transfer:
    def __init__(
        self, source: RemoteFile, entry: FileEntry, part: PartFile, received: Callable[[int], None]
    ) -> None:
        self._source, self._entry, self._part, self._received = source, entry, part, received
        self._opened = False
        self.progress = 0  # the most bytes on disk so far; bytes that come twice do not count

    def attempt(self) -> FileEntry:
        part = self._part
        if not self._opened:
            before = part.size
            part.open()
            self._received(part.size - before)
            self._opened, self.progress = True, part.digest.bytes
        if part.claims is None or part.digest.bytes < part.claims.bytes:
            self._receive()
        assert part.claims is not None
        wrong, damage = part.digest.differs(part.claims), part.digest.damage()
        if wrong or damage:
            verified = part.claims.md5 or part.claims.sha256 or part.claims.crc32 is not None
            self._discard()
            if damage and not wrong and verified:
                # These are the storage's bytes: another attempt brings the same.
                raise FailedError(f"damaged at its source: {damage}")
            raise RestartError(wrong or damage)
        entry = FileEntry(self._entry.name, part.claims.bytes, part.claims.md5, part.digest.sha256)
        part.publish()
        return entry

    def _receive(self) -> None:
        part, have = self._part, self._part.digest.bytes
        headers = {}
        if have and part.claims and part.claims.etag:
            headers = {"Range": f"bytes={have}-", "If-Range": part.claims.etag}
        with self._source.open(headers) as response:
            if response.status_code == 200:
                self._start(response)
            elif response.status_code == 206 and have:
                self._resume(response, have)
            elif have:
                self._discard()
                raise RestartError(f"the object ends before byte {have:,}")
            else:
                raise TransientError(
                    f"the storage answered {response.status_code} to a request without a range"
                )
            for block in self._source.session.blocks(response):
                self._received(len(block))
                part.append(block)
                self.progress = max(self.progress, part.digest.bytes)
        assert part.claims is not None
        if part.digest.bytes < part.claims.bytes:
            raise TransientError(
                f"the connection ended after {part.digest.bytes:,} of {part.claims.bytes:,} bytes"
            )

    def _start(self, response: requests.Response) -> None:
        """Accept a response that holds the whole object, requested or because it changed."""
        length = response.headers.get("Content-Length", "")
        size = int(length) if length.isdecimal() else self._entry.bytes
        claimed = claims(size, response.headers, whole=True)
        if size != self._entry.bytes and claimed.etag is None:
            # Not the object but, say, a proxy's page: keep what is on disk.
            raise TransientError(f"{size:,} bytes were announced instead of {self._entry.bytes:,}")
        self._discard()
        self._part.begin(claimed)

    def _resume(self, response: requests.Response, have: int) -> None:
        """Accept a response that holds the rest of the same object."""
        claimed = self._part.claims
        assert claimed is not None
        first, size = content_range(response)
        etag = claims(claimed.bytes, response.headers, whole=False).etag
        same = size in (None, claimed.bytes) and etag in (None, claimed.etag)
        if first != have or not same:
            self._discard()
            raise RestartError("the object has changed")

    def _discard(self) -> None:
        self._received(-self._part.digest.bytes)
        self._part.discard()


def verify(
    path: Path, entry: FileEntry, read: Callable[[int], None], stop: threading.Event
) -> FileEntry | None:
    """Hash a file on disk; return its verified entry, or None if its content is wrong.

    Args:
        path: Path of the file.
        entry: What the record says of the file.
        read: Function that counts the bytes read.
        stop: Event that is set when the whole download stops.
    """
    digest = Digest()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
            read(len(block))
            if stop.is_set():
                raise StoppedError
    if entry.sha256 is not None:
        return entry if digest.sha256 == entry.sha256 else None
    if digest.differs(Claims(entry.bytes, md5=entry.md5)) or digest.damage():
        return None
    return entry._replace(sha256=digest.sha256)
