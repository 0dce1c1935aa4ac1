"""The core that all environments share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from arena.corpus import Corpus
from arena.envs._given import Given
from arena.envs._play import Play
from arena.envs._setting import Setting, checked_seed
from arena.errors import DataError, clip
from arena.tasks import DEFAULT_BUDGET, ENCODER
from arena.tools import make_searches

RENDER_MODES = ("ansi",)


class SurveyEnv(gymnasium.Env[dict[str, Any], Any], EzPickle):
    """One survey topic an episode: research it as of its date, then hand in.

    A subclass names its task. Pickling keeps the arguments, not a running episode.

    Args:
        corpus: a built corpus, or its directory.
        retriever: the engine behind ``search``: an index of the corpus, or a combination such as
            ``"hybrid(bm25,dense)"``.
        retriever_options: options of that engine.
        retrievers: further engines that a ``search`` may name.
        surveys: ids to draw episodes from, or how many of the first of all; by default every
            survey that can be scored.
        reward: a registered reward, or a sum such as ``"gain+cost"``; by default the task's.
        reward_options: name of a reward -> its options.
        encoder: the encoder by which headings of mind-maps are compared.
        max_steps: actions after which the episode is truncated, >= 1.
        max_searches: searches that may be made; one more truncates the episode. >= 0.
        max_reads: calls of ``read``, ``references`` and ``citations`` that may be made, alike.
        max_characters: of results that may be shown, alike.
        max_k: most hits a search may ask for, from 1 to 1000.
        render_mode: ``"ansi"`` or None.

    Raises:
        CorpusError, UnknownNameError, DataError: if an argument is unusable.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium declares it so
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
    }
    task_name: ClassVar[str]

    def __init__(
        self,
        corpus: Corpus | str | Path,
        retriever: str = "bm25",
        retriever_options: Mapping[str, Any] | None = None,
        retrievers: Sequence[str] = (),
        surveys: Sequence[str] | int | None = None,
        reward: str | None = None,
        reward_options: Mapping[str, Any] | None = None,
        encoder: str = ENCODER,
        max_steps: int = DEFAULT_BUDGET["max_steps"],
        max_searches: int = DEFAULT_BUDGET["max_searches"],
        max_reads: int = DEFAULT_BUDGET["max_reads"],
        max_characters: int = DEFAULT_BUDGET["max_characters"],
        max_k: int = DEFAULT_BUDGET["max_k"],
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self, corpus=corpus, retriever=retriever, retriever_options=retriever_options,
            retrievers=retrievers, surveys=surveys, reward=reward, reward_options=reward_options,
            encoder=encoder, max_steps=max_steps, max_searches=max_searches, max_reads=max_reads,
            max_characters=max_characters, max_k=max_k, render_mode=render_mode,
        )  # fmt: skip
        if render_mode not in (None, *RENDER_MODES):
            raise DataError(f"render_mode={clip(render_mode)}: give 'ansi' or None.")
        self.render_mode = render_mode
        self._setting = Setting(
            self.task_name,
            corpus,
            retriever=retriever,
            retriever_options=retriever_options,
            retrievers=retrievers,
            surveys=surveys,
            reward=reward,
            reward_options=reward_options,
            encoder=encoder,
            given=self._given(),
            limits={
                "max_steps": max_steps,
                "max_searches": max_searches,
                "max_reads": max_reads,
                "max_characters": max_characters,
                "max_k": max_k,
            },
        )
        self.action_space = self._setting.action_space
        self.observation_space = self._setting.observation_space
        self._play: Play | None = None

    def _given(self) -> Given | None:
        """Return what says which papers an episode begins with; by default there are none."""
        return None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seeds the draw of the survey, >= 0.
            options: ``{"survey": id}`` plays that survey; by default one is drawn.

        Returns:
            The observation and ``{"survey": id}``.

        Raises:
            DataError: if the seed is no integer >= 0, or an option is unknown.
            UnknownNameError: if the survey is unknown.
        """
        seed = checked_seed(seed)
        survey_id = self._setting.named(options)  # first: what is refused shall change nothing
        super().reset(seed=seed)
        if survey_id is None:
            survey_id = self._setting.draw(self.np_random)
        self._play = play = self._setting.play(survey_id)
        return play.observation(), {"survey": play.survey.id}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one tool call.

        A call that cannot be carried out costs a step and nothing else; the result says why.

        Args:
            action: ``{"tool": name, "arguments": {...}}`` or the same as JSON text.

        Returns:
            Observation, reward, terminated (handed in or finished), truncated (a budget is used
            up), and info: ``survey``, ``reward_terms`` (name -> value; they add up to the
            reward), and at the end ``metrics`` (name -> value, empty for a survey that cannot be
            scored), ``answers`` (stage -> what was handed in), and how many references were in
            reach (``gold``), are listed (``references``) and does the survey have
            (``references_total``).

        Raises:
            gymnasium.error.ResetNeeded: before the first reset and after the end.
        """
        play = self._play
        if play is None or play.over:
            raise ResetNeeded("the episode is over. Call reset() first.")
        search = play.begin(action)
        if search is None:
            return play.complete()
        return play.complete(make_searches([search])[0])

    def render(self) -> str | None:
        """Return the state as text for a person to read (render mode ``"ansi"``)."""
        if self.render_mode != "ansi":
            return None
        if self._play is None:
            raise ResetNeeded("nothing to show yet. Call reset() first.")
        return self._play.render()
