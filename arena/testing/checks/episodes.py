"""Checks of whole episodes: what a step costs and pays, and that the same actions give the same.

These are ``budgets``, ``bad_actions``, ``rewards``, ``determinism``, ``replay``, ``pickling`` and
``vector``.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
from gymnasium.error import ResetNeeded

from arena.errors import clip
from arena.testing.attacks import probes
from arena.testing.contract import STEPS, Subject, Trace, difference, random_play, replay
from arena.testing.report import CHECKS, require
from arena.testing.walk import first_difference, parsed, plain, values_of

_SMALL = {"steps": 12, "searches": 2, "reads": 3, "characters": 30_000}
_HASH_SEED = "4711"
_PATIENCE = 300  # seconds
_NUM_ENVS = 3
_STEPS = 2 * STEPS


@CHECKS.register("budgets")
def budgets(subject: Subject) -> str:
    """A budget that has run out truncates; none is below 0; after the end a reset is needed."""
    for env in (subject.make(), subject.make().unwrapped):
        _check_reset_needed(env, "before the first reset")
    steps, tried, seed = 0, ["steps"], subject.seeds[0]
    for each in subject.seeds:
        steps += len(_spend(subject, each, _SMALL)) - 1
    env = subject.make()
    topic = env.reset(seed=seed)[0]["topic"]
    calls = subject.calls_about(subject.traces[0].ids()[:1])
    if "search" in subject.tools:
        calls.append({"tool": "search", "arguments": {"query": topic}})
        _, *results = _spend(subject, seed, {"steps": 3, "characters": 10}, calls[-1])
        shown = values_of("title", parsed(results[0]["result"]))
        require(not shown and len(results) == 1, "a result is shown without characters left")
        tried.append("characters")
    for call in calls:
        for name in ("searches", "reads"):  # the second call finds nothing left
            played = _spend(subject, seed, {"steps": 3, name: 1}, call)
            if played[1]["budget"][name] == 0:
                ended = len(played) == 3 and "error" in parsed(played[2]["result"])
                require(ended, f"max_{name}=1: the second {call['tool']} is not the last call")
                tried.append(f"{name} ({call['tool']})")
    if "write" in subject.tools:
        _check_written(subject, seed)
        tried.append("written")
    if "finish" in subject.tools:
        over = env.step({"tool": "finish", "arguments": {}})[2]
        require(over, "finish() does not terminate")
        _check_reset_needed(env, "after termination")
    return f"{', '.join(tried)} run out; {steps} steps of episodes with small budgets"


def _spend(
    subject: Subject, seed: int, limits: dict[str, int], call: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Play `call` or at random until a budget has run out; check what each step costs.

    Returns:
        The observations.
    """
    env = subject.make(**{f"max_{name}": most for name, most in limits.items()})
    act = (lambda _: call) if call else random_play(env, seed, limits["steps"])
    played = [plain(env.reset(seed=seed)[0])]
    begun = {name: played[0]["budget"].get(name) for name in limits}
    require(begun == limits, f"an episode begins with the budget {begun}, not {limits}")
    over = False
    while not over:
        where = f"seed {seed}, {limits}, step {len(played)}"
        require(len(played) <= limits["steps"], f"{where}: the episode goes on")
        observation, _, terminated, truncated, _ = env.step(act(played[-1]))
        played.append(plain(observation))
        over = bool(terminated or truncated)
        before, left, text = played[-2]["budget"], played[-1]["budget"], observation["result"]
        for name in _SMALL:
            least, most = max(0, before[name] - 1), before[name] - (name == "steps")
            fits = (0 if name == "characters" else least) <= left[name] <= most
            require(fits, f"{where}: {name} goes from {before[name]} to {left[name]}")
        cost = before["characters"] - left["characters"]
        costs = (len(text),) if values_of("title", parsed(text)) else (0, len(text))
        require(cost in costs, f"{where}: a result of {len(text)} characters costs {cost} of them")
        explained = not truncated or left["steps"] == 0 or "error" in parsed(text)
        require(explained, f"{where}: the result does not say why the episode is over")
    _check_reset_needed(env, "after the end")
    return played


def _check_written(subject: Subject, seed: int) -> None:
    """Write as much as may be written, and then too much: that is refused, and nothing ends."""
    env = subject.make(max_written=10)
    env.reset(seed=seed)
    for number, left in enumerate((5, 0, 0)):
        call = {"tool": "write", "arguments": {"heading": "A", "text": "text"}}
        observation, _, terminated, truncated, _ = env.step(call)
        now, refused = observation["budget"]["written"], "error" in parsed(observation["result"])
        require(now == left, f"max_written=10: {now} are left after {number + 1} texts of 5")
        require(refused == (number == 2), f"max_written=10: text {number + 1} of 5 is answered so")
        require(not (terminated or truncated), "max_written=10: writing ends the episode")


