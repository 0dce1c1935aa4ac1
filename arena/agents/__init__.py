"""Agents: what they are, what they receive, and how to write one; docs/extending.md.

Nothing here knows a corpus, a task or a label.
"""

from arena.agents.base import AGENTS, Action, Agent, Observation, result_of
from arena.agents.desk import Desk, Known, Steps
from arena.agents.messages import actions_from, tool_message
from arena.agents.researcher import Researcher
from arena.papers import Hit

__all__ = [
    "AGENTS",
    "Action",
    "Agent",
    "Desk",
    "Hit",
    "Known",
    "Observation",
    "Researcher",
    "Steps",
    "actions_from",
    "result_of",
    "tool_message",
]
