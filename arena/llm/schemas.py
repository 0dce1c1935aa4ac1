"""JSON schemas of answers, to which many servers hold a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT = {"type": "string"}


def object_schema(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties, all required, and no others."""
    required = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


def response_format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of a request that asks for an answer of this schema.

    Args:
        name: Name of the schema: letters, digits, ``_`` and ``-``.
        schema: The schema.
    """
    named = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