def _check_reset_needed(env: Any, when: str) -> None:
    try:
        env.step({"tool": "no such tool", "arguments": {}})
    except ResetNeeded:
        return
    require(False, f"step {when} does not raise gymnasium.error.ResetNeeded")


@CHECKS.register("bad_actions")
def bad_actions(subject: Subject) -> str:
    """A call that cannot be carried out is answered, costs a step and nothing else."""
    env, seed, trace = subject.make(max_steps=10**6), subject.seeds[0], subject.traces[0]
    before = dict(env.reset(seed=seed)[0]["budget"])
    odd = list(probes(subject.tools))
    for action in (probe.action for probe in odd if not probe.allowed):
        observation, over = _step(env, action)
        where, left = f"the action {clip(action)}", dict(observation["budget"])
        require(not over, f"{where} ended the episode")
        cost = {name: before[name] - left[name] for name in before if before[name] != left[name]}
        require(cost == {"steps": 1}, f"{where} cost {cost}, not a step")
        answer = parsed(observation["result"])
        refused = isinstance(answer, dict) and isinstance(answer.get("error"), str)
        require(refused and answer["error"], f"{where} is answered without an 'error'")
        before = left
    for action, expected in zip(trace.actions, trace.steps, strict=True):
        step = env.step(action)
        once, again = ([s[0]["result"], s[1], s[2]] for s in (expected, plain(step)))
        place = first_difference(once, again)
        require(not place, f"after the bad actions the episode goes on otherwise: {place}")
    env.reset(seed=seed)
    for action in (probe.action for probe in odd if probe.allowed):
        observation, over = _step(env, action)
        least = min(observation["budget"].values())
        require(least >= 0, f"the action {clip(action)} left {least} of a budget")
        if over:
            env.reset(seed=seed)
    return f"{len(odd)} actions"


def _step(env: Any, action: Any) -> tuple[Any, bool]:
    where = f"the action {clip(action)}"
    try:
        observation, reward, terminated, truncated, _ = env.step(action)
    except Exception as error:
        require(False, f"{where} raised {type(error).__name__}: {error}")
        raise
    require(env.observation_space.contains(observation), f"{where}: observation not in its space")
    require(math.isfinite(reward), f"{where} pays {reward!r}")
    return observation, bool(terminated or truncated)


@CHECKS.register("rewards")
def rewards(subject: Subject) -> str:
    """The terms of every reward and of the task's metrics, and of all, add up to what is paid."""
    from arena.metrics import METRICS
    from arena.rewards import REWARDS
    from arena.tasks import stages_of

    stages = stages_of(subject.task)
    metrics = [metric for _, task in stages for metric in task.metrics]
    names = REWARDS.names() + [m for m in metrics if METRICS.get(m).lower_is_better is not None]
    options = subject.options.get("reward_options") or {}
    for reward in [None, *names, "+".join(names)]:
        parts = (reward or subject.options.get("reward") or "").split("+")
        parts = [part.strip() for part in parts if part]
        kept = {name: value for name, value in options.items() if name in parts} or None
        env = subject.make(**({"reward": reward, "reward_options": kept} if reward else {}))
        for trace in subject.traces:
            for number, (_, paid, _, _, info) in enumerate(replay(env, trace).steps, 1):
                where = f"reward {reward or 'by default'}, seed {trace.seed}, step {number}"
                _check_terms(where, paid, info.get("reward_terms"), parts)
    return f"{subject.counted()}, for each of {', '.join(names)} and for their sum"


def _check_terms(where: str, paid: object, terms: object, parts: list[str]) -> None:
    if not isinstance(terms, dict) or not terms:
        require(False, f"{where}: info has no 'reward_terms'")
        return
    for name, value in (*terms.items(), ("the reward", paid)):
        number = isinstance(value, float) and math.isfinite(value)
        require(number, f"{where}: {name} is {clip(value)}, no finite float")
    # Summed in another order the last bits may differ.
    total = math.fsum(terms.values())
    same = math.isclose(paid, total, rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    require(same, f"{where}: it is {paid!r}, its terms {terms} are {total!r}")
    for name in terms if parts else ():
        named = any(f"{name}.".startswith(f"{part}.") for part in parts)
        require(named, f"{where}: the term {name!r} begins with no name of a reward")
    for part in parts:
        paid_for = any(f"{name}.".startswith(f"{part}.") for name in terms)
        require(paid_for, f"{where}: no term of {part}")


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
