"""The form of a JSON file that may be damaged: its keys, and the types of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.errors import clip

Form = Mapping[str, Any]
"""Key -> a type, several types as ``int | float``, or the `Form` of the object there."""


def misfit(value: Any, form: Form, place: str = "") -> str | None:
    """Return what keeps a value from being of a form, or None. Other keys may have any value.

    True and False are of the types ``bool`` and ``object`` alone.

    >>> misfit({"rows": "3"}, {"rows": int}), misfit({}, {"rows": int})
    ("rows='3'", 'rows is missing')
    """
    if not isinstance(value, Mapping):
        return f"{place.rstrip('.') or 'it'}={clip(value)}"
    for key, wanted in form.items():
        if key not in value:
            return f"{place}{key} is missing"
        part = value[key]
        if isinstance(wanted, Mapping):
            if (why := misfit(part, wanted, f"{place}{key}.")) is not None:
                return why
        elif not isinstance(part, wanted) or (type(part) is bool and wanted not in (bool, object)):
            return f"{place}{key}={clip(part)}"
    return None
