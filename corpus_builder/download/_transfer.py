"""One file: received piece by piece until it is complete and sound, or given up."""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import requests

from arena.errors import DataError
from arena.llm._retry import AgainError
from corpus_builder.download._api import Links
from corpus_builder.download._checks import Claims, Digest, claims
from corpus_builder.download._errors import FailedError, RestartError, StoppedError
from corpus_builder.download._partial import Partial
from corpus_builder.download._patience import Patience, persistently
from corpus_builder.download._record import Entry
from corpus_builder.download._web import Web, content_range, may_pass, trouble


class Source:
    """Where a file comes from.

    Args:
        web: of the thread.
        links: of the file's dataset.
        dataset: of the file.
        name: of the file.
    """

    def __init__(self, web: Web, links: Links, dataset: str, name: str) -> None:
        self.web, self.name, self.label = web, name, f"{dataset}/{name}"
        self._links = links

    def get(self, headers: Mapping[str, str]) -> requests.Response:
        """Return an answer of status 200, 206 or 416.

        Raises:
            AgainError: if there is none now.
            FailedError: if there will be none.
        """
        link = self._links.get(self.name)
        response = self.web.get(link, headers)
        status = response.status_code
        if status in (200, 206, 416):
            return response
        with response:
            if may_pass(status):
                raise trouble(response, "the storage")
            code, message = self._told(response)
            # Amazon S3 says 403 "Request has expired", or ExpiredToken with 400.
            if status in (401, 403) or "Expired" in code:
                self._links.expired(self.name, link)
                raise AgainError(
                    f"the storage answered {status} ({message or code or 'no reason'})"
                )
            raise FailedError(f"the storage answered {status} ({code or 'no reason'})")

    def _told(self, response: requests.Response) -> tuple[str, str]:
        try:
            text = self.web.text(response, 1 << 16).decode("utf-8", "replace")
        except AgainError:
            return "", ""
        found = (
            re.search(rf"<{tag}>([\w .-]{{1,80}})</{tag}>", text) for tag in ("Code", "Message")
        )
        code, message = (match[1] if match else "" for match in found)
        return code, message


def look(source: Source, patience: Patience) -> Entry:
    """Return size and MD5 of an object: of its first byte, for HEAD is not allowed.

    Raises:
        FailedError: if that cannot be had.
    """

    def once() -> Entry:
        with source.get({"Range": "bytes=0-0"}) as response:
            size = content_range(response)[1]
            if response.status_code == 200:
                length = response.headers.get("Content-Length", "")
                # Without an ETag it is not of the storage: a page of a proxy, say.
                size = int(length) if length.isdecimal() and "ETag" in response.headers else None
            elif response.status_code == 206:
                source.web.text(response, 1 << 16)  # only then is the connection used again
            if size is None:
                raise AgainError("the storage does not say how large the object is")
            found = claims(size, response.headers, whole=False)
            return Entry(source.name, size, found.md5)

    return persistently(once, source.label, patience, lambda: 0)


def fetch(
    source: Source,
    entry: Entry,
    path: Path,
    patience: Patience,
    received: Callable[[int], None],
) -> Entry:
    """Fetch a file, or the rest of it; return what is known of it now.

    Args:
        source: of the file.
        entry: what is known of it.
        path: where it appears when it is complete.
        patience: how often it is tried.
        received: told how many bytes came, and as a negative number how many were thrown away.

    Raises:
        FailedError: if it cannot be had, or is not what it claims to be.
    """
    file = _File(source, entry, Partial(path), received)
    try:
        return persistently(file.attempt, source.label, patience, lambda: file.progress)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DataError(
            f"the disk is full ({str(path.parent)!r}). Make room; the same command goes on "
            "from here."
        ) from None


class _File:
    def __init__(
        self, source: Source, entry: Entry, part: Partial, received: Callable[[int], None]
    ) -> None:
        self._source, self._entry, self._part, self._received = source, entry, part, received
        self._opened = False
        self.progress = 0  # the most bytes that were on disk; what comes twice is no progress

    def attempt(self) -> Entry:
        part = self._part
        if not self._opened:
            before = part.size
            part.open()
            self._received(part.size - before)
            self._opened, self.progress = True, part.digest.bytes
        if part.claims is None or part.digest.bytes < part.claims.bytes:
            self._receive()
        assert part.claims is not None
        wrong = part.digest.differs(part.claims)
        damage = part.digest.damage()
        if wrong or damage:
            sure = part.claims.md5 or part.claims.sha256 or part.claims.crc32 is not None
            self._discard()
            if damage and not wrong and sure:
                # The bytes are those of the storage: they will be no better the next time.
                raise FailedError(f"damaged at its source: {damage}")
            raise RestartError(wrong or damage)
        found = Entry(self._entry.name, part.claims.bytes, part.claims.md5, part.digest.sha256)
        part.put()
        return found

    def _receive(self) -> None:
        part, have = self._part, self._part.digest.bytes
        headers = {}
        if have and part.claims and part.claims.etag:
            headers = {"Range": f"bytes={have}-", "If-Range": part.claims.etag}
        with self._source.get(headers) as response:
            if response.status_code == 200:
                self._begin(response)
            elif response.status_code == 206 and have:
                self._go_on(response, have)
            elif have:
                self._discard()
                raise RestartError(f"the object ends before byte {have:,}")
            else:
                raise AgainError(f"the storage answered {response.status_code} without being asked")
            for block in self._source.web.blocks(response):
                self._received(len(block))
                part.append(block)
                self.progress = max(self.progress, part.digest.bytes)
        assert part.claims is not None
        if part.digest.bytes < part.claims.bytes:
            raise AgainError(
                f"the connection ended after {part.digest.bytes:,} of {part.claims.bytes:,} bytes"
            )

    def _begin(self, response: requests.Response) -> None:
        """Take an answer that is the whole object, asked for or because it has changed."""
        length = response.headers.get("Content-Length", "")
        size = int(length) if length.isdecimal() else self._entry.bytes
        claimed = claims(size, response.headers, whole=True)
        if size != self._entry.bytes and claimed.etag is None:
            # Not the object: a page of a proxy, say. What is on disk stays.
            raise AgainError(f"{size:,} bytes were announced instead of {self._entry.bytes:,}")
        self._discard()
        self._part.begin(claimed)

    def _go_on(self, response: requests.Response, have: int) -> None:
        claimed = self._part.claims
        assert claimed is not None
        first, size = content_range(response)
        now = claims(claimed.bytes, response.headers, whole=False)
        if (
            first != have
            or size not in (None, claimed.bytes)
            or now.etag not in (None, claimed.etag)
        ):
            self._discard()
            raise RestartError("the object has changed")

    def _discard(self) -> None:
        self._received(-self._part.digest.bytes)
        self._part.discard()


def check(
    path: Path, entry: Entry, read: Callable[[int], None], stop: threading.Event
) -> Entry | None:
    """Read a file that is here; return what is known of it, or None if it is not the one wanted.

    Args:
        path: of the file.
        entry: what is known of it.
        read: told how many bytes were read.
        stop: set when all shall end.
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
