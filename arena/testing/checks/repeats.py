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

from arena.testing.contract import STEPS, Subject
from arena.testing.episodes import Trace, difference, first_difference, plain, replay
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
    for trace, again in zip(subject.traces, pickle.loads(done.stdout), strict=True):
        where = f"a fresh process, PYTHONHASHSEED={other}, differs"
        _require_same(trace, Trace(*again), where)
    return f"{subject.counted()}, in a second environment and in a fresh process"


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
    """Actions as JSON text, replayed in another order of episodes, give the same."""
    env = subject.make()
    for trace in reversed(subject.traces):  # so that no episode may lean on the one before it
        again = replay(env, trace, json.dumps)
        _require_same(trace, again, "played again after other episodes")
    return f"{subject.counted()}, in reverse order"


@CHECKS.register("pickling")
def pickling(subject: Subject) -> str:
    """A pickled copy plays the same, made before the first reset and in an episode."""
    env, trace, size = subject.make(), subject.traces[0], 0
    for when in ("before a reset", "in an episode"):
        data = pickle.dumps(env)
        size = max(size, len(data))
        again = replay(pickle.loads(data), trace)
        _require_same(trace, again, f"a copy pickled {when} differs")
        env.reset(seed=trace.seed)
    for name, space in (("action", env.action_space), ("observation", env.observation_space)):
        copy = pickle.loads(pickle.dumps(space))
        require(copy == space, f"a pickled copy of the {name} space is not equal to it")
    return f"{size:,} bytes, before a reset and in an episode"


@CHECKS.register("vector")
def vector(subject: Subject) -> str:
    """The id's own vector environment plays as Gymnasium's SyncVectorEnv over scalar ones."""
    seed, traces = subject.seeds[0], subject.traces
    sync: Any = subject.make_vector(_NUM_ENVS, "sync")
    mode = "sync" if subject.spec.vector_entry_point is None else "vector_entry_point"
    own: Any = subject.make_vector(_NUM_ENVS, mode)
    batches = sync.reset(seed=seed), own.reset(seed=seed)
    for number in range(_STEPS + 1):
        names = ["observations", "rewards", "terminations", "truncations", "infos"]
        names = names if number else ["observations", "infos"]
        one, other = (dict(zip(names, plain(batch), strict=True)) for batch in batches)
        where = first_difference(one, other)
        require(not where, f"SyncVectorEnv and the id's vector environment, step {number}: {where}")
        # The recorded actions, again and again; each place has the seed of its episode.
        played = [traces[place % len(traces)].actions for place in range(_NUM_ENVS)]
        actions = [each[number % len(each)] for each in played]
        batches = sync.step(actions), own.step(actions)
    for name in ("single_action_space", "single_observation_space"):
        same = getattr(own, name) == getattr(sync, name)
        require(same, f"the vector environment has another {name}")
    return f"{_NUM_ENVS} environments, {_STEPS} steps, by {mode} and by sync"
