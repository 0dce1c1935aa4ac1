"""OpenReward's client."""

from __future__ import annotations

import os
import threading
from typing import Any

os.environ |= {"OPENREWARD_LOG_LEVEL": "CRITICAL", "OPENREWARD_DISABLE_UPDATE_CHECK": "1"}

from openreward.api.environments.client import EnvironmentsAPI
from openreward.api.errors import ToolCallError
from sse_starlette.sse import AppStatus

from arena.serving import http
from arena.session import Sessions
from arena.tools.base import function_schema
from arena_integrations.ors import make_app
from clients import Integration, Reply


class OrsDoor(Integration):
    """Plays episodes with OpenReward's client, over a server at a free port."""

    refuses = "tools that the episode does not have, and calls after its end"

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        AppStatus.should_exit_event = None  # of the event loop of the server before
        listening = http.listen("127.0.0.1", 0)
        self._server = http.make_server(make_app([sessions]), "127.0.0.1", None)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        self._api = EnvironmentsAPI(http.address(listening), "")
        self._environment = self._api.get("server", variant=sessions.env.task_name)
        self.known = {schema["function"]["name"] for schema in sessions.schemas()}
        self._session: Any = None

    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Start a session of a topic; the protocol draws none."""
        env = self.sessions.env.fork()
        _, info = env.reset(seed=seed, options={"topic_id": topic_id} if topic_id else None)
        self._leave()
        index = list(env.topics).index(info["topic_id"])
        task = self._environment.get_task("test", index)
        self._session = self._environment.session(task).__enter__()
        (block,) = self._session.get_prompt()
        return block.text, task.task_spec["id"]

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool; an error of the framework is what a harness shows to the model."""
        try:
            got = self._session.call_tool(tool, arguments)
        except ToolCallError as error:
            over = "the episode is over: " * (error.reason == "episode_finished")
            return Reply(f"{over}{error}")
        (block,) = got.blocks
        told = {name: got.metadata[name] for name in ("terminated", "truncated", "info")}
        assert got.finished == (told["terminated"] or told["truncated"])
        return Reply(block.text, got.reward, **told)

    def stop(self) -> float:
        """Write a plain message, which a harness gives to the hidden tool."""
        assert self._session.is_assistant_message_final()
        got = self._session.call_terminal_tool("Done.")
        assert got.finished
        return float(got.metadata["total"])

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools that the session lists, as functions."""
        return [
            function_schema(tool.name, tool.description, tool.input_schema)
            for tool in self._session.list_tools()
        ]

    def close(self) -> None:
        """End client and server."""
        self._leave()
        self._api.close()
        self._server.should_exit = True
        self._thread.join()

    def _leave(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.__exit__(None, None, None)


CLIENT = OrsDoor
