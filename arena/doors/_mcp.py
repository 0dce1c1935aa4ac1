"""What the doors over MCP share: tools, results, and the official client without a socket."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from arena.doors import Door
from arena.session import Sessions
from arena.tools.base import function_schema

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool


def tools_of(schemas: Iterable[Mapping[str, Any]]) -> list[Tool]:
    """Return tools in the form of `arena.tool_schemas` as a server of MCP lists them."""
    from mcp_types import Tool

    return [
        Tool(name=f["name"], description=f["description"], input_schema=f["parameters"])
        for f in (schema["function"] for schema in schemas)
    ]


def result_of(text: str, failed: bool, meta: dict[str, Any] | None = None) -> CallToolResult:
    """Return the result of a call; no model reads `meta`."""
    from mcp_types import CallToolResult, TextContent

    shown = TextContent(type="text", text=text)
    return CallToolResult(content=[shown], is_error=failed, _meta=meta)


class ClientDoor(Door):
    """Plays episodes with the official client over HTTP's wire format, without a socket.

    Args:
        sessions: Sessions behind the door.
        server: A server of MCP.
        app: Its application.
    """

    def __init__(self, sessions: Sessions, server: Any, app: Any) -> None:
        from anyio.from_thread import start_blocking_portal

        super().__init__(sessions)
        self._app, self._episodes = app, 0
        self._stack, self._connection = contextlib.ExitStack(), contextlib.ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        running = self._portal.wrap_async_context_manager(server.session_manager.run())
        self._stack.enter_context(running)

    def connect(self, **parameters: Any) -> str:
        """Connect a client whose address has a key of its own, and parameters; return the key."""
        import httpx2
        from mcp.client import Client
        from mcp.client.streamable_http import streamable_http_client

        self._connection.close()
        self._episodes += 1
        key = f"{id(self)}-{self._episodes}"
        asked = {"episode": key} | {k: v for k, v in parameters.items() if v is not None}
        web = httpx2.AsyncClient(transport=httpx2.ASGITransport(self._app))
        url = f"http://127.0.0.1:1/mcp?{httpx2.QueryParams(asked)}"
        client: Any = Client(streamable_http_client(url, http_client=web))
        self._client = self._connection.enter_context(
            self._portal.wrap_async_context_manager(client)
        )
        return key

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools that the server lists, as functions."""
        tools: list[Tool] = self._portal.call(self._client.list_tools).tools
        return [function_schema(t.name, t.description or "", t.input_schema) for t in tools]

    def close(self) -> None:
        """End client and server."""
        self._connection.close()
        self._stack.close()
