"""The files of figures that mind-maps are read from: their folders, and images for a reader."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from arena.errors import DataError, clip

MAX_BYTES = 10_000_000
"""The largest image by default."""

_KINDS = (
    ("image/png", b"\x89PNG\r\n\x1a\n", b""),
    ("image/jpeg", b"\xff\xd8\xff", b""),
    ("image/webp", b"RIFF", b"WEBP"),
)
LONGEST_NAME = 255
"""Bytes of a name of a file, on every usual file system."""


def folder_name(topic: str) -> str | None:
    """Return the name of a topic's folder: its id, with ``%`` and ``/`` percent-encoded.

    None if no file system takes the name.

    >>> folder_name("reportbench:2101.01507"), folder_name("arxiv:hep-th/99"), folder_name("..")
    ('reportbench:2101.01507', 'arxiv:hep-th%2F99', '%2E%2E')
    """
    name = topic.replace("%", "%25").replace("/", "%2F")
    if not name.strip("."):
        name = name.replace(".", "%2E")
    return name if name and "\0" not in name and len(os.fsencode(name)) <= LONGEST_NAME else None


def data_url(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return a PNG, JPEG or WebP as a ``data:`` URL; the first bytes of a file say which it is."""
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
