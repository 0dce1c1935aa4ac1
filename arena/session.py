"""Episodes by key, many at once: what every integration with another framework plays with.

An integration receives tool calls from elsewhere: from a server's clients, or from the threads of a
trainer. It opens a session for each episode, and gives every call to it. A session is one
environment with a lock; its errors are results, which a model can read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import gymnasium
from annotated_types import Ge

from arena import monitoring
from arena.agents import tool_message
from arena.corpus import Corpus
from arena.credit import CREDITS, CreditFunction
from arena.envs import EnvConfig, ResearchEnv
from arena.errors import ArenaError, DataError, clip
from arena.kit.files import schema_error
from arena.kit.options import checked
from arena.kit.threads import Threads
from arena.tasks import TaskSet, choose_topics
from arena.telemetry import Counts, Watch
from arena.telemetry import Totals as Totals
from arena.text.display import count
from arena.tools import Search, ToolResult, encode, json_action, make_searches, tool_schemas

IDLE = 1800.0
"""Seconds after which a session that nobody uses is closed."""
ROLLOUTS = "rollouts.jsonl"
"""The file of recorded episodes: their settings, topics and actions, and no labels."""
MAX_SESSIONS = 4096
"""Sessions that may be open at once."""
_LONGEST_KEY = 200
_THREADS = 8  # that carry out what is awaited
_REMEMBERED = 1 << 16  # keys
_OVER = "the episode is over: nothing more can be done in it."
_FAILED = "the tool failed, which is no fault of the call. The episode is over."
_STATE = {
    "env": Mapping, "steps": int, "over": bool, "valid": bool, "played": list, "rewards": list,
    "terms": Mapping, "metrics": Mapping, "refused": list, "termination": str,
}  # fmt: skip
_log = logging.getLogger(__name__)


class UnknownSessionError(ArenaError, KeyError):
    """A key without an open session: never opened, closed, or closed after its idle time-out."""

    __str__ = Exception.__str__


class ClosedSessionError(UnknownSessionError):
    """A key whose session was closed after its idle time-out, or to make room for another."""


class CapacityError(ArenaError):
    """All sessions are in use."""


class SessionStep(NamedTuple):
    """The result of a step: as Gymnasium's, and `failed` for a call that was not carried out."""

    observation: dict[str, Any]
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    failed: bool

    @property
    def text(self) -> str:
        """The observation as the JSON text that a model reads, see `step_text`."""
        return step_text(self.observation)


class _Asked:
    """An action that somebody awaits, or awaits no longer."""

    def __init__(self, action: Any) -> None:
        self.action, self.cancelled = action, False


