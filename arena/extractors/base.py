"""What every extractor provides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from arena.registry import Registry, make


class Extractor(Protocol):
    """Headings to the entities in them; made by its registered factory from keyword options.

    Making one is cheap: packages are imported and models loaded by the first call that needs
    them. Any number of threads may ask at the same time.
    """

    @property
    def config(self) -> dict[str, Any]:
        """All that shapes what is found, as JSON values, without any path.

        It goes into the records of scores; under the key ``runtime`` stands what should not
        change a result, such as library versions.
        """
        ...

    def entities(self, labels: Sequence[str]) -> Sequence[Collection[str]]:
        """Return the entities of each label, as they stand there, in the order of `labels`.

        What is found in a label must not depend on the other labels.
        """
        ...


EXTRACTORS: Registry[Callable[..., Extractor]] = Registry(
    "extractor", packages=["arena.extractors"], entry_points="researcharena.extractors"
)


def make_extractor(name: str, options: Mapping[str, Any]) -> Extractor:
    """Make the extractor registered as `name`.

    Args:
        name: a registered extractor.
        options: the extractor's own, by name.

    Raises:
        UnknownNameError: if no extractor has that name.
        DataError: if it has no such option, an option is out of its range, or a package is absent.
    """
    return make(EXTRACTORS, name, options)
