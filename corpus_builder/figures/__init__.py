"""Figures of surveys in folders: captions, and images for a vision model; see docs/surveys.md."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import DataError, clip
from arena.kit.files import TEMPORARY_SUFFIX, sha256_json
from arena.mindmap.figures import LONGEST_NAME

CAPTIONS = ("captions.jsonl", "captions.json")
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
MOST = 100
"""Figures of one survey that are shown to a model."""

_PLAIN_NAME = re.compile(r"[^./\\][^/\\]{0,254}")
_LARGEST = 16 << 20  # bytes of a file of captions
_CHARACTERS = 1_000  # of a caption


class Flaw(NamedTuple):
    """A folder, figure or answer that cannot be used."""

    step: str
    reason: str
    detail: str = ""


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
    exists = len(name.encode()) <= LONGEST_NAME and (directory / name).is_file()
    return name, caption, "" if exists else "no such file"
