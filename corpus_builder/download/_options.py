"""How a download goes about its work, and what it will take."""

from __future__ import annotations

import math
from typing import NamedTuple

from arena.errors import DataError, clip

BASE_URL = "https://api.semanticscholar.org/datasets/v1"
DATASETS = ("papers", "abstracts", "citations", "s2orc")


class Estimate(NamedTuple):
    """What a download will take.

    Attributes:
        release: id of the release.
        datasets: number and bytes of the files of each.
        here_bytes: of files and parts of files that are here.
        needed_bytes: still to be fetched.
        free_bytes: on the disk.
    """

    release: str
    datasets: dict[str, tuple[int, int]]
    here_bytes: int
    needed_bytes: int
    free_bytes: int


class Options(NamedTuple):
    """How a download goes about its work.

    Attributes:
        parallel: files fetched at once, 1 to 64.
        key_env: environment variable that holds the key.
        base_url: of the API.
        rate: requests a second to the API at most.
        attempts: for a file or a question, in a row without a single byte.
        patience: seconds without a byte after which a connection is dead.
        verify: read complete files again and compare their SHA-256.
    """

    parallel: int = 4
    key_env: str = "S2_API_KEY"
    base_url: str = BASE_URL
    rate: float = 1.0
    attempts: int = 8
    patience: float = 60.0
    verify: bool = False

    def checked(self) -> Options:
        """Return the same.

        Raises:
            DataError: if one is out of its range.
        """
        for name, most in (("parallel", 64), ("attempts", 1000)):
            if not 1 <= getattr(self, name) <= most:
                raise DataError(f"{name} {getattr(self, name)}: must be from 1 to {most}.")
        for name in ("rate", "patience"):
            if not 0 < getattr(self, name) < math.inf:
                raise DataError(f"{name} {getattr(self, name)}: must be more than 0.")
        if not self.base_url.startswith(("http://", "https://")):
            raise DataError(f"base URL {clip(self.base_url)}: must begin with https:// or http://.")
        return self
