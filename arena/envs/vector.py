"""Many episodes at once: one process, one batched search for all that search in a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle, seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arena.envs._infos import Infos, merged
from arena.envs._play import Outcome, Play
from arena.envs._setting import checked_seed
from arena.envs.core import SurveyEnv
from arena.errors import DataError, clip
from arena.tools import Search, make_searches

_TEXTS = ("cutoff", "result", "stage", "topic")


class SurveyVectorEnv(VectorEnv[dict[str, Any], Any, NDArray[Any]], EzPickle):
    """As `gymnasium.vector.SyncVectorEnv` over `num_envs` environments, and faster.

    The same seeds and actions give the same observations, rewards and infos, in the same form.
    Corpus, engines and labels are shared, and the searches of a step are made in one batch.
    Pickling keeps the arguments, not the running episodes.

    Args:
        num_envs: how many, >= 1.
        autoreset_mode: when an episode that is over begins anew: ``"NextStep"`` (the default: with
            the next step, whose action is ignored), ``"SameStep"`` or ``"Disabled"``, as
            `gymnasium.vector.AutoresetMode`.
        arguments: those of the scalar environment.

    Raises:
        CorpusError, UnknownNameError, DataError: if an argument is unusable.
    """

    kind: ClassVar[type[SurveyEnv]]

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        EzPickle.__init__(self, num_envs, autoreset_mode, **arguments)
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise DataError(f"num_envs={clip(num_envs)}: give an integer >= 1.")
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise DataError(
                f"autoreset_mode={clip(autoreset_mode)}: give one of {modes}."
            ) from None
        env = self.kind(**arguments)
        self._setting = env._setting
        self.num_envs = num_envs
        self.render_mode = env.render_mode
        self.metadata = env.metadata | {"autoreset_mode": self._mode}
        self.single_action_space = env.action_space
        self.single_observation_space = env.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        budget: Any = self._setting.observation_space["budget"]
        self._budget_names: tuple[str, ...] = tuple(budget)
        self._generators: dict[int, np.random.Generator] = {}
        self._seeded: dict[int, int] = {}
        self._plays: list[Play | None] = [None] * num_envs

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], Infos]:
        """Start all episodes, or those that ``options["reset_mask"]`` marks.

        Args:
            seed: of the draws of surveys: one integer s stands for s, s + 1, ...; or one of each.
            options: as in the scalar environment, and ``reset_mask``, booleans of shape
                (num_envs,).

        Returns:
            The observations and infos, batched as Gymnasium's vector environments do it.

        Raises:
            DataError: if there are not `num_envs` seeds, or an option is unknown or malformed.
            UnknownNameError: if the survey is unknown.
        """
        seeds = self._seeds(seed)
        if not isinstance(options, Mapping | None):
            raise DataError(f"options={clip(options)}: give a mapping such as {{'survey': id}}.")
        options = dict(options or {})
        chosen = np.flatnonzero(self._mask(options.pop("reset_mask", None))).tolist()
        # What is refused shall change nothing, no generator either.
        named = self._setting.named(options)
        if any(play is None for n, play in enumerate(self._plays) if n not in set(chosen)):
            raise ResetNeeded("not all episodes have begun yet. Call reset() without a mask first.")
        for number in chosen:
            self._seed(number, seeds[number])
        infos = [{"survey": self._restart(number, named).survey.id} for number in chosen]
        observations = [self._running(number).observation() for number in range(self.num_envs)]
        return self._batched(observations), merged(chosen, infos, self.num_envs)

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
            DataError: if there are not `num_envs` actions.
            gymnasium.error.ResetNeeded: before the first reset, after a step that raised, and in
                the mode ``"Disabled"`` after the end of an episode.
        """
        if isinstance(actions, str | bytes | Mapping) or not isinstance(actions, Iterable):
            raise DataError(f"{clip(actions)}: give a list of {self.num_envs} actions.")
        given = list(actions)
        if len(given) != self.num_envs:
            raise DataError(f"{len(given)} actions for {self.num_envs} environments.")
        disabled = self._mode is AutoresetMode.DISABLED
        if any(play is None or (disabled and play.over) for play in self._plays):
            raise ResetNeeded("an episode is over or has not begun. Call reset() first.")
        try:
            outcomes = self._outcomes(given)
        except BaseException:  # a broken engine, or Ctrl-C: some episodes are a step ahead
            self._plays = [None] * self.num_envs
            raise
        observations, rewards, terminated, truncated, infos = map(list, zip(*outcomes, strict=True))
        terminations = np.array(terminated, np.bool_)
        truncations = np.array(truncated, np.bool_)
        if self._mode is AutoresetMode.SAME_STEP:
            for number in np.flatnonzero(terminations | truncations).tolist():
                final = {"final_obs": observations[number], "final_info": infos[number]}
                play = self._restart(number)
                observations[number] = play.observation()
                infos[number] = final | {"survey": play.survey.id}
        return (
            self._batched(observations),
            np.array(rewards, np.float64),
            terminations,
            truncations,
            merged(range(self.num_envs), infos, self.num_envs),
        )

    def _outcomes(self, actions: list[Any]) -> list[Outcome]:
        """Begin every step, make all searches at once, complete every step."""
        outcomes: list[Any] = [None] * self.num_envs
        searches: list[Search] = []
        searching = []
        for number, action in enumerate(actions):
            if self._running(number).over:  # only where the next step restarts
                play = self._restart(number)
                info = {"survey": play.survey.id}
                outcomes[number] = Outcome(play.observation(), 0.0, False, False, info)
                continue
            play = self._running(number)
            search = play.begin(action)
            if search is None:
                outcomes[number] = play.complete()
            else:
                searching.append((number, play))
                searches.append(search)
        for (number, play), shown in zip(searching, make_searches(searches), strict=True):
            outcomes[number] = play.complete(shown)
        return outcomes

    def render(self) -> tuple[str, ...] | None:
        """Return the state of each environment as text (render mode ``"ansi"``)."""
        if self.render_mode != "ansi":
            return None
        return tuple(self._running(number).render() for number in range(self.num_envs))

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

    def _restart(self, number: int, survey_id: str | None = None) -> Play:
        """Begin an episode of a survey, by default of one that is drawn."""
        if survey_id is None:
            survey_id = self._setting.draw(self._generator(number))
        self._plays[number] = play = self._setting.play(survey_id)
        return play

    def _running(self, number: int) -> Play:
        play = self._plays[number]
        if play is None:
            raise ResetNeeded("nothing has begun yet. Call reset() first.")
        return play

    def _batched(self, observations: list[dict[str, Any]]) -> dict[str, Any]:
        budgets = [observation["budget"] for observation in observations]
        batched: dict[str, Any] = {
            "budget": {
                name: np.array([budget[name] for budget in budgets], np.int64)
                for name in self._budget_names
            }
        }
        for name in _TEXTS:
            batched[name] = tuple([observation[name] for observation in observations])
        return batched

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
