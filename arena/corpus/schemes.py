"""Corpora by a text ``SCHEME:OPTIONS`` in place of a directory, such as a synthetic one of a seed.

A scheme is a plug-in: a function from its options to the directory of a built corpus.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip
from arena.kit.options import check_options
from arena.plugins import Registry

__all__ = ["CORPUS_SCHEMES", "corpus_scheme", "resolve_directory"]

_FORM = re.compile(r"([a-z][a-z0-9_-]*):(.*)", re.DOTALL)

CORPUS_SCHEMES: Registry[Callable[..., Path]] = Registry("corpus scheme")
corpus_scheme = CORPUS_SCHEMES.register
"""Decorator of a function that returns the directory of a corpus: ``@corpus_scheme("name")``."""


def resolve_directory(corpus: str | Path) -> Path:
    """Return the directory of a corpus that a user names; a scheme makes its corpus if it must.

    A directory of that name comes first. Options are ``NAME=VALUE`` with commas; a value is JSON,
    or else a text.

    Raises:
        UnknownNameError: There is no such scheme.
        DataError: The scheme has no such option, or an option is no ``NAME=VALUE``.
    """
    match = _FORM.fullmatch(corpus) if isinstance(corpus, str) else None
    if match is None or Path(corpus).exists():
        return Path(corpus)
    name, options = match[1], dict[str, Any]()
    scheme = CORPUS_SCHEMES.get(name)
    for item in filter(None, map(str.strip, match[2].split(","))):
        option, sign, value = item.partition("=")
        if not sign:
            raise DataError(f"corpus={clip(corpus)}: {clip(item)} is no NAME=VALUE.")
        try:
            options[option] = json.loads(value)
        except ValueError:
            options[option] = value
    return scheme(**check_options(f"corpus scheme {name}", scheme, options))
