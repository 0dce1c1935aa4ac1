"""Gymnasium environments over a dated corpus; ``gymnasium.make(id, corpus=DIRECTORY)``.

Every task of `arena.tasks` has an environment, ``arena/NAME-v0``: `SurveyEnv` plays the task that
its argument `task` names, and `SurveyVectorEnv` plays many episodes of it at once.
"""

from arena.envs._factory import StartingPapers, starting_papers
from arena.envs._results import USUAL, cut
from arena.envs.config import EnvConfig
from arena.envs.core import SurveyEnv
from arena.envs.spaces import TextSpace, ToolCallSpace
from arena.envs.vector import SurveyVectorEnv

__all__ = [
    "USUAL",
    "EnvConfig",
    "StartingPapers",
    "SurveyEnv",
    "SurveyVectorEnv",
    "TextSpace",
    "ToolCallSpace",
    "cut",
    "starting_papers",
]