class EpisodeSession:
    """One episode that calls from any thread may play; made by `Sessions.open`.

    Attributes:
        first: The observation that the reset returned.
        last: What the last step returned; None before the first.
        used: When the session was last used, in seconds of the clock.
        over: Whether the episode has ended.
        played: The actions, each with how the text of its result begins where that shows papers.
    """

    def __init__(
        self,
        key: str,
        env: ResearchEnv,
        seed: int | None,
        topic_id: str | None,
        clock: Callable[[], float] = time.monotonic,
        record: Callable[[dict[str, Any]], None] | None = None,
        threads: Threads | None = None,
        watch: Watch | None = None,
        credit: CreditFunction | None = None,
    ) -> None:
        self._watch = watch
        self.key, self._env, self._clock, self._record = key, env, clock, record
        self._lock, self._turn = threading.Lock(), asyncio.Lock()
        self._threads = threads or Threads(1, step_together)
        self._credit = credit
        options = None if topic_id is None else {"topic_id": topic_id}
        self.first, info = env.reset(seed=seed, options=options)
        self.topic_id: str = info["topic_id"]
        self._began = time.time_ns()
        self.last: SessionStep | None = None
        self.used = clock()
        self._observation = self.first
        self._steps, self.over, self._valid = 0, False, True
        self.played: list[tuple[Any, str]] = []
        self._rewards: list[float] = []
        self._terms: dict[str, list[float]] = {}
        self._metrics: dict[str, float] = {}
        self._refusals: list[bool] = []
        self._counts = Counts()
        self._termination = ""
        self._shared: list[float] | None = None

    def step(self, action: Any) -> SessionStep:
        """Carry out one action, as the environment's `step` does; one at a time.

        After the end, and where a tool fails, the result is an error, and the reward is 0.
        """
        asked = action if isinstance(action, _Asked) else _Asked(action)
        return step_together({self: asked})[self]

    async def astep(self, action: Any, request: Any = None) -> SessionStep:
        """Carry out one action as `step` does, in a thread, without blocking the event loop.

        Calls of one session are carried out in the order in which they were made, and searches of
        several sessions in batches. One that is cancelled before it began is not carried out.
        `request` is as `arena.monitoring.tool_call` takes it.
        """
        given = action if isinstance(action, Mapping) else {}
        tool, tools = given.get("tool"), self._env.action_space.tools
        with monitoring.tool_call(tool, tools, given.get("arguments"), self.key, request) as ended:
            asked = _Asked(action)
            async with self._turn:  # in threads those that wait would hold up other sessions
                try:
                    if tool == "search":
                        step = await self._threads.run_batched(self, asked)
                    else:  # it may take long
                        step = await self._threads.run(self.step, asked)
                except asyncio.CancelledError:
                    asked.cancelled = True  # a thread that has its lock is before later calls
                    raise
            ended(step.failed, step.observation)
        return cast(SessionStep, step)

    async def afinish(self, kept: str | None = None) -> Totals:
        """End the episode as `finish` does, in a thread."""
        async with self._turn:
            return cast(Totals, await self._threads.run(self.finish, kept))

    def _begin(self, action: Any) -> Search | Exception | None:
        """Carry out an action up to its search."""
        self.used, self._before = self._clock(), self._observation["budget"]["characters"]
        if self.over:
            return None
        self._steps += 1
        try:
            return self._env.start_step(action)
        except Exception as error:  # of a tool of a plug-in
            return error

    def _end(self, action: Any, made: ToolResult | Exception | None) -> SessionStep:
        """End the step that `_begin` began; `made` is the result of its search."""
        self.last = self._refused(_OVER) if self.over else self._complete(made)
        if "reward_terms" in self.last.info:
            # What stands before a result, the budget, is that of no other step.
            shows = self._observation["budget"]["characters"] < self._before
            head = step_text({**self._observation, "result": ""}).partition('"result"')[0]
            self.played.append((action, head * shows))
            self._refusals.append(self.last.failed)
            self._counts.add(action, self.last.failed)
        self.used = self._clock()
        return self.last

    def _complete(self, made: ToolResult | Exception | None) -> SessionStep:
        try:
            if isinstance(made, Exception):
                raise made
            observation, reward, terminated, truncated, info = self._env.finish_step(made)
        except Exception:
            _log.exception("a step of the topic %r failed", self.topic_id)
            self.over, self._valid, self._termination = True, False, "failed"
            return self._refused(_FAILED)
        self._observation, self.over = observation, terminated or truncated
        self._rewards.append(reward)
        for name, value in info["reward_terms"].items():
            self._terms.setdefault(name, []).append(value)
        self._metrics = info.get("metrics", {})
        self._termination = info.get("termination", "")
        failed = observation["result"].startswith('{"error":')
        return SessionStep(observation, float(reward), terminated, truncated, info, failed)

    def finish(self, kept: str | None = None) -> Totals:
        """End the episode of a model that stopped: what it selected or wrote counts.

        Calls the tool ``finish``, once, unless the episode is over. Returns the totals. `kept` is
        the text that a trainer kept of the episode: where it dropped a result that shows papers,
        the totals are those of the episode without that call, since no model saw what it showed.
        """
        totals = self._finish(kept)
        if self._watch is not None:
            self._watch.add(totals)
            self._watch = None
            about = {
                "gen_ai.conversation.id": self.key, "arena.topic.id": self.topic_id,
                "arena.calls": totals.steps, "arena.termination": totals.termination,
            }  # fmt: skip
            monitoring.record(f"episode {self._env.task_name}", self._began, about)
        return totals

    def _finish(self, kept: str | None) -> Totals:
        with self._lock:
            seen = [each for each, head in self.played if kept is None or head in kept]
            if self._record is not None:
                about = {name: self.first[name] for name in ("topic", "cutoff")}
                self._record(
                    {"topic_id": self.topic_id, **about, "actions": list(map(json_action, seen))}
                )
                self._record = None
            if len(seen) < len(self.played) and self._valid:
                return play_again(self._env, self.topic_id, seen, self._credit)
            if not self.over:
                self._begin({"tool": "finish", "arguments": {}})
                self.last = self._complete(None)
        totals = self.totals()
        _log.info("the episode %s ended: %s", clip(self.key), totals)
        return totals

    @property
    def reward(self) -> float:
        """The sum of the rewards so far."""
        with self._lock:
            return math.fsum(self._rewards)

    def totals(self) -> Totals:
        """Return what the episode has earned so far."""
        with self._lock:
            before, now = (each["budget"] for each in (self.first, self._observation))
            shown = before["characters"] - now["characters"]
            return Totals(
                self.topic_id,
                self._steps,
                math.fsum(self._rewards),
                {name: math.fsum(values) for name, values in self._terms.items()},
                dict(self._metrics),
                dict(now),
                self.over,
                self._valid,
                self._termination,
                self._counts.numbers | {"calls": self._steps, "characters": shown},
                self._shares() if self.over and self._valid else [],
            )

    def _shares(self) -> list[float]:
        """Return the credit of each action of the episode, which is over; computed once."""
        tasks = self._env._factory.tasks
        if self._shared is None and self._credit is not None and tasks is not None:
            actions = [action for action, _ in self.played]
            self._shared = self._credit(self._env, tasks, self.topic_id, actions)
        return list(self._shared or ())

    def save(self) -> dict[str, Any]:
        """Return the state of the episode as `ResearchEnv.save` does, with what it has earned."""
        with self._lock:
            return {
                "env": self._env.save(),
                "steps": self._steps,
                "over": self.over,
                "valid": self._valid,
                "played": list(map(list, self.played)),
                "rewards": list(self._rewards),
                "terms": {name: list(values) for name, values in self._terms.items()},
                "metrics": dict(self._metrics),
                "refused": list(self._refusals),
                "termination": self._termination,
            }

    def restore(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Continue from a state that `save` returned; return the observation.

        Raises:
            DataError: As `ResearchEnv.restore`; then nothing has changed.
        """
        if why := schema_error(state, _STATE):
            raise DataError(f"{why}: this is no state that save() of a session returned.")
        played = [(action, str(head)) for action, head in state["played"]]
        terms = {name: [*map(float, values)] for name, values in state["terms"].items()}
        rewards = [*map(float, state["rewards"])]
        with self._lock:
            self._observation, self.last = self._env.restore(state["env"]), None
            self.topic_id, self.played = state["env"]["topic_id"], played
            self._steps, self.over, self._valid = state["steps"], state["over"], state["valid"]
            self._rewards, self._terms, self._metrics = rewards, terms, dict(state["metrics"])
            self._refusals, self._termination = [*state["refused"]], state["termination"]
            self._counts = Counts()
            for (action, _), failed in zip(played, self._refusals, strict=True):
                self._counts.add(action, failed)
            self._shared = None
            self.used = self._clock()
            return self._observation

    @property
    def opening(self) -> str:
        """The first observation as the JSON text that a model reads, see `opening_text`."""
        return opening_text(self.first)

    @property
    def busy(self) -> bool:
        """Whether a step is being carried out."""
        return self._lock.locked()

    def _refused(self, message: str) -> SessionStep:
        observation = self._observation | {"result": encode({"error": message})}
        info = {"topic_id": self.topic_id, "valid": self._valid}
        return SessionStep(observation, 0.0, False, True, info, True)


class Sessions:
    """Open episodes by key. All share the corpus, the engines and the labels of one environment.

    Args:
        env: Environment of this project, wrapped or not. It is not played itself.
        max_sessions: Sessions that may be open at once, >= 1.
        idle: Seconds after which a session that nobody uses is closed, > 0.
        clock: Function that returns seconds, for tests.
        record: Folder for the actions of every episode that ends, which `arena view` shows.
        credit: How to share out among its calls what an episode earned, such as ``shapley``.
    """

    @checked
    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        max_sessions: Annotated[int, Ge(1)] = MAX_SESSIONS,
        idle: float = IDLE,
        clock: Callable[[], float] = time.monotonic,
        record: str | Path | None = None,
        credit: str | None = None,
    ) -> None:
        if not isinstance(env.unwrapped, ResearchEnv):
            raise DataError(f"{clip(env)} is none of ours. Give one such as 'arena/Discovery-v0'.")
        if not idle > 0:
            raise DataError(f"idle={clip(idle)}: give seconds > 0.")
        self.env: ResearchEnv = env.unwrapped
        self.max_sessions, self._idle, self._clock = max_sessions, idle, clock
        self.credit = None if credit is None else CREDITS.find(credit)
        if credit is not None and self.env._factory.tasks is None:
            raise DataError(f"credit={clip(credit)} is for episodes of one corpus. Give one alone.")
        self._rollouts = None if record is None else _rollouts_in(Path(record))
        self._open: dict[str, EpisodeSession] = {}
        self._ended: dict[str, None] = {}  # keys of sessions that nobody asked to close
        self._lock, self._writing = threading.RLock(), threading.Lock()
        self._threads, self._watch = Threads(_THREADS, step_together), Watch()
        self._gone = threading.Event()
        weakref.finalize(self, self._gone.set)
        monitoring.SESSIONS.add(self)
        self._reaper: threading.Thread | None = None

    @classmethod
    def make(
        cls,
        corpus: Corpus | str | Path | Sequence[Corpus | str | Path],
        task: EnvConfig | str = "discovery",
        *,
        topics: Sequence[str] | int | None = None,
        tasks: str | Path | Sequence[str | Path] | None = None,
        max_sessions: int = MAX_SESSIONS,
        idle: float = IDLE,
        record: str | Path | None = None,
        credit: str | None = None,
        **settings: Any,
    ) -> Sessions:
        """Return sessions of a task's environment; `settings` are those of `EnvConfig`.

        `tasks` is a directory of ``arena-corpus tasks``, played in place of the corpus' topics; or
        one for each of several corpora.
        """
        config = EnvConfig.from_settings(task, settings)
        return cls(
            config.make(corpus, topics, **({} if tasks is None else {"tasks": tasks})),
            max_sessions=max_sessions,
            idle=idle,
            record=record,
            credit=credit,
        )

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as `arena.tool_schemas` does; new objects each time."""
        return tool_schemas(self.env)

    def prompts(self, tasks: TaskSet, topics: Sequence[str] | int | None = None) -> dict[str, str]:
        """Return id of each topic -> the text with which its episode begins, without labels.

        Topics are ids, or the number of the first that episodes are drawn from; by default all.
        """
        env, chosen = self.env.fork(), choose_topics(tasks, topics, list(self.env.topics))
        return {s: opening_text(env.reset(options={"topic_id": s})[0]) for s in chosen}

    def open(
        self, key: str | None = None, *, seed: int | None = None, topic_id: str | None = None
    ) -> EpisodeSession:
        """Start an episode.

        Args:
            key: Name of the session, from 1 to 200 characters; by default one that nobody can
                guess.
            seed: Seed of the draw of the topic, >= 0.
            topic_id: Id of the topic to play; by default one is drawn.

        Raises:
            DataError: The key is in use or malformed, or the seed is not an integer >= 0.
            UnknownNameError: The topic is unknown.
            CapacityError: All sessions are in use.
        """
        key = secrets.token_urlsafe(16) if key is None else key
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY:
            raise DataError(f"session={clip(key)}: give a text of 1 to {_LONGEST_KEY} characters.")
        self._make_room(key)
        record = None if self._rollouts is None else self._keep
        fork = self.env.fork()
        session = EpisodeSession(
            key,
            fork,
            seed,
            topic_id,
            self._clock,
            record,
            self._threads,
            self._watch,
            self.credit,
        )
        with self._lock:
            self._make_room(key)
            self._open[key] = session
            self._ended.pop(key, None)
            if self._reaper is None:
                arguments = weakref.ref(self), self._gone
                self._reaper = threading.Thread(target=_reap, args=arguments, daemon=True)
                self._reaper.start()
        return session

    def get(self, key: str) -> EpisodeSession:
        """Return the open session of a key.

        Raises:
            UnknownSessionError: There is none.
            ClosedSessionError: There was one (of the last 65,536 that were closed unasked).
        """
        with suppress(KeyError):
            return self._open[key]
        if key in self._ended:
            raise ClosedSessionError(
                f"the session {clip(key)} was closed: its episode was over, or it was not used for "
                f"{self._idle:g} seconds. Open one with another key."
            )
        raise UnknownSessionError(
            f"no open session {clip(key)}. It was never opened, or was closed. Open a new one."
        )

    def join(
        self, key: str, *, seed: int | None = None, topic_id: str | None = None
    ) -> EpisodeSession:
        """Return the open session of a key; `open` it where the key is new.

        Raises:
            ClosedSessionError: There was one: a new episode would pass for the rest of it.
        """
        if key in self._open or key in self._ended:
            return self.get(key)
        try:
            return self.open(key, seed=seed, topic_id=topic_id)
        except DataError:
            with suppress(UnknownSessionError):
                return self.get(key)  # another thread opened it meanwhile
            raise

    async def ajoin(
        self, key: str, *, seed: int | None = None, topic_id: str | None = None
    ) -> EpisodeSession:
        """Return what `join` does; one that is new is opened in a thread."""
        if key in self._open:
            return self.get(key)
        join = partial(self.join, key, seed=seed, topic_id=topic_id)
        return cast(EpisodeSession, await self._threads.run(join))

    async def aclose(self, key: str) -> Totals:
        """Close a session as `close` does, in a thread."""
        return cast(Totals, await self._threads.run(self.close, key))

    def close(self, key: str) -> Totals:
        """Close a session; `EpisodeSession.finish` its episode and return the totals."""
        session = self.get(key)
        self._open.pop(key, None)
        return session.finish()

    def discard(self, key: str) -> None:
        """Drop a session if it is still open: its idle time-out may have closed it."""
        self._open.pop(key, None)

    def reap(self) -> float:
        """Close the sessions whose time is over; return the seconds until the next one's is."""
        now, rest = self._clock(), self._idle
        for key, session in self._open.copy().items():
            left = self._idle if session.busy else session.used + self._idle - now
            if left <= 0:
                self._end(key)
            else:
                rest = min(rest, left)
        return rest

    def __len__(self) -> int:
        return len(self._open)

    def _keep(self, rollout: dict[str, Any]) -> None:
        config = self.env.config
        settings = {"task": config.task, "settings": config.environment | config.limits}
        line = json.dumps(settings | rollout) + "\n"
        with self._writing:
            if self._rollouts is None:
                return
            try:
                with self._rollouts.open("a", encoding="ascii") as file:
                    file.write(line)
            except OSError as error:  # of the disk, and no fault of the episode
                _log.error(
                    "%s: %s. No more episodes are recorded; make room, and start again.",
                    self._rollouts, error.strerror,
                )  # fmt: skip
                self._rollouts = None

    def _end(self, key: str) -> None:
        with self._lock:
            session = self._open.pop(key, None)
            self._ended[key] = None
            if len(self._ended) > _REMEMBERED:
                del self._ended[next(iter(self._ended))]
        if session is not None:
            session.finish()

    def _make_room(self, key: str) -> None:
        """Close the sessions whose episodes are over if all are in use; refuse a key in use."""
        if key in self._open:
            raise DataError(f"session {clip(key)} is open already. Close it, or give another key.")
        if len(self._open) < self.max_sessions:
            return
        for other in [key for key, session in self._open.copy().items() if session.over]:
            self._end(other)
        if len(self._open) >= self.max_sessions:
            raise CapacityError(
                f"{self.max_sessions} of {count(self.max_sessions, 'session')} in use. "
                "Close some, or wait "
                "until unused ones end."
            )


def step_together(asked: Mapping[EpisodeSession, _Asked]) -> dict[EpisodeSession, SessionStep]:
    """Carry out an action in each of several sessions, as `step` does; search in one batch."""
    with ExitStack() as locks:
        for session in asked:
            locks.enter_context(session._lock)
        actions = {of: each.action for of, each in asked.items() if not each.cancelled}
        begun = {session: session._begin(action) for session, action in actions.items()}
        searches = {of: each for of, each in begun.items() if isinstance(each, Search)}
        made: dict[EpisodeSession, Any] = {**begun}
        made.update(zip(searches, _found([*searches.values()]), strict=True))
        return {of: of._end(actions[of], made[of]) for of in actions}


def _found(searches: list[Search]) -> list[ToolResult | Exception]:
    """Make searches; where one fails, its result is the exception."""
    try:
        return [*make_searches(searches)]
    except Exception as error:
        if len(searches) == 1:
            return [error]
        return [found for each in searches for found in _found([each])]


def play_again(
    env: ResearchEnv,
    topic_id: str | None,
    actions: Sequence[Any],
    credit: CreditFunction | None = None,
) -> Totals:
    """Return the totals of an episode with these actions, finished where they end."""
    session = EpisodeSession("", env.fork(), None, topic_id, credit=credit)
    for action in actions:
        session.step(action)
    return session.finish()


def _rollouts_in(folder: Path) -> Path:
    """Return the file of a folder's rollouts, without the part of a line that a kill has cut."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ROLLOUTS).open("ab+") as file:
        file.seek(0)
        file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))
    return folder / ROLLOUTS


def _reap(sessions: weakref.ref[Sessions], gone: threading.Event) -> None:
    """Close unused sessions as their time ends, until nothing refers to `sessions`."""
    rest = 0.0
    while not gone.wait(min(rest, threading.TIMEOUT_MAX)) and (alive := sessions()) is not None:
        rest = alive.reap()
        del alive


def opening_text(observation: Mapping[str, Any]) -> str:
    """Return the first observation of an episode as the JSON text that a model reads."""
    head = {name: observation[name] for name in ("topic", "cutoff")}
    return f"{json.dumps(head, ensure_ascii=False)[:-1]}, {step_text(observation)[1:]}"


def step_text(observation: Mapping[str, Any]) -> str:
    """Return a later observation as the JSON text that a model reads: budget, stage and result."""
    return str(tool_message("", observation)["content"])
