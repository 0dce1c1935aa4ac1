"""What is checked: an environment's id with its arguments, and episodes recorded from it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from arena.check._episodes import Player, Trace, play
from arena.check._labels import Labels
from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean

STEPS = 16
"""Steps of a recorded episode at most."""


class Subject:
    """One environment under check.

    Args:
        env_id: as `gymnasium.make` takes it.
        corpus: the directory of a built corpus.
        options: further arguments of the environment.
        episodes: how many are recorded, >= 1.
        seed: of the first of them, >= 0.

    Raises:
        UnknownNameError, DataError, CorpusError: if one is unusable.
    """

    def __init__(
        self,
        env_id: str,
        corpus: str | Path,
        options: Mapping[str, Any],
        episodes: int = 5,
        seed: int = 0,
    ) -> None:
        for name, value, least in (("episodes", episodes, 1), ("seed", seed, 0)):
            number = isinstance(value, int) and not isinstance(value, bool)
            if not number or not least <= value < 2**31:
                raise DataError(f"{name}={clip(value)}: give an integer >= {least}.")
        if "corpus" in options:
            raise DataError("the corpus is no option: name one corpus for all checks.")
        self.env_id = env_id
        self.corpus = Path(corpus)
        self.options = dict(options)
        self.seeds = list(range(seed, seed + episodes))
        self.spec = _spec(env_id)
        self._first()

    def make(self, **changes: Any) -> gymnasium.Env[Any, Any]:
        """Make the environment, with `changes` to its arguments."""
        # Gymnasium warns of an id that has a newer version: that is not what is checked here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return gymnasium.make(self.spec, **self.arguments(**changes))

    def make_vector(
        self, num_envs: int, mode: str, **changes: Any
    ) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
        """Make a vector environment; `mode` is ``"sync"`` or ``"vector_entry_point"``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return gymnasium.make_vec(
                self.spec, num_envs, vectorization_mode=mode, **self.arguments(**changes)
            )

    def arguments(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of the environment."""
        return {"corpus": str(self.corpus), **self.options, **changes}

    @cached_property
    def traces(self) -> list[Trace]:
        """The recorded episodes, all played in one environment."""
        env = self.make()
        return [play(env, seed, Player(env.action_space, seed), STEPS) for seed in self.seeds]

    @cached_property
    def labels(self) -> Labels:
        """The labels, read from the corpus' own files."""
        return Labels(self.corpus)

    @property
    def tools(self) -> dict[str, Any]:
        """The environment's tools by name."""
        return dict(self.make().action_space.tools)  # type: ignore[attr-defined]

    @cached_property
    def gives_references(self) -> bool:
        """Whether an episode starts with the survey's own references."""
        from arena.tasks import TASKS

        task = getattr(self.make().unwrapped, "task_name", None)
        default = TASKS.get(task).references if isinstance(task, str) else None
        return bool(self.options.get("references", default) == "oracle")

    @property
    def begins_with_papers(self) -> bool:
        """Whether an episode begins with papers that the agent has not searched for."""
        return self.gives_references or self.options.get("found") is not None

    def counted(self) -> str:
        """Return how much was recorded, for the detail of a check."""
        steps = sum(len(trace.steps) for trace in self.traces)
        return f"{len(self.traces)} episodes, {steps} steps"

    def random(self) -> np.random.Generator:
        """Return a generator that depends on the seed alone."""
        return np.random.default_rng(self.seeds[0])

    def _first(self) -> None:
        """Make the environment once, so that bad input is told apart from a failed check."""
        try:
            self.make().close()
        except ArenaError:
            raise
        except Exception as error:
            raise DataError(
                f"{self.env_id} cannot be made with corpus={str(self.corpus)!r} and the options "
                f"{clip(self.options)}: {type(error).__name__}: {error}"
            ) from error


def _spec(env_id: str) -> EnvSpec:
    """Return what is registered for an id, importing its module, or the tasks', first."""
    from arena.tasks import environment_ids

    if not isinstance(env_id, str):
        raise UnknownNameError(f"{clip(env_id)} is no id of an environment.")
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
