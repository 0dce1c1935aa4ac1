"""How large and how deep mind-maps are, and the line through them (paper, figure 4d)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from arena.errors import ArenaError
from arena.mindmap import read_mind_map


class Line(NamedTuple):
    """``nodes = slope * depth + intercept``."""

    slope: Fraction
    intercept: Fraction


class Complexity(NamedTuple):
    """Mind-maps by depth and number of nodes.

    Attributes:
        points: (depth, nodes) -> how many mind-maps are so. The root, which is the topic, is no
            node, and the headings right below it are at depth 1.
        unreadable: mind-maps that are none.
        line: of least squares; None for fewer than two depths.
    """

    points: Mapping[tuple[int, int], int]
    unreadable: int
    line: Line | None


def measure_mind_maps(texts: Iterable[str]) -> Complexity:
    """Count nodes and levels of mind-maps.

    Args:
        texts: their JSON.
    """
    points: Counter[tuple[int, int]] = Counter()
    unreadable = 0
    for text in texts:
        try:
            tree, _ = read_mind_map(text)
        except ArenaError:
            unreadable += 1
        else:
            points[tree.depth, tree.size] += 1
    return Complexity(dict(sorted(points.items())), unreadable, fit(points))


def fit(points: Mapping[tuple[int, int], int]) -> Line | None:
    """Return the line of least squares of nodes on depth, exactly.

    Args:
        points: (depth, nodes) -> weight, an integer.

    Returns:
        None if all depths are the same, or there is no point.
    """
    n = sum(points.values())
    x = sum(depth * weight for (depth, _), weight in points.items())
    y = sum(nodes * weight for (_, nodes), weight in points.items())
    xx = sum(depth * depth * weight for (depth, _), weight in points.items())
    xy = sum(depth * nodes * weight for (depth, nodes), weight in points.items())
    spread = n * xx - x * x
    if not spread:
        return None
    slope = Fraction(n * xy - x * y, spread)
    return Line(slope, (y - slope * x) / n)
