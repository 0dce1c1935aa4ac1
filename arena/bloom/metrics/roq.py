"""Research Outlook Quality: are the directions that the survey proposes worth taking?"""

from __future__ import annotations

from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.grade import COLUMNS, PROMPTS, Dimension, grade

_DIMENSION = Dimension(
    "quality of the research outlook",
    "Are the questions and directions that the survey proposes for research new, insightful, drawn "
    "from gaps that it has shown, and feasible?",
    "Judge only what stands in conclusions, future work, challenges and outlook.",
    "research_heuristics",
    ("conclu", "future", "challenge", "outlook", "open ", "direction", "prospect", "perspective"),
)


@survey_metric("roq", tier="creation", needs=["judge"], columns=COLUMNS, prompts=PROMPTS)
def roq(pair: Pair) -> Finding:
    """Research Outlook Quality: GRADE of the research that the survey proposes, in [0, 1].

    generated / (generated + human), Bloom-Eval, equations 3 and 4, mean over both orders in which
    the judge sees the surveys; see `arena.bloom.grade.grade`.
    """
    return grade(pair, _DIMENSION)
