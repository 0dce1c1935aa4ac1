"""Language models for agents: one client that records and replays, prompts, lenient parsing.

Nothing here knows a corpus, a task or a label, so agents may import all of it; docs/llm.md.
"""

from __future__ import annotations

from arena.llm.agent import LLMAgent, ModelSession
from arena.llm.answers import (
    Completion,
    LimitReachedError,
    Limits,
    LLMError,
    ParseError,
    ReplayMissError,
    RequestRefusedError,
    SpendingLimitError,
    Usage,
)
from arena.llm.client import Client
from arena.llm.parsing import as_json, as_list, tagged, unfenced, without_thoughts
from arena.llm.prompts import Fields, Template
from arena.llm.question import Failure, Question, ask, ask_many

__all__ = [
    "Client",
    "Completion",
    "Failure",
    "Fields",
    "LLMAgent",
    "LLMError",
    "LimitReachedError",
    "Limits",
    "ModelSession",
    "ParseError",
    "Question",
    "ReplayMissError",
    "RequestRefusedError",
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
