"""Framework Application: does the survey carry a recognised order of the field through?"""

from __future__ import annotations

from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.grade import COLUMNS, PROMPTS, Dimension, grade

_DIMENSION = Dimension(
    "application of a framework",
    "Does the survey choose a recognised principle of order that suits this field, such as time, "
    "method, task or theory, make it plain, and carry it through from the first section to the "
    "last?",
    "Look at the introduction, the headings, and how each section takes its place among them.",
    "framework_application",
)


@survey_metric("fap", tier="application", needs=["judge"], columns=COLUMNS, prompts=PROMPTS)
def fap(pair: Pair) -> Finding:
    """Framework Application: GRADE of the order that the survey gives its field, in [0, 1].

    generated / (generated + human), Bloom-Eval, equations 3 and 4, mean over both orders in which
    the judge sees the surveys; see `arena.bloom.grade.grade`.
    """
    return grade(pair, _DIMENSION)
