"""A language model as a judge: rubrics, statements of reports, and agreement with people.

A judge reads labels, so no agent may import this package; docs/judging.md.
"""

from arena.judging.agreement import agreement, read_human
from arena.judging.evidence import Page
from arena.judging.judge import (
    RUBRICS,
    Judgements,
    Rubric,
    judge,
    judge_pairs,
    judge_run,
    read_judgements,
    rubric,
)
from arena.judging.runs import judge_of
from arena.judging.statements import (
    StatementJudgements,
    judge_reports,
)

__all__ = [
    "RUBRICS",
    "Judgements",
    "Page",
    "Rubric",
    "StatementJudgements",
    "agreement",
    "judge",
    "judge_of",
    "judge_pairs",
    "judge_reports",
    "judge_run",
    "read_human",
    "read_judgements",
    "rubric",
]
