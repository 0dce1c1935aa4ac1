"""OpenEnv: a server of episodes, one at a time for each client."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

from arena.errors import ArenaError, DataError, clip, did_you_mean
from arena.kit.lazy import require
from arena.serving import integration
from arena.serving.http import refusal, serve_app
from arena.session import IDLE, EpisodeSession, Sessions, SessionStep, UnknownSessionError
from arena.version import __version__

try:
    from openenv import core
except ImportError:  # the command says what is missing
    bases = ("CallToolObservation", "Environment")
    core = SimpleNamespace(**dict.fromkeys(bases, object))

NAME = "researcharena"
"""Name of the environment, also in the URLs of the task API: ``/researcharena/task``."""
SPLIT = "all"
"""The one split of the task API: the topics that episodes are drawn from."""
_FIELDS = {"name": "name", "description": "description", "parameters": "input_schema"}


class Answer(core.CallToolObservation):  # type: ignore[misc]
    """The result of a call or of the reset; ``result`` is the text that the model reads.

    The metadata of a step has ``terminated``, ``truncated`` and ``info``, as the environment's
    step returns them; that of a reset has ``topic_id``.
    """

    def model_dump(self, *, exclude: Any = None, **options: Any) -> dict[str, Any]:
        """Return what a model may read: OpenEnv sends the metadata as well.

        Without `exclude` it is the text alone: the result of a call over ``/mcp``.
        """
        if exclude is None:
            return {"data": self.result}
        return super().model_dump(exclude={*exclude, "metadata"}, **options)  # type: ignore[no-any-return]


class LiteratureEnvironment(core.Environment):  # type: ignore[misc]
    """The episodes of one client, one after the other; `sessions` has those of all clients."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, sessions: Sessions) -> None:
        super().__init__()
        self._sessions, self._key, self._episode = sessions, "", ""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        topic_id: str | None = None,
        split: str = SPLIT,
        index: int | None = None,
        **unknown: Any,
    ) -> Answer:
        """Start an episode and close the one before.

        It plays a topic by its id or by its `index` in the task API, or one drawn with the seed.
        """
        for name in unknown:
            known = ("seed", "episode_id", "topic_id", "split", "index")
            raise DataError(f"reset has no argument {clip(name)}.{did_you_mean(name, known)}")
        if index is not None:
            if topic_id is not None:
                raise DataError(f"topic={clip(topic_id)} and index={clip(index)}: give one.")
            topic_id = self.get_task(split, index)["id"]
        self.list_tasks(split)  # DataError for another split
        session = self._sessions.open(seed=seed, topic_id=topic_id)
        self.close()
        self._key, self._episode = session.key, str(episode_id or session.key)
        about = {"topic_id": session.topic_id}
        return Answer(tool_name="reset", result=session.opening, metadata=about)

    def step(self, action: Any, timeout_s: float | None = None, **_: Any) -> core.Observation:
        """Call a tool; or list the tools, which needs no episode."""
        if isinstance(action, core.ListToolsAction):
            return self._listed()
        session = self._session()
        return _answer(action, session, session.step(_called(action)))

    async def step_async(
        self, action: Any, timeout_s: float | None = None, **_: Any
    ) -> core.Observation:
        """Do what `step` does; searches of several clients are made in batches."""
        if isinstance(action, core.ListToolsAction):
            return self._listed()
        session = self._session()
        return _answer(action, session, await session.astep(_called(action)))

    def _listed(self) -> core.Observation:
        functions = [schema["function"] for schema in self._sessions.schemas()]
        tools = [core.Tool(**{_FIELDS[k]: each[k] for k in _FIELDS}) for each in functions]
        return core.ListToolsObservation(tools=tools)

    def _session(self) -> EpisodeSession:
        if not self._key:
            raise DataError(
                "no episode is open. Reset first, over a WebSocket: each request to HTTP's /reset "
                "or /step has an environment of its own."
            )
        return self._sessions.get(self._key)

    @property
    def state(self) -> core.State:
        """The earnings of the episode, see `arena.session.Totals`; empty without an episode."""
        if not self._key:
            return core.State()
        totals = self._sessions.get(self._key).totals()
        return core.State(episode_id=self._episode, step_count=totals.steps, **totals._asdict())

    def get_metadata(self) -> Any:
        """Return name, description and version."""
        about = f"The task {self._sessions.env.task_name!r}: literature search as of a date."
        new = {"name": NAME, "description": about, "version": __version__}
        return super().get_metadata().model_copy(update=new)

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return [SPLIT]

    def num_tasks(self, split: str) -> int:
        """Return the number of topics."""
        return len(self.list_tasks(split))

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return ``index``, ``id`` and ``topic`` of each topic; DataError for another split."""
        if split != SPLIT:
            raise DataError(f"no split {clip(split)}: the only one is {SPLIT!r}.")
        topics = self._sessions.env.topics.items()
        return [{"index": i, "id": s, "topic": topic} for i, (s, topic) in enumerate(topics)]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return one entry of `list_tasks`; DataError where there is none."""
        tasks = self.list_tasks(split)
        if type(index) is not int or not 0 <= index < len(tasks):
            raise DataError(f"index={clip(index)}: give an integer from 0 to {len(tasks) - 1}.")
        return tasks[index]

    def close(self) -> None:
        """Finish and close the episode; the log has what it earned."""
        with suppress(UnknownSessionError):
            self._sessions.close(self._key)


