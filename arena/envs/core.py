"""The core that all environments share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Dict, Discrete
from gymnasium.utils import EzPickle

from arena import metrics
from arena.corpus import Corpus
from arena.envs.episode import MAX_QUERY, TOOLS, BudgetError, Episode, ToolError
from arena.envs.spaces import TextSpace, ToolCallSpace
from arena.envs.tools import parse_action
from arena.errors import DataError, UnknownPaperError, clip, did_you_mean
from arena.tasks import DEFAULT_BUDGET, TASKS, Survey, TaskSet, choose_surveys

_MAX_TEXT = 4_000_000  # 1000 hits with titles and ids of the greatest length, all escaped


class SurveyEnv(gymnasium.Env[dict[str, Any], Any], EzPickle):
    """One survey topic an episode: search and read as of its date, then submit.

    A subclass names its task. Pickling keeps the arguments, not a running episode.

    Args:
        corpus: a built corpus, or its directory.
        retriever: the engine behind ``search``: an index of the corpus, or a combination such as
            ``"hybrid(bm25,dense)"``.
        retriever_options: options of that engine.
        surveys: ids to draw episodes from; by default every survey that can be scored.
        max_steps: actions after which the episode is truncated, >= 1.
        max_searches: searches that may be made; one more truncates the episode. >= 0.
        max_k: most hits a search may ask for, from 1 to 1000.
        render_mode: ``"ansi"`` or None.

    Raises:
        CorpusError, UnknownNameError, DataError: if an argument is unusable.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium declares it so
        "render_modes": ["ansi"],
        "render_fps": 4,
    }
    task_name: ClassVar[str]

    def __init__(
        self,
        corpus: Corpus | str | Path,
        retriever: str = "bm25",
        retriever_options: dict[str, Any] | None = None,
        surveys: Sequence[str] | None = None,
        max_steps: int = DEFAULT_BUDGET["max_steps"],
        max_searches: int = DEFAULT_BUDGET["max_searches"],
        max_k: int = DEFAULT_BUDGET["max_k"],
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self, corpus, retriever, retriever_options, surveys, max_steps, max_searches, max_k,
            render_mode,
        )  # fmt: skip
        limits = {
            "max_steps": (max_steps, 1, 10**6),
            "max_searches": (max_searches, 0, 10**6),
            "max_k": (max_k, 1, 1000),
        }
        for name, (value, least, most) in limits.items():
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise DataError(f"{name}={clip(value)}: give an integer from {least} to {most}.")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise DataError(f"render_mode={clip(render_mode)}: give 'ansi' or None.")
        self.render_mode = render_mode
        self._corpus = corpus if isinstance(corpus, Corpus) else Corpus.open(corpus)
        self._retriever = self._corpus.retriever(retriever, **(retriever_options or {}))
        self._tasks = TaskSet(self._corpus.directory)
        self._task = TASKS.get(self.task_name)
        self._pool = (
            self._tasks.scorable if surveys is None else choose_surveys(self._tasks, surveys)
        )
        if not self._pool:
            raise DataError("no survey of this corpus has a reference in reach. Name `surveys`.")
        self._max_steps, self._max_searches, self._max_k = max_steps, max_searches, max_k
        self.action_space = ToolCallSpace(TOOLS)
        self.observation_space = Dict(
            {
                "topic": TextSpace(MAX_QUERY),
                "cutoff": TextSpace(10),
                "result": TextSpace(_MAX_TEXT),
                "budget": Dict(
                    {"steps": Discrete(max_steps + 1), "searches": Discrete(max_searches + 1)}
                ),
            }
        )
        self._survey: Survey | None = None
        self._episode: Episode | None = None
        self._steps_left = 0
        self._over = True
        self._result = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seeds the draw of the survey.
            options: ``{"survey": id}`` plays that survey; by default one is drawn.

        Returns:
            The observation and ``{"survey": id}``.

        Raises:
            DataError: if an option is unknown.
            UnknownNameError: if the survey is unknown.
        """
        super().reset(seed=seed)
        options = options or {}
        for key in options:
            if key != "survey":
                raise DataError(f"reset has no option {clip(key)}.{did_you_mean(key, ['survey'])}")
        survey_id = options.get("survey")
        if survey_id is None:
            survey_id = self._pool[int(self.np_random.integers(len(self._pool)))]
        self._survey = survey = self._tasks.survey(survey_id)
        self._episode = Episode(
            self._corpus.at(survey.date, exclude=[survey.id], retriever=self._retriever),
            self._max_k,
            self._max_searches,
        )
        self._steps_left = self._max_steps
        self._over = False
        self._result = _json({"message": self._task.instruction})
        return self._observation(), {"survey": survey.id}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one tool call.

        A call that cannot be carried out costs a step and no search; the result says why.

        Args:
            action: ``{"tool": name, "arguments": {...}}`` or the same as JSON text.

        Returns:
            Observation, reward (the task's headline metric at a submission, else 0), terminated
            (submitted), truncated (budget used up), and info: ``survey``, and at the end
            ``metrics`` (name -> value, empty for a survey that cannot be scored),
            ``submitted`` (the ids handed in), and how many references were in reach (``gold``),
            are listed (``references``) and does the survey have (``references_total``).

        Raises:
            gymnasium.error.ResetNeeded: before the first reset and after the end.
        """
        if self._over or self._episode is None or self._survey is None:
            raise ResetNeeded("the episode is over. Call reset() first.")
        episode = self._episode
        self._steps_left -= 1
        truncated = False
        try:
            call = parse_action(action, TOOLS)
            if isinstance(call, str):
                raise ToolError(call)
            result = call.tool.function(episode, **call.arguments)
        except BudgetError as error:
            result = {"error": str(error)}
            truncated = True
        except (ToolError, UnknownPaperError) as error:
            result = {"error": str(error)}
        self._result = _json(result)
        terminated = episode.submitted is not None
        truncated = not terminated and (truncated or self._steps_left == 0)
        info: dict[str, Any] = {"survey": self._survey.id}
        reward = 0.0
        if terminated or truncated:
            self._over = True
            info["submitted"] = list(episode.submitted or [])
            gold = self._tasks.gold(self._survey.id)
            info["metrics"] = self._score(info["submitted"])
            info["gold"] = len(gold.gains)
            info["references"] = gold.references
            info["references_total"] = gold.references_total
            reward = info["metrics"].get(self._task.headline, 0.0)
        return self._observation(), reward, terminated, truncated, info

    def render(self) -> str | None:
        """Return the state as text for a person to read (render mode ``"ansi"``)."""
        if self.render_mode != "ansi":
            return None
        if self._survey is None or self._episode is None:
            raise ResetNeeded("nothing to show yet. Call reset() first.")
        shown = self._result if len(self._result) <= 2000 else self._result[:1997] + "..."
        return (
            f"{self.task_name}: {self._survey.title.lower()} (before {self._survey.date})\n"
            f"steps left {self._steps_left}, searches left {self._episode.searches_left}\n{shown}\n"
        )

    def _score(self, ranking: list[str]) -> dict[str, float]:
        assert self._survey is not None
        gains = self._tasks.gold(self._survey.id).gains
        return metrics.evaluate(ranking, gains, self._task.metrics) if gains else {}

    def _observation(self) -> dict[str, Any]:
        assert self._survey is not None
        assert self._episode is not None
        return {
            "topic": self._survey.title.lower()[:MAX_QUERY],
            "cutoff": self._survey.date,
            "result": self._result,
            "budget": {"steps": self._steps_left, "searches": self._episode.searches_left},
        }


def _json(result: dict[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
