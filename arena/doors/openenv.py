"""OpenEnv: a server of episodes, and a client whose observations have types.

A client has one session over one WebSocket. ``reset(seed=..., survey=...)`` starts an episode in
it, and each step calls a tool. The ``result`` of an observation is what the model reads; its
reward, ``done`` and metadata are the trainer's.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from arena import __version__
from arena._internal.lazy import absent
from arena.doors import Door, Reply
from arena.doors._http import address, listen, make_server, refusal
from arena.errors import ArenaError, DataError, clip, did_you_mean
from arena.session import IDLE, Sessions, UnknownSessionError, opening_text, step_text

try:
    from openenv.core import EnvClient, GenericEnvClient
    from openenv.core.client_types import StepResult
    from openenv.core.env_server import Environment, Observation, State, create_fastapi_app
    from openenv.core.env_server.mcp_types import (
        CallToolAction,
        CallToolObservation,
        ListToolsAction,
        ListToolsObservation,
        Tool,
    )
    from openenv.core.env_server.types import ConcurrencyConfig, EnvironmentMetadata
except ModuleNotFoundError as error:
    raise DataError(absent("the door 'openenv'", str(error.name).partition(".")[0])) from None

if TYPE_CHECKING:
    from fastapi import FastAPI

NAME = "researcharena"
"""Name of the environment in the URLs of the task API, as in ``/researcharena/task``."""
SPLIT = "all"
"""The one split of the task API: the surveys that episodes are drawn from."""
MOST = 256
"""Clients at a time."""


class Answer(CallToolObservation):  # type: ignore[misc]
    """What a call, or the reset, returned; ``result`` is the text that the model reads.

    The metadata of a step has ``terminated``, ``truncated`` and ``info``, as the environment's
    step returns them; that of a reset has ``survey``.
    """

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the fields; the text alone for ``/mcp``, where a model may be the client."""
        return super().model_dump(**options) if options else {"data": self.result}


