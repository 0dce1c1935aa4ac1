"""Names of retrievers, and combinations of several, such as ``hybrid(bm25,dense)``."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from arena.errors import DataError, clip
from arena.retrieval.base import RETRIEVERS, Retriever

_MAX_DEPTH = 5
_TOKEN = re.compile(r"[(),]|[^(),]+")


class Name(NamedTuple):
    """The parts of a retriever's name. As a string it is canonical: no white space.

    Attributes:
        name: Name of an index or engine or, where there are parts, of a combiner.
        parts: Names of the combined engines, in order.
    """

    name: str
    parts: tuple[Name, ...] = ()

    def __str__(self) -> str:
        return self.name + (f"({','.join(map(str, self.parts))})" if self.parts else "")


def parse_name(text: str) -> Name:
    """Parse ``NAME`` or ``COMBINER(part,part,...)``; parts may be combinations.

    White space around names does not count. The names need not exist. ``FILE.py:NAME`` stands for
    the index that an engine of a file has by default, the name of the engine in lower case.

    Raises:
        DataError: if there is no such file or engine; if a parenthesis or a part is missing or one
            too many, if a combination has fewer than two parts or the same twice, or if it is
            nested deeper than five.

    >>> str(parse_name("hybrid( bm25, hybrid(titles,dense) )"))
    'hybrid(bm25,hybrid(titles,dense))'
    """
    if ".py:" in text:
        return Name(RETRIEVERS.resolve(text).lower())
    if not any(mark in text for mark in "(),"):
        return Name(text.strip())
    tokens = [token for match in _TOKEN.findall(text) if (token := match.strip())]
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


class Combiner(Retriever):
    """An engine that ranks by the rankings of other engines of the same corpus.

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
    def build(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """Raise DataError: there is nothing to build."""
        cls.refuse_alone()

    @classmethod
    def open(cls, *_: Any, **__: Any) -> Retriever:
        """Raise DataError: there is nothing to open."""
        cls.refuse_alone()

    @classmethod
    def refuse_alone(cls) -> NoReturn:
        """Raise DataError: a combiner must be named with its parts."""
        name = cls.registered_name()
        raise DataError(
            f"{name} has no index of its own; name it as {name}(bm25,dense) where a retriever is "
            "named."
        )
