"""The folder with the figures of one survey: captions, and images for a vision model."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import sha256_json
from arena.errors import DataError, clip

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
_LARGEST = 16 << 20  # bytes of a file of captions
_CHARACTERS = 1_000  # of a caption


class Flaw(NamedTuple):
    """A folder, figure or answer that cannot be used.

    Attributes:
        step: ``folder``, ``figure``, ``pick`` or ``read``.
        reason: One of few reasons, for counting.
        detail: The offending value, clipped.
    """

    step: str
    reason: str
    detail: str = ""


class Folder(NamedTuple):
    """The usable figures of a survey.

    Attributes:
        figures: Captions by file name, in the order of the captions.
        flaws: Reasons why others cannot be used.
    """

    figures: dict[str, str]
    flaws: list[Flaw]


def folder_name(survey: str) -> str | None:
    """Return the name of a survey's folder: its id, with ``%`` and ``/`` percent-encoded.

    None if a file system cannot hold the name.

    >>> folder_name("reportbench:2101.01507"), folder_name("arxiv:hep-th/99"), folder_name("..")
    ('reportbench:2101.01507', 'arxiv:hep-th%2F99', '%2E%2E')
    """
    name = survey.replace("%", "%25").replace("/", "%2F")
    if not name.strip("."):
        name = name.replace(".", "%2E")
    return name if name and "\0" not in name and len(os.fsencode(name)) <= _LONGEST_NAME else None


def fingerprint(root: Path) -> str:
    """Return a hash of names, sizes and times of all files below a folder.

    Raises:
        DataError: There is no such folder.
    """
    if not root.is_dir():
        raise DataError(f"mind_maps.figures={str(root)!r} is no folder; docs/figures.md.")
    files = []
    for folder, _, names in os.walk(root, followlinks=False):
        for name in names:
            path = Path(folder, name)
            try:
                status = path.stat()
            except OSError:  # a link that leads nowhere
                continue
            files.append([path.relative_to(root).as_posix(), status.st_size, status.st_mtime_ns])
    return sha256_json(sorted(files))


def read_folder(directory: Path) -> Folder:
    """Read the captions of a survey's figures; a figure without one cannot be chosen."""
    flaws: list[Flaw] = []
    figures: dict[str, str] = {}
    try:
        for entry in _entries(directory):
            _add(entry, directory, figures, flaws)
    except DataError as error:
        return Folder({}, [Flaw("folder", "captions unreadable", str(error))])
    if len(figures) > MOST:
        flaws.append(
            Flaw("folder", f"more than {MOST} figures, the first count", str(len(figures)))
        )
        figures = dict(list(figures.items())[:MOST])
    if not figures:
        flaws.append(Flaw("folder", "no figure with a caption"))
    return Folder(figures, flaws)


def _entries(directory: Path) -> Iterator[Any]:
    files = [directory / name for name in CAPTIONS if (directory / name).is_file()]
    if len(files) != 1:
        raise DataError("both " + " and ".join(CAPTIONS) if files else "no file of captions")
    try:
        if files[0].stat().st_size > _LARGEST:
            raise DataError(f"larger than {_LARGEST >> 20} MiB")
        text = files[0].read_text(encoding="utf-8-sig")
        if files[0].name.endswith("l"):
            yield from (json.loads(line) for line in text.split("\n") if line.strip())
            return
        value = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(clip(str(error), 120)) from None
    if isinstance(value, dict):
        value = [{"file": name, "caption": caption} for name, caption in value.items()]
    if not isinstance(value, list):
        raise DataError(f"neither list nor object: {clip(value)}")
    yield from value


def _add(entry: Any, directory: Path, figures: dict[str, str], flaws: list[Flaw]) -> None:
    name = _file(entry)
    if name is None:
        flaws.append(Flaw("figure", "no plain file name", clip(entry)))
        return
    caption = entry.get("caption")
    caption = " ".join(caption.split())[:_CHARACTERS] if isinstance(caption, str) else ""
    if not name.lower().endswith(SUFFIXES):
        flaws.append(Flaw("figure", "no PNG, JPEG or WebP by its name", clip(name)))
    elif not caption:
        flaws.append(Flaw("figure", "no caption", clip(name)))
    elif not (directory / name).is_file():
        flaws.append(Flaw("figure", "no such file", clip(name)))
    elif name in figures:
        flaws.append(Flaw("figure", "named twice, the first counts", clip(name)))
    else:
        figures[name] = caption


def _file(entry: Any) -> str | None:
    """Return the file that an entry names, if that is a plain name of a file in the folder."""
    if not isinstance(entry, dict):
        return None
    name = entry.get("file")
    if name is None and isinstance(entry.get("renderURL"), str):  # as PDFFigures 2 writes it
        name = entry["renderURL"].rpartition("/")[2]
    if not isinstance(name, str) or not name.isprintable() or set(name) & set("/\\"):
        return None
    try:
        plain = 0 < len(name.encode()) <= _LONGEST_NAME and not name.startswith(".")
    except UnicodeEncodeError:
        return None
    return name if plain else None


def data_url(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return a PNG, JPEG or WebP as a ``data:`` URL; the first bytes of a file say which it is.

    Raises:
        DataError: The file is none of them, empty, larger than `max_bytes`, or cannot be read.
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
