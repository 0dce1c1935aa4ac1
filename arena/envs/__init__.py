"""Gymnasium environments over a dated corpus; ``gymnasium.make(id, corpus=DIRECTORY)``."""

from arena.envs.core import SurveyEnv
from arena.envs.discovery import DiscoveryEnv
from arena.envs.selection import SelectionEnv
from arena.envs.spaces import TextSpace, ToolCallSpace

__all__ = ["DiscoveryEnv", "SelectionEnv", "SurveyEnv", "TextSpace", "ToolCallSpace"]
