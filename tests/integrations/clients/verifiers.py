"""The client of verifiers' harnesses."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer
from verifiers.v1.harnesses.utils.mcp import mcp_content_to_chat_content

from arena.session import Sessions
from arena_integrations.verifiers import EpisodeState, ResearchTools, ToolsConfig
from clients import Reply
from clients.mcp import ClientDoor


class _Beside(ResearchTools):
    """The tools in this process, with the state of one rollout that is here, too."""

    rollout: EpisodeState

    async def _pull_state(self) -> EpisodeState:
        state: EpisodeState = EpisodeState.model_validate_json(self.rollout.model_dump_json())
        return state

    async def _push_state(self, before: bytes) -> None:
        self.rollout = self.state


class VerifiersDoor(ClientDoor):
    """Plays episodes through the tool server, with the client that verifiers' harnesses have.

    Client and conversion of results are those of the harness. Not covered are the harness's loop,
    the server's process, the way of the state over HTTP, and rows.
    """

    refuses = "tools that the episode does not have"

    def __init__(self, sessions: Sessions) -> None:
        self._tools = _Beside(ToolsConfig())
        self._tools.sessions = sessions
        server = MCPServer("tools")
        self._tools.register(server)
        app = server.streamable_http_app(json_response=True, stateless_http=True)
        super().__init__(sessions, server, app)
        self.known = {schema["function"]["name"] for schema in sessions.schemas()}

    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Begin a rollout."""
        key = self.connect()
        self._tools.rollout = EpisodeState(key=key, seed=seed, topic_id=topic_id)
        self._session = self.sessions.open(key, seed=seed, topic_id=topic_id)
        return self._session.opening, self._session.topic_id

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool as the harness does, which knows the listed ones."""
        if not self.accepts(tool, arguments):
            return Reply(f"error: unknown tool {tool!r}")
        result: Any = self._portal.call(self._client.call_tool, tool, arguments)
        text = mcp_content_to_chat_content(result.content)
        return Reply.from_step(str(text), self._session.last)


CLIENT = VerifiersDoor
