"""Play the episodes of a run and record them, in this process or several at once in others."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import pickle
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, closing, nullcontext
from copy import copy
from functools import lru_cache, partial
from multiprocessing.pool import ThreadPool
from typing import Any, NamedTuple

import gymnasium

from arena import monitoring
from arena.agents import Agent
from arena.corpus import Corpus
from arena.envs import EnvConfig
from arena.errors import AgentError, ArenaError, DataError, clip
from arena.executors import Executor, kill_processes
from arena.kit.files import sha256_json
from arena.kit.process import block_sigint_in_children, one_thread
from arena.plugins import load, loaded_files
from arena.runs import environment
from arena.runs.players import AgentFactory, failures
from arena.tasks import TaskSet
from arena.tools import SCORE, json_action, tool_schemas

# Not "fork": a forked process has the memory of this one, a spawned one starts afresh.
_SPAWN = multiprocessing.get_context("spawn")


class PlayedStep(NamedTuple):
    """One step of an episode as Gymnasium returns it, or its reset: action None, reward 0."""

    action: Any
    observation: dict[str, Any]
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def play(
    env: gymnasium.Env[Any, Any],
    act: Callable[[dict[str, Any]], Any],
    topic_id: str | None = None,
    seed: int | None = None,
) -> Iterator[PlayedStep]:
    """Play one episode; yield its reset, then every step, until the episode is over.

    Runs and replays differ in `act` alone, a function from an observation to the next action. A
    step is yielded before `act` receives its observation, which `act` may change. Without
    `topic_id` the environment draws a topic.
    """
    options = None if topic_id is None else {"topic_id": topic_id}
    observation, info = env.reset(seed=seed, options=options)
    step = PlayedStep(None, observation, 0.0, False, False, info)
    yield step
    while not (step.terminated or step.truncated):
        action = act(step.observation)
        observation, reward, terminated, truncated, info = env.step(action)
        step = PlayedStep(action, observation, float(reward), terminated, truncated, info)
        yield step


class Player:
    """Plays the episodes of one run. Its pickles play the same ones in other processes.

    The agent of an episode is fresh, and so is all that it receives: the schemas of the tools, its
    options and its observations.
    """

    def __init__(
        self,
        corpus: Corpus,
        config: EnvConfig,
        agent: str | type[Agent],
        agent_options: Mapping[str, Any],
        topics: Sequence[str],
        seed: int,
        repeats: int = 1,
    ) -> None:
        self._made_from = (corpus, config, agent, agent_options, topics, seed, repeats)
        self.repeats = repeats
        self.config, self.topics, self.seed = config, topics, seed
        tasks = TaskSet(corpus, config.references, config.since)
        self.agents = AgentFactory(agent, agent_options, config.resolved_task, tasks)
        self.env = config.make(corpus, topics)
        self.exact = environment.exact(config, corpus)

    def __reduce__(self) -> Any:
        return Player, self._made_from

    def play(self, place: int) -> dict[str, Any]:
        """Play the episode at a place of the run, from 0; return it as docs/runs.md describes it.

        The agent's actions are converted to JSON values (see `arena.tools.json_action`) before
        they are played, so the record has exactly what was played.
        """
        topic_id, repeat = self.topics[place // self.repeats], place % self.repeats
        seed = seed_of(self.seed, self.topics, self.repeats, place)

        def agent_code() -> AbstractContextManager[None]:
            return failures(
                self.agents.name,
                f"on topic {topic_id!r}",
                "The episodes before it are kept; the same command continues from here.",
            )

        def act(observation: dict[str, Any]) -> Any:
            with agent_code():
                return json_action(agent.act(observation))

        about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self.agents.name}
        about |= {"arena.task": self.config.task, "arena.topic.id": topic_id}
        with monitoring.span(f"invoke_agent {self.agents.name}", about) as add:
            with agent_code():
                agent = self.agents.make(topic_id, seed)
                agent.tools = tool_schemas(self.env)
            episode = play(self.env, act, topic_id, seed)
            first = next(episode)
            # Now, as the agent may change what it receives.
            begin, budget = sha256_json(first.observation), dict(first.observation["budget"])
            steps, step = [], first
            for step in episode:
                steps.append(record_step(step, scores=not self.exact))
            with agent_code():
                notes = _checked_notes(agent.notes())
            ends = {"calls": len(steps), "termination": step.info.get("termination", "")}
            add({f"arena.{name}": value for name, value in ends.items()})
        return {
            "topic_id": topic_id,
            **({"repeat": repeat} if self.repeats > 1 else {}),
            "seed": seed,
            "observation_sha256": begin,
            "steps": steps,
            **record_end(budget, step),
            "notes": notes,
        }


def record_step(step: PlayedStep, scores: bool = False) -> dict[str, Any]:
    """Return a step as docs/runs.md describes it; with `scores` those of its hits, too."""
    record = {
        "action": step.action,
        "observation_sha256": sha256_json(step.observation),
        "reward": step.reward,
        "reward_terms": step.info["reward_terms"],
        "gain": step.info["gain"],
    }
    result = step.observation["result"]
    if result.startswith('{"error":'):  # the action was refused
        record["error"] = json.loads(result)["error"]
    if scores and (found := SCORE.findall(result)):
        record["scores"] = [float(score) for score in found]
    if "defect" in step.info:  # of a reader: no fault of the action
        record["defect"] = step.info["defect"]
    return record


def record_end(budget: Mapping[str, int], last: PlayedStep) -> dict[str, Any]:
    """Return what the record of an episode says of its end; `budget` is that of the reset."""
    left = last.observation["budget"]
    return {
        "truncated": last.truncated,
        "spent": {name: budget[name] - left[name] for name in left},
        "answers": last.info.get("answers"),
        "metrics": last.info.get("metrics"),
        "unseen": last.info.get("unseen"),
        **{name: last.info[name] for name in ("digests", "seen", "failed") if name in last.info},
    }


def episode_seed(seed: int, place: int) -> int:
    """Return the seed of the episode at a place of a run; it reveals nothing of the topic."""
    digest = hashlib.sha256(f"{seed} {place}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


def seed_of(seed: int, topics: Sequence[str], repeats: int, place: int) -> int:
    """Return the seed of an episode; with repeats that of its topic and repeat in any run."""
    if repeats == 1:
        return episode_seed(seed, place)
    words = f"{seed} {topics[place // repeats]} {place % repeats}"
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:4], "little")


def _checked_notes(notes: Any) -> dict[str, Any]:
    try:
        if isinstance(notes, dict):
            return json.loads(json.dumps(notes, allow_nan=False, sort_keys=True))  # type: ignore[no-any-return]
        problem = "it is not a dict"
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    raise DataError(f"notes() returned {clip(notes)}, which is not a JSON object: {problem}.")


def play_episodes(
    player: Player, places: Sequence[int], jobs: int, isolate: bool, parallel: int = 1
) -> Generator[dict[str, Any], None, None]:
    """Yield the records of episodes in the order of `places`, which are those in the run.

    `jobs` is the number of episodes that are played at once in processes, `parallel` that in
    threads of this one; with `isolate` each has a new process. If an agent fails, the episodes
    before it are yielded.
    """
    if jobs == 1 and parallel == 1 and not isolate:
        yield from map(player.play, places)
        return
    own, pools = threading.local(), list[ProcessPoolExecutor]()
    arguments = _for_others(player) if parallel == 1 else ()

    def play_here(place: int) -> Any:
        if not hasattr(own, "player"):  # an environment plays one episode at a time
            own.player = copy(player)
        return own.player.play(place)

    def play_there(place: int) -> Any:
        if isolate or not hasattr(own, "pool"):
            own.pool = ProcessPoolExecutor(1, _SPAWN)  # each thread has a process
            pools.append(own.pool)
        try:
            with block_sigint_in_children():
                played = own.pool.submit(_played, *arguments, place)
            return played.result()[1]
        except BrokenProcessPool:
            return _ended(player, place)
        finally:
            if isolate:
                own.pool.shutdown()

    # Its threads are daemons: those of an executor would keep a stopped process waiting. One that
    # leaves its own `one_thread()` gives back the limit of this one.
    threads = min(max(parallel, jobs), max(1, len(places)))
    try:
        with one_thread() if parallel > 1 else nullcontext(), ThreadPool(threads) as pool:
            for result in pool.imap(play_here if parallel > 1 else play_there, places):
                if isinstance(result, BaseException):
                    raise result
                yield result
    finally:
        for each in pools:
            kill_processes(each)


def play_elsewhere(
    player: Player, places: Sequence[int], executor: Executor
) -> Generator[dict[str, Any], None, None]:
    """Yield what `play_episodes` does; the processes of an executor play, wherever they are."""
    play_one = partial(_played, *_for_others(player))
    results = dict[int, Any]()
    with closing(executor):
        played = executor.run(play_one, places)
        for place in places:
            while place not in results:
                done, results[done] = next(played)
            result = results.pop(place)
            if isinstance(result, BaseException):
                raise result
            yield result


def _for_others(player: Player) -> tuple[tuple[str, ...], bytes]:
    """Return what another process needs to play: files to load, and the pickled player."""
    try:
        return tuple(loaded_files()), pickle.dumps(player)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise DataError(
            f"agent {player.agents.name!r} cannot be sent to another process: {error}. Define it "
            "in a module and name it as FILE.py:CLASS."
        ) from None


@lru_cache(maxsize=1)
def _player(files: tuple[str, ...], pickled: bytes) -> Player:
    load(files)
    return pickle.loads(pickled)  # type: ignore[no-any-return]


def _played(files: tuple[str, ...], pickled: bytes, place: int) -> tuple[int, Any]:
    """Return the place of an episode, and its record or the error that it ended with."""
    try:
        return place, _player(files, pickled).play(place)
    except (ArenaError, KeyboardInterrupt) as error:  # Ctrl-C is blocked: it is the agent's own
        return place, error


def _ended(player: Player, place: int) -> AgentError:
    return AgentError(
        f"agent {player.agents.name!r} failed on topic "
        f"{player.topics[place // player.repeats]!r}: its process ended. The episodes before it "
        "are kept; the same command continues from here. (A script that plays in several processes "
        "must start under `if __name__ == '__main__':`.)"
    )
