"""A rubric by which a language model judges a mind-map."""

from __future__ import annotations

from arena_suites.judging import rubric


@rubric("teaching", dimensions=("order", "clarity"), fields=("expert", "generated"))
def teaching() -> str:
    """Whether one could teach a course by a mind-map: order and clarity, 1 to 5."""
    return """Compare a mind-map with the one of an expert, as outlines of a course.

<expert>$expert</expert>
<generated>$generated</generated>

Score from 1 to 5 whether the topics come in an order in which they can be taught, and whether each
heading says clearly what it is about. Answer with JSON:
{"order": {"score": 1, "reason": "..."}, "clarity": {"score": 1, "reason": "..."}}
"""
