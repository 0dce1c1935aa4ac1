"""Language models for agents: one client that records and replays, prompts, lenient parsing.

Nothing here knows a corpus, a task or a label, so agents may import all of it; docs/llm.md.
"""

from __future__ import annotations

from arena.llm.agent import LLMAgent
from arena.llm.answers import Completion, Usage
from arena.llm.client import Client
from arena.llm.errors import (
    LimitReachedError,
    LLMError,
    ParseError,
    ReplayMissError,
    RequestRefusedError,
    SpendingLimitError,
)
from arena.llm.meter import Limits
from arena.llm.parsing import as_json, as_list, tagged, unfenced, without_thoughts
from arena.llm.prompts import Fields, Template
from arena.llm.session import Failed, Session, ask, ask_many

__all__ = [
    "Client",
    "Completion",
    "Failed",
    "Fields",
    "LLMAgent",
    "LLMError",
    "LimitReachedError",
    "Limits",
    "ParseError",
    "ReplayMissError",
    "RequestRefusedError",
    "Session",
    "SpendingLimitError",
    "Template",
    "Usage",
    "as_json",
    "as_list",
    "ask",
    "ask_many",
    "tagged",
    "unfenced",
    "without_thoughts",
]
