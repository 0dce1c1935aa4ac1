"""The contract that every environment keeps: spaces, schemas, seeds, vectors, rewards, budgets."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any

from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from arena.errors import clip
from arena.kit.files import json_value
from arena.kit.terminal import progress
from arena.plugins import load, loaded_files
from arena.tasks import TASKS
from arena.testing.attacks import probes
from arena.testing.checked import STEPS, CheckedEnv, Trace, replay
from arena.testing.labels import no_gold
from arena.testing.report import AuditReport, CheckError, require
from arena.testing.values import first_difference, plain
from arena.text.display import shown

_HASH_SEED = "4711"
_PATIENCE = 300  # seconds
_NUM_ENVS = 3
_SAMPLES = 200
_LONGEST = 400  # characters of a finding
_SCRIPTS = 'é λ ж 深学 ｶ \U0001f701 \u202e \0 \x1b \ufffd \ud800 " \\ \n'


def check_contract(
    checked: CheckedEnv, log: AuditReport, checks: Collection[str] | None = None
) -> None:
    """Run checks of the contract, by default all; one that crashes has failed."""
    # Before the checks: where the corpus cannot score the task, this raises NoLabelsError.
    checked.make().reset(seed=checked.seeds[0])
    names = [name for name in CONTRACT if checks is None or name in checks]
    for name in progress(names, desc=checked.env_id, unit="check"):
        log.counts["contract checks"] += 1
        try:
            CONTRACT[name](checked)
            continue
        except CheckError as error:
            detail = str(error)
        except Exception as error:  # an exception of a broken environment is the failure
            detail = f"{type(error).__name__}: {error}"
        log.add(name, checked.env_id, "", shown(detail, _LONGEST))


def _gymnasium(checked: CheckedEnv) -> None:
    """Gymnasium's own `check_env` passes without a warning."""
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(checked.make().unwrapped)


def _space(checked: CheckedEnv) -> None:
    """Actions are sampled by the seed; spaces contain any script, and no malformed call."""
    env, seed = checked.make(), checked.seeds[0]
    samples = _samples(env.action_space, seed)
    require(samples == _samples(env.action_space, seed), "the same seed gives other samples")
    others = _samples(env.action_space, seed + 1)
    require(samples != others, "another seed gives the same samples")
    if missing := set(checked.tools) - {sample["tool"] for sample in samples}:
        require(False, f"{_SAMPLES} samples have no call of {', '.join(sorted(missing))}")
    texts = (json.dumps(s, ensure_ascii=ascii) for s in samples for ascii in (True, False))
    calls = [(action, True) for action in (*samples, *texts)]
    calls += [(probe.action, False) for probe in probes(checked.tools) if not probe.allowed]
    for action, good in calls:
        try:
            contained = env.action_space.contains(action)
        except Exception as error:
            require(False, f"contains({clip(action)}) raised {type(error).__name__}: {error}")
        require(contained is good, f"{clip(action)} is {'not ' * good}contained")
    observation = checked.traces[0].steps[0]["observation"] | {"result": _SCRIPTS}
    require(env.observation_space.contains(observation), f"{clip(observation)} is not contained")


def _samples(actions: Any, seed: int) -> list[Any]:
    own = copy.deepcopy(actions)
    own.seed(seed)
    return [plain(own.sample()) for _ in range(_SAMPLES)]


def _schema(checked: CheckedEnv) -> None:
    """Tools are described; a sample satisfies their schemas, and what does is a valid call."""
    from arena.tools import tool_schemas

    env, parameters = checked.make(), {}
    for entry in tool_schemas(env):
        function = entry["function"]
        name = function["name"]
        # OpenAI's rule for the names of functions.
        require(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name), f"a tool is called {clip(name)}")
        parameters[name] = function["parameters"]
        require(function["description"].strip(), f"{name} has no description")
        for key, part in parameters[name].get("properties", {}).items():
            where = f"the argument {key} of {name}"
            require(part.get("description", "").strip(), f"{where} has no description")
            error = violation(part["default"], part) if "default" in part else None
            require(not error, f"the default of {where} is wrong: {error}")
    for action in _samples(env.action_space, checked.seeds[0]):
        error = violation(action["arguments"], parameters[action["tool"]])
        require(not error, f"a sample of {action['tool']} does not satisfy its schema: {error}")
    for probe in probes(checked.tools):
        text = f"the schema of {probe.tool} allows {probe.what}, the action space does not"
        require(not probe.allowed or env.action_space.contains(probe.action), text)


