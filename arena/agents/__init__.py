"""Agents: what they are, what they receive, and how to write one; docs/extending.md.

Nothing here knows a corpus, a task or a label.
"""

from arena.agents.base import (
    AGENTS,
    Action,
    Agent,
    Observation,
    actions_from,
    agent,
    result_of,
    tool_message,
)
from arena.agents.researcher import Desk, KnownPaper, Researcher, Steps
from arena.papers import Hit

__all__ = [
    "AGENTS",
    "Action",
    "Agent",
    "Desk",
    "Hit",
    "KnownPaper",
    "Observation",
    "Researcher",
    "Steps",
    "actions_from",
    "agent",
    "result_of",
    "tool_message",
]
