"""The official client of MCP."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx2
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from arena.serving.mcp import STEP, episode_server, http_app
from arena.session import Sessions
from arena.tools.base import function_schema
from clients import Integration, Reply


class ClientDoor(Integration):
    """Plays episodes with the official client over HTTP's wire format, without a socket.

    Args:
        sessions: Sessions behind the integration.
        server: A server of MCP.
        app: Its application.
    """

    def __init__(self, sessions: Sessions, server: Any, app: Any) -> None:

        super().__init__(sessions)
        self._app, self._episodes = app, 0
        self._stack, self._connection = contextlib.ExitStack(), contextlib.ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        running = self._portal.wrap_async_context_manager(server.session_manager.run())
        self._stack.enter_context(running)

    def connect(self, **parameters: Any) -> str:
        """Connect a client whose address has a key of its own, and parameters; return the key."""

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
        tools: list[Any] = self._portal.call(self._client.list_tools).tools
        return [function_schema(t.name, t.description or "", t.input_schema) for t in tools]

    def close(self) -> None:
        """End client and server."""
        self._connection.close()
        self._stack.close()


class McpDoor(ClientDoor):
    """Plays episodes with the official client."""

    def __init__(self, sessions: Sessions) -> None:
        server = episode_server(sessions)
        super().__init__(sessions, server, http_app(server, sessions))

    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Connect a client whose address has a key of its own."""
        self._key = self.connect(seed=seed, topic_id=topic_id)
        got: Any = self._portal.call(self._client.get_prompt, "task")
        return got.messages[0].content.text, got.meta["topic_id"]

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool."""
        got: Any = self._portal.call(self._client.call_tool, tool, arguments)
        step = {name: value for name, value in got.meta[STEP].items() if name != "total"}
        return Reply(got.content[0].text, **step)

    def stop(self) -> float:
        """End the episode over HTTP."""

        async def end() -> Any:
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(self._app)) as web:
                return await web.delete("http://127.0.0.1:1/mcp", params={"episode": self._key})

        return float(self._portal.call(end).json()["reward"])


CLIENT = McpDoor