def _called(action: Any) -> dict[str, Any]:
    return {"tool": action.tool_name, "arguments": action.arguments}


def _answer(action: Any, session: EpisodeSession, step: SessionStep) -> Answer:
    ends = {"terminated": step.terminated, "truncated": step.truncated, "info": step.info}
    return Answer(
        tool_name=action.tool_name.encode(errors="replace").decode(),  # half a surrogate pair
        result=step.text,
        reward=step.reward,
        done=session.over,
        metadata=ends,
    )


def make_app(sessions: Sessions, max_sessions: int = 256, idle: float = IDLE) -> Any:
    """Return the FastAPI application of a server; ``/health`` also says how many episodes are open.

    At most `max_sessions` clients may come at a time; one more gets the error CAPACITY_REACHED. A
    client that sends nothing for `idle` seconds loses its session.
    """
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    limits = core.ConcurrencyConfig(max_concurrent_envs=max_sessions, session_timeout=idle)
    make = partial(LiteratureEnvironment, sessions)
    app = core.create_fastapi_app(
        make, core.CallToolAction, Answer, concurrency_config=limits, env_name=NAME
    )
    app.add_exception_handler(ArenaError, lambda _, error: refusal(400, error))

    async def health(_: Any) -> JSONResponse:
        return JSONResponse(
            {"status": "healthy", "open": len(sessions), "max_sessions": max_sessions}
        )

    app.router.routes.insert(0, Route("/health", health))  # before OpenEnv's own
    return app


@integration("openenv")
def serve(
    *,
    corpus: str,
    task: str,
    tasks: str | None = None,
    where: str | None = None,
    retriever: str | None = None,
    reward: str | None = None,
    env_option: dict[str, Any] | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    max_sessions: int = 256,
    idle: float = 1800.0,
    record: str | None = None,
    credit: str | None = None,
) -> None:
    """Serve episodes to OpenEnv's clients: one episode at a time for each client.

    Args:
        tasks (TASKS): Directory of `arena-corpus tasks`, to play it instead of topics.
        max_sessions: Clients at a time.
        idle: Seconds after which the session of a client that sends nothing is closed.
        credit (NAME): How to share out among its calls what an episode earned, such as shapley:
            the list `credit` of the state once it is over.

    Example:
        arena serve openenv --corpus demo/synthetic --task discovery
    """
    require("arena serve openenv", "openenv")
    from arena.envs.config import EnvConfig, merged

    options = {"task": task, "retriever": retriever, "reward": reward}
    config = EnvConfig(**merged(options, env_option))
    # A reset opens an episode before it closes another.
    sessions = Sessions.make(
        corpus, config, topics=where, max_sessions=2 * max_sessions, idle=idle, record=record,
        tasks=tasks, credit=credit,
    )  # fmt: skip
    serve_app(make_app(sessions, max_sessions, idle), host, port, websockets=max_sessions)
