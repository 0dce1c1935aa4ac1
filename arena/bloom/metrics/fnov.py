"""Framework Novelty: does the survey order the field in a new way that shows more of it?"""

from __future__ import annotations

from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.grade import COLUMNS, PROMPTS, Dimension, grade

_DIMENSION = Dimension(
    "novelty of the framework",
    "Does the survey order this field in a way of its own, and does that order show connections, "
    "differences or gaps that the usual scheme hides, rather than repeat the usual scheme?",
    "Look at how the survey says that it divides the field, at the headings, and at what it "
    "concludes from the division; a label without use is not new.",
    "framework_novelty",
)


@survey_metric("fnov", tier="creation", needs=["judge"], columns=COLUMNS, prompts=PROMPTS)
def fnov(pair: Pair) -> Finding:
    """Framework Novelty: GRADE of the originality and insight of the survey's order, in [0, 1].

    generated / (generated + human), Bloom-Eval, equations 3 and 4, mean over both orders in which
    the judge sees the surveys; see `arena.bloom.grade.grade`.
    """
    return grade(pair, _DIMENSION)
