"""Names that a server tells become names of files only if they are harmless."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from arena.errors import DataError, clip

SUFFIX = ".gz"


def safe_name(name: object, what: str) -> str:
    """Return `name` if it can name a file in the directory it is meant for, and no hidden one.

    Raises:
        DataError: if it cannot.
    """
    if (
        not isinstance(name, str)
        or not name.isprintable()
        or not name.isascii()
        or not 0 < len(name) <= 200
        or name[0] in ".~-"
        or any(letter in name for letter in '/\\:*?"<>|')
    ):
        raise DataError(f"the server names a {what} {clip(name)}, which cannot name a file.")
    return name


def object_name(link: object) -> str:
    """Return the file name for the object behind a link: the last part of its path, with ``.gz``.

    The query, which holds signature and expiry, does not count.

    Raises:
        DataError: if the link is none, or the name cannot name a file.

    >>> object_name("https://s3.example/2024-02-06/papers/00_a%2Bb.gz?Expires=1&Signature=x")
    '00_a+b.gz'
    """
    if not isinstance(link, str) or not link.startswith(("https://", "http://")):
        # Not the link itself: whoever has it can fetch the object.
        raise DataError("the server gives something for a link that is no http address.")
    try:
        path = urlsplit(link).path
    except ValueError:
        raise DataError("the server gives a link that cannot be read.") from None
    name = safe_name(unquote(path.rpartition("/")[2]), "file")
    return name if name.endswith(SUFFIX) else name + SUFFIX
