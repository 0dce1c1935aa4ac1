"""A language model as a judge: rubrics, and agreement with people.

A judge reads labels, so no agent may import this package; docs/judging.md.
"""

from arena_suites.judging.agreement import agreement, read_human
from arena_suites.judging.judge import (
    RUBRICS,
    Judgements,
    Rubric,
    judge,
    judge_pairs,
    judge_run,
    read_judgements,
    rubric,
)

__all__ = [
    "RUBRICS",
    "Judgements",
    "Rubric",
    "agreement",
    "judge",
    "judge_pairs",
    "judge_run",
    "read_human",
    "read_judgements",
    "rubric",
]
