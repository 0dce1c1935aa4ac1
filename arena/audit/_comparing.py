"""What was shown against what was expected, key by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arena.audit._report import brief

Say = Callable[[str, str], None]
"""Called with the name of a check and what was wrong."""


def only_error(result: Mapping[str, Any], say: Say) -> None:
    """Check that a refusal is an error text and nothing else."""
    if set(result) != {"error"} or not isinstance(result["error"], str):
        say("error", f"a refusal has the keys {sorted(result)}")


def keys(value: Any, wanted: set[str], what: str, say: Say) -> None:
    """Check that `value` is a dict of exactly these keys."""
    if not isinstance(value, dict) or set(value) != wanted:
        got = sorted(value) if isinstance(value, dict) else value
        say("result", f"{what} has {got!r}, and should have {sorted(wanted)}")


def compare(
    result: Mapping[str, Any], wanted: Mapping[str, tuple[str, Any]], more: set[str], say: Say
) -> None:
    """Check a result key by key: `wanted` has the check that each belongs to, and its value."""
    keys(result, wanted.keys() | more, "the result", say)
    for name, (check, value) in wanted.items():
        if name in result and (
            result[name] != value or isinstance(result[name], bool) != isinstance(value, bool)
        ):
            say(check, f"{name}={brief(result[name])}, and by the files {brief(value)}")
