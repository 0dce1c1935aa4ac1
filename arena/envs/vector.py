"""Many episodes at once: one batched search, in each process, for all that search in a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils import EzPickle, seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arena.envs._infos import Infos, merged
from arena.envs._setting import checked_seed
from arena.envs._share import Seen
from arena.envs._team import Team
from arena.envs._workers import start_method
from arena.envs.core import SurveyEnv
from arena.errors import DataError, clip


class SurveyVectorEnv(VectorEnv[dict[str, Any], Any, NDArray[Any]], EzPickle):
    """As `gymnasium.vector.SyncVectorEnv` over `num_envs` environments, and faster.

    The same seeds and actions give the same observations, rewards and infos, in the same form.
    Corpus, engines and labels are shared, and the searches of a step are made in one batch.
    Pickling keeps the arguments, not the running episodes.

    With `workers` the environments are split into as many contiguous shares, each with a batch of
    its own. This process steps the first, a process that is started for it each of the others.
    What comes back is the same. When a process ends before its time, all begin with `reset`.

    Args:
        num_envs: how many, >= 1.
        autoreset_mode: when an episode that is over begins anew: ``"NextStep"`` (the default: with
            the next step, whose action is ignored), ``"SameStep"`` or ``"Disabled"``, as
            `gymnasium.vector.AutoresetMode`.
        workers: processes that step, this one included, from 1 to `num_envs`.
        context: how they are started: ``"fork"``, ``"spawn"``, ``"forkserver"``, or None for
            Python's default. Give ``"spawn"`` with `lucene` and with encoders of torch, which do
            not go on, or are slower, in a fork.
        arguments: those of the scalar environment.

    Raises:
        CorpusError, UnknownNameError, DataError: if an argument is unusable.
        WorkerError: if a process ends before it is ready.
    """

    kind: ClassVar[type[SurveyEnv]]

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        workers: int = 1,
        context: str | None = None,
        **arguments: Any,
    ) -> None:
        EzPickle.__init__(self, num_envs, autoreset_mode, workers, context, **arguments)
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise DataError(f"num_envs={clip(num_envs)}: give an integer >= 1.")
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise DataError(
                f"autoreset_mode={clip(autoreset_mode)}: give one of {modes}."
            ) from None
        if (
            isinstance(workers, bool)
            or not isinstance(workers, int)
            or not 1 <= workers <= num_envs
        ):
            raise DataError(
                f"workers={clip(workers)}: give an integer from 1 to {num_envs}, the number of "
                "environments."
            )
        method = start_method(context)
        env = self.kind(**arguments)
        self._setting = env._setting
        self.num_envs = num_envs
        self.render_mode = env.render_mode
        self.metadata = env.metadata | {"autoreset_mode": self._mode}
        self.single_action_space = env.action_space
        self.single_observation_space = env.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._generators: dict[int, np.random.Generator] = {}
        self._seeded: dict[int, int] = {}
        self._over: NDArray[np.bool_] | None = None  # whose episode is over; None before a reset
        self._team = Team(self._setting, self.kind, arguments, num_envs, workers, method)

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
        if self._over is None and len(chosen) < self.num_envs:
            raise ResetNeeded("not all episodes have begun yet. Call reset() without a mask first.")
        if self._team.workers is not None and self.closed:
            raise ClosedEnvironmentError("this environment was closed. Make another one.")
        for number in chosen:
            self._seed(number, seeds[number])
        surveys = {number: self._draw(number) if named is None else named for number in chosen}
        over = np.zeros(self.num_envs, np.bool_) if self._over is None else self._over
        self._over = None  # unless all goes well
        if len(chosen) == self.num_envs:
            self._team.revive()
        seen = self._team.begin(surveys, range(self.num_envs))
        over[chosen] = False
        self._over = over
        infos = [{"survey": survey_id} for survey_id in surveys.values()]
        return self._batched(seen), merged(chosen, infos, self.num_envs)

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
        over = self._over
        if over is None or (self._mode is AutoresetMode.DISABLED and over.any()):
            raise ResetNeeded("an episode is over or has not begun. Call reset() first.")
        self._over = None  # unless all goes well: until then some episodes are a step ahead
        starting = np.flatnonzero(over).tolist()
        stepped = self._team.step(given, {number: self._draw(number) for number in starting})
        seen, infos = stepped.seen, stepped.infos
        terminations = np.array(stepped.terminated, np.bool_)
        truncations = np.array(stepped.truncated, np.bool_)
        over = terminations | truncations
        if self._mode is AutoresetMode.SAME_STEP:
            surveys = {number: self._draw(number) for number in np.flatnonzero(over).tolist()}
            if surveys:
                begun = self._team.begin(surveys, list(surveys))
                for place, (number, survey_id) in enumerate(surveys.items()):
                    final = {"final_obs": seen.row(number), "final_info": infos[number]}
                    seen.put(number, begun, place)
                    infos[number] = final | {"survey": survey_id}
                over = np.zeros(self.num_envs, np.bool_)
        self._over = over
        return (
            self._batched(seen),
            np.array(stepped.rewards, np.float64),
            terminations,
            truncations,
            merged(range(self.num_envs), infos, self.num_envs),
        )

    def render(self) -> tuple[str, ...] | None:
        """Return the state of each environment as text (render mode ``"ansi"``)."""
        if self.render_mode != "ansi":
            return None
        if self._over is None:
            raise ResetNeeded("nothing has begun yet. Call reset() first.")
        return tuple(self._team.render())

    def close_extras(self, **kwargs: Any) -> None:
        """End the worker processes, if there are any; without them nothing need be closed."""
        if self._team.workers is not None:
            self._over = None
            self._team.workers.close()

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
        return self._setting.draw(self._generator(number))

    def _batched(self, seen: Seen) -> dict[str, Any]:
        batched: dict[str, Any] = {
            "budget": {name: np.array(seen.budget[name], np.int64) for name in sorted(seen.budget)}
        }
        for name in sorted(seen.texts):
            batched[name] = tuple(seen.texts[name])
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
