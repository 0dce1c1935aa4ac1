"""A language model that is asked about many records: its checked options, and the one loop."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from arena.errors import DataError
from arena.kit.options import check_names, check_options
from arena.kit.terminal import progress
from arena.llm import Client, Fields, Template
from arena.llm.prompts import load_templates

R = TypeVar("R")
A = TypeVar("A")
_SHAPING = ("temperature", "seed", "max_tokens", "request")


def client_options() -> dict[str, Any]:
    """Return the options of `Client` that a configuration can have, with their defaults."""
    parameters = inspect.signature(Client).parameters.values()
    return {p.name: p.default for p in parameters if p.name != "model"}


def open_model(
    llm: Mapping[str, Any], wanted: Mapping[str, Fields], package: Path
) -> tuple[Client, dict[str, Template], dict[str, Any]]:
    """Return client, templates and the options that shape answers.

    `llm` has ``model``, its name on the server, ``prompts``, a folder with templates of the user's
    own, and options of `Client`; None means absent, except that a ``temperature`` or ``seed`` of
    None is not sent. `wanted` are the fields of each template, and `package` is the folder with all
    templates.
    """
    defaults = client_options()
    check_names("client", llm, [*defaults, "model", "prompts"])
    if not llm.get("model"):
        raise DataError(
            "which model? Give the option `model` its name as the server calls it; docs/surveys.md."
        )
    given = {n: v for n, v in llm.items() if v is not None or n in ("temperature", "seed")}
    templates = load_templates(wanted, package, given.pop("prompts", None))
    client = Client(**check_options("client", Client, given))
    return client, templates, {name: (defaults | given)[name] for name in ("model", *_SHAPING)}


def ask_records(
    records: Iterable[R],
    ask: Callable[[list[R]], Iterable[A]],
    batch: int,
    *,
    total: int,
    desc: str,
    unit: str = "paper",
) -> Iterator[tuple[R, A]]:
    """Yield each record, in order, with what `ask` returns for it, in batches, with a bar.

    `ask` makes the requests of a batch side by side, such as `Question.ask`. Their answers are kept
    in the store of the client: after a kill, or an error, the same call asks only for what is
    missing, so a batch bounds memory and not what is lost.

    >>> def ask(some):
    ...     return [len(each) for each in some]
    >>> list(ask_records(["fish", "kelp", "tide pools"], ask, 2, total=3, desc="count"))
    [('fish', 4), ('kelp', 4), ('tide pools', 10)]
    """
    left = iter(records)
    with progress(total=total, desc=desc, unit=unit) as bar:
        while some := list(islice(left, max(1, batch))):
            yield from zip(some, ask(some), strict=True)
            bar.update(len(some))
