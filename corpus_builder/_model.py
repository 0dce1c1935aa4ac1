"""The language model of a stage: its checked options, client and templates."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena._internal.options import check_names
from arena.errors import DataError, clip
from arena.llm import Client, Fields, Template
from arena.llm.prompts import load_templates

_KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a text": (str, ("base_url", "mode", "store", "api_key_env")),
    "a number, or null to send none": (int | float, ("temperature", "seed", "max_tokens")),
    "names and values": (Mapping, ("request",)),
    "the path of a folder": (str, ("prompts",)),
}
_SHAPING = ("temperature", "seed", "max_tokens", "request")


def client_options() -> dict[str, Any]:
    """Return the options of `Client` that a configuration can have, with their defaults."""
    parameters = inspect.signature(Client).parameters.values()
    return {p.name: p.default for p in parameters if p.name != "model"}


def open_model(
    llm: Mapping[str, Any], wanted: Mapping[str, Fields], package: Path
) -> tuple[Client, dict[str, Template], dict[str, Any]]:
    """Return client, templates and the options that shape answers.

    Args:
        llm: ``model``, its name on the server; ``prompts``, a folder with templates of the user's
            own; options of `Client`. None means absent, except that a ``temperature`` or ``seed``
            of None is not sent.
        wanted: Fields of each template.
        package: Folder with all templates.

    Raises:
        DataError: An option is unknown, of another kind or out of range; ``prompts`` is no folder
            with such templates, or a template is unusable.
        LLMError: The store cannot be used.
    """
    defaults = client_options()
    check_names("client", llm, [*defaults, "model", "prompts"])
    for what, (kind, names) in _KINDS.items():
        for name in names:
            value = llm.get(name)
            if isinstance(value, bool) or not isinstance(value, kind | None):
                raise DataError(f"{name}={clip(value)}: give {what}.")
    options = defaults | dict(llm)
    model, own = options.pop("model", None), options.pop("prompts", None)
    if not isinstance(model, str) or not model:
        raise DataError(
            f"which model? Give the option `model` its name as the server calls it, not "
            f"{clip(model)}; docs/survey-selection.md."
        )
    templates = load_templates(wanted, package, own)
    sent = {
        name: value
        for name, value in options.items()
        if value is not None or name in ("temperature", "seed")
    }
    shaping = {"model": model} | {name: options[name] for name in _SHAPING}
    return Client(model, **sent), templates, shaping
