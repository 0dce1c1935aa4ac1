"""The language model of a stage: its checked options, client and templates."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip
from arena.llm import Client, Fields, Template
from arena.llm.prompts import load_templates
from arena.registry import check_options

_KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a text": (str, ("base_url", "mode", "store", "api_key_env")),
    "a number, or null to send none": (int | float, ("temperature", "seed", "max_tokens")),
    "names and values": (Mapping, ("request",)),
}
_SHAPING = ("temperature", "seed", "max_tokens", "request")


def client_options() -> dict[str, Any]:
    """Return the options of `Client` that a configuration can have, with their defaults."""
    parameters = inspect.signature(Client).parameters.values()
    return {p.name: p.default for p in parameters if p.name not in ("model", "sleep")}


def client_of(model: object, options: Mapping[str, Any]) -> Client:
    """Return a client for options of a configuration.

    Args:
        model: Name of the model on the server.
        options: Options of `Client`; None means absent, except that a `temperature` or `seed` of
            None is not sent.

    Raises:
        DataError: If an option is of another kind or out of range.
        LLMError: If the store cannot be used.
    """
    if not isinstance(model, str) or not model:
        raise DataError(
            f"which model? Give the option `model` its name as the server calls it, not "
            f"{clip(model)}; docs/survey-selection.md."
        )
    for what, (kind, names) in _KINDS.items():
        for name in names:
            value = options.get(name)
            if isinstance(value, bool) or not isinstance(value, kind | None):
                raise DataError(f"{name}={clip(value)}: give {what}.")
    sent = {
        name: value
        for name, value in options.items()
        if value is not None or name in ("temperature", "seed")
    }
    return Client(model, **sent)


def open_model(
    llm: Mapping[str, Any], wanted: Mapping[str, Fields], package: Path
) -> tuple[Client, dict[str, Template], dict[str, Any]]:
    """Return client, templates and the options that shape answers.

    Args:
        llm: ``model``; ``prompts``, a folder with templates of the user's own; options of `Client`.
        wanted: Fields of each template.
        package: Folder with all templates.

    Raises:
        DataError: An option is unknown or unusable; as `templates_of`.
        LLMError: The store cannot be used.
    """
    options = dict(llm)
    model, own = options.pop("model", None), options.pop("prompts", None)
    check_options("client", options, [*client_options(), "model", "prompts"])
    templates = templates_of(wanted, package, own)
    return client_of(model, options), templates, shaping(model, client_options() | options)


def shaping(model: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that shape answers, on which a stage's result depends."""
    return {"model": model} | {name: options.get(name) for name in _SHAPING}


def templates_of(
    wanted: Mapping[str, Fields], package: Path, own: object = None
) -> dict[str, Template]:
    """Return templates by name, each from the folder `own` or else from the package's.

    Raises:
        DataError: If `own` is no folder with such templates, or a template is unusable.
    """
    if not isinstance(own, str | None):
        raise DataError(f"prompts={clip(own)}: give the path of a folder.")
    return load_templates(wanted, package, own)
