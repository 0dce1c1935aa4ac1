"""Files of a download: what is said of them, what is on disk, and how the two differ."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from arena._internal.files import write_json
from arena._internal.workdir import clear_temporary, exclusive_lock
from arena.errors import DataError


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
        with exclusive_lock(directory / ".download.lock", directory):
            clear_temporary([directory])
            yield
    finally:
        if new:
            with suppress(OSError):
                directory.rmdir()
