"""The environment ``arena/Survey-v0``."""

from __future__ import annotations

from arena.envs.core import SurveyEnv
from arena.envs.vector import SurveyVectorEnv


class WholeSurveyEnv(SurveyEnv):
    """A survey in one episode (ResearchArena, section 5): discover, select, organize.

    Description:
        As `arena/Discovery-v0`, in three stages: first the papers that the survey should cite are
        handed in, then the most influential ones in order, then a mind-map of the topic. What was
        selected stays selected from stage to stage, the budget is one for all.

    Actions:
        As in `arena/Discovery-v0`, and ``organize(mind_map)``. ``submit`` ends the stages
        discovery and selection, ``organize`` the third.

    Observations:
        As in `arena/Discovery-v0`; ``stage`` says which stage it is.

    Rewards:
        By default ``gain+final``; ``final`` is the mean of recall@100, nDCG@100 and heading soft
        F1, where a stage that was not handed in counts 0.

    Episode end:
        Terminates at ``organize`` and at ``finish``, which in the first two stages hands in what
        was selected and ends the episode there. Truncates as `arena/Discovery-v0`; what was
        handed in before counts.

    Arguments:
        Those of `SurveyEnv`. By default the surveys with a mind-map are played.
    """

    task_name = "survey"


class WholeSurveyVectorEnv(SurveyVectorEnv):
    """Many episodes of `WholeSurveyEnv` at once, their searches made together."""

    kind = WholeSurveyEnv
