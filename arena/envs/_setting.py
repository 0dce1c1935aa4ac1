"""What all episodes of an environment share, made once from its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, Discrete

from arena.corpus import Corpus
from arena.corpus.view import CorpusView
from arena.envs._given import Given
from arena.envs._play import Play
from arena.envs.spaces import TextSpace, ToolCallSpace
from arena.errors import DataError, NoLabelsError, clip, did_you_mean
from arena.rewards import make_rewards
from arena.tasks import (
    TASKS,
    TaskSet,
    can_score,
    choose_surveys,
    stages_of,
    tools_of,
)
from arena.tools import MAX_QUERY, TOOLS, Episode

_MAX_TEXT = 4_000_000  # 1000 hits with titles and ids of the greatest length, all escaped

_LIMITS = {
    "max_steps": (1, 10**6),
    "max_searches": (0, 10**6),
    "max_reads": (0, 10**6),
    "max_characters": (0, 10**9),
    "max_k": (1, 1000),
}


def opened(corpus: Corpus | str | Path) -> Corpus:
    """Return the corpus that the argument `corpus` stands for.

    Raises:
        CorpusError: if the directory is no built corpus.
        DataError: if it is something else.
    """
    if isinstance(corpus, Corpus):
        return corpus
    if not isinstance(corpus, str | Path):
        raise DataError(f"corpus={clip(corpus)}: give a built corpus, or its directory.")
    return Corpus.open(corpus)


def checked_seed(seed: object) -> int | None:
    """Return a seed as Gymnasium takes it.

    Raises:
        DataError: if it is no integer >= 0 and not None.
    """
    is_number = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if seed is not None and (not is_number or seed < 0):  # type: ignore[operator]
        raise DataError(f"seed={clip(seed)}: give an integer >= 0, or None to draw one.")
    return None if seed is None else int(seed)  # type: ignore[call-overload]


class Setting:
    """The corpus, the surveys, the engines, the tools, the rewards and the spaces.

    The arguments are those of `SurveyEnv`, without `render_mode`.
    """

    def __init__(
        self,
        task: str,
        corpus: Corpus | str | Path,
        *,
        retriever: str,
        retriever_options: Mapping[str, Any] | None,
        retrievers: Sequence[str],
        surveys: Sequence[str] | int | None,
        reward: str | None,
        reward_options: Mapping[str, Any] | None,
        encoder: str,
        given: Given | None,
        limits: dict[str, int],
    ) -> None:
        for name, value in limits.items():
            least, most = _LIMITS[name]
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise DataError(f"{name}={clip(value)}: give an integer from {least} to {most}.")
        self.task = TASKS.get(task)
        self.name = task
        self.corpus = opened(corpus)
        self.rewards = make_rewards(self.task.reward if reward is None else reward, reward_options)
        self.tasks = TaskSet(self.corpus.directory)
        self.encoder = self._checked_encoder(encoder)
        self.given = given
        if given is not None:
            given.check(self.tasks)
        if isinstance(retrievers, str) or not isinstance(retrievers, Sequence):
            raise DataError(f"retrievers={clip(retrievers)}: give a list of names.")
        options = {} if retriever_options is None else retriever_options
        if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
            raise DataError(
                f"retriever_options={clip(options)}: give a mapping of names to values."
            )
        self._engines = {retriever: self.corpus.retriever(retriever, **options)}
        for name in retrievers:
            if not isinstance(name, str) or name not in self._engines:
                self._engines[name] = self.corpus.retriever(name)
        self.pool = self._pool(surveys)
        self._budget = {
            name.removeprefix("max_"): value for name, value in limits.items() if name != "max_k"
        }
        self._stages = stages_of(task)
        tools = {name: TOOLS.get(name) for name in tools_of(task)}
        bounds, choices = {"k": (1, limits["max_k"])}, {"retriever": tuple(self._engines)}
        self.tools = {name: tool.narrowed(bounds, choices) for name, tool in tools.items()}
        self.action_space = ToolCallSpace(self.tools)
        self.observation_space = Dict(
            {
                "topic": TextSpace(MAX_QUERY),
                "cutoff": TextSpace(10),
                "stage": TextSpace(100),
                "result": TextSpace(_MAX_TEXT),
                "budget": Dict({name: Discrete(n + 1) for name, n in self._budget.items()}),
            }
        )

    def named(self, options: Mapping[str, Any] | None) -> str | None:
        """Return the id of the survey that ``reset(options=...)`` names, if it names one.

        Raises:
            DataError: if `options` is no mapping or an option is unknown.
            UnknownNameError: if the survey is unknown.
        """
        options = {} if options is None else options
        if not isinstance(options, Mapping):
            raise DataError(f"options={clip(options)}: give a mapping such as {{'survey': id}}.")
        for key in options:
            if key != "survey":
                raise DataError(f"reset has no option {clip(key)}.{did_you_mean(key, ['survey'])}")
        survey_id = options.get("survey")
        return None if survey_id is None else self.tasks.survey(survey_id).id

    def draw(self, rng: np.random.Generator) -> str:
        """Return the id of a survey drawn from the pool."""
        return self.pool[int(rng.integers(len(self.pool)))]

    def play(self, survey_id: str) -> Play:
        """Return a new episode."""
        survey = self.tasks.survey(survey_id)
        views: dict[str, CorpusView] = {}

        def view_of(name: str) -> CorpusView:
            if name not in views:
                views[name] = self.corpus.at(
                    survey.date, exclude=[survey.id], retriever=self._engines[name]
                )
            return views[name]

        instructions = [task.instruction for _, task in self._stages]
        if self.task.stages:
            instructions[0] = f"{self.task.instruction} {instructions[0]}"
        episode = Episode(
            view=view_of(next(iter(self._engines))),
            view_of=view_of,
            stages=tuple((name, task.answer) for name, task in self._stages),
            instructions=tuple(instructions),
            budget=dict(self._budget),
        )
        return Play(self, survey, episode)

    def _pool(self, surveys: Sequence[str] | int | None) -> list[str]:
        if surveys is not None:
            return choose_surveys(self.tasks, surveys)
        pool = [s for s in self.tasks.surveys if can_score(self.name, self.tasks, s)]
        if pool:
            return pool
        if self.tasks.scorable:
            raise NoLabelsError(
                f"no survey of {str(self.corpus.directory)!r} has a mind-map, which the task "
                f"{self.name!r} needs. Give the surveys of the corpus a `mind_map` and build it "
                "again, or name `surveys` to play without a score."
            )
        raise NoLabelsError("no survey of this corpus has a reference in reach. Name `surveys`.")

    def _checked_encoder(self, name: str) -> str:
        from arena.encoders import ENCODERS

        ENCODERS.get(name)
        if any(task.answer == "mind_map" for _, task in stages_of(self.name)):
            from arena.mindmap import identity

            identity(name)  # a missing package shall be told now, not at the end of an episode
        return name
