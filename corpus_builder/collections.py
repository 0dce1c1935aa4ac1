"""Collections of papers and surveys that have a name, those of the project and of the user.

``download/published.json`` has their addresses, with the SHA-256 of each file of which it was
known.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from arena.errors import DataError
from arena.kit.files import misfit

COLLECTIONS = "ARENA_COLLECTIONS"
_FORM = {"files": dict, "archive": str, "folder": str, "sha256": str | None}


@cache
def addresses() -> dict[str, Any]:
    """Return what ``published.json`` says of each collection."""
    return dict(
        json.loads(Path(__file__).with_name("download").joinpath("published.json").read_bytes())
    )


def collections() -> dict[str, Any]:
    """Return the collections of ``published.json``, and those of the user.

    The environment variable ``ARENA_COLLECTIONS`` lists files of the same form, separated as in
    ``PATH``. An entry has ``files`` under an address ``base``, or ``archive`` (an address, with
    ``sha256``), or ``folder`` (a path); an entry of a user replaces one of the same name.
    """
    found = dict(addresses())
    for path in filter(None, os.environ.get(COLLECTIONS, "").split(os.pathsep)):
        try:
            own = json.loads(Path(path).read_bytes())
            for name, about in own.items():
                given = {key: kind for key, kind in _FORM.items() if key in about}
                if why := misfit(about, given | {"base": str} if "files" in about else given):
                    raise ValueError(f"{name}: {why}")
            found |= {name: {"home": path, "licence": None, **about} for name, about in own.items()}
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise DataError(
                f"{path!r}, which {COLLECTIONS} names, is not a file of collections ({error}). "
                'Write {"NAME": {"folder": "DIR", "licence": "...", "good_for": "..."}}.'
            ) from None
    return found
