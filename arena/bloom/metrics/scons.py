"""Shape Consistency: are the outlines as deep and as broad as each other?"""

from __future__ import annotations

import math

from arena.bloom.article import Article
from arena.bloom.base import Finding, Pair, survey_metric


@survey_metric("scons", tier="analysis")
def scons(pair: Pair) -> Finding:
    """Shape Consistency: likeness of depth and of size of the outlines, in [0, 1].

    sqrt(DC x BC), Bloom-Eval, equations 9 and 10: DC is the smaller depth divided by the larger,
    BC the smaller number of headings divided by the larger. The depth is the number of levels from
    the title to the deepest heading; the title is no heading that is counted, but in the
    released code. None for experts without an outline, 0 for a generated survey without one.
    """
    shapes = {side: _shape(article, pair.tools.official) for side, article in pair.sides.items()}
    rows = [(side, str(depth), str(count)) for side, (depth, count) in shapes.items()]
    headers = ("survey", "levels", "headings")
    human, generated = shapes["human"], shapes["generated"]
    if not human[1]:
        return Finding({"": None}, rows, headers, "the experts' survey has no outline.")
    if not generated[1]:
        return Finding({"": 0.0}, rows, headers)
    depths, counts = zip(human, generated, strict=True)
    likeness = min(depths) / max(depths) * min(counts) / max(counts)
    return Finding({"": math.sqrt(likeness)}, rows, headers)


def _shape(article: Article, titled: bool) -> tuple[int, int]:
    headings = [heading for heading in article.outline if heading.level or titled]
    return max((heading.level for heading in headings), default=0) + 1, len(headings)
