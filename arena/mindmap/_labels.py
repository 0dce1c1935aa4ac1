"""The labels of mind-maps, and what encoders and extractors make of them: vectors and entities.

Vectors are exact: the same on every machine, in any company.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.encoders import ENCODERS, Encoder, make_encoder
from arena.errors import DataError, clip
from arena.mindmap.extractors import Extractor, make_extractor
from arena.mindmap.tree import MindMap
from arena.registry import option_names

T = TypeVar("T")

_VECTORS = 16_384  # vectors of labels; of static's, 16 MiB
# Components are rounded to multiples of 2^-25. The products of two are multiples of 2^-50 and all
# partial sums of a cosine stay below 2, so that float64 adds them without error in any order: the
# matrix product gives the same bits whatever its shape, its threads and its processor.
_SCALE = 1 << 25
_ENTITIES = 65_536  # labels whose entities are kept


def compared(predicted: MindMap, gold: MindMap) -> tuple[list[str], list[str]]:
    """Return the distinct labels of both maps, without the roots' and without blank ones.

    Raises:
        DataError: One is no mind-map, or the gold map has no label.
    """
    for name, value in (("predicted", predicted), ("gold", gold)):
        if not isinstance(value, MindMap):
            raise DataError(f"{name} {clip(value)}: expected a MindMap, as read_mind_map gives it.")
    labels = [[label for label in tree.labels() if label.strip()] for tree in (predicted, gold)]
    if not labels[1]:
        raise DataError("the gold map has no label below its root: leave this survey out.")
    return labels[0], labels[1]


# The values of labels are made for many labels at once and kept for each.

_of_objects: ContextVar[dict[Hashable, Any] | None] = ContextVar("_of_objects", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Keep the values that encoders and extractors without a name make, within this context.

    Not longer: the caller may change an object between two scores.
    """
    if _of_objects.get() is not None:
        yield
        return
    token = _of_objects.set({})
    try:
        yield
    finally:
        _of_objects.reset(token)


class LabelCache(Generic[T]):
    """Values of labels by the encoder or extractor that makes them.

    The values of named ones are kept, those of others within `remembering`. Any number of threads
    may ask, and a process may fork while one does: there is no lock, only operations on
    dictionaries that are atomic.

    Args:
        make: Function of an encoder or extractor and distinct labels; returns one value a label.
        named: Function from a name to the encoder or extractor.
        size: Number of values that are kept of all named ones together, those made last.
    """

    def __init__(
        self,
        make: Callable[[Any, list[str]], Sequence[T]],
        named: Callable[[str], Any],
        size: int,
    ) -> None:
        self._make, self._named, self._size = make, named, size
        self._kept: dict[Hashable, T] = {}
        self.clear = self._kept.clear

    def get(self, plugin: Any, labels: Sequence[str]) -> list[T]:
        """Return the value of each label; a repeated label is made once.

        Args:
            plugin: A name, or an encoder or extractor itself.
            labels: Labels in any order.
        """
        kept = self._kept
        maker = plugin
        if not isinstance(plugin, str):
            # By identity: the caller holds the object for as long as the context lasts.
            memory = _of_objects.get()
            kept, maker = {} if memory is None else memory, (id(self), id(plugin))
        values: dict[str, T] = {}
        missing: list[str] = []
        for label in dict.fromkeys(labels):
            value = kept.get((maker, label))
            if value is None:
                missing.append(label)
            else:
                values[label] = value
        if missing:
            source = self._named(plugin) if isinstance(plugin, str) else plugin
            made = dict(zip(missing, self._make(source, missing), strict=True))
            kept.update({(maker, label): value for label, value in made.items()})
            for old in list(kept)[: max(0, len(kept) - self._size)]:
                kept.pop(old, None)
            values |= made
        return [values[label] for label in labels]


# Vectors


def unit_vectors(labels: Sequence[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return the vectors of labels, of length 1 or 0, rounded to multiples of 2^-25.

    A label's vector does not depend on the others: an encoder's method ``labels`` promises that,
    and to one without it labels are given one by one, as queries. No instruction for queries is
    put before them. The vectors of a registered encoder are kept, for 16,384 labels of all
    encoders together.

    Args:
        labels: At least one, none blank.
        encoder: The name of a registered encoder, made with its default options, or an encoder.

    Returns:
        Shape (len(labels), dimension); zeros where the encoder gives zeros.

    Raises:
        UnknownNameError: There is no such encoder.
        DataError: Its packages are absent, or a vector has another shape or is not finite.
    """
    if not isinstance(encoder, str) and not hasattr(encoder, "queries"):
        raise DataError(f"encoder {clip(encoder)}: expected the name of one, or an encoder.")
    return np.stack(vector_cache.get(encoder, labels)) / float(_SCALE)


def named_encoder(name: str) -> Encoder:
    """Return the one encoder of this name that all scoring in this process shares."""
    made = _encoders.get(name) if isinstance(name, str) else None
    if made is None:
        # BGE's instruction is for finding passages; labels are compared with their like.
        plain = "query_instruction" in option_names(ENCODERS.get(name))
        options: dict[str, Any] = {"query_instruction": ""} if plain else {}
        made = _encoders.setdefault(name, make_encoder(name, options))
    return made


_encoders: dict[str, Encoder] = {}


def _units(encoder: Encoder, labels: list[str]) -> list[NDArray[np.int32]]:
    together = getattr(encoder, "labels", None)
    if together is None:
        return [_unit(label, encoder.queries([label])) for label in labels]
    vectors = together(labels)
    if len(vectors) != len(labels):
        raise DataError(f"the encoder gave {len(vectors)} vectors for {len(labels)} labels.")
    return [_unit(label, vectors[i : i + 1]) for i, label in enumerate(labels)]


def _unit(label: str, row: NDArray[np.float32]) -> NDArray[np.int32]:
    vectors = np.asarray(row, np.float64)
    if vectors.ndim != 2 or len(vectors) != 1 or not np.isfinite(vectors).all():
        raise DataError(
            f"the encoder gave {clip(label)} a vector that is not finite or of the wrong shape, "
            f"{vectors.shape}: expected (1, dimension)."
        )
    vector = vectors[0]
    largest = float(np.abs(vector).max(initial=0.0))
    if largest > 0:
        vector = vector / largest  # squares of very small or large numbers would be lost
        vector = vector / math.sqrt(math.fsum(vector * vector))
    unit: NDArray[np.int32] = np.rint(vector * _SCALE).astype(np.int32)
    unit.flags.writeable = False
    return unit


vector_cache = LabelCache(_units, named_encoder, _VECTORS)


# Entities


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
    return frozenset().union(*entity_cache.get(extractor, list(labels)))


def named_extractor(name: str) -> Extractor:
    """Return the one extractor of this name that all scoring in this process shares."""
    made = _extractors.get(name) if isinstance(name, str) else None
    if made is None:
        made = _extractors.setdefault(name, make_extractor(name, {}))
    return made


_extractors: dict[str, Extractor] = {}


def _folded(extractor: Extractor, labels: list[str]) -> Sequence[frozenset[str]]:
    sets = list(extractor.entities(labels))
    if len(sets) != len(labels):
        raise DataError(f"the extractor gave {len(sets)} sets for {len(labels)} labels.")
    return [_fold(label, texts) for label, texts in zip(labels, sets, strict=True)]


def _fold(label: str, texts: Collection[str]) -> frozenset[str]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"the extractor gave {clip(label)} {clip(texts)}: expected a set of texts.")
    return frozenset({" ".join(text.casefold().split()) for text in texts} - {""})


entity_cache = LabelCache(_folded, named_extractor, _ENTITIES)
