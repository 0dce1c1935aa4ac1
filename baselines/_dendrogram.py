"""Ward's dendrogram of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Vectors are rounded to multiples of 2^-20: squared distances are then exact sums, and papers that
# are equal for the encoder but for the last digits are equal.
_GRID = float(1 << 20)


class Dendrogram:
    """The merges of Ward's method over unit vectors (Ward 1963), by Euclidean distance.

    The nodes 0 to n - 1 are the papers, node n + i is the merge i, the last one is the root.

    Args:
        vectors: shape (n, dimension), n >= 1; they are normalised here, zeros stay zeros.
    """

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        import numpy as np
        from scipy.cluster.hierarchy import inconsistent, linkage

        vectors = np.asarray(vectors, np.float64)
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        lengths[lengths == 0] = 1.0
        self._points = np.rint(vectors / lengths * _GRID) / _GRID
        count = len(vectors)
        merges = linkage(self._points, method="ward") if count > 1 else np.empty((0, 4))
        self.root = 2 * count - 2
        self.sides: list[tuple[int, int]] = [(-1, -1)] * count
        self.height = [0.0] * count
        self.jump = [0.0] * count
        self.papers: list[tuple[int, ...]] = [(paper,) for paper in range(count)]
        coefficients = inconsistent(merges)[:, 3] if count > 1 else ()
        for (one, other, height, _), jump in zip(merges.tolist(), coefficients, strict=True):
            # The greater side first, then the one with the first paper.
            sides = sorted(
                (int(one), int(other)),
                key=lambda node: (-len(self.papers[node]), self.papers[node][0]),
            )
            self.sides.append((sides[0], sides[1]))
            self.height.append(height)
            self.jump.append(float(jump))
            self.papers.append(tuple(sorted(self.papers[sides[0]] + self.papers[sides[1]])))

    def is_merge(self, node: int) -> bool:
        """Whether a node is a merge of papers that differ."""
        return self.sides[node][0] >= 0 and self.height[node] > 0

    def nearest(self, paper: int, nodes: Sequence[int]) -> int:
        """Return which of `nodes` has the nearest mean; of equals the first."""
        import numpy as np

        means = np.stack([self._points[list(self.papers[node])].mean(axis=0) for node in nodes])
        distances = np.square(means - self._points[paper]).sum(axis=1).round(12)
        return nodes[int(distances.argmin())]
