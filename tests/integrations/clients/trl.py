"""The functions that TRL's trainer calls."""

from __future__ import annotations

import inspect
from typing import Any

from arena.session import Sessions
from arena_integrations.trl import _class_of
from clients import Integration, Reply


class TrlDoor(Integration):
    """Plays episodes as the trainer does: finds the tools in the class, and calls them."""

    refuses = "tools that the episode does not have"

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self._rollout = _class_of(sessions)()
        self.known = [
            name
            for name, _ in inspect.getmembers(type(self._rollout), inspect.isfunction)
            if name not in ("reset", "get_reward") and name[0] != "_"
        ]

    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Reset the instance with a row."""
        text = self._rollout.reset(prompt=[], seed=seed, topic_id=topic_id)
        return text, self._rollout._session.topic_id

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool; an error is what the trainer shows to the model."""
        try:
            if not self.accepts(tool, arguments):
                raise ValueError(f"Tool {tool} not found.")
            text = getattr(self._rollout, tool)(**arguments)
            return Reply.from_step(text, self._rollout._session.last)
        except Exception as error:
            return Reply(str({"error": str(error)}), truncated=True)

    def stop(self) -> float:
        """Ask for the reward."""
        return float(self._rollout.get_reward())

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as a chat template renders them."""
        from transformers.utils.chat_template_utils import get_json_schema

        return [get_json_schema(getattr(self._rollout, name)) for name in self.known or ()]


CLIENT = TrlDoor
