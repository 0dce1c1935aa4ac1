"""The contract of an environment: what is checked, recorded episodes, and what runs the checks."""

from __future__ import annotations

import copy
import importlib
import itertools
import json
import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import gymnasium
from gymnasium.envs.registration import EnvSpec

from arena._internal.options import whole
from arena._internal.terminal import progress
from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.runs.episodes import play
from arena.testing.attacks import schemas_of
from arena.testing.files import Facts
from arena.testing.report import CHECKS, CheckError, Result
from arena.testing.walk import first_difference, parsed, plain, values_of

STEPS = 16
"""Most steps of a recorded episode."""
ENDINGS = ("submit", "organize", "submit_report", "finish")
"""Tools that end a stage; random play calls them rarely before its last step."""
_LONGEST = 400  # characters of a detail


def check_environment(
    env_id: str,
    corpus: str | Path,
    *,
    options: Mapping[str, Any] | None = None,
    episodes: int = 5,
    seed: int = 0,
    checks: Sequence[str] | None = None,
) -> list[Result]:
    """Run the contract checks on one environment.

    Args:
        env_id: Gymnasium id; ``module:id`` imports the module first.
        corpus: Directory of a built corpus.
        options: Further arguments of the environment.
        episodes: Number of episodes that are recorded with random actions and replayed, >= 1.
        seed: Seed of the first episode; the others follow, >= 0.
        checks: Names from `CHECKS`; by default all.

    Returns:
        One result per check, in the order of their names. A check that crashes has failed.

    Raises:
        UnknownNameError: If the id or a check does not exist.
        DataError: If an argument is out of range, or the environment does not take `options`.
        CorpusError: If the corpus or an index of it is unusable.
    """
    names = CHECKS.names() if checks is None else names_of("checks", checks)
    functions = {name: CHECKS.get(name) for name in names}
    subject = Subject(env_id, corpus, options or {}, episodes, seed)
    results = []
    for name, check in progress(functions.items(), desc=env_id, unit="check"):
        passed = False
        try:
            detail, passed = check(subject), True
        except CheckError as error:
            detail = str(error)
        except Exception as error:  # an exception of a broken environment is the failure
            detail = f"{type(error).__name__}: {error}"
        line = "".join(c if c.isprintable() else " " for c in " ".join(detail.split()))
        shown = line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
        results.append(Result(env_id, name, passed, shown))
    return results


def names_of(argument: str, names: Sequence[str]) -> list[str]:
    """Return distinct names of a list; raise DataError if it is one text."""
    if isinstance(names, str):
        raise DataError(f"{argument}={clip(names)}: give a list of names.")
    return list(dict.fromkeys(names))


def find_spec(env_id: str) -> EnvSpec:
    """Return the registered environment of an id; import the module of ``module:id`` first.

    Raises:
        UnknownNameError: If there is no such environment.
        DataError: If the module cannot be imported.
    """
    from arena.tasks import environment_ids

    module, _, name = env_id.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise DataError(
                f"the module of {env_id!r} cannot be imported: {type(error).__name__}: {error}."
            ) from error
    known = environment_ids()  # a task of another distribution may register its own environment
    try:
        return gymnasium.spec(name)
    except gymnasium.error.Error:
        raise UnknownNameError(
            f"no environment {clip(env_id)}.{did_you_mean(env_id, known)} Those of another "
            "distribution are named module:id."
        ) from None