def violation(value: Any, schema: dict[str, Any]) -> str | None:
    """Return where and how `value` does not satisfy a schema, or None."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    return None if error is None else f"{error.json_path}: {error.message:.200}"


def _isolation(checked: CheckedEnv) -> None:
    """A change that an agent makes to its tool schemas does not show in the next ones."""
    from arena import tools

    env = checked.make()
    given = tools.tool_schemas(env)
    before = copy.deepcopy(given)
    for entry in given:
        entry["function"]["parameters"].clear()
    env.reset(seed=checked.seeds[0])
    for again in (env, checked.make()):
        require(tools.tool_schemas(again) == before, "tool_schemas() shows what an agent wrote")


def _require_same(trace: Trace, again: Trace, where: str) -> None:
    found = first_difference(trace.steps, again.steps, f"seed {trace.seed}, step")
    require(not found, f"{where}: {found}")


def _determinism(checked: CheckedEnv) -> None:
    """The same seeds and actions give the same, here and in a process with other hashes."""
    env = checked.make()
    for trace in reversed(checked.traces):  # so that no episode may lean on the one before it
        again = replay(env, trace, json.dumps)
        _require_same(trace, again, "played again, with actions as JSON text")
    files = pickle.dumps(loaded_files())  # which the other process loads before it unpickles
    job = files + pickle.dumps((checked.task, checked.env_id, checked.arguments, checked.traces))
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
    require(done.returncode == 0, f"in a process with PYTHONHASHSEED={other}: {errors[-1:]}")


def replay_job() -> None:
    """Replay pickled episodes from standard input; raise CheckError if one differs."""
    load(pickle.load(sys.stdin.buffer))
    task, env_id, arguments, traces = pickle.load(sys.stdin.buffer)
    TASKS.get(task)  # registers the environment of a task without a decorator
    env = CheckedEnv(env_id, arguments).make()
    for trace in traces:
        _require_same(trace, replay(env, trace), "played again")


def _pickling(checked: CheckedEnv) -> None:
    """A pickled copy plays the same, made before the first reset and in an episode."""
    env, trace = checked.make(), checked.traces[0]
    for when in ("before a reset", "in an episode"):
        again = replay(pickle.loads(pickle.dumps(env)), trace)
        _require_same(trace, again, f"a copy pickled {when} differs")
        env.reset(seed=trace.seed)


def _vector(checked: CheckedEnv) -> None:
    """The id's own vector environment plays as Gymnasium's SyncVectorEnv over scalar ones."""
    if checked.spec.vector_entry_point is None:
        return
    # The recorded actions, of which each place has those of its seed; malformed ones, once.
    traces = [checked.traces[place % len(checked.traces)] for place in range(_NUM_ENVS)]
    good = [[trace.actions[n % len(trace.actions)] for trace in traces] for n in range(2 * STEPS)]
    odd = [[probe.action] * _NUM_ENVS for probe in probes(checked.tools) if not probe.allowed]
    for mode, rows in ((AutoresetMode.NEXT_STEP, good + odd), (AutoresetMode.SAME_STEP, good)):
        sync = checked.make_vector(_NUM_ENVS, "sync", vector_kwargs={"autoreset_mode": mode})
        own = checked.make_vector(_NUM_ENVS, "vector_entry_point", autoreset_mode=mode)
        batches: Any = [env.reset(seed=checked.seeds[0]) for env in (sync, own)]
        for number, actions in enumerate([*rows, None]):
            where = f"SyncVectorEnv and the id's vector environment, {mode.value}, step {number}"
            one, other = map(plain, batches)
            found = first_difference(one, other, where)
            require(not found, str(found))
            batches = [env.step(actions) for env in (sync, own) if actions]
        for name in ("single_action_space", "single_observation_space"):
            same = getattr(own, name) == getattr(sync, name)
            require(same, f"the vector environment has another {name}")


def _rewards(checked: CheckedEnv) -> None:
    """The terms of every reward and of the task's metrics, and of all, add up to what is paid."""
    from arena.rewards import REWARDS
    from arena.tasks import open_task

    metrics = open_task(checked.task).own_metrics
    pool = checked.arguments.get("observation") == "pool"
    names = [name for name in REWARDS.names() if not (pool and REWARDS.get(name).reads_results)]
    names += [metric.name for metric in metrics if metric.lower_is_better is not None]
    options = checked.arguments.get("reward_options") or {}
    for reward in [None, *names, "+".join(names)]:
        parts = (reward or checked.arguments.get("reward") or "").split("+")
        parts = [part.strip() for part in parts if part]
        kept = {name: value for name, value in options.items() if name in parts} or None
        env = checked.make(**({"reward": reward, "reward_options": kept} if reward else {}))
        for trace in checked.traces:
            for number, step in enumerate(replay(env, trace).steps[1:], 1):
                where = f"reward {reward or 'by default'}, seed {trace.seed}, step {number}"
                _check_terms(where, step["reward"], step["info"].get("reward_terms"), parts)


