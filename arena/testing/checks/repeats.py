"""The checks ``determinism``, ``replay``, ``pickling`` and ``vector``: the same episodes again."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
from typing import Any

import gymnasium

from arena._internal.files import sha256_json
from arena.testing.contract import STEPS, Subject
from arena.testing.episodes import (
    Trace,
    difference,
    first_difference,
    info_of,
    plain,
    replay,
    unbatched,
)
from arena.testing.report import CHECKS, require

_HASH_SEED = "4711"
_PATIENCE = 300  # seconds
_NUM_ENVS = 3
_STEPS = 2 * STEPS


def _require_same(trace: Trace, again: Trace, where: str) -> None:
    difference_at = difference(trace, again)
    require(not difference_at, f"{where}: {difference_at}")


@CHECKS.register("determinism")
def determinism(subject: Subject) -> str:
    """The same seeds and actions give the same, here and in a process with other hashes."""
    env = subject.make()
    for trace in subject.traces:
        _require_same(trace, replay(env, trace), "a second environment differs")
    for trace, again in zip(subject.traces, _replayed_elsewhere(subject), strict=True):
        _require_same(trace, again, f"a fresh process, PYTHONHASHSEED={_HASH_SEED}, differs")
    return f"{subject.counted()}, in a second environment and in a fresh process"


def _replayed_elsewhere(subject: Subject) -> list[Trace]:
    """Replay the recorded episodes in a fresh process with other hashes of strings."""
    # Over a pipe to a process that this one starts, as multiprocessing would send it.
    job = pickle.dumps((subject.env_id, subject.spec, subject.arguments(), subject.traces))
    other = "4712" if os.environ.get("PYTHONHASHSEED") == _HASH_SEED else _HASH_SEED
    paths = os.pathsep.join(path or os.curdir for path in sys.path)
    done = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import replay_job; replay_job()"],
        input=job,
        capture_output=True,
        timeout=_PATIENCE,
        env={**os.environ, "PYTHONHASHSEED": other, "PYTHONPATH": paths},
    )
    errors = done.stderr.decode(errors="replace").strip().splitlines()
    require(done.returncode == 0, f"a fresh process cannot play it: {errors[-1:]}")
    return [Trace(*trace) for trace in pickle.loads(done.stdout)]


def replay_job() -> None:
    """Replay pickled episodes from standard input; write the traces to standard output."""
    output = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what an environment prints is no answer
    env_id, spec, arguments, traces = pickle.loads(sys.stdin.buffer.read())
    if module := env_id.rpartition(":")[0]:
        importlib.import_module(module)
    env = gymnasium.make(spec, **arguments)
    with os.fdopen(output, "wb") as file:
        file.write(pickle.dumps([tuple(replay(env, trace)) for trace in traces]))


@CHECKS.register("replay")
def replay_in_reverse(subject: Subject) -> str:
    """Actions written as JSON and replayed in another order of episodes give the same digests."""
    env = subject.make()
    for trace in reversed(subject.traces):  # so that no episode may lean on the one before it
        lines = [json.dumps(action, ensure_ascii=False) for action in trace.actions]
        again = replay(env, trace._replace(actions=[json.loads(line) for line in lines]))
        _require_same(trace, again, "played again after other episodes")
        digests = [sha256_json([each.start, each.steps]) for each in (trace, again)]
        require(digests[0] == digests[1], f"seed {trace.seed}: another digest of equal values")
    return f"{subject.counted()}, in reverse order"


@CHECKS.register("pickling")
def pickling(subject: Subject) -> str:
    """A pickled copy plays the same, made before the first reset and in an episode."""
    env = subject.make()
    sizes = []
    trace = subject.traces[0]
    for when in ("before a reset", "in an episode"):
        data = pickle.dumps(env)
        sizes.append(len(data))
        again = replay(pickle.loads(data), trace)
        _require_same(trace, again, f"a copy pickled {when} differs")
        env.reset(seed=trace.seed)
    for name, space in (("action", env.action_space), ("observation", env.observation_space)):
        copy = pickle.loads(pickle.dumps(space))
        require(copy == space, f"a pickled copy of the {name} space is not equal to it")
    return f"{max(sizes):,} bytes, before a reset and in an episode"


@CHECKS.register("vector")
def vector(subject: Subject) -> str:
    """The id's own vector environment and SyncVectorEnv play as scalar environments do."""
    seed = subject.seeds[0]
    sync = subject.make_vector(_NUM_ENVS, "sync")
    players = [subject.player(seed + n) for n in range(_NUM_ENVS)]
    observations, info = sync.reset(seed=seed)
    batches, rows = [plain([observations, info])], [_rows(observations, info)]
    actions: list[Any] = []
    for _ in range(_STEPS):
        actions.append([p.act(unbatched(observations, n)) for n, p in enumerate(players)])
        step = sync.step(actions[-1])
        observations = step[0]
        batches.append(plain(list(step)))
        rows.append(_rows(observations, step[4]))
    _compare_scalars(subject, seed, rows, batches, actions)
    if subject.spec.vector_entry_point is None:
        return "no vector entry point; SyncVectorEnv equals scalar environments"
    own = subject.make_vector(_NUM_ENVS, "vector_entry_point")
    _replay(own, seed, batches, actions)
    for name in ("single_action_space", "single_observation_space"):
        same = getattr(own, name) == getattr(sync, name)
        require(same, f"the vector environment has another {name}")
    return f"{_NUM_ENVS} environments, {_STEPS} steps: its own, SyncVectorEnv and scalar"


def _replay(
    env: gymnasium.vector.VectorEnv[Any, Any, Any],
    seed: int,
    batches: list[Any],
    actions: list[Any],
) -> None:
    _compare("at the reset", batches[0], plain(list(env.reset(seed=seed))))
    for number, each in enumerate(actions, 1):
        _compare(f"step {number}", batches[number], plain(list(env.step(each))))


def _rows(observations: Any, infos: dict[str, Any]) -> list[Any]:
    """Return observation and info of each environment."""
    places = range(_NUM_ENVS)
    return [plain([unbatched(observations, place), info_of(infos, place)]) for place in places]


def _compare(when: str, one: list[Any], other: list[Any]) -> None:
    names = ["observations", "rewards", "terminations", "truncations", "infos"]
    if len(one) == 2:
        names = ["observations", "infos"]
    where = first_difference(
        dict(zip(names, one, strict=True)), dict(zip(names, other, strict=True))
    )
    require(not where, f"SyncVectorEnv and the id's vector environment, {when}: {where}")


def _compare_scalars(
    subject: Subject, seed: int, rows: list[Any], batches: list[Any], actions: list[Any]
) -> None:
    """Play each environment alone; one that is over begins anew with the next step."""
    for place in range(_NUM_ENVS):
        env: Any = subject.make()
        over = False
        observation, info = env.reset(seed=seed + place)
        for number in range(len(actions) + 1):
            outcome: list[Any] = [0.0, False, False]
            if number and over:
                (observation, info), over = env.reset(), False
            elif number:
                observation, *outcome, info = env.step(actions[number - 1][place])
                over = outcome[1] or outcome[2]
            batch = [batches[number][n][place] for n in (1, 2, 3)] if number else outcome
            where = first_difference(
                {**dict(zip(("observation", "info"), rows[number][place], strict=True)), "": batch},
                {"observation": plain(observation), "info": plain(info), "": plain(outcome)},
            )
            require(not where, f"SyncVectorEnv and scalar, environment {place}, {number}: {where}")
