"""The tools of agents: plain typed functions, those that go together in one file.

A task names its tools; the setting ``tools`` of an environment adds some. To add a tool, see
docs/extending.md.
"""

from arena.papers import MAX_QUERIES, MAX_QUERY, MAX_SUBMITTED
from arena.tools.base import (
    TOOLS,
    BudgetError,
    Call,
    Parameter,
    Search,
    Tool,
    ToolError,
    ToolResult,
    json_action,
    parse_action,
    tool,
    tool_schemas,
)
from arena.tools.episode import Episode
from arena.tools.search import SCORE, encode, make_searches, queries_of

__all__ = [
    "MAX_QUERIES",
    "MAX_QUERY",
    "MAX_SUBMITTED",
    "SCORE",
    "TOOLS",
    "BudgetError",
    "Call",
    "Episode",
    "Parameter",
    "Search",
    "Tool",
    "ToolError",
    "ToolResult",
    "encode",
    "json_action",
    "make_searches",
    "parse_action",
    "queries_of",
    "tool",
    "tool_schemas",
]
