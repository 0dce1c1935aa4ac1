"""A figure as a request to a vision model carries it."""

from __future__ import annotations

import base64
from pathlib import Path

from arena.errors import DataError, clip

MAX_BYTES = 10_000_000
_KINDS = (
    ("image/png", b"\x89PNG\r\n\x1a\n", b""),
    ("image/jpeg", b"\xff\xd8\xff", b""),
    ("image/webp", b"RIFF", b"WEBP"),
)


def data_url(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return a PNG, JPEG or WebP as a ``data:`` URL; its first bytes tell which it is.

    Raises:
        DataError: if it is none of them, empty, larger than `max_bytes`, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}") from None
    if len(data) > max_bytes:
        raise DataError(f"more than {max_bytes:,} bytes")
    for kind, first, later in _KINDS:
        if data.startswith(first) and data[8:12] == (later or data[8:12]):
            return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
    raise DataError(f"no PNG, JPEG or WebP: it begins with {clip(data[:12])}")
