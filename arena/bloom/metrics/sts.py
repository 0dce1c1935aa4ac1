"""Semantic Tree Similarity: how far is the generated outline from the experts' as a tree?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.bloom import released
from arena.bloom.article import Heading
from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.outline import headings, parents
from arena.errors import DataError
from arena.mindmap import MindMap


@survey_metric("sts", tier="analysis", needs=("embeddings",))
def sts(pair: Pair) -> Finding:
    """Semantic Tree Similarity: 1 - edit distance of the outlines / number of headings, in [0, 1].

    1 - TED(A, B) / (|A| + |B|), Bloom-Eval, equation 8: ordered trees, to insert or to delete a
    heading costs 1, to put one for another 1 - cosine, and 0 if they are equal. Both trees have a
    neutral root in place of the title, which is not counted; section numbers are removed. The
    released code counts the title as a heading. None for experts without an outline, 0 for a
    generated survey without one.
    """
    from arena.mindmap.edit_distance import edit_distance

    read = released.headings if pair.tools.official else headings
    human, generated = (_tree(read(article)) for article in pair.sides.values())
    if not human.size:
        return Finding({"": None}, reason="the experts' survey has no outline.")
    ours, theirs = human.labels(), generated.labels()
    cosines = pair.cosines(ours, theirs)
    different = np.not_equal.outer(np.array(ours, object), np.array(theirs, object))
    # Vectors are rounded: so that a heading is as near to itself as can be.
    costs: NDArray[np.float64] = different * (1 - cosines.round(6))
    try:
        distance = edit_distance(human, generated, lambda: costs)
    except DataError as error:
        return Finding({"": None}, reason=str(error))
    nearest = costs.argmin(axis=1) if theirs else []
    rows = [
        (text, theirs[j], f"{costs[i, j]:.2f}")
        for i, (text, j) in enumerate(zip(ours, nearest, strict=bool(theirs)))
    ]
    headers = ("experts' heading", "nearest generated heading", "cost to put it instead")
    return Finding({"": 1 - distance / (human.size + generated.size)}, rows, headers)


def _tree(outline: Sequence[Heading]) -> MindMap:
    above = parents(outline)
    below: dict[int, list[MindMap]] = {}
    for place in reversed(range(len(outline))):
        node = MindMap(outline[place].text, tuple(reversed(below.get(place, []))))
        below.setdefault(above[place], []).append(node)
    return MindMap("", tuple(reversed(below.get(-1, []))))