class LiteratureEnvironment(Environment):  # type: ignore[misc]
    """The episodes of one client, one after the other.

    Args:
        sessions: The episodes of all clients.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, sessions: Sessions) -> None:
        super().__init__()
        self._sessions, self._key, self._episode = sessions, "", ""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        survey: str | None = None,
        split: str = SPLIT,
        index: int | None = None,
        **unknown: Any,
    ) -> Answer:
        """Start an episode, and close the one before.

        Args:
            seed: Seed of the draw of the survey, >= 0.
            episode_id: What the state calls the episode; by default a new name.
            survey: Id of the survey to play; by default one is drawn.
            split: Split of `index`.
            index: Place of the survey to play in the task API.
            unknown: Refused.

        Raises:
            DataError, UnknownNameError, CapacityError: An argument is unusable; nothing changes.
        """
        takes = ("seed", "episode_id", "survey", "split", "index")
        for name in unknown:
            raise DataError(f"reset takes no {clip(name)}.{did_you_mean(name, takes)}")
        if index is not None:
            if survey is not None:
                raise DataError(f"survey={clip(survey)} and index={clip(index)}: give one.")
            survey = self.get_task(split, index)["id"]
        session = self._sessions.open(seed=seed, survey=survey)
        self.close()
        self._key, self._episode = session.key, episode_id or session.key
        text, about = opening_text(session.first), {"survey": session.survey}
        return Answer(tool_name="reset", result=text, metadata=about)

    def step(self, action: Any, timeout_s: float | None = None, **unknown: Any) -> Observation:
        """Call a tool, or list the tools, which needs no episode.

        Raises:
            DataError: There was no reset.
            UnknownSessionError: The episode was closed because nobody played it.
        """
        if isinstance(action, ListToolsAction):
            functions = [each["function"] for each in self._sessions.schemas()]
            return ListToolsObservation(
                tools=[
                    Tool(name=f["name"], description=f["description"], input_schema=f["parameters"])
                    for f in functions
                ]
            )
        if not self._key:
            raise DataError(
                "no episode is open. Reset first, over a WebSocket: HTTP's /reset and /step each "
                "have an environment of their own."
            )
        session = self._sessions.get(self._key)
        step = session.step({"tool": action.tool_name, "arguments": action.arguments})
        return Answer(
            tool_name=action.tool_name,
            result=step_text(step.observation),
            reward=step.reward,
            done=session.over,
            metadata={
                "terminated": step.terminated,
                "truncated": step.truncated,
                "info": step.info,
            },
        )

    @property
    def state(self) -> State:
        """What the episode has earned, see `arena.session.Totals`; empty without an episode."""
        if not self._key:
            return State()
        totals = self._sessions.get(self._key).totals()
        return State(episode_id=self._episode, step_count=totals.steps, **totals._asdict())

    def get_metadata(self) -> EnvironmentMetadata:
        """Return name, task and version."""
        about = f"Literature search as of a date: {self._sessions.env.task_name}."
        return EnvironmentMetadata(name=NAME, description=about, version=__version__)

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return [SPLIT]

    def num_tasks(self, split: str) -> int:
        """Return the number of surveys."""
        return len(self.list_tasks(split))

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return ``index``, ``id`` and ``topic`` of each survey.

        Raises:
            DataError: There is no such split.
        """
        if split != SPLIT:
            raise DataError(f"no split {clip(split)}: the only one is {SPLIT!r}.")
        topics = self._sessions.env.topics.items()
        return [{"index": i, "id": s, "topic": topic} for i, (s, topic) in enumerate(topics)]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return one entry of `list_tasks`.

        Raises:
            DataError: There is no such split or index.
        """
        tasks = self.list_tasks(split)
        if type(index) is not int or not 0 <= index < len(tasks):
            raise DataError(f"index={clip(index)}: give an integer from 0 to {len(tasks) - 1}.")
        return tasks[index]

    def close(self) -> None:
        """Close the episode."""
        with suppress(UnknownSessionError):
            self._sessions.close(self._key)


def make_app(sessions: Sessions, most: int = MOST, idle: float = IDLE) -> FastAPI:
    """Return the application of a server.

    Args:
        sessions: The episodes. A reset opens one before it closes another.
        most: Clients at a time, >= 1; one more gets the error CAPACITY_REACHED.
        idle: Seconds after which OpenEnv ends the session of a client that sends nothing, > 0.
    """
    app = create_fastapi_app(
        partial(LiteratureEnvironment, sessions),
        CallToolAction,
        Answer,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=most, session_timeout=idle),
        env_name=NAME,
    )
    app.add_exception_handler(ArenaError, lambda _, error: refusal(400, error))
    return app  # type: ignore[no-any-return]


class ArenaClient(EnvClient):  # type: ignore[misc]
    """OpenEnv's client with types: actions and observations are objects, not dictionaries."""

    def _step_payload(self, action: CallToolAction | ListToolsAction) -> dict[str, Any]:
        return action.model_dump()  # type: ignore[no-any-return]

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        kind = ListToolsObservation if "tools" in payload["observation"] else Answer
        rest = {name: payload[name] for name in ("reward", "done")}
        return StepResult(kind(**payload["observation"], **rest), **rest)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


class OpenEnvDoor(Door):
    """Plays episodes with OpenEnv's generic client, over a server at a free port."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        listening = listen("127.0.0.1", 0)
        self._server = make_server(make_app(sessions), "127.0.0.1", None, websockets=True)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        self._client = GenericEnvClient(base_url=address(listening)).sync()

    def open(self, seed: int | None, survey: str | None) -> tuple[str, str]:
        """Reset."""
        got = self._client.reset(seed=seed, survey=survey)
        return got.observation["result"], got.metadata["survey"]

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool."""
        got = self._client.step({"type": "call_tool", "tool_name": tool, "arguments": arguments})
        return Reply(got.observation["result"], got.reward, **got.metadata)

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools that the server lists, as functions."""
        got = self._client.step({"type": "list_tools"})
        return [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": tool["input_schema"],
                },
            }
            for tool in got.observation["tools"]
        ]

    def close(self) -> None:
        """End client and server."""
        self._client.close()
        self._server.should_exit = True
        self._thread.join()


DOOR = OpenEnvDoor
