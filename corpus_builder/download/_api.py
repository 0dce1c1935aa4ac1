"""The Datasets API of Semantic Scholar: releases, their datasets, and links to their files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.llm._retry import AgainError, Gate, backoff
from corpus_builder.download._key import ApiKey
from corpus_builder.download._names import object_name, safe_name
from corpus_builder.download._patience import LONGEST_PAUSE, Patience
from corpus_builder.download._web import Web, may_pass, trouble

_LONGEST_ANSWER = 1 << 26


class Api:
    """Asks the API, one request after the other, as slowly as it wants.

    Args:
        web: of this object alone.
        base_url: with which all addresses begin.
        key: returns the key; called when links are asked for.
        rate: requests a second at most.
        patience: how often each is tried.
    """

    def __init__(
        self,
        web: Web,
        base_url: str,
        key: Callable[[], ApiKey],
        rate: float,
        patience: Patience,
    ) -> None:
        self._web, self._base, self._key = web, base_url.rstrip("/"), key
        self._attempts, self._sleep = patience
        self._gate = Gate(1, 60 * rate, patience.sleep)
        self._lock = threading.Lock()

    def releases(self) -> list[str]:
        """Return the ids of all releases."""
        found = self._get("/release/")
        if not isinstance(found, list):
            raise _odd("no list of releases")
        return [str(name) for name in found]

    def release(self, release: str) -> tuple[str, list[str]]:
        """Return the id of a release, or of the ``latest`` one, and the names of its datasets.

        Raises:
            UnknownNameError: if there is no such release.
        """
        found = self._get(f"/release/{quote(release, safe='')}")
        if found is None:
            known = self.releases()
            raise UnknownNameError(
                f"unknown release {clip(release)}.{did_you_mean(release, [*known, 'latest'])}"
            )
        try:
            told = safe_name(found["release_id"], "release")
            return told, [str(dataset["name"]) for dataset in found["datasets"]]
        except (TypeError, KeyError):
            raise _odd("no description of a release") from None

    def links(self, release: str, dataset: str) -> dict[str, str]:
        """Return the links of a dataset by the name of the file; they expire.

        Raises:
            UnknownNameError: if there is no such dataset.
            DataError: if no key is set or it is refused, or the list cannot be used.
        """
        found = self._get(
            f"/release/{quote(release, safe='')}/dataset/{quote(dataset, safe='')}", self._key()
        )
        if found is None:
            known = self.release(release)[1]
            raise unknown_dataset(dataset, release, known)
        links = found.get("files") if isinstance(found, dict) else None
        if not isinstance(links, list) or not links:
            raise _odd(f"no files of the dataset {dataset!r}")
        named = {object_name(link): link for link in links}
        if len(named) < len(links):
            raise DataError(f"two files of the dataset {dataset!r} have the same name.")
        return named

    def _get(self, path: str, key: ApiKey | None = None) -> Any:
        """Return the JSON at `path`; None if there is nothing."""
        with self._lock:
            for attempt in range(self._attempts):
                self._gate.wait()
                try:
                    return self._once(path, key)
                except AgainError as again:
                    reason, pause = str(again), max(again.pause or 0.0, backoff(path, attempt))
                if pause > LONGEST_PAUSE:
                    reason += f" and asks to wait for {pause:,.0f} s"
                    break
                if attempt + 1 < self._attempts:
                    self._sleep(pause)
            raise ArenaError(
                f"the Datasets API cannot be asked for {path}: {reason} "
                f"(attempt {attempt + 1} of {self._attempts}). The same command goes on from here."
            )

    def _once(self, path: str, key: ApiKey | None) -> Any:
        with self._web.get(self._base + path, {}, key.header() if key else None) as response:
            status = response.status_code
            if may_pass(status):
                raise trouble(response, "the API")
            if status == 404:
                return None
            body = self._web.text(response, _LONGEST_ANSWER)
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
            raise AgainError("the API answered something that is no JSON") from None


def unknown_dataset(name: str, release: str, known: list[str]) -> UnknownNameError:
    """Return the error for a name that is no dataset."""
    return UnknownNameError(
        f"unknown dataset {clip(name)} in release {release}.{did_you_mean(name, known)}"
    )


def _odd(what: str) -> ArenaError:
    return ArenaError(
        f"the Datasets API answered with something else than documented: {what}. Is the base URL "
        "right?"
    )


def _message(body: bytes, key: ApiKey | None) -> str:
    """Return what the API has to say about an error, which may repeat the key."""
    try:
        data = json.loads(body)
        text = str(data.get("message") or data.get("error") or "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return f": {clip(key.without(text) if key else text)}" if text else ""


class Links:
    """The links of one dataset, asked for when they are needed and again when they expire.

    Args:
        api: to ask.
        release: id of the release.
        dataset: name of the dataset.
        names: files that the list must have; None if any will do.
    """

    def __init__(self, api: Api, release: str, dataset: str, names: set[str] | None) -> None:
        self._api, self._release, self._dataset, self._names = api, release, dataset, names
        self._links: dict[str, str] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return the names of all files."""
        with self._lock:
            if not self._links:
                self._fetch()
            return sorted(self._links)

    def get(self, name: str) -> str:
        """Return a link to a file.

        Raises:
            DataError: if the list has not the files that it had.
        """
        with self._lock:
            if not self._links:
                self._fetch()
            return self._links[name]

    def expired(self, name: str, link: str) -> None:
        """Say that a link is no longer good; all are replaced, unless they have been by now."""
        with self._lock:
            if self._links.get(name) == link:
                self._links = {}

    def _fetch(self) -> None:
        links = self._api.links(self._release, self._dataset)
        if self._names is None:
            self._names = set(links)
        elif self._names != set(links):
            gone, new = sorted(self._names - set(links)), sorted(set(links) - self._names)
            raise DataError(
                f"the list of the files of {self._dataset!r} in release {self._release} has "
                f"changed: {len(gone)} gone{_first(gone)}, {len(new)} new{_first(new)}. Files of "
                "the two lists must not be mixed: download into another directory."
            )
        self._links = links


def _first(names: list[str]) -> str:
    return f" ({names[0]}{', ...' if len(names) > 1 else ''})" if names else ""
