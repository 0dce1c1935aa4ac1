"""How fetching one file can end, besides well."""

from __future__ import annotations


class RestartError(Exception):
    """What was received is of no use: the file is begun again."""


class FailedError(Exception):
    """A file cannot be fetched, or not now; others may."""


class StoppedError(Exception):
    """Somebody else has failed, or the user has had enough."""
