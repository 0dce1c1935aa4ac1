"""The check ``vector``."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.vector.utils import iterate

from arena.check._episodes import Player, first_difference, plain
from arena.check._subject import STEPS, Subject
from arena.check.base import CHECKS, require

_NUM_ENVS = 3
_STEPS = 2 * STEPS


@CHECKS.register("vector")
def check(subject: Subject) -> str:
    """The id's own vector environment and SyncVectorEnv play as scalar environments do."""
    seed = subject.seeds[0]
    sync = subject.make_vector(_NUM_ENVS, "sync")
    space = sync.single_action_space
    players = [Player(space, seed + n, STEPS) for n in range(_NUM_ENVS)]
    observations, info = sync.reset(seed=seed)
    batches, rows, actions = [plain([observations, info])], [_rows(sync, observations, info)], []
    for _ in range(_STEPS):
        each = iterate(sync.observation_space, observations)
        actions.append([p.act(o) for p, o in zip(players, each, strict=True)])
        step = sync.step(actions[-1])
        observations = step[0]
        batches.append(plain(list(step)))
        rows.append(_rows(sync, observations, step[4]))
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
    for number, given in enumerate(actions, 1):
        _compare(f"step {number}", batches[number], plain(list(env.step(given))))


def _rows(
    env: gymnasium.vector.VectorEnv[Any, Any, Any], observations: Any, infos: dict[str, Any]
) -> list[Any]:
    """Return observation and info of each environment."""
    each = enumerate(iterate(env.observation_space, observations))
    return [plain([observation, _info(infos, place)]) for place, observation in each]


def _info(infos: dict[str, Any], place: int) -> dict[str, Any]:
    """Return what one environment told: Gymnasium batches each key with a mask ``_key``."""
    return {
        key: _info(value, place) if isinstance(value, dict) else value[place]
        for key, value in infos.items()
        if not key.startswith("_") and infos[f"_{key}"][place]
    }


def _compare(when: str, one: list[Any], other: list[Any]) -> None:
    names = ["observations", "rewards", "terminations", "truncations", "infos"]
    if len(one) == 2:
        names = ["observations", "infos"]
    found = first_difference(
        dict(zip(names, one, strict=True)), dict(zip(names, other, strict=True))
    )
    require(not found, f"SyncVectorEnv and the id's vector environment, {when}: {found}")


def _compare_scalars(
    subject: Subject, seed: int, rows: list[Any], batches: list[Any], actions: list[Any]
) -> None:
    """Play each environment alone; one that is over begins anew with the next step."""
    for place in range(_NUM_ENVS):
        env: Any = subject.make()
        over = False
        observation, info = env.reset(seed=seed + place)
        for number in range(len(actions) + 1):
            told: list[Any] = [0.0, False, False]
            if number and over:
                (observation, info), over = env.reset(), False
            elif number:
                observation, *told, info = env.step(actions[number - 1][place])
                over = told[1] or told[2]
            batch = [batches[number][n][place] for n in (1, 2, 3)] if number else told
            found = first_difference(
                {**dict(zip(("observation", "info"), rows[number][place], strict=True)), "": batch},
                {"observation": plain(observation), "info": plain(info), "": plain(told)},
            )
            require(not found, f"SyncVectorEnv and scalar, environment {place}, {number}: {found}")
