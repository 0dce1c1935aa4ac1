"""Figures of surveys in folders: captions, and images for a vision model; see docs/surveys.md."""

from __future__ import annotations

import base64
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import DataError, clip
from arena.kit.files import TEMPORARY_SUFFIX, sha256_json

CAPTIONS = ("captions.jsonl", "captions.json")
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
MOST = 100
"""Figures of one survey that are shown to a model."""

MAX_BYTES = 10_000_000
"""The largest image by default."""

_KINDS = (
    ("image/png", b"\x89PNG\r\n\x1a\n", b""),
    ("image/jpeg", b"\xff\xd8\xff", b""),
    ("image/webp", b"RIFF", b"WEBP"),
)
_LONGEST_NAME = 255  # bytes, on every usual file system
_PLAIN_NAME = re.compile(r"[^./\\][^/\\]{0,254}")
_LARGEST = 16 << 20  # bytes of a file of captions
_CHARACTERS = 1_000  # of a caption


class Flaw(NamedTuple):
    """A folder, figure or answer that cannot be used."""

    step: str
    reason: str
    detail: str = ""


def folder_name(survey: str) -> str | None:
    """Return the name of a survey's folder: its id, with ``%`` and ``/`` percent-encoded.

    None if no file system takes the name.

    >>> folder_name("reportbench:2101.01507"), folder_name("arxiv:hep-th/99"), folder_name("..")
    ('reportbench:2101.01507', 'arxiv:hep-th%2F99', '%2E%2E')
    """
    name = survey.replace("%", "%25").replace("/", "%2F")
    if not name.strip("."):
        name = name.replace(".", "%2E")
    return name if name and "\0" not in name and len(os.fsencode(name)) <= _LONGEST_NAME else None


def fingerprint(root: Path) -> str:
    """Return a hash of names, sizes and times of all files below a folder."""
    if not root.is_dir():
        raise DataError(f"mind_maps.figures={str(root)!r} is not a folder; docs/surveys.md.")
    files = []
    for path in root.rglob("*"):
        with suppress(OSError):  # a link that leads nowhere
            status = path.stat()
            if path.is_file() and not path.name.endswith(TEMPORARY_SUFFIX):
                name = path.relative_to(root).as_posix()
                files.append([name, status.st_size, status.st_mtime_ns])
    return sha256_json(sorted(files))


def read_folder(directory: Path) -> tuple[dict[str, str], list[Flaw]]:
    """Read the captions of a survey's figures; a figure without one cannot be chosen.

    Returns:
        Captions by file name, and why other figures cannot be used.
    """
    flaws: list[Flaw] = []
    figures: dict[str, str] = {}
    try:
        for entry in _entries(directory):
            name, caption, reason = _figure(entry, directory)
            if not reason and name in figures:
                reason = "named twice, the first counts"
            if reason:
                flaws.append(Flaw("figure", reason, clip(name)))
            else:
                figures[name] = caption
    except (DataError, OSError, ValueError, RecursionError) as error:
        return {}, [Flaw("folder", "captions unreadable", clip(str(error), 120))]
    if len(figures) > MOST:
        reason = f"more than {MOST} figures, the first count"
        flaws.append(Flaw("folder", reason, str(len(figures))))
        figures = dict(list(figures.items())[:MOST])
    if not figures:
        flaws.append(Flaw("folder", "no figure with a caption"))
    return figures, flaws


def _entries(directory: Path) -> list[Any]:
    files = [directory / name for name in CAPTIONS if (directory / name).is_file()]
    if len(files) != 1:
        raise DataError("both " + " and ".join(CAPTIONS) if files else "no file of captions")
    if files[0].stat().st_size > _LARGEST:
        raise DataError(f"larger than {_LARGEST >> 20} MiB")
    text = files[0].read_text(encoding="utf-8-sig")
    if files[0].name.endswith("l"):
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    value = json.loads(text)
    if isinstance(value, dict):
        return [{"file": name, "caption": caption} for name, caption in value.items()]
    if not isinstance(value, list):
        raise DataError(f"neither list nor object: {clip(value)}")
    return value


def _figure(entry: Any, directory: Path) -> tuple[Any, str, str]:
    """Return file name and caption of an entry, and why it cannot be used, or an empty text."""
    name = caption = None
    if isinstance(entry, dict):
        name, caption = entry.get("file"), entry.get("caption")
        if name is None and isinstance(entry.get("renderURL"), str):  # as PDFFigures 2 writes it
            name = entry["renderURL"].rpartition("/")[2]
    if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name) or not name.isprintable():
        return entry, "", "no plain file name"
    caption = " ".join(caption.split())[:_CHARACTERS] if isinstance(caption, str) else ""
    if not name.lower().endswith(SUFFIXES):
        return name, caption, "no PNG, JPEG or WebP by its name"
    if not caption:
        return name, caption, "no caption"
    exists = len(name.encode()) <= _LONGEST_NAME and (directory / name).is_file()
    return name, caption, "" if exists else "no such file"


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
