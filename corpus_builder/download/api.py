"""The Datasets API of Semantic Scholar: releases, their datasets, and links to their files."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from corpus_builder.download.http import (
    KEY_HEADER,
    FailedError,
    HttpSession,
    TransientError,
    check_status,
    retry,
)
from corpus_builder.download.record import object_name, safe_name

FORM = "https://www.semanticscholar.org/product/api#api-key-form"

_LONGEST_ANSWER = 1 << 26


class ApiKey:
    """An API key that never shows its value.

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
            DataError: If the variable is not set.
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
        raise TypeError("an API key cannot be pickled or copied")

    def header(self) -> dict[str, str]:
        """Return the header that carries the key."""
        return {KEY_HEADER: self._value}

    def remove_from(self, text: str) -> str:
        """Return `text` from a server with the key replaced by asterisks."""
        return text.replace(self._value, "***")


class Api:
    """Client of the API; sends one request after the other, at a limited rate.

    Args:
        session: HTTP session.
        base_url: Beginning of all addresses.
        key_env: Environment variable of the key, which is read when links are requested.
        rate: Most requests a second.
        attempts: Number of attempts at each request.
        sleep: Function that waits for a number of seconds.
    """

    def __init__(
        self,
        session: HttpSession,
        base_url: str,
        key_env: str,
        rate: float,
        attempts: int,
        sleep: Callable[[float], None],
    ) -> None:
        self._session, self._base, self._key_env = session, base_url.rstrip("/"), key_env
        self._interval, self._attempts, self._sleep = 1.0 / rate, attempts, sleep
        self._next = 0.0  # when the next request may begin
        self._lock = threading.Lock()

    def release(self, release: str) -> tuple[str, list[str]]:
        """Return the id of a release, or of the ``latest`` one, and the names of its datasets.

        Raises:
            UnknownNameError: If there is no such release.
        """
        answer = self._get(f"/release/{quote(release, safe='')}")
        if answer is None:
            known = self._get("/release/")
            if not isinstance(known, list):
                raise _undocumented("no list of releases")
            names = [*map(str, known), "latest"]
            raise UnknownNameError(
                f"unknown release {clip(release)}.{did_you_mean(release, names)}"
            )
        try:
            name = safe_name(answer["release_id"], "release")
            return name, [str(dataset["name"]) for dataset in answer["datasets"]]
        except (TypeError, KeyError):
            raise _undocumented("no description of a release") from None

    def links(self, release: str, dataset: str) -> dict[str, str]:
        """Return file name -> link for a dataset; the links expire.

        Raises:
            UnknownNameError: If there is no such dataset.
            DataError: If no key is set, it is refused, or the list cannot be used.
        """
        path = f"/release/{quote(release, safe='')}/dataset/{quote(dataset, safe='')}"
        answer = self._get(path, ApiKey.from_environment(self._key_env))
        if answer is None:
            raise unknown_dataset(dataset, release, self.release(release)[1])
        links = answer.get("files") if isinstance(answer, dict) else None
        if not isinstance(links, list) or not links:
            raise _undocumented(f"no files of the dataset {dataset!r}")
        by_name = {object_name(link): link for link in links}
        if len(by_name) < len(links):
            raise DataError(f"two files of the dataset {dataset!r} have the same name.")
        return by_name

    def _get(self, path: str, key: ApiKey | None = None) -> Any:
        """Return the JSON at `path`, or None if the API has nothing there."""

        def attempt() -> Any:
            now = time.monotonic()
            if self._next > now:
                self._sleep(self._next - now)
            self._next = max(now, self._next) + self._interval
            return self._get_once(path, key)

        with self._lock:
            try:
                return retry(attempt, path, self._attempts, self._sleep)
            except FailedError as error:
                raise ArenaError(
                    f"the Datasets API cannot be asked for {path}: {error}. The same command goes "
                    "on from here."
                ) from None

    def _get_once(self, path: str, key: ApiKey | None) -> Any:
        with self._session.open(self._base + path, key.header() if key else {}) as response:
            status = response.status_code
            check_status(response, "the API")
            if status == 404:
                return None
            body = self._session.text(response, _LONGEST_ANSWER)
        if status in (401, 403):
            raise DataError(
                f"the Datasets API refuses {'the key' if key else 'the request'} "
                f"(status {status}{_message(body, key)}). Is the key right, and still valid?"
            )
        if status != 200:
            raise ArenaError(
                f"the Datasets API answered {path} with status {status}{_message(body, key)}."
            )
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise TransientError("the API answered something that is no JSON") from None


def unknown_dataset(name: str, release: str, known: list[str]) -> UnknownNameError:
    """Return the error for a name that is no dataset of a release."""
    return UnknownNameError(
        f"unknown dataset {clip(name)} in release {release}.{did_you_mean(name, known)}"
    )


def _undocumented(problem: str) -> ArenaError:
    return ArenaError(
        f"the Datasets API answered with something else than documented: {problem}. Is the base "
        "URL right?"
    )


def _message(body: bytes, key: ApiKey | None) -> str:
    """Return the API's own error message, in which the key may be repeated."""
    try:
        data = json.loads(body)
        text = str(data.get("message") or data.get("error") or "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return f": {clip(key.remove_from(text) if key else text)}" if text else ""


class Links:
    """The links of one dataset; fetched when they are needed and again when they expire.

    Args:
        api: The API.
        release: Id of the release.
        dataset: Name of the dataset.
        names: Names of the files that the list must have; None for any.
    """

    def __init__(self, api: Api, release: str, dataset: str, names: set[str] | None) -> None:
        self._api, self._release, self._dataset, self._names = api, release, dataset, names
        self._links: dict[str, str] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return the sorted names of all files."""
        with self._lock:
            return sorted(self._current())

    def get(self, name: str) -> str:
        """Return a link to a file.

        Raises:
            DataError: If the API's list of files has changed.
        """
        with self._lock:
            return self._current()[name]

    def expire(self, name: str, link: str) -> None:
        """Drop all links if `link` is still the current one for `name`."""
        with self._lock:
            if self._links.get(name) == link:
                self._links = {}

    def _current(self) -> dict[str, str]:
        if self._links:
            return self._links
        links = self._api.links(self._release, self._dataset)
        if self._names is not None and self._names != set(links):
            gone, new = sorted(self._names - set(links)), sorted(set(links) - self._names)
            raise DataError(
                f"the list of the files of {self._dataset!r} in release {self._release} has "
                f"changed: {len(gone)} gone{_first(gone)}, {len(new)} new{_first(new)}. Files of "
                "the two lists must not be mixed: download into another directory."
            )
        self._names, self._links = set(links), links
        return links


def _first(names: list[str]) -> str:
    return f" ({names[0]}{', ...' if len(names) > 1 else ''})" if names else ""
