"""Many episodes at once: one batched search for all environments that search in a step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from gymnasium import Space
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Dict, Discrete
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from arena.envs._episode import ScoredEpisode, StepResult
from arena.envs._factory import checked_seed
from arena.envs.core import ResearchEnv
from arena.errors import DataError, clip
from arena.kit.options import checked
from arena.tools import Search, make_searches

Infos = dict[str, Any]


class ResearchVectorEnv(SyncVectorEnv[dict[str, Any], Any], EzPickle):
    """`gymnasium.vector.SyncVectorEnv` over `num_envs` environments, only faster.

    Corpus, engines and labels are shared, and the searches of a step are made in one batch.
    An unpickled environment continues the episodes and the draws.

    Args:
        num_envs: Number of environments, >= 1.
        autoreset_mode: When an episode that is over restarts: ``"NextStep"`` (the default: with
            the next step, whose action is ignored), ``"SameStep"`` or ``"Disabled"``, as
            `gymnasium.vector.AutoresetMode`.
        arguments: Arguments of `ResearchEnv`.
    """

    kind: ClassVar[type[ResearchEnv]] = ResearchEnv
    envs: list[ResearchEnv]  # type: ignore[assignment]

    @checked
    def __init__(
        self,
        num_envs: Annotated[int, Ge(1)] = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        modes = [mode.value for mode in AutoresetMode]
        if autoreset_mode not in (*AutoresetMode, *modes):
            raise DataError(
                f"autoreset_mode={clip(autoreset_mode)}: give one of {', '.join(map(repr, modes))}."
            )
        env = self.kind(**arguments)
        makers = [lambda: env, *[env.fork] * (num_envs - 1)]
        super().__init__(makers, autoreset_mode=autoreset_mode)
        EzPickle.__init__(self, num_envs, autoreset_mode, **arguments)
        for each, space in zip(self.envs, self.action_space, strict=True):  # type: ignore[call-overload]
            each.action_space = space

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments and the state of each environment."""
        running = [None if env._episode is None else env.save() for env in self.envs]
        return {
            **EzPickle.__getstate__(self),
            "running": running,
            "draws": [env._draws for env in self.envs],
            "over": self._autoreset_envs.tolist(),
            "observations": list(self._env_obs),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the environments of the arguments again, and continue their episodes."""
        EzPickle.__setstate__(self, state)
        for env, running, draws in zip(self.envs, state["running"], state["draws"], strict=True):
            env._draws = draws
            if running is not None:
                env.restore(running)
        self._autoreset_envs[:] = state["over"]
        self._env_obs[:] = state["observations"]

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], Infos]:
        """Start all episodes, or those that ``options["reset_mask"]`` marks.

        Args:
            seed: Seeds of the draws of topics: one integer s stands for s, s + 1, ...; or a list
                of `num_envs` seeds.
            options: As in the scalar environment; ``topic_ids``, a list of `num_envs` ids, one for
                each episode, None where one is drawn; and ``reset_mask``, booleans of shape
                (num_envs,).
        """
        seeds = self._seeds(seed)
        options = dict(options or {})
        mask = self._mask(options.pop("reset_mask", None))
        topics = options.pop("topic_ids", None)
        if topics is None:
            each = [options] * self.num_envs
        elif isinstance(topics, list | tuple) and len(topics) == self.num_envs:
            each = [{**options, "topic_id": topic} for topic in topics]
        else:
            raise DataError(
                f"topic_ids={clip(topics)}: give a list of {self.num_envs} ids, None to draw one."
            )
        for one in each:  # a refused call changes nothing, no generator either
            self.envs[0]._factory.named(one, ("topic_id", "topic_ids", "reset_mask"))
        self._terminations[mask] = self._truncations[mask] = self._autoreset_envs[mask] = False
        infos: Infos = {}
        for number in np.flatnonzero(mask).tolist():
            observation, info = self.envs[number].reset(seed=seeds[number], options=each[number])
            self._env_obs[number] = observation  # type: ignore[call-overload]
            infos = self._add_info(infos, info, number)
        return _batched(self.single_observation_space, self._env_obs), infos

    def _mask(self, mask: Any) -> NDArray[np.bool_]:
        """Return which episodes a reset starts."""
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        is_mask = isinstance(mask, np.ndarray) and mask.dtype == np.bool_
        if not is_mask or mask.shape != (self.num_envs,) or not mask.any():
            raise DataError(
                f"reset_mask={clip(mask)}: give a NumPy array of {self.num_envs} booleans, of "
                "which at least one is true."
            )
        if any(env._episode is None for env in self.envs):
            raise ResetNeeded("not all episodes have begun yet. Call reset() without a mask first.")
        return mask  # type: ignore[no-any-return]

    def step(
        self, actions: Iterable[Any]
    ) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """Carry out one action in each environment.

        Returns:
            Observations, rewards (float64), terminations, truncations (bool, shape (num_envs,))
            and infos, as `gymnasium.vector.SyncVectorEnv`.
        """
        actions = list(actions)
        if len(actions) != self.num_envs:
            raise DataError(f"{len(actions)} actions for {self.num_envs} environments.")
        over, mode = self._autoreset_envs, self.autoreset_mode
        episodes = [env._episode for env in self.envs if env._episode is not None]
        if len(episodes) < self.num_envs or (mode is AutoresetMode.DISABLED and over.any()):
            raise ResetNeeded("an episode is over or has not begun. Call reset() first.")
        restarting = set(np.flatnonzero(over).tolist()) if mode is AutoresetMode.NEXT_STEP else ()
        try:
            results = self._play(episodes, actions, restarting)
        except BaseException:  # some episodes are a step ahead: all must begin again
            for env in self.envs:
                env._episode = None
            raise
        infos: Infos = {}
        same_step = mode is AutoresetMode.SAME_STEP
        for number, (observation, _, terminated, truncated, info) in enumerate(results):
            if same_step and (terminated or truncated):
                final = {"final_obs": observation, "final_info": info}
                infos = self._add_info(infos, final, number)
                observation, _, _, _, info = self._restart(number)
            self._env_obs[number] = observation  # type: ignore[call-overload]
            infos = self._add_info(infos, info, number)
        observations = _batched(self.single_observation_space, self._env_obs)
        rewards = np.array([result.reward for result in results])
        terminations = np.array([result.terminated for result in results])
        truncations = np.array([result.truncated for result in results])
        self._autoreset_envs = terminations | truncations
        return observations, rewards, terminations, truncations, infos

    def _play(
        self, episodes: Sequence[ScoredEpisode], actions: Sequence[Any], restarting: Collection[int]
    ) -> list[StepResult]:
        """Begin every step but that of the `restarting`, make all searches at once, complete it."""
        searches: dict[int, Search] = {}
        for number, (episode, action) in enumerate(zip(episodes, actions, strict=True)):
            if number not in restarting and (search := episode.start_step(action)) is not None:
                searches[number] = search
        hits = dict(zip(searches, make_searches(list(searches.values())), strict=True))
        return [
            self._restart(n) if n in restarting else env.finish_step(hits.get(n))
            for n, env in enumerate(self.envs)
        ]

    def _restart(self, number: int) -> StepResult:
        observation, info = self.envs[number].reset()
        return StepResult(observation, 0.0, False, False, info)

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            first = checked_seed(seed) or 0
            seed = range(first, first + self.num_envs)
        if not isinstance(seed, list | tuple | range | np.ndarray) or len(seed) != self.num_envs:
            raise DataError(
                f"seed={clip(seed)}: give an integer, or a list of {self.num_envs} of them."
            )
        return [checked_seed(item) for item in seed]


def _batched(space: Space[Any], parts: Sequence[Any]) -> Any:
    """Return what Gymnasium's `concatenate` does for these spaces, in less time."""
    if isinstance(space, Dict):
        return {key: _batched(space[key], [part[key] for part in parts]) for key in space}
    return np.array(parts, np.int64) if isinstance(space, Discrete) else tuple(parts)
