"""The folder with the figures of one survey, and what in it can be used."""

from __future__ import annotations

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

_LONGEST_NAME = 255  # bytes, on every usual file system
_LARGEST = 16 << 20  # bytes of a file of captions
_CHARACTERS = 1_000  # of a caption


class Flaw(NamedTuple):
    """Something that could not be used.

    Attributes:
        step: ``folder``, ``figure``, ``pick`` or ``read``.
        reason: one of few, in words, for counting.
        detail: the offending value, clipped.
    """

    step: str
    reason: str
    detail: str = ""


class Folder(NamedTuple):
    """What is usable of a survey's figures.

    Attributes:
        figures: file name -> caption, in the order of the captions.
        flaws: what is not.
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
        DataError: if there is no such folder.
    """
    if not root.is_dir():
        raise DataError(f"mind_maps.figures={str(root)!r} is no folder; docs/figures.md.")
    files = []
    for folder, _, names in os.walk(root, followlinks=False):
        for name in names:
            path = Path(folder, name)
            try:
                told = path.stat()
            except OSError:  # a link that leads nowhere
                continue
            files.append([path.relative_to(root).as_posix(), told.st_size, told.st_mtime_ns])
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
    found = [directory / name for name in CAPTIONS if (directory / name).is_file()]
    if len(found) != 1:
        raise DataError("both " + " and ".join(CAPTIONS) if found else "no file of captions")
    try:
        if found[0].stat().st_size > _LARGEST:
            raise DataError(f"larger than {_LARGEST >> 20} MiB")
        text = found[0].read_text(encoding="utf-8-sig")
        if found[0].name.endswith("l"):
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
        flaws.append(Flaw("figure", "told twice, the first counts", clip(name)))
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