def _check_terms(where: str, paid: Any, terms: Any, parts: list[str]) -> None:
    require(isinstance(terms, dict) and terms, f"{where}: info has no 'reward_terms'")
    for name, value in (*terms.items(), ("the reward", paid)):
        number = isinstance(value, float) and math.isfinite(value)
        require(number, f"{where}: {name} is {clip(value)}, not a finite float")
    total = math.fsum(terms.values())  # summed in another order the last bits may differ
    same = math.isclose(paid, total, rel_tol=1e-9, abs_tol=1e-12)
    require(same, f"{where}: it is {paid!r}, its terms {terms} are {total!r}")
    of = {part: {name for name in terms if f"{name}.".startswith(f"{part}.")} for part in parts}
    if parts and (odd := sorted(terms.keys() - set().union(*of.values()))):
        require(False, f"{where}: the term {odd[0]!r} begins with no name of a reward")
    for part, its in of.items():
        require(its, f"{where}: no term of {part}")


def _reset(checked: CheckedEnv) -> None:
    """Before the first reset and after the end a step raises ResetNeeded."""
    env, trace = checked.make(max_steps=1), checked.traces[0]
    for when in ("before the first reset", "after the end"):
        try:
            env.unwrapped.step({"tool": "no such tool", "arguments": {}})
            require(False, f"step {when} does not raise gymnasium.error.ResetNeeded")
        except ResetNeeded:
            env.reset(seed=trace.seed)
            require(any(env.step(trace.actions[0])[2:4]), "max_steps=1 ends no episode")


def _bad_actions(checked: CheckedEnv) -> None:
    """A call that cannot be carried out is answered, costs a step and nothing else."""
    env, seed, trace = checked.make(max_steps=10**6), checked.seeds[0], checked.traces[0]
    before = dict(env.reset(seed=seed)[0]["budget"])
    odd = list(probes(checked.tools))
    for action in (probe.action for probe in odd if not probe.allowed):
        observation, over = _step(env, action)
        where, left = f"the action {clip(action)}", dict(observation["budget"])
        require(not over, f"{where} ended the episode")
        cost = {name: before[name] - left[name] for name in before if before[name] != left[name]}
        require(cost == {"steps": 1}, f"{where} cost {cost}, not a step")
        answer = json_value(observation["result"])
        refused = isinstance(answer, dict) and isinstance(answer.get("error"), str)
        require(refused and answer["error"], f"{where} is answered without an 'error'")
        before = left
    for action, expected in zip(trace.actions, trace.steps[1:], strict=True):
        again, reward, terminated, *_ = env.step(action)
        same = (again["result"], reward, terminated)
        once = (expected["observation"]["result"], expected["reward"], expected["terminated"])
        require(same == once, "after the bad actions the episode is another")
    env.reset(seed=seed)
    for action in (probe.action for probe in odd if probe.allowed):
        if _step(env, action)[1]:
            env.reset(seed=seed)


def _step(env: Any, action: Any) -> tuple[Any, bool]:
    where = f"the action {clip(action)}"
    try:
        observation, reward, terminated, truncated, _ = env.step(action)
    except Exception as error:
        require(False, f"{where} raised {type(error).__name__}: {error}")
        raise
    # Which excludes a budget below zero. Gymnasium looks at the first steps alone.
    require(env.observation_space.contains(observation), f"{where}: observation not in its space")
    require(math.isfinite(reward), f"{where} pays {reward!r}")
    return observation, bool(terminated or truncated)


CONTRACT: dict[str, Callable[[CheckedEnv], None]] = {
    f"contract.{check.__name__.strip('_').replace('_', '-')}": check
    for check in (
        _gymnasium, _space, _schema, _isolation, _determinism, _pickling, _vector, _rewards, _reset,
        _bad_actions, no_gold,
    )
}  # fmt: skip
"""Id of a check -> the function, which raises an exception if a rule is broken."""