class Subject:
    """One environment under check.

    Args:
        env_id: Gymnasium id, or ``module:id``.
        corpus: Directory of a built corpus.
        options: Further arguments of the environment.
        episodes: Number of recorded episodes, >= 1.
        seed: Seed of the first one, >= 0.

    Raises:
        UnknownNameError, DataError, CorpusError: If an argument is unusable.
    """

    def __init__(
        self,
        env_id: str,
        corpus: str | Path,
        options: Mapping[str, Any],
        episodes: int = 5,
        seed: int = 0,
    ) -> None:
        whole("episodes", episodes, 1, 2**31 - 1)
        whole("seed", seed, 0, 2**31 - 1)
        if "corpus" in options:
            raise DataError("the corpus is no option: name one corpus for all checks.")
        self.env_id, self.corpus, self.options = env_id, Path(corpus), dict(options)
        self.seeds = list(range(seed, seed + episodes))
        self.spec = find_spec(env_id)
        try:  # bad input is an error here, and not a failed check
            self.make().close()
        except ArenaError:
            raise
        except Exception as error:
            raise DataError(
                f"{env_id} cannot be made with corpus={str(corpus)!r} and the options "
                f"{clip(self.options)}: {type(error).__name__}: {error}"
            ) from error

    def make(self, **changes: Any) -> gymnasium.Env[Any, Any]:
        """Make the environment, with `changes` to its arguments."""
        return cast(gymnasium.Env[Any, Any], self._made(gymnasium.make, **changes))

    def make_vector(self, num_envs: int, mode: str, **changes: Any) -> Any:
        """Make a vector environment; `mode` is ``"sync"`` or ``"vector_entry_point"``."""
        vector = {"num_envs": num_envs, "vectorization_mode": mode}
        return self._made(gymnasium.make_vec, **vector, **changes)

    def _made(self, make: Callable[..., Any], **arguments: Any) -> Any:
        with warnings.catch_warnings():  # of an id that has a newer version
            warnings.simplefilter("ignore")
            return make(self.spec, **self.arguments(**arguments))

    def arguments(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of the environment."""
        return {"corpus": str(self.corpus), **self.options, **changes}

    @cached_property
    def task(self) -> str:
        """Name of the task; raises DataError if the environment is no `SurveyEnv`."""
        env = self.make()
        name = getattr(env.unwrapped, "task_name", None)
        if not isinstance(name, str):
            raise DataError(f"{clip(env)} plays no task. Give a subclass of arena.envs.SurveyEnv.")
        return name

    @cached_property
    def traces(self) -> list[Trace]:
        """The recorded episodes of random actions, all played in one environment."""
        env = self.make()
        return [record(env, seed, random_play(env, seed, STEPS), STEPS) for seed in self.seeds]

    @cached_property
    def facts(self) -> Facts:
        """Papers, dates and labels, read from the corpus' own files."""
        return Facts(self.corpus)

    @cached_property
    def tools(self) -> dict[str, dict[str, Any]]:
        """Name of each tool of the environment -> JSON schema of its arguments."""
        return schemas_of(self.make())

    def calls_about(self, paper_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return calls with each id of every tool whose one required argument is a string."""
        names = {}
        for tool, schema in self.tools.items():
            required = schema.get("required", ())
            part = schema["properties"][required[0]] if len(required) == 1 else {}
            if tool != "search" and part.get("type") == "string" and not part.get("enum"):
                names[tool] = required[0]
        return [
            {"tool": tool, "arguments": {name: paper_id}}
            for paper_id in paper_ids
            for tool, name in names.items()
        ]

    @property
    def gives_references(self) -> bool:
        """Whether an episode starts with the survey's own references."""
        from arena.tasks import TASKS

        default = TASKS.get(self.task).references
        return bool(self.options.get("references", default) == "oracle")

    def counted(self) -> str:
        """Return the number of recorded episodes and steps, for the detail of a check."""
        steps = sum(len(trace.steps) for trace in self.traces)
        return f"{len(self.traces)} episodes, {steps} steps"


class Trace(NamedTuple):
    """A recorded episode. All but the actions are plain values of JSON (see `plain`)."""

    seed: int
    start: list[Any]  # observation and info of the reset
    actions: list[Any]  # as they were sent
    steps: list[list[Any]]  # observation, reward, terminated, truncated, info of each step

    def ids(self) -> list[str]:
        """Return the distinct ids in the results of the episode."""
        results = [parsed(observation["result"]) for observation, *_ in (self.start, *self.steps)]
        return list(dict.fromkeys(values_of("id", results)))


def random_play(env: Any, seed: int, steps: int) -> Callable[[Any], Any]:
    """Return a function that searches for the topic, and then samples the action space.

    Within an episode the action space draws ids that were shown. Endings are rare before the last
    of `steps` steps.
    """
    space, rng, number = env.action_space, random.Random(seed), itertools.count(1)
    search = schemas_of(env).get("search")
    space.seed(seed)

    def act(observation: Mapping[str, Any]) -> Any:
        if (step := next(number)) == 1 and search:
            k = min(50, search["properties"].get("k", {}).get("maximum", 50))
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": k}}
        action = plain(space.sample())
        while step < steps and action["tool"] in ENDINGS and rng.random() < 0.8:
            action = plain(space.sample())
        return action

    return act


def record(env: gymnasium.Env[Any, Any], seed: int, act: Callable[[Any], Any], limit: int) -> Trace:
    """Record the first `limit` steps of an episode; `act` makes actions of observations."""
    trace = Trace(seed, [], [], [])
    for step in itertools.islice(play(env, act, seed=seed), limit + 1):
        if not trace.start:
            trace.start.extend(plain([step.observation, step.info]))
        else:
            trace.actions.append(copy.deepcopy(step.action))
            trace.steps.append(plain(list(step[1:])))
    return trace


def replay(
    env: gymnasium.Env[Any, Any], trace: Trace, form: Callable[[Any], Any] = copy.deepcopy
) -> Trace:
    """Send the actions of `trace` again, each as `form` writes it, until the episode ends."""
    actions = iter(trace.actions)
    return record(env, trace.seed, lambda _: form(next(actions)), len(trace.actions))


def difference(expected: Trace, got: Trace) -> str | None:
    """Return where two episodes first differ, or None."""
    places = ("observation", "reward", "terminated", "truncated", "info")
    names = [f"step {n}, action {json.dumps(plain(action))[:100]}"
             for n, action in enumerate(expected.actions, 1)]  # fmt: skip

    def named(trace: Trace) -> dict[str, Any]:
        steps = zip(names, trace.steps, strict=False)
        start = {"observation": trace.start[0], "info": trace.start[1]}
        return {"the reset": start} | {n: dict(zip(places, s, strict=True)) for n, s in steps}

    where = first_difference(named(expected), named(got))
    return where and f"seed {expected.seed}, {where}"
