"""Many episodes at once: one batched search for all environments that search in a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle, seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arena._internal.options import whole
from arena.envs._episode import ScoredEpisode, StepResult
from arena.envs._factory import checked_seed
from arena.envs.core import SurveyEnv
from arena.errors import DataError, clip
from arena.tools import Search, make_searches

Infos = dict[str, Any]
_TEXTS = ("cutoff", "result", "stage", "topic")


class SurveyVectorEnv(VectorEnv[dict[str, Any], Any, NDArray[Any]], EzPickle):
    """As `gymnasium.vector.SyncVectorEnv` over `num_envs` environments, and faster.

    The same seeds and actions give the same observations, rewards and infos, in the same form.
    Corpus, engines and labels are shared, and the searches of a step are made in one batch.
    Pickling keeps the arguments, not the running episodes.

    Args:
        num_envs: Number of environments, >= 1.
        autoreset_mode: When an episode that is over restarts: ``"NextStep"`` (the default: with
            the next step, whose action is ignored), ``"SameStep"`` or ``"Disabled"``, as
            `gymnasium.vector.AutoresetMode`.
        arguments: Arguments of the scalar environment `kind`.

    Raises:
        CorpusError, UnknownNameError, DataError: An argument is unusable.
    """

    kind: ClassVar[type[SurveyEnv]] = SurveyEnv

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        EzPickle.__init__(self, num_envs, autoreset_mode, **arguments)
        whole("num_envs", num_envs, 1)
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise DataError(
                f"autoreset_mode={clip(autoreset_mode)}: give one of {modes}."
            ) from None
        env = self.kind(**arguments)
        self._factory = env._factory
        self.num_envs = num_envs
        self.render_mode = env.render_mode
        self.metadata = env.metadata | {"autoreset_mode": self._mode}
        self.single_action_space = env.action_space
        self.single_observation_space = env.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._generators: dict[int, np.random.Generator] = {}
        self._seeded: dict[int, int] = {}
        self._episodes: list[ScoredEpisode] = []
        self._over: NDArray[np.bool_] | None = None  # whose episode is over; None before a reset

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], Infos]:
        """Start all episodes, or those that ``options["reset_mask"]`` marks.

        Args:
            seed: Seeds of the draws of surveys: one integer s stands for s, s + 1, ...; or a list
                of `num_envs` seeds.
            options: As in the scalar environment, and ``reset_mask``, booleans of shape
                (num_envs,).

        Returns:
            The observations and infos, batched as Gymnasium's vector environments do it.

        Raises:
            DataError: There are not `num_envs` seeds, or an option is unknown or malformed.
            UnknownNameError: The survey is unknown.
        """
        seeds = self._seeds(seed)
        if not isinstance(options, Mapping | None):
            raise DataError(f"options={clip(options)}: give a mapping such as {{'survey': id}}.")
        options = dict(options or {})
        chosen = np.flatnonzero(self._mask(options.pop("reset_mask", None))).tolist()
        # A refused call changes nothing, no generator either.
        named = self._factory.named(options)
        if self._over is None and len(chosen) < self.num_envs:
            raise ResetNeeded("not all episodes have begun yet. Call reset() without a mask first.")
        for number in chosen:
            self._seed(number, seeds[number])
        surveys = {number: self._draw(number) if named is None else named for number in chosen}
        over = np.zeros(self.num_envs, np.bool_) if self._over is None else self._over
        self._over = None  # unless all goes well
        started = {number: self._start(number, survey) for number, survey in surveys.items()}
        if len(chosen) == self.num_envs:
            self._episodes = list(started.values())
        for number, episode in started.items():
            self._episodes[number] = episode
        over[chosen] = False
        self._over = over
        observations = [episode.observation() for episode in self._episodes]
        infos = {number: {"survey": survey} for number, survey in surveys.items()}
        return _batched(observations), self._merged(infos)

    def step(
        self, actions: Iterable[Any]
    ) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """Carry out one action in each environment.

        Args:
            actions: `num_envs` actions as the scalar environment takes them.

        Returns:
            Observations, rewards (float64), terminations, truncations (bool, shape (num_envs,))
            and infos, as `gymnasium.vector.SyncVectorEnv`.

        Raises:
            DataError: There are not `num_envs` actions.
            gymnasium.error.ResetNeeded: Before the first reset, after a step that raised, and in
                the mode ``"Disabled"`` after the end of an episode.
        """
        if isinstance(actions, str | bytes | Mapping) or not isinstance(actions, Iterable):
            raise DataError(f"{clip(actions)}: give a list of {self.num_envs} actions.")
        actions = list(actions)
        if len(actions) != self.num_envs:
            raise DataError(f"{len(actions)} actions for {self.num_envs} environments.")
        over = self._over
        if over is None or (self._mode is AutoresetMode.DISABLED and over.any()):
            raise ResetNeeded("an episode is over or has not begun. Call reset() first.")
        self._over = None  # unless all goes well: until then some episodes are a step ahead
        results = self._step(actions, np.flatnonzero(over).tolist())
        observations, rewards, *ends, infos = map(list, zip(*results, strict=True))
        terminations, truncations = (np.array(end, np.bool_) for end in ends)
        over = terminations | truncations
        if self._mode is AutoresetMode.SAME_STEP:
            for number in np.flatnonzero(over).tolist():
                final = {"final_obs": observations[number], "final_info": infos[number]}
                observations[number], *_, info = self._restart(number)
                infos[number] = final | info
            over = np.zeros(self.num_envs, np.bool_)
        self._over = over
        return (
            _batched(observations),
            np.array(rewards, np.float64),
            terminations,
            truncations,
            self._merged(dict(enumerate(infos))),
        )

    def _step(self, actions: Sequence[Any], restarting: Sequence[int]) -> list[StepResult]:
        """Begin every step, make all searches in one batch, complete every step.

        Args:
            actions: One per environment.
            restarting: Environments that start a new episode instead of the step.
        """
        restarts = {number: self._restart(number) for number in restarting}
        searches: dict[int, Search] = {}
        for number, (episode, action) in enumerate(zip(self._episodes, actions, strict=True)):
            if number not in restarts and (search := episode.begin(action)) is not None:
                searches[number] = search
        hits = dict(zip(searches, make_searches(list(searches.values())), strict=True))
        return [
            restarts[number] if number in restarts else episode.complete(hits.get(number))
            for number, episode in enumerate(self._episodes)
        ]

    def _restart(self, number: int) -> StepResult:
        self._episodes[number] = episode = self._start(number, self._draw(number))
        return StepResult(episode.observation(), 0.0, False, False, {"survey": episode.survey.id})

    def _start(self, number: int, survey_id: str) -> ScoredEpisode:
        episode = self._factory.start(survey_id)
        self.action_space.spaces[number].look(episode.topic, episode.shown)  # type: ignore[attr-defined]
        return episode

    def _merged(self, infos: Mapping[int, Infos]) -> Infos:
        merged: Infos = {}
        for number, info in infos.items():
            merged = self._add_info(merged, info, number)
        return merged

    def render(self) -> tuple[str, ...] | None:
        """Return the state of each environment as text (render mode ``"ansi"``)."""
        if self.render_mode != "ansi":
            return None
        if self._over is None:
            raise ResetNeeded("nothing has begun yet. Call reset() first.")
        return tuple(episode.render() for episode in self._episodes)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generators that draw the surveys, one for each environment."""
        return tuple(self._generator(number) for number in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Their seeds."""
        generators = self.np_random
        return tuple(self._seeded[number] for number in range(len(generators)))

    def _seed(self, number: int, seed: int | None) -> None:
        """Seed a generator; without a seed one that draws already goes on."""
        if seed is not None or number not in self._generators:
            self._generators[number], self._seeded[number] = seeding.np_random(seed)

    def _generator(self, number: int) -> np.random.Generator:
        self._seed(number, None)
        return self._generators[number]

    def _draw(self, number: int) -> str:
        return self._factory.draw(self._generator(number))

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

    def _mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if (
            not isinstance(mask, np.ndarray)
            or mask.shape != (self.num_envs,)
            or mask.dtype != np.bool_
            or not mask.any()
        ):
            raise DataError(
                f"reset_mask={clip(mask)}: give a NumPy array of {self.num_envs} booleans, one of "
                "them true."
            )
        return mask


def _batched(observations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the observations as Gymnasium's vector environments batch them."""
    budgets = [observation["budget"] for observation in observations]
    batch: dict[str, Any] = {
        "budget": {
            name: np.array([budget[name] for budget in budgets], np.int64)
            for name in sorted(budgets[0])
        }
    }
    for name in _TEXTS:
        batch[name] = tuple([observation[name] for observation in observations])
    return batch
