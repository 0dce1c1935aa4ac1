"""Metrics of mind-maps, and what they compare: headings, their vectors, entities."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder, make_label_encoder
from arena.errors import DataError, clip
from arena.kit.process import one_thread
from arena.mindmap.extractors import Extractor, make_extractor
from arena.mindmap.tree import MindMap
from arena.text.display import count

# Headings


def headings(tree: MindMap) -> list[str]:
    """Return the distinct labels below the root, without blank ones."""
    return [label for label in tree.labels() if label.strip()]


# What encoders and extractors make of headings is kept

_MOST = 32_768  # labels whose vectors or entities are kept


class CachedModel:
    """Caches what an encoder or extractor returned for each label; has its attributes."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.values: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)


_shared: dict[tuple[str, str, str], CachedModel] = {}


def forget_labels() -> None:
    """Drop the named encoders and extractors of this process, and all that they made."""
    _shared.clear()


def kept(kind: str, plugin: Any, options: Mapping[str, Any] | None = None) -> CachedModel:
    """Return an encoder or extractor that keeps what it makes.

    All scoring in this process shares that of a name and its `options`, which only an extractor
    has; an object keeps nothing from one score to the next: the caller may change it between them.
    """
    if isinstance(plugin, CachedModel):
        return plugin
    if not isinstance(plugin, str):
        if not hasattr(plugin, "queries" if kind == "encoder" else "entities"):
            raise DataError(f"{kind} {clip(plugin)}: expected the name of one, or an {kind}.")
        return CachedModel(plugin)
    key = kind, plugin, json.dumps(options or {}, sort_keys=True)
    if key not in _shared:
        if kind == "extractor":
            made: Any = make_extractor(plugin, options or {})
        else:
            made = make_label_encoder(plugin)
        return _shared.setdefault(key, CachedModel(made))
    return _shared[key]


def _values(
    kind: str, plugin: Any, labels: Sequence[str], make: Callable[[Any, list[str]], Sequence[Any]]
) -> list[Any]:
    """Return what a plug-in makes of each label, and keep it.

    Any number of threads may ask, and a process may fork while one does: there is no lock, only
    operations on dictionaries that are atomic.
    """
    source = kept(kind, plugin)
    values = {label: source.values.get(label) for label in labels}
    missing = [label for label, value in values.items() if value is None]
    if missing:
        values |= zip(missing, make(source, missing), strict=True)
        source.values.update({label: values[label] for label in missing})
    if len(source.values) > _MOST:
        for old in list(source.values)[:-_MOST]:
            source.values.pop(old, None)
    return [values[label] for label in labels]


# Vectors

# Components are rounded to multiples of 2^-25. The products of two are multiples of 2^-50 and all
# partial sums of a cosine stay below 2, so that float64 adds them without error in any order: the
# matrix product gives the same bits whatever its shape, its threads and its processor.
_SCALE = 1 << 25


def unit_vectors(labels: Sequence[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return the vectors of labels, of length 1 or 0, rounded to multiples of 2^-25.

    A label's vector does not depend on the others: an encoder's method ``labels`` promises that,
    and to one without it labels are given one by one, as queries. No instruction for queries is
    put before them. There is at least one label, and none is blank.

    Returns:
        Shape (len(labels), dimension); zeros where the encoder gives zeros.
    """
    return np.stack(_values("encoder", encoder, labels, _units)) / float(_SCALE)


def cosines(
    rows: Sequence[str], columns: Sequence[str], encoder: str | Encoder
) -> NDArray[np.float64]:
    """Return the exact cosine of each pair of labels, shape (rows, columns); 0 for a blank label.

    Errors are those of `unit_vectors`.
    """
    found = np.zeros((len(rows), len(columns)))
    ours, theirs = ([i for i, x in enumerate(labels) if x.strip()] for labels in (rows, columns))
    if ours and theirs:
        vectors = unit_vectors([rows[i] for i in ours] + [columns[i] for i in theirs], encoder)
        with one_thread():
            found[np.ix_(ours, theirs)] = vectors[: len(ours)] @ vectors[len(ours) :].T
    return found


def _units(encoder: Encoder, labels: list[str]) -> list[NDArray[np.int32]]:
    together = getattr(encoder, "labels", None)
    if together is None:
        return [_unit(label, encoder.queries([label])) for label in labels]
    vectors = together(labels)
    if len(vectors) != len(labels):
        raise DataError(
            f"the encoder gave {count(len(vectors), 'vector')} for {count(len(labels), 'label')}."
        )
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


# Entities


def entities(labels: Collection[str], extractor: str | Extractor) -> frozenset[str]:
    """Return the entities that stand in any of the labels, casefolded, white space collapsed.

    Each label is read by itself.
    """
    return frozenset().union(*_values("extractor", extractor, list(labels), _folded))


def _folded(extractor: Extractor, labels: list[str]) -> list[frozenset[str]]:
    sets = list(extractor.entities(labels))
    if len(sets) != len(labels):
        raise DataError(
            f"the extractor gave {count(len(sets), 'set')} for {count(len(labels), 'label')}."
        )
    for label, texts in zip(labels, sets, strict=True):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise DataError(
                f"the extractor gave {clip(label)} {clip(texts)}: expected a set of texts."
            )
    return [frozenset({" ".join(text.casefold().split()) for text in one} - {""}) for one in sets]
