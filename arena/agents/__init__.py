"""Agents: what they are, what they are given, and how to write one; docs/extending.md.

Nothing here knows a corpus, a task or a label.
"""

from arena.agents.base import AGENTS, Action, Agent, Observation, result_of
from arena.agents.desk import Desk, Hit, Known, Steps
from arena.agents.messages import actions_from, tool_message
from arena.agents.researcher import Researcher

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
