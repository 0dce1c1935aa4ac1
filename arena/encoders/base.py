"""The base class of encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arena.kit.options import parameters_of
from arena.plugins import Registry, make


class Encoder(Protocol):
    """Texts to vectors; made by its registered factory from keyword options.

    Making one is cheap: models are loaded and packages imported by the first call that needs
    them. Any number of threads may encode at the same time. Vectors need not be normalised, the
    engine does that; a text without anything to encode may give zeros. The engine itself never
    passes a blank text.

    An encoder may also have a method ``labels(texts)``, of the same shape, for the headings of
    mind-maps: texts to compare with each other, many at once, each of which must get the same
    bits whatever the others are. Where there is none, headings go to `queries` one by one. So do
    the queries of a batch, unless a true attribute ``together`` says the same of `queries`.
    """

    @property
    def dimension(self) -> int:
        """Components of a vector, 1 to 65,536."""
        ...

    @property
    def config(self) -> dict[str, Any]:
        """All that shapes a vector, as JSON values, without any path.

        It is stored in the manifest of an index and in the records of a run. An index does not
        open with an encoder of another `config`, except under the key ``runtime``, which has
        what changes the last digits only, such as library versions and precision.
        """
        ...

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text, shape (len(texts), dimension), in order."""
        ...

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts to search with; same shape."""
        ...


ENCODERS: Registry[Callable[..., Encoder]] = Registry("encoder", packages=["arena.encoders"])
encoder = ENCODERS.register
"""Decorator: ``@encoder("name")``."""


def promises_bits(config: Any) -> bool:
    """Return whether vectors are the same to the last bit on every machine.

    They are not where `config`, that of an encoder or of an engine that has one, names a
    ``runtime``.

    >>> promises_bits({"encoder": {"name": "static", "query_runtime": {}}})
    True
    """
    if isinstance(config, Mapping):
        runtimes = (config.get("runtime"), config.get("query_runtime"))
        return not any(runtimes) and all(map(promises_bits, config.values()))
    return True


def make_encoder(name: str, options: Mapping[str, Any]) -> Encoder:
    """Make the encoder registered as `name`."""
    return make(ENCODERS, name, options)


def make_label_encoder(name: str) -> Encoder:
    """Make the encoder registered as `name` for labels, which are compared with their like.

    BGE's instruction is for finding passages, so it is left out.
    """
    takes_one = "query_instruction" in parameters_of(ENCODERS.get(name))
    return make_encoder(name, {"query_instruction": ""} if takes_one else {})
