"""The key of the Datasets API, which nothing may print."""

from __future__ import annotations

import os

from arena.errors import DataError

FORM = "https://www.semanticscholar.org/product/api#api-key-form"


class ApiKey:
    """A key that shows only where it came from.

    >>> ApiKey("abcdefgh", "S2_API_KEY")
    ApiKey(from 'S2_API_KEY')
    """

    def __init__(self, value: str, source: str) -> None:
        value = value.strip()
        # A header cannot hold anything else, and the library's error would show the value.
        if not value or not all("!" <= letter <= "~" for letter in value):
            raise DataError(
                f"the key in the environment variable {source!r} is empty or holds spaces or "
                "letters that no key has. Copy it again."
            )
        self._value, self._source = value, source

    @classmethod
    def from_environment(cls, name: str) -> ApiKey:
        """Return the key in the environment variable `name`.

        Raises:
            DataError: if there is none.
        """
        if name not in os.environ:
            raise DataError(
                f"no key of the Datasets API: the environment variable {name!r} is not set. "
                f"Ask for a key at {FORM}, then `export {name}=...`."
            )
        return cls(os.environ[name], name)

    def __repr__(self) -> str:
        return f"ApiKey(from {self._source!r})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not to be written anywhere")

    def header(self) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"x-api-key": self._value}

    def without(self, text: str) -> str:
        """Return `text` of a server with the key, should it stand there, made unreadable."""
        return text.replace(self._value, "***")
