"""What the headers say of an object, and whether its bytes agree with them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Mapping
from typing import NamedTuple

_PIECE = 1 << 16
_AT_ONCE = 1 << 20  # bytes that are unpacked, and thrown away, at a time


class Claims(NamedTuple):
    """What the storage says of an object; None where it says nothing.

    Attributes:
        bytes: Size.
        etag: Strong ETag, which names this version of the object.
        md5: MD5 as 32 hexadecimal digits.
        sha256: SHA-256 as 64 hexadecimal digits.
        crc32: CRC-32.
    """

    bytes: int
    etag: str | None = None
    md5: str | None = None
    sha256: str | None = None
    crc32: int | None = None


def claims(size: int, headers: Mapping[str, str], whole: bool) -> Claims:
    """Return what the headers of a response say of an object.

    Args:
        size: Size of the object.
        headers: Headers of the response.
        whole: Whether the response is the whole object; ``x-amz-checksum-*`` count only then.
    """
    etag = headers.get("ETag", "").strip()
    if not re.fullmatch(r'"[^"\x00-\x1f]{1,200}"', etag):  # W/"..." does not promise the bytes
        return Claims(size)
    md5 = None
    # The ETag is the MD5 for an object put in one part, but not if it is encrypted with a key of
    # its own (Amazon S3 API reference, "Object": ETag).
    keyed = "kms" in headers.get("x-amz-server-side-encryption", "") or (
        "x-amz-server-side-encryption-customer-algorithm" in headers
    )
    if re.fullmatch('"[0-9a-f]{32}"', etag) and not keyed:
        md5 = etag.strip('"')
    sha256 = _decoded(headers.get("x-amz-checksum-sha256"), 32) if whole else None
    crc32 = _decoded(headers.get("x-amz-checksum-crc32"), 4) if whole else None
    return Claims(
        size,
        etag,
        md5,
        None if sha256 is None else sha256.hex(),
        None if crc32 is None else int.from_bytes(crc32, "big"),
    )


def _decoded(text: str | None, length: int) -> bytes | None:
    """Return a base64 checksum, or None if it is one of parts (``...-12``)."""
    try:
        value = base64.b64decode(text or "", validate=True)
    except binascii.Error:
        return None
    return value if len(value) == length else None


class Digest:
    """Size, hashes and gzip check of a stream of bytes."""

    def __init__(self) -> None:
        self.bytes = 0
        self._sha256 = hashlib.sha256()
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._crc32 = 0
        self._gzip = Gzip()

    def update(self, data: bytes) -> None:
        """Add the next bytes."""
        self.bytes += len(data)
        self._sha256.update(data)
        self._md5.update(data)
        self._crc32 = zlib.crc32(data, self._crc32)
        self._gzip.update(data)

    @property
    def sha256(self) -> str:
        """SHA-256 as 64 hexadecimal digits."""
        return self._sha256.hexdigest()

    def differs(self, claimed: Claims) -> str | None:
        """Return how the bytes differ from what the storage says, or None."""
        if self.bytes != claimed.bytes:
            return f"{self.bytes:,} bytes instead of {claimed.bytes:,}"
        if claimed.md5 not in (None, self._md5.hexdigest()):
            return f"MD5 {self._md5.hexdigest()} instead of {claimed.md5}"
        if claimed.sha256 not in (None, self.sha256):
            return f"SHA-256 {self.sha256} instead of {claimed.sha256}"
        if claimed.crc32 not in (None, self._crc32):
            return f"CRC-32 {self._crc32:08x} instead of {claimed.crc32:08x}"
        return None

    def damage(self) -> str | None:
        """Return why the bytes are no complete gzip file, or None; call it at the end."""
        return self._gzip.end()


class Gzip:
    """Checks a gzip stream by unpacking it: each member ends in its CRC-32 and length."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._begun = False  # the member
        self._complete = 0
        self._damage: str | None = None

    def update(self, data: bytes) -> None:
        """Add the next bytes."""
        # What is not unpacked yet is copied at each step, so there must not be much of it.
        for start in range(0, len(data), _PIECE):
            self._take(data[start : start + _PIECE])

    def _take(self, data: bytes) -> None:
        while data and self._damage is None:
            if not self._begun and self._complete:
                data = data.lstrip(b"\0")  # padding, as the module gzip takes it
                if not data:
                    return
            self._begun = True
            self._unpack(data)
            if self._member.eof:
                data = self._member.unused_data
                self._member, self._begun = zlib.decompressobj(wbits=31), False
                self._complete += 1
            else:
                data = self._member.unconsumed_tail

    def end(self) -> str | None:
        """Return what is wrong with the complete stream, or None."""
        while self._begun and self._damage is None and not self._member.eof:
            if not self._unpack(b""):
                return "the gzip stream is cut off"
        if self._damage is None and self._complete == 0 and not self._begun:
            return "it is empty"
        return self._damage

    def _unpack(self, data: bytes) -> int:
        try:
            return len(self._member.decompress(data, _AT_ONCE))
        except zlib.error as error:
            self._damage = f"no sound gzip stream ({error})"
            return 0
