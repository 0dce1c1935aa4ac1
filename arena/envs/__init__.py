"""Gymnasium environments over a dated corpus; ``gymnasium.make(id, corpus=DIRECTORY)``."""

from arena.envs.core import SurveyEnv
from arena.envs.discovery import DiscoveryEnv
from arena.envs.organization import OrganizationEnv
from arena.envs.selection import SelectionEnv
from arena.envs.spaces import TextSpace, ToolCallSpace
from arena.envs.survey import WholeSurveyEnv
from arena.envs.vector import SurveyVectorEnv

__all__ = [
    "DiscoveryEnv",
    "OrganizationEnv",
    "SelectionEnv",
    "SurveyEnv",
    "SurveyVectorEnv",
    "TextSpace",
    "ToolCallSpace",
    "WholeSurveyEnv",
]
