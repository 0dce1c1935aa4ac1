"""What all episodes of an environment share, and the episodes made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, Discrete

from arena._internal.options import whole
from arena.corpus import Corpus
from arena.corpus.digests import TITLE_ABSTRACT, Digests
from arena.corpus.view import CorpusView
from arena.envs._episode import ScoredEpisode, Scoring
from arena.envs.spaces import TextSpace, ToolCallSpace
from arena.envs.starting_papers import OwnReferences, StartingPapers, starting_papers
from arena.errors import DataError, NoLabelsError, clip, did_you_mean
from arena.rewards import Reward, make_rewards
from arena.rewards.metric import MetricReward
from arena.tasks import (
    EXTRACTOR,
    TASKS,
    TaskSet,
    can_score,
    choose_surveys,
    environment_id,
    is_of_mind_maps,
    scored_stages,
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


def checked_seed(seed: object) -> int | None:
    """Return a seed as Gymnasium takes it.

    Raises:
        DataError: `seed` is neither None nor an integer >= 0.
    """
    is_number = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if seed is not None and (not is_number or seed < 0):  # type: ignore[operator]
        raise DataError(f"seed={clip(seed)}: give an integer >= 0, or None to draw one.")
    return None if seed is None else int(seed)  # type: ignore[call-overload]


class EpisodeFactory:
    """Makes the episodes of an environment, which share corpus, surveys, engines and tools.

    The arguments are those of `SurveyEnv`, without `render_mode`; `limits` are the budgets.

    Attributes:
        task_name: Name of the task.
        corpus: The corpus.
        tasks: Its surveys with their labels.
        tools: The task's tools by name, with the bounds and choices of this environment.
        action_space: Space of the tool calls.
        observation_space: Space of the observations.
    """

    def __init__(
        self,
        corpus: Corpus | str | Path | None,
        task: str,
        *,
        retriever: str,
        retriever_options: Mapping[str, Any] | None,
        retrievers: Sequence[str],
        surveys: Sequence[str] | int | None,
        reward: str | None,
        reward_options: Mapping[str, Any] | None,
        encoder: str,
        references: str | None,
        found: Mapping[str, Sequence[str]] | str | Path | None,
        show: str,
        tools: Sequence[str],
        limits: dict[str, int],
    ) -> None:
        for name, value in limits.items():
            whole(name, value, *_LIMITS[name])
        self.task_name, self._task = task, TASKS.get(task)
        self.corpus = Corpus.of(corpus)  # type: ignore[arg-type]  # None is refused there
        rewards = make_rewards(self._task.reward if reward is None else reward, reward_options)
        self.tasks = TaskSet(self.corpus)
        self._check_encoder(encoder)
        self._check_metrics(rewards, encoder)
        self._scoring = Scoring(task, self._task, self.tasks, rewards, encoder)
        self._starting_papers = self._starting(references, found)
        self._digests = None if show == TITLE_ABSTRACT else self._digests_of(show)
        for name, names in (("retrievers", retrievers), ("tools", tools)):
            if isinstance(names, str) or not isinstance(names, Sequence):
                raise DataError(f"{name}={clip(names)}: give a list of names.")
        options = {} if retriever_options is None else retriever_options
        if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
            raise DataError(
                f"retriever_options={clip(options)}: give a mapping of names to values."
            )
        self._engines = {retriever: self.corpus.retriever(retriever, **options)}
        for name in retrievers:
            if not isinstance(name, str) or name not in self._engines:
                self._engines[name] = self.corpus.retriever(name)
        self._pool = self._surveys(surveys)
        self._budget = {
            name.removeprefix("max_"): value for name, value in limits.items() if name != "max_k"
        }
        self._stages = stages_of(task)
        offered = [TOOLS.get(name) for name in (*tools_of(task), *tools)]
        bounds, choices = {"k": (1, limits["max_k"])}, {"retriever": tuple(self._engines)}
        self.tools = {tool.name: tool.narrowed(bounds, choices) for tool in offered}
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
        """Return the id of the survey that ``reset(options=...)`` names, or None.

        Raises:
            DataError: `options` is no mapping or holds an unknown option.
            UnknownNameError: The survey is unknown.
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
        return self._pool[int(rng.integers(len(self._pool)))]

    def start(self, survey_id: str) -> ScoredEpisode:
        """Return a new episode of a survey."""
        survey = self.tasks.survey(survey_id)
        views: dict[str, CorpusView] = {}

        def view_of(name: str) -> CorpusView:
            if name not in views:
                views[name] = self.corpus.at(
                    survey.date, exclude=[survey.id], retriever=self._engines[name]
                )
            return views[name]

        instructions = [task.instruction for _, task in self._stages]
        if self._task.stages:
            instructions[0] = f"{self._task.instruction} {instructions[0]}"
        state = Episode(
            view=view_of(next(iter(self._engines))),
            view_of=view_of,
            stages=tuple((name, task.answer) for name, task in self._stages),
            instructions=tuple(instructions),
            budget=dict(self._budget),
        )
        references = None
        if self._starting_papers is not None:
            references = self._starting_papers.papers(self.tasks, state.view, survey_id)
            state.given = frozenset(references)
        if self._digests is not None:
            state.digests = self._digests.shown(state.given)
        return ScoredEpisode(survey, state, self.tools, self._scoring, references)

    def _starting(
        self, references: str | None, found: Mapping[str, Sequence[str]] | str | Path | None
    ) -> StartingPapers | None:
        default = self._task.references
        if not default:
            for name, value in (("references", references), ("found", found)):
                if value is not None:
                    raise DataError(
                        f"the environment {environment_id(self.task_name)} takes no argument "
                        f"{name!r}: its episodes start without papers."
                    )
            return None
        papers = starting_papers(default if references is None else references, found, self.corpus)
        if papers is not None:
            papers.check(self.tasks)
        return papers

    def _digests_of(self, show: str) -> Digests:
        digests = self.corpus.digests(show)
        if not digests.complete and not isinstance(self._starting_papers, OwnReferences):
            raise DataError(
                f"show={clip(show)}: only papers that surveys cite have a digest in this corpus, "
                "so a digest would be a label. Make those of all papers (`arena-corpus digest "
                "--all`), or let episodes begin with the survey's own references."
            )
        return digests

    def _surveys(self, surveys: Sequence[str] | int | None) -> list[str]:
        if surveys is not None:
            return choose_surveys(self.tasks, surveys)
        pool = [s for s in self.tasks.surveys if can_score(self.task_name, self.tasks, s)]
        if pool:
            return pool
        if self.tasks.scorable:
            raise NoLabelsError(
                f"no survey of {str(self.corpus.directory)!r} has a mind-map, which the task "
                f"{self.task_name!r} needs. Give the surveys of the corpus a `mind_map` and build "
                "it again, or name `surveys` to play without a score."
            )
        raise NoLabelsError("no survey of this corpus has a reference in reach. Name `surveys`.")

    def _check_metrics(self, rewards: Sequence[Reward], encoder: str) -> None:
        """Refuse metrics that no answer of the task has, or whose packages are missing."""
        metrics = [reward.metric for reward in rewards if isinstance(reward, MetricReward)]
        scored_stages(self.task_name, metrics)
        for metric in metrics:
            if is_of_mind_maps(metric):
                from arena.mindmap import identity, needs

                identity(encoder, EXTRACTOR if "extractor" in needs(metric) else None)

    def _check_encoder(self, name: str) -> None:
        from arena.encoders import ENCODERS

        ENCODERS.get(name)
        if any(stage.answer == "mind_map" for _, stage in stages_of(self.task_name)):
            from arena.mindmap import identity

            identity(name)  # reports a missing package now, not at the end of an episode
