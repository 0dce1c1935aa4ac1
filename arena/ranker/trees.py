"""A ranker as a plain table of decision trees."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from arena.errors import DataError
from arena.kit.files import read_json, sha256_file
from arena.ranker.pool import FEATURES, Numbers

FORMAT = "researcharena-ranker-1"
LEARNED = "learned"
"""Name of the ranker in this package, which has learned from synthetic corpora alone."""


class Ranker:
    """The sum of trees over `FEATURES`. Only the order of scores has meaning.

    Args:
        trees: ``roots``, the nodes that trees begin with, and for each node ``feature`` (the column
            that it asks for, -1 in a leaf), ``threshold`` (up to it ``left`` is next, else
            ``right``; both are later nodes) and ``value`` (what a leaf adds).
        sha256: Hash of the file.
        made: What it was trained on, and how good it was there.
    """

    def __init__(
        self, trees: Mapping[str, Any], sha256: str = "", made: Mapping[str, Any] | None = None
    ) -> None:
        self.sha256, self.made = sha256, dict(made or {})
        self._roots = np.array(trees["roots"], np.int64)
        self._threshold, self._value = (np.array(trees[n], float) for n in ("threshold", "value"))
        feature, left, right = (np.array(trees[n], np.int64) for n in ("feature", "left", "right"))
        shapes = {each.shape for each in (feature, left, right, self._threshold, self._value)}
        if len(shapes) > 1 or feature.ndim != 1 or self._roots.ndim != 1:
            raise ValueError("columns of other lengths")
        if not np.isfinite([self._threshold, self._value]).all():
            raise ValueError("a number that is none")
        nodes, leaf = np.arange(len(feature)), feature < 0
        self._feature = np.where(leaf, 0, feature)
        self._left, self._right = np.where(leaf, nodes, left), np.where(leaf, nodes, right)
        inner = ~leaf  # children are later nodes, so that every walk ends
        if not (
            (np.minimum(self._left, self._right) > nodes)[inner].all()
            and (np.maximum(self._left, self._right) < len(nodes)).all()
            and (self._feature < len(FEATURES)).all()
            and ((self._roots >= 0) & (self._roots < len(nodes))).all()
        ):
            raise ValueError("a node that is not there")

    def scores(self, features: Numbers) -> Numbers:
        """Return the score of each paper: shape (n,), of features of shape (n, len(FEATURES))."""
        node = np.broadcast_to(self._roots, (len(features), len(self._roots)))
        rows = np.arange(len(features))[:, None]
        while True:
            below = features[rows, self._feature[node]] <= self._threshold[node]
            following = np.where(below, self._left[node], self._right[node])
            if (following == node).all():
                return self._value[node].sum(1)  # type: ignore[no-any-return]
            node = following


def open_ranker(name: str) -> Ranker:
    """Return the ranker in a file of ``arena train ranker``, or `LEARNED`.

    Raises:
        DataError: If there is no such file, or if it is not a ranker of this version.
    """
    path = Path(__file__).with_name("learned.json") if name == LEARNED else Path(name)
    if not path.is_file():
        raise DataError(
            f"there is no ranker {name!r}. Name a file that `arena train ranker` wrote, or "
            f"{LEARNED!r}."
        )
    return _opened(str(path.resolve()), path.stat().st_mtime_ns)


@lru_cache(8)
def _opened(path: str, changed: int) -> Ranker:
    try:
        content = read_json(Path(path))
        if content["format"] == FORMAT and tuple(content["features"]) == FEATURES:
            return Ranker(content["trees"], sha256_file(path), content["made"])
        problem = "it was made by another version"
    except (LookupError, TypeError, ValueError, OverflowError, DataError):
        problem = "it is damaged, or something else"
    raise DataError(f"{path!r} is not a ranker: {problem}. Train it again: `arena train ranker`.")
