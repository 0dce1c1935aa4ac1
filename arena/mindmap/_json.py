"""JSON text to Python values, of hostile text too, with repeated keys kept."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from arena.errors import DataError, clip


class Repeats(dict[str, Any]):
    """An object in whose text a key stands twice; `pairs` has all of them."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def parse(text: str) -> Any:
    """Return the value of a JSON text; an object with a repeated key is a `Repeats`.

    Raises:
        DataError: It is no JSON (NaN and Infinity are none), or nests too deep to be parsed.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError:
        problem = "it nests too deep"
    except (json.JSONDecodeError, _NoJSONError) as error:
        problem = str(error)
    except ValueError:
        problem = "it holds an integer of thousands of digits"
    raise DataError(f"the mind-map {clip(text)} cannot be read as JSON: {problem}.")


class _NoJSONError(ValueError):
    """What Python takes for JSON and nobody else does."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeats(pairs)


def _refuse(constant: str) -> NoReturn:
    raise _NoJSONError(f"{constant} is no JSON value")
