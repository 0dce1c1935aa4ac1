"""Collections of papers and surveys that have a name, and where their authors publish them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def collections() -> dict[str, Any]:
    """Return what ``download/published.json`` says of each collection, with its addresses.

    ``files`` maps the files to the SHA-256 of each of which it was known.
    """
    path = Path(__file__).with_name("download") / "published.json"
    return dict(json.loads(path.read_bytes()))
