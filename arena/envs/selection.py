"""The environment ``arena/Selection-v0``."""

from __future__ import annotations

from arena.envs.core import SurveyEnv
from arena.envs.vector import SurveyVectorEnv


class SelectionEnv(SurveyEnv):
    """Rank the papers that matter for a survey (ResearchArena, section 5, Information Selection).

    Description:
        As `arena/Discovery-v0`, but the order of the submission is what counts: papers that the
        survey cites as influential gain 2, its other references 1.

    Actions:
        As in `arena/Discovery-v0`.

    Observations:
        As in `arena/Discovery-v0`; the stage is ``"selection"``.

    Rewards:
        By default ``gain``; ``reward="final"`` pays nDCG@100 of the submission.

    Episode end:
        As in `arena/Discovery-v0`.

    Arguments:
        Those of `SurveyEnv`.
    """

    task_name = "selection"


class SelectionVectorEnv(SurveyVectorEnv):
    """Many episodes of `SelectionEnv` at once, their searches made together."""

    kind = SelectionEnv
