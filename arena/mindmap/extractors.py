"""Extractors: the entities in headings, found by name; `heading_entity_recall` compares them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from arena.plugins import Registry, make


class Extractor(Protocol):
    """Finds the entities in headings; its registered factory makes one from keyword options.

    Making one is cheap: the first call that needs packages imports them and loads models. Any
    number of threads may ask at the same time.
    """

    @property
    def config(self) -> dict[str, Any]:
        """Everything that shapes the entities, as JSON values, without any path.

        It goes into the records of scores. The key ``runtime`` has what should not change a
        result, such as library versions.
        """
        ...

    def entities(self, labels: Sequence[str]) -> Sequence[Collection[str]]:
        """Return the entities of each label, as they stand there, in the order of `labels`.

        The entities of a label must not depend on the other labels.
        """
        ...


EXTRACTORS: Registry[Callable[..., Extractor]] = Registry("extractor")
extractor = EXTRACTORS.register
"""Decorator: ``@extractor("name")``."""


def make_extractor(name: str, options: Mapping[str, Any]) -> Extractor:
    """Make the extractor registered as `name`, with keyword options."""
    return make(EXTRACTORS, name, options)
