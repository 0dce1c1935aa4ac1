"""Integrations played by the frameworks' own clients, one file each; `CLIENT` is the class."""

from __future__ import annotations

import importlib
import json
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import gymnasium
import pytest
from gymnasium.error import ResetNeeded

from arena.errors import DataError, clip
from arena.session import Sessions, SessionStep

_RESULT = '"result": '


class Reply(NamedTuple):
    """The result of a call through an integration.

    Attributes:
        text: What the model reads.
        reward: Reward of the step, which the trainer sees.
        terminated: Whether the agent ended the episode.
        truncated: Whether a budget ended it.
        info: Info of the step.
    """

    text: str
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: Mapping[str, Any] = MappingProxyType({})

    @classmethod
    def from_step(cls, text: str, step: SessionStep | None) -> Reply:
        """Return the reply of an integration whose framework leaves rewards to the session."""
        assert step is not None
        return cls(text, step.reward, step.terminated, step.truncated, step.info)


class Integration(ABC):
    """Plays episodes through an integration, with the framework's own client.

    Args:
        sessions: Sessions behind the integration.
    """

    refuses: ClassVar[str] = ""
    """Which calls the framework refuses before they reach the episode; empty for none."""
    known: Collection[str] | None = None
    """The tools whose calls the framework lets reach the episode; None for all."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    @abstractmethod
    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Start an episode; return the text that the model reads first, and the topic's id."""

    @abstractmethod
    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool in the open episode."""

    @abstractmethod
    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as the model sees them, in the form of `arena.tool_schemas`."""

    def accepts(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Return whether the framework lets a call reach the episode."""
        return self.known is None or tool in self.known

    def stop(self) -> float:
        """Say nothing more, as a model that stops; return the reward that the trainer gets."""
        pytest.skip("the test of this integration's own has it")

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """End the client, and the server if there is one."""


class IntegrationEnv(gymnasium.Env[dict[str, Any], Any]):
    """The environment as it is behind an integration: every step goes through the framework's
    client.

    Args:
        integration: The integration.
    """

    def __init__(self, integration: Integration) -> None:
        self._integration = integration
        self.action_space = integration.sessions.env.action_space
        self.observation_space = integration.sessions.env.observation_space
        self._head: dict[str, Any] = {}

    def accepts(self, action: Any) -> bool:
        """Return whether an action can be sent: it is a call, and the framework lets it pass."""
        call = _call_of(action)
        return call is not None and self._integration.accepts(*call)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode, as the plain environment does."""
        text, topic_id = self._integration.open(seed, (options or {}).get("topic_id"))
        observation = _observation(text)
        self._head = {name: observation[name] for name in ("topic", "cutoff")}
        return observation, {"topic_id": topic_id}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Send one call through the integration.

        Raises:
            DataError: The action cannot be sent, see `accepts`.
            gymnasium.error.ResetNeeded: The episode is over.
        """
        call = _call_of(action)
        if call is None:
            raise DataError(
                f"{clip(action)} is no call of a tool, so the integration cannot send it."
            )
        reply = self._integration.call(*call)
        if "reward_terms" not in reply.info:
            raise ResetNeeded(reply.text)
        observation = self._head | _observation(reply.text)
        return observation, reply.reward, reply.terminated, reply.truncated, dict(reply.info)

    def render(self) -> None:
        """Return None: an integration shows nothing to a person."""

    def close(self) -> None:
        """End the client."""
        self._integration.close()


def integration_names() -> list[str]:
    """Return the names of the integrations with episodes."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_integration(name: str) -> type[Integration]:
    """Return the client of an integration; skip the test if its packages are missing."""
    try:
        client: type[Integration] = importlib.import_module(f"{__name__}.{name}").CLIENT
    except ImportError as error:
        pytest.skip(f"the integration {name!r} needs packages: {error}. make integration-{name}")
    return client


def _call_of(action: Any) -> tuple[str, dict[str, Any]] | None:
    """Return name and arguments if `action` is a call that JSON in UTF-8 can hold, else None."""
    try:
        value = json.loads(action) if isinstance(action, str | bytes) else action
        if not isinstance(value, dict) or value.keys() != {"tool", "arguments"}:
            return None
        tool, arguments = value["tool"], value["arguments"]
        text = json.dumps([tool, arguments], allow_nan=False, ensure_ascii=False).encode()
        if json.loads(text) != [tool, arguments]:  # a key that is a number, say
            return None
    except (ValueError, TypeError, RecursionError):
        return None
    return (tool, arguments) if isinstance(tool, str) and isinstance(arguments, dict) else None


def _observation(text: str) -> dict[str, Any]:
    """Return the observation that a model reads, its result as the very text that it holds."""
    observation: dict[str, Any] = json.loads(text)
    observation["result"] = text[text.index(_RESULT) + len(_RESULT) : -1]
    return observation
