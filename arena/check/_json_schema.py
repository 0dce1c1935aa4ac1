"""The part of JSON Schema that tools need: is a schema one, and does a value satisfy it?"""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_KEYWORDS: dict[str, tuple[type, ...]] = {
    "type": (str,),
    "description": (str,),
    "title": (str,),
    "default": (object,),
    "enum": (list,),
    "minimum": (int, float),
    "maximum": (int, float),
    "minLength": (int,),
    "maxLength": (int,),
    "minItems": (int,),
    "maxItems": (int,),
    "items": (dict,),
    "properties": (dict,),
    "required": (list,),
    "additionalProperties": (bool,),
}


def malformed(schema: Any, place: str = "parameters") -> str | None:
    """Return what is wrong with a schema, or None.

    Draft 2020-12, with the keywords that servers of models take; others are refused.
    """
    if not isinstance(schema, dict):
        return f"{place} is no object"
    for key, value in schema.items():
        if key not in _KEYWORDS:
            return f"{place} has the keyword {key!r}"
        if not isinstance(value, _KEYWORDS[key]):
            return f"{place}.{key} is {value!r}"
    if schema.get("type") not in _TYPES:
        return f"{place}.type is {schema.get('type')!r}"
    if "enum" in schema and not schema["enum"]:
        return f"{place}.enum is empty"
    for name in schema.get("required", ()):
        if name not in schema.get("properties", {}):
            return f"{place}.required names {name!r}, which is no property"
    if "default" in schema and (found := violation(schema["default"], schema)):
        return f"{place}.default: {found}"
    parts = {f"{place}.{name}": part for name, part in schema.get("properties", {}).items()}
    if "items" in schema:
        parts[f"{place}[]"] = schema["items"]
    return next((found for name, part in parts.items() if (found := malformed(part, name))), None)


def violation(value: Any, schema: dict[str, Any], place: str = "arguments") -> str | None:
    """Return where and how `value` does not satisfy a well-formed schema, or None."""
    kind = schema["type"]
    given: Any = value  # for the type checker, which narrows to what len() refuses
    if not isinstance(given, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return f"{place}={value!r:.60} is no {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{place}={value!r:.60} is none of {schema['enum']}"
    if kind in ("integer", "number"):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            return f"{place}={value} is out of range"
    elif kind in ("string", "array"):
        names = ("minLength", "maxLength") if kind == "string" else ("minItems", "maxItems")
        least, most = (schema.get(name, len(value)) for name in names)
        if not least <= len(value) <= most:
            return f"{place} has the length {len(value)}"
    if kind == "array" and "items" in schema:
        found = (violation(v, schema["items"], f"{place}[{n}]") for n, v in enumerate(value))
        return next((each for each in found if each), None)
    return _members(value, schema, place) if kind == "object" else None


def _members(value: dict[str, Any], schema: dict[str, Any], place: str) -> str | None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{place} lacks {name!r}"
    for name, item in value.items():
        if name not in known:
            if not schema.get("additionalProperties", True):
                return f"{place} has {name!r}, which is no property"
        elif found := violation(item, known[name], f"{place}.{name}"):
            return found
    return None
