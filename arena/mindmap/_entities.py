"""The entities in the labels of a map, in the spelling in which they are compared."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from arena.errors import DataError, clip
from arena.extractors import Extractor, make_extractor
from arena.mindmap._memory import ByLabel

_KEPT = 65_536


def entities(labels: Collection[str], extractor: str | Extractor) -> frozenset[str]:
    """Return the entities that stand in any of the labels, casefolded, white space collapsed.

    Each label is read by itself. The entities of a registered extractor are kept, for 65,536
    labels of all extractors together.

    Args:
        labels: Repeated ones count once.
        extractor: The name of a registered extractor, made with its default options, or an
            extractor.

    Raises:
        UnknownNameError: There is no such extractor.
        DataError: Its packages are absent, or it does not give a set of strings a label.
    """
    if not isinstance(extractor, str) and not hasattr(extractor, "entities"):
        raise DataError(f"extractor {clip(extractor)}: expected the name of one, or an extractor.")
    return frozenset().union(*_memory.get(extractor, list(labels)))


def named_extractor(name: str) -> Extractor:
    """Return the one extractor of this name that all scoring in this process shares."""
    made = _made.get(name) if isinstance(name, str) else None
    if made is None:
        made = _made.setdefault(name, make_extractor(name, {}))
    return made


_made: dict[str, Extractor] = {}


def _folded(extractor: Extractor, labels: list[str]) -> Sequence[frozenset[str]]:
    found = list(extractor.entities(labels))
    if len(found) != len(labels):
        raise DataError(f"the extractor gave {len(found)} sets for {len(labels)} labels.")
    return [_fold(label, texts) for label, texts in zip(labels, found, strict=True)]


def _fold(label: str, texts: Collection[str]) -> frozenset[str]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"the extractor gave {clip(label)} {clip(texts)}: expected a set of texts.")
    return frozenset({" ".join(text.casefold().split()) for text in texts} - {""})


_memory = ByLabel(_folded, named_extractor, _KEPT)
