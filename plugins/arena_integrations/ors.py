"""ORS: a server of OpenReward's environments, one for each task; their tasks are the topics."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from arena.errors import ArenaError, DataError, clip
from arena.kit.lazy import once, require
from arena.serving import integration
from arena.serving.http import refusal, serve_app
from arena.session import (
    CapacityError,
    EpisodeSession,
    Sessions,
    SessionStep,
    UnknownSessionError,
)
from arena.text.display import whole_letters

# Annotations are evaluated here, since OpenReward evaluates those of tools.

STOP = "stop"
"""The tool that harnesses call for a model that writes a plain message; no model sees it."""
_FIRST = re.compile(r"^data: ([^\S\r\n])", re.MULTILINE)


def episode_rewards(environments: Sequence[Any], **_: Any) -> list[float | None]:
    """Return what each rollout earned, for ``GRPOTrainer(reward_funcs=...)``; None if not valid.

    That of TRL's adapter takes the last reward of a rollout, and this one their sum. It finishes
    the episode of a model that stopped: what it selected or wrote counts.
    """
    earned = []
    for rollout in environments:
        if not rollout.finished:
            rollout.finish()
        said = [each for each in rollout.metadata if each is not None]
        earned.append(said[-1]["total"] if said and said[-1]["valid"] else None)
    return earned


def make_environment(sessions: Sessions, split: str) -> type:
    """Return the subclass of OpenReward's `Environment` that plays the episodes of a task.

    Its one split has a task for each topic, in the order of the corpus: ``id`` and ``topic``.
    """
    from openreward.environments import Environment, TextBlock, ToolOutput, terminal, tool
    from pydantic import BaseModel

    topics = sessions.env.topics

    class Episode(Environment):  # type: ignore[misc]
        def __init__(self, task_spec: Mapping[str, Any], secrets: Any = None) -> None:
            topic_id = task_spec.get("id")
            if not isinstance(topic_id, str) or topic_id not in topics:
                raise DataError(f"task={clip(dict(task_spec))}: give one of list_tasks.")
            super().__init__(task_spec)

        @once  # where there is no room now, a client that asks again may get it
        def session(self) -> EpisodeSession:
            return sessions.open(topic_id=self.task_spec["id"])

        @classmethod
        def name(cls) -> str:
            return sessions.env.task_name

        @classmethod
        def list_splits(cls) -> list[str]:
            return [split]

        @classmethod
        def list_tasks(cls, split: str) -> list[dict[str, str]]:
            return [{"id": each, "topic": topic} for each, topic in topics.items()]

        def get_prompt(self) -> list[TextBlock]:
            return [TextBlock(text=self.session.opening)]

        def teardown(self) -> None:
            if "session" in vars(self):
                with suppress(UnknownSessionError):  # closed after its idle time-out
                    sessions.close(self.session.key)

        def told(self, step: SessionStep, over: bool) -> ToolOutput:
            valid = step.info.get("valid", True)
            ends = {"terminated": step.terminated, "truncated": step.truncated, "info": step.info}
            return ToolOutput(
                blocks=[TextBlock(text=step.text)],
                metadata={"total": self.session.reward, "valid": valid, **ends},
                # Blank where nothing was carried out: the tool is broken, or the session closed.
                reward=step.reward if "reward_terms" in step.info else None,
                finished=over,
            )

        async def stop(self) -> ToolOutput:
            """End the episode of a model that stopped: what it selected or wrote counts."""
            return self.told(await self.session.astep({"tool": "finish", "arguments": {}}), True)

    def called(name: str, description: str, parameters: dict[str, Any]) -> Any:
        class Arguments(BaseModel, extra="allow"):  # bad ones too: the episode answers those
            @classmethod
            def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
                return parameters

        async def call(self: Episode, given: Arguments) -> ToolOutput:
            step = await self.session.astep({"tool": name, "arguments": given.model_extra})
            return self.told(step, self.session.over)

        call.__doc__ = description
        return tool(call)

    for schema in sessions.schemas():
        setattr(Episode, schema["function"]["name"], called(**schema["function"]))
    setattr(Episode, STOP, terminal(tool(Episode.stop)))
    return Episode


class _Letters:
    """Passes on what OpenReward loses: halves of surrogate pairs, and spaces.

    Its server cuts answers in pieces, and its client drops a space that one begins with.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def received() -> Any:
            message = await receive()
            return {**message, "body": whole_letters(message.get("body", b""))}

        async def sent(message: Any) -> None:
            text = message.get("body", b"").decode()
            escaped = _FIRST.sub(lambda found: f"data: \\u{ord(found[1]):04x}", text)
            await send({**message, "body": escaped.encode()} if text else message)

        called = scope["type"] == "http" and scope["path"].endswith("/call")
        await self._app(scope, *((received, sent) if called else (receive, send)))


def make_app(served: Sequence[Sessions], split: str = "test") -> Any:
    """Return the FastAPI application of a server: an environment for the sessions of each task."""
    from openreward.environments import Server
    from openreward.toolsets import BUILTIN_TOOLSETS

    # A client may ask for these, such as a search of the web: an agent has but its episode's tools.
    BUILTIN_TOOLSETS.clear()

    def refused(_: Any, error: Exception) -> Any:
        return refusal(503 if isinstance(error, CapacityError) else 400, error)

    app = Server([make_environment(sessions, split) for sessions in served]).app
    app.add_exception_handler(ArenaError, refused)
    app.add_middleware(_Letters)
    return app


@integration("ors")
def serve(
    *,
    corpus: str,
    task: list[str],
    tasks: str | None = None,
    where: str | None = None,
    retriever: str | None = None,
    reward: str | None = None,
    env_option: dict[str, Any] | None = None,
    split: Literal["test", "train", "validation"] = "test",
    host: str = "127.0.0.1",
    port: int = 8000,
    max_sessions: int = 4096,
    idle: float = 1800.0,
    record: str | None = None,
) -> None:
    """Serve episodes to clients of OpenReward (ORS): an environment for each task.

    Args:
        tasks (TASKS): Directory of `arena-corpus tasks`, to play it instead of topics.
        split: Name of the one split: what these topics are for.
        max_sessions: Episodes of a task that may be open at once.
        idle: Seconds after which an episode that nobody plays is closed.

    Example:
        arena serve ors --corpus demo/synthetic --task discovery --task selection
    """
    require("arena serve ors", "openreward")
    # It would print each request.
    os.environ.setdefault("OPENREWARD_LOG_LEVEL", "ERROR")
    from arena.corpus import Corpus
    from arena.envs.config import EnvConfig, merged

    opened, served = Corpus.open(corpus), []
    for name in dict.fromkeys(task):
        options = {"task": name, "retriever": retriever, "reward": reward}
        config = EnvConfig(**merged(options, env_option))
        served.append(
            Sessions.make(
                opened, config, topics=where, max_sessions=max_sessions, idle=idle, record=record,
                tasks=tasks,
            )
        )  # fmt: skip
    serve_app(make_app(served, split), host, port)
