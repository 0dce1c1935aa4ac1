"""Names of retrievers: an engine or an index, or a combination such as ``hybrid(bm25,dense)``."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from arena.errors import DataError, clip
from arena.retrieval.base import RETRIEVERS, IndexInput, Retriever

_MAX_DEPTH = 5
_TOKEN = re.compile(r"[(),]|[^(),]+")


class Name(NamedTuple):
    """A name taken apart. As a string it is canonical: no white space.

    Attributes:
        name: of an index or engine or, where there are parts, of a combiner.
        parts: what is combined, in order.
    """

    name: str
    parts: tuple[Name, ...] = ()

    def __str__(self) -> str:
        return self.name + (f"({','.join(map(str, self.parts))})" if self.parts else "")


class Combiner(Retriever):
    """An engine that ranks by what other engines of the same corpus rank.

    It has no index. It is named together with its parts, ``NAME(part,part,...)``; the options of
    a part are given under the part's name.
    """

    @classmethod
    @abstractmethod
    def combine(cls, parts: Mapping[str, Retriever], /, **options: Any) -> Retriever:
        """Return the combination of opened engines, keyed by canonical name, in order.

        Its `parts` must hold them, and its `config` theirs.

        Raises:
            DataError: if an option is unknown or out of its range.
        """

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        **options: Any,
    ) -> dict[str, Any]:
        """Refuse: there is nothing to build.

        Raises:
            DataError: always.
        """
        refuse_alone(cls)

    @classmethod
    def open(cls, directory: Path, **options: Any) -> Retriever:
        """Refuse: there is nothing to open.

        Raises:
            DataError: always.
        """
        refuse_alone(cls)


def refuse_alone(kind: type[Retriever]) -> NoReturn:
    """Say that a combiner must be named with its parts.

    Raises:
        DataError: always.
    """
    names = (name for name in RETRIEVERS.names() if RETRIEVERS.get(name) is kind)
    name = next(names, kind.__name__.lower())
    raise DataError(
        f"{name} has no index of its own; name it as {name}(bm25,dense) where a retriever is named."
    )


def parse_name(text: str) -> Name:
    """Take a name apart: ``NAME`` or ``COMBINER(part,part,...)``; parts may be combinations.

    White space around names does not count. Whether the names exist is not looked at.

    Raises:
        DataError: if a parenthesis or a part is missing or too much, if a combination has fewer
            than two parts or the same twice, or if it is nested deeper than five.

    >>> str(parse_name("hybrid( bm25, hybrid(titles,dense) )"))
    'hybrid(bm25,hybrid(titles,dense))'
    """
    if not any(mark in text for mark in "(),"):
        return Name(text.strip())
    tokens = [token for found in _TOKEN.findall(text) if (token := found.strip())]
    name = _parse(tokens, text, 0)
    if tokens:
        _refuse(text, f"{clip(tokens[0])} comes after its end")
    return name


def _parse(tokens: list[str], text: str, depth: int) -> Name:
    """Take one name off the front of `tokens`."""
    if not tokens or tokens[0] in "(),":
        _refuse(text, "a name is missing")
    name = tokens.pop(0)
    if not tokens or tokens[0] != "(":
        return Name(name)
    if depth == _MAX_DEPTH:
        _refuse(text, f"it is nested deeper than {_MAX_DEPTH}")
    parts: list[Name] = []
    while not parts or tokens[0] == ",":
        tokens.pop(0)
        parts.append(_parse(tokens, text, depth + 1))
        if not tokens:
            _refuse(text, "a closing parenthesis is missing")
        if tokens[0] not in ",)":
            _refuse(text, f"{clip(tokens[0])} stands where a comma or parenthesis should")
    tokens.pop(0)
    if len(parts) < 2:
        _refuse(text, f"{name} has one part; give at least two")
    if len(set(parts)) < len(parts):
        _refuse(text, f"{name} has the same part twice")
    return Name(name, tuple(parts))


def _refuse(text: str, why: str) -> NoReturn:
    raise DataError(f"retriever {clip(text)}: {why}. Write it like hybrid(bm25,dense).")


def combine(
    name: Name, options: Mapping[str, Any], open_part: Callable[[Name, dict[str, Any]], Retriever]
) -> Retriever:
    """Open a combination.

    Args:
        name: with parts.
        options: of the combiner and, under the canonical name of a part, a mapping with the
            options of that part.
        open_part: opens (name, options) over the same corpus.

    Raises:
        UnknownNameError: if no engine has one of the names.
        DataError: if `name` is no combiner, or an option is unusable.
    """
    kind = RETRIEVERS.get(name.name)
    if not issubclass(kind, Combiner):
        raise DataError(
            f"retriever {clip(str(name))}: {name.name} combines nothing. Name it alone."
        )
    given = {str(parse_name(key)) if "(" in key else key: options[key] for key in options}
    parts = {}
    for part in name.parts:
        chosen = given.pop(str(part), {})
        if not isinstance(chosen, Mapping):
            raise DataError(
                f"{part}={clip(chosen)}: the options of a part are given as a mapping, such as "
                f'{part}={{"NAME": VALUE}}.'
            )
        parts[str(part)] = open_part(part, dict(chosen))
    return kind.combine(parts, **given)


def classes(engine: Retriever) -> list[type]:
    """Return the classes of an engine, of its helpers, and of all that it combines."""
    parts = (kind for part in engine.parts for kind in classes(part))
    return [type(engine), *engine.helpers, *parts]
