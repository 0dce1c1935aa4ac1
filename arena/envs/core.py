"""The environment of every task."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from arena.envs._episode import ScoredEpisode, StepResult
from arena.envs._factory import checked_seed
from arena.envs._several import Corpora, open_factory
from arena.envs.config import EnvConfig
from arena.envs.spaces import ToolCallSpace
from arena.errors import DataError, clip
from arena.kit.files import schema_error
from arena.plugins import load
from arena.text.display import count
from arena.tools import Search, ToolResult, make_searches

RENDER_MODES = ("ansi",)


class ResearchEnv(gymnasium.Env[dict[str, Any], Any], EzPickle):
    """One topic per episode: research it as of its date, then submit an answer.

    Description:
        Each episode plays one topic. The agent learns its title, lower-cased, and its date. The
        corpus is as it was before that date: later papers, undated ones, the survey itself and
        all other surveys do not exist. The task says what is submitted: a ranking of papers, a
        mind-map, or one answer per stage.

    Actions:
        ``{"tool": name, "arguments": {...}}`` or the same as JSON text, or a call in the form of
        OpenAI's (``name``, and ``arguments`` as JSON text), with the tools of the task, see
        docs/tools.md: by default ``search``, ``read``, ``references``, ``citations``, ``select``
        and ``finish``, and ``submit`` or ``organize``, which end a stage.

    Observations:
        A dict of ``topic`` (str), ``cutoff`` (``YYYY-MM-DD``), ``stage`` (name of the task, or of
        the stage), ``result`` (JSON text of the last tool's result, or ``{"error": ...}`` saying
        what to do) and ``budget`` (``steps``, ``searches``, ``reads`` and ``characters`` left,
        integers). The first ``result`` has the instruction, and in tasks whose episodes start
        with papers their id, title and date as ``references``.

    Rewards:
        By default ``final``, the task's headline metric with the step that ends the episode.
        ``shaped`` pays the same return in steps.

    Episode end:
        Terminates when the last stage is submitted, and at ``finish``, which submits the selected
        papers where a ranking is due. Truncates when the steps are used up, or when the agent
        asks for a search, a read or characters and none are left; then the present stage has
        submitted nothing, and what was submitted before counts.

    A copy, and an unpickled environment, continue the episode and the draws.

    Args:
        corpus: A built corpus, or its directory; required. Or a list of corpora, all with the same
            settings: ids of topics are then ``NAME/ID``, with the names of their directories.
        task: Name of the task, or an `EnvConfig`.
        topics: Ids to draw episodes from, or how many of the first of all; by default every
            topic that can be scored.
        tasks: Directory that ``arena-corpus tasks`` wrote: its papers are played in place of the
            corpus' topics. For several corpora a list of as many.
        epochs: Whether `reset` draws without replacement: every topic once, in a new order for each
            epoch, before one is drawn again. By default each draw is of all topics. It is an
            option of the setting ``sampler="uniform"``.
        render_mode: ``"ansi"`` or None.
        plugins: Files of plug-ins to load first, see `arena.plugins`.
        settings: Settings of `EnvConfig` by name, such as ``retriever``, ``reward`` or
            ``max_steps``.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium declares it so
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
    }

    def __init__(
        self,
        corpus: Corpora | None = None,
        task: EnvConfig | str = "discovery",
        *,
        topics: Sequence[str] | int | None = None,
        tasks: str | Path | Sequence[str | Path] | None = None,
        epochs: bool = False,
        render_mode: str | None = None,
        plugins: Sequence[str | Path] = (),
        **settings: Any,
    ) -> None:
        load(plugins)
        if render_mode not in (None, *RENDER_MODES):
            raise DataError(f"render_mode={clip(render_mode)}: give 'ansi' or None.")
        if not isinstance(epochs, bool):
            raise DataError(f"epochs={clip(epochs)}: give True or False.")
        self.config = EnvConfig.from_settings(task, settings)
        self.render_mode = render_mode
        EzPickle.__init__(
            self, corpus, self.config,
            topics=topics, tasks=tasks, epochs=epochs, render_mode=render_mode, plugins=plugins,
        )  # fmt: skip
        self._factory = open_factory(corpus, self.config, topics, tasks)
        self.action_space: ToolCallSpace = self._factory.action_space
        self.observation_space = self._factory.observation_space
        self._episode: ScoredEpisode | None = None
        self._sampler = self.config.make_sampler(**({"epochs": True} if epochs else {}))
        self._sampler.open(self._factory.drawn)

    def __str__(self) -> str:
        topics = count(len(self.topics), "topic")
        return f"<{type(self).__name__} {self.task_name}, {topics}, {self.config.retriever}>"

    __repr__ = __str__

    @property
    def task_name(self) -> str:
        """Name of the task that is played."""
        return self.config.task

    @property
    def topics(self) -> dict[str, str]:
        """Id of each topic that episodes are drawn from -> its topic; no labels."""
        return self._factory.topics

    def fork(self) -> ResearchEnv:
        """Return a fresh environment of the same arguments, with nothing opened or built again.

        Corpus, engines, labels, spaces and what a sampler learns are shared; the episode and the
        seed are not.
        """
        env = object.__new__(type(self))  # a copy would be built from the arguments (EzPickle)
        vars(env).update(vars(self), _episode=None, _np_random=None, _sampler=self._sampler.fork())
        return env

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments, the running episode and the state of the draws."""
        running = None if self._episode is None else self.save()
        state = EzPickle.__getstate__(self)
        return {**state, "running": running, "draws": self._draws}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the environment of the arguments again, and continue the episode."""
        EzPickle.__setstate__(self, state)
        self._draws = state["draws"]
        if state["running"] is not None:
            self.restore(state["running"])

    @property
    def _draws(self) -> tuple[Any, ...]:
        """State of the next draws, as a copy."""
        return copy.deepcopy((self._np_random, self._np_random_seed, self._sampler.memory))

    @_draws.setter
    def _draws(self, draws: tuple[Any, ...]) -> None:
        self._np_random, self._np_random_seed, self._sampler.memory = copy.deepcopy(draws)

    def __deepcopy__(self, memo: Any) -> ResearchEnv:
        """Return a copy that continues the episode; corpus and engines are shared."""
        env = self.fork()
        env.action_space = copy.deepcopy(self.action_space)
        env._draws = self._draws
        if self._episode is not None:
            env.restore(self.save())
        return env

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Seed of the draws of topics, >= 0; it also begins a new epoch.
            options: ``{"topic_id": id}`` plays that topic; by default one is drawn.

        Returns:
            The observation and ``{"topic_id": id}``.
        """
        seed = checked_seed(seed)
        topic_id = self._factory.named(options)  # first: a refused call changes nothing
        super().reset(seed=seed)
        if seed is not None:
            self._sampler = self._sampler.fork()
        if topic_id is None:
            topic_id = self._sampler.draw(self.np_random)
        self._episode = episode = self._factory.start(topic_id)
        self.action_space.update_context(episode.text, episode.shown)
        return episode.observation(), {"topic_id": topic_id}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one tool call.

        A call that cannot be carried out costs a step and nothing else; the result says why.

        Args:
            action: ``{"tool": name, "arguments": {...}}`` or another form of it, see the class.

        Returns:
            Observation, reward, terminated (submitted or finished), truncated (a budget is used
            up), and info, see docs/environments.md: ``topic_id``, ``reward_terms`` (name -> value;
            they add up to the reward), ``gain`` (the share of the references in reach that this
            step was the first to show, whatever the reward), and at the end ``metrics`` (name ->
            value, empty for a topic that cannot be scored), ``answers`` (stage -> submitted answer)
            and ``termination``. If an exception ended the scoring, ``metrics`` is empty, and
            ``failed`` is its kind, message and line; ``defect`` is that of one by which an action
            could not be read.

        Raises:
            gymnasium.error.ResetNeeded: Before the first reset and after the end.
        """
        search = self.start_step(action)
        return self.finish_step(None if search is None else make_searches([search])[0])

    def start_step(self, action: Any) -> Search | None:
        """Carry out a tool call up to its search; return the search if there is one."""
        if self._episode is None or self._episode.over:
            raise ResetNeeded("the episode is over. Call reset() first.")
        return self._episode.start_step(action)

    def finish_step(self, hits: ToolResult | None) -> StepResult:
        """End the step that `start_step` began, with its hits; return as `step` does."""
        episode = self._episode
        assert episode is not None
        result = episode.finish_step(hits)
        if episode.over and episode.score is not None:
            self._sampler.ended(episode.name, episode.score)
        return result

    def save(self) -> dict[str, Any]:
        """Return the state of the episode, for `restore`: values of JSON, and no label.

        It can be taken at any time, also after the end, and changes nothing.
        """
        if self._episode is None:
            raise ResetNeeded("there is no episode yet. Call reset() first.")
        return {
            "of": dict(self._factory.identity),
            "topic_id": self._episode.name,
            "episode": self._episode.save(),
        }

    def restore(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Continue from a state that `save` returned, as often as you like; return the observation.

        What follows is what would have followed there, in the same process or in another one. A
        state is trusted: it is believed what was found and paid for. One that is refused changes
        nothing.

        Raises:
            DataError: The state is of another release, corpus, task set or other settings; or it
                is none, names papers that are out of reach, or has more budget than an episode.
        """
        if why := schema_error(state, {"of": Mapping, "topic_id": str, "episode": Mapping}):
            raise DataError(f"{why}: this is no state that save() returned.")
        for name, value in self._factory.identity.items():
            if (other := state["of"].get(name)) != value:
                raise DataError(
                    f"the state is of another {name}: {clip(other)}, this is {clip(value)}. "
                    "Restore it where it was saved, or play the episode again."
                )
        episode = self._factory.start(state["topic_id"])
        episode.restore(state["episode"])
        self._episode = episode
        self.action_space.update_context(episode.text, episode.shown)
        return episode.observation()

    def render(self) -> str | None:
        """Return the state as text for a person to read (render mode ``"ansi"``)."""
        if self.render_mode != "ansi":
            return None
        if self._episode is None:
            raise ResetNeeded("nothing to show yet. Call reset() first.")
        return self._episode.render()

    def close(self) -> None:
        """End the episode: a step needs another reset."""
        self._episode = None
