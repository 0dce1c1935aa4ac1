"""inspect's own way to call tools."""

from __future__ import annotations

from typing import Any

from anyio.from_thread import start_blocking_portal
from inspect_ai.model import ChatMessageAssistant, execute_tools
from inspect_ai.tool import Tool, ToolCall, ToolDef

from arena.session import Sessions
from arena.tools.base import function_schema
from arena_integrations.inspect import _params, tools_of
from clients import Integration, Reply


class InspectDoor(Integration):
    """Plays episodes with the function by which inspect's solvers call tools."""

    refuses = (
        "Calls of unknown tools, arguments that do not fit the schema, and arguments nested more "
        "than 100 deep: inspect answers them itself, and no step is charged."
    )

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self._running = start_blocking_portal()
        self._portal = self._running.__enter__()
        self._tools: list[Tool] = []
        functions = [schema["function"] for schema in sessions.schemas()]
        self._known = {each["name"]: _params(each) for each in functions}

    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Open a session and make its tools."""
        self._session = self.sessions.open(seed=seed, topic_id=topic_id)
        self._tools = tools_of(self._session, self.sessions.schemas())
        return self._session.opening, self._session.topic_id

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Carry out a message of a model that calls a tool."""
        call = ToolCall(id="1", function=tool, arguments=arguments)
        said = ChatMessageAssistant(content="", tool_calls=[call])
        (message,) = self._portal.call(execute_tools, [said], self._tools).messages
        text = message.error.message if message.error else message.text
        if not self.accepts(tool, arguments):
            return Reply(text)
        return Reply.from_step(text, self._session.last)

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as inspect gives them to a model's interface."""
        return [
            function_schema(t.name, t.description, t.parameters.model_dump(exclude_none=True))
            for t in map(ToolDef, self._tools)
        ]

    def accepts(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Return whether inspect's own checks let a call pass."""
        from inspect_ai.model import _call_tools as own

        return (
            tool in self._known
            and not own._exceeds_max_depth(arguments)
            and own.validate_tool_input(arguments, self._known[tool]) is None
        )

    def close(self) -> None:
        """End the thread that runs the calls."""
        self._running.__exit__(None, None, None)


CLIENT = InspectDoor
