"""Gymnasium environments over a dated corpus; ``gymnasium.make(id, corpus=DIRECTORY)``.

Every task of `arena.tasks` has an environment, ``arena/NAME-v0``: `ResearchEnv` plays the task that
its argument `task` names, and `ResearchVectorEnv` plays many episodes of it at once.
"""

from arena.envs._factory import StartingPapers, starting_papers
from arena.envs._results import DEFAULT_POOL_CHARACTERS, cut
from arena.envs.config import EnvConfig
from arena.envs.core import ResearchEnv
from arena.envs.spaces import TextSpace, ToolCallSpace
from arena.envs.vector import ResearchVectorEnv

__all__ = [
    "DEFAULT_POOL_CHARACTERS",
    "EnvConfig",
    "ResearchEnv",
    "ResearchVectorEnv",
    "StartingPapers",
    "TextSpace",
    "ToolCallSpace",
    "cut",
    "starting_papers",
]
