"""A language model as a judge: rubrics, judgements, and their agreement with people.

A judge reads labels, so no agent may import this package; docs/judging.md.
"""

from arena.judging.agreement import agreement, read_human
from arena.judging.judge import Judgements, judge, read_judgements
from arena.judging.rubric import RUBRICS, Rubric
from arena.judging.trees import judge_pairs, judge_run

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
]
