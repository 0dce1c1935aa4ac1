"""What a check is, and the checks by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from arena.registry import Registry

if TYPE_CHECKING:
    from arena.check._subject import Subject


class Result(NamedTuple):
    """What one check says of one environment.

    Attributes:
        environment: the Gymnasium id.
        check: the name of the check.
        passed: whether the environment passed.
        detail: what was looked at if it passed, else what is wrong; one line.
    """

    environment: str
    check: str
    passed: bool
    detail: str


class CheckError(Exception):
    """What a check found to be wrong, told in one line."""


def require(condition: object, message: str) -> None:
    """Go on only if `condition` holds.

    Raises:
        CheckError: with `message`, if it does not.
    """
    if not condition:
        raise CheckError(message)


CHECKS: Registry[Callable[[Subject], str]] = Registry(
    "check", packages=["arena.check"], entry_points="researcharena.checks"
)
"""Functions of a `Subject`. They return what they have looked at, and raise `CheckError` (or
anything else) if something is wrong."""
