"""A picture of every mind-map that a run handed in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from arena._internal.files import atomic_write

if TYPE_CHECKING:
    from arena.mindmap import MindMap

PICTURES = "pictures"
_LONGEST = 120
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_DIGITS = 16
_HASHED = re.compile(rf"(?:.*-)?[0-9a-f]{{{_DIGITS}}}")  # what a name with a hash looks like


def write_pictures(
    output: Path, handed_in: Mapping[str, MindMap], gold: Mapping[str, MindMap | None]
) -> list[str]:
    """Write ``pictures/SURVEY.svg``: what was handed in, beside the survey's own map if it has one.

    Args:
        output: the directory of the run.
        handed_in: survey id -> mind-map.
        gold: survey id -> the survey's own, None where it has none.

    Returns:
        The names of the files, relative to `output`.
    """
    from arena.mindmap import beside, render

    names = []
    for survey_id, tree in handed_in.items():
        names.append(f"{PICTURES}/{file_name(survey_id)}.svg")
        own = gold[survey_id]
        if own is None:
            picture = render(tree, "svg")
        else:
            picture = beside(tree, own, captions=("handed in", "the survey's own"))
        (output / PICTURES).mkdir(exist_ok=True)
        atomic_write(output / names[-1], picture)
    return names


def file_name(survey_id: str) -> str:
    """Return a name that every file system takes, another one for every survey.

    >>> file_name("2101.01507")
    '2101.01507'
    >>> file_name("../doi:10.1/x")
    'doi-10.1-x-482f66e24c040c43'
    """
    name = _UNSAFE.sub("-", survey_id).strip(".-")[:_LONGEST]
    # Capitals too: some file systems take A.svg and a.svg for one file. And an id that looks like
    # the name of another one.
    if name == survey_id and name == name.lower() and not _HASHED.fullmatch(name):
        return name
    digest = hashlib.sha256(survey_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{name}-{digest}" if name else digest
