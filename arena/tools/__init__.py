"""What an agent can do: one file a tool, each a plain typed function.

To add a tool, add a module to this package that registers it and names the tasks that offer it:

    def venue(episode: Episode, paper_id: str) -> dict[str, Any]: ...
    TOOLS.register("venue")(Tool.of(venue, tasks=["discovery"]))
"""

from arena.papers import MAX_QUERIES, MAX_QUERY, MAX_SUBMITTED
from arena.tools.base import (
    TOOLS,
    BudgetError,
    Call,
    Parameter,
    Search,
    Shown,
    Tool,
    ToolError,
    json_action,
    parse_action,
    tool_schemas,
)
from arena.tools.episode import Episode
from arena.tools.search import encode, make_searches, queries_of

__all__ = [
    "MAX_QUERIES",
    "MAX_QUERY",
    "MAX_SUBMITTED",
    "TOOLS",
    "BudgetError",
    "Call",
    "Episode",
    "Parameter",
    "Search",
    "Shown",
    "Tool",
    "ToolError",
    "encode",
    "json_action",
    "make_searches",
    "parse_action",
    "queries_of",
    "tool_schemas",
]
