"""What is asked, in one form: the body that is sent, and the hash it is known by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from arena._internal.files import sha256_json
from arena.errors import DataError, clip

KEY_VERSION = 1
"""Raise it when the same request shall no longer find its old answer."""

Message = Mapping[str, Any]


def body_of(messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON body of a request.

    An option that is None is left out. A whole float becomes an integer, so that 0 and 0.0 are one
    request. Halves of surrogate pairs, which UTF-8 cannot send, become U+FFFD.

    Args:
        messages: at least one, each with a ``role``.
        options: ``model``, ``temperature`` and whatever else the protocol knows.

    Raises:
        DataError: if `messages` are none, an option is not supported, or JSON cannot hold it.
    """
    for name, usual in (("stream", False), ("n", 1)):
        if options.get(name, usual) not in (None, usual):
            raise DataError(f"{name}={clip(options[name])} is not supported: an answer is one.")
    if isinstance(messages, str | Mapping) or not messages:
        raise DataError(f"messages={clip(messages)}: give a list of messages with a role.")
    for message in messages:
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise DataError(f"{clip(message)} is no message: it has no role.")
    body = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in options.items()
        if value is not None and name not in ("stream", "n")
    }
    body["messages"] = list(messages)
    try:
        plain: dict[str, Any] = clean(body)
        sha256_json(plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"a request must be what JSON can hold: {error}.") from None
    return plain


def key_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 under which the answer to `body` is kept.

    The address of the server is no part of it: a local server gets another port each time, and a
    replay elsewhere has none. Two servers that give one name to different models need two stores.
    """
    # A model writes the fields of a schema in the order they are given in, so that order counts.
    ordered = {
        name: json.dumps(value) if isinstance(value, dict | list) and name != "messages" else value
        for name, value in body.items()
    }
    return sha256_json({"version": KEY_VERSION, "body": ordered})


def clean(value: Any) -> Any:
    """Return a copy of what JSON holds, with U+FFFD for each half of a surrogate pair."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            joined = value.encode("utf-16-le", "surrogatepass")
            return joined.decode("utf-16-le", "replace")
        return value
    if isinstance(value, Mapping):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def described(body: Mapping[str, Any]) -> str:
    """Return a request in a few words, for a message."""
    content = body["messages"][-1].get("content")
    text = content if isinstance(content, str) else str(content)
    count = len(body["messages"])
    words = clip(" ".join(text[:400].split()[:12]), 90)
    return (
        f"{key_of(body)[:12]} (model {clip(body.get('model'))}, {count} "
        f"message{'s' * (count > 1)}, the last begins {words})"
    )
