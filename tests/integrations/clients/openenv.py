"""OpenEnv's generic client."""

from __future__ import annotations

import threading
from typing import Any

from openenv import core

from arena.serving import http
from arena.session import Sessions
from arena.tools.base import function_schema
from arena_integrations.openenv import _FIELDS, make_app
from clients import Integration, Reply


class OpenEnvDoor(Integration):
    """Plays episodes with OpenEnv's generic client, over a server at a free port."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        listening = http.listen("127.0.0.1", 0)
        self._server = http.make_server(make_app(sessions), "127.0.0.1", None, websockets=True)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        self._client = core.GenericEnvClient(base_url=http.address(listening)).sync()

    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Reset."""
        got = self._client.reset(seed=seed, topic_id=topic_id)
        return got.observation["result"], got.metadata["topic_id"]

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool."""
        got = self._client.step({"type": "call_tool", "tool_name": tool, "arguments": arguments})
        return Reply(got.observation["result"], got.reward, **got.metadata)

    def stop(self) -> float:
        """Hang up: the server finishes the episode."""
        (session,) = self.sessions._open.values()
        self._client.close()
        while len(self.sessions):
            threading.Event().wait(0.01)
        return session.totals().reward

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools that the server lists, as functions."""
        tools = self._client.step({"type": "list_tools"}).observation["tools"]
        return [function_schema(**{k: tool[_FIELDS[k]] for k in _FIELDS}) for tool in tools]

    def close(self) -> None:
        """End client and server."""
        self._client.close()
        self._server.should_exit = True
        self._thread.join()


CLIENT = OpenEnvDoor
