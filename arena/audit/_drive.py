"""Play episodes in the environments as Gymnasium makes them, one at a time and many at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from arena.audit._actions import MAX_K, Menu
from arena.audit._attributes import check_attributes, check_render
from arena.audit._bm25 import Bm25
from arena.audit._episode import Episode, Step, labels_of
from arena.audit._facts import Facts, Reach
from arena.audit._info import END
from arena.audit._kinds import Kind
from arena.audit._report import Log
from arena.audit._results import Results

_EVERY = 150  # actions between two looks at the attributes
_FINAL = ("final_obs", "final_info")


class Shared(NamedTuple):
    """What the drivers of one audit share.

    Attributes:
        corpus: its directory.
        facts: the papers.
        retrievers: engines; the first is the environments' own.
        scorers: of those that are BM25.
        turns: surveys to play, for ever.
        told: what agents have been told, see `Episode`.
        log: takes findings.
        advance: called with a number of actions done.
    """

    corpus: str
    facts: Facts
    retrievers: tuple[str, ...]
    scorers: Mapping[str, Bm25]
    turns: Iterator[str]
    told: dict[tuple[str, str], set[str]]
    log: Log
    advance: Callable[[int], Any]


class Driver:
    """Plays one kind of environment.

    Args:
        kind: which.
        shared: with all others.
        rng: the source of chance.
    """

    def __init__(self, kind: Kind, shared: Shared, rng: random.Random) -> None:
        self._kind, self._shared, self._rng = kind, shared, rng
        self._acted, self._looked = 0, -_EVERY
        facts = shared.facts
        self._surveys = list(facts.surveys)
        self._headings = frozenset(
            label
            for survey in facts.surveys.values()
            for label in labels_of(survey)
            if label not in facts.by_id and label not in facts.surveys
        )
        arguments = {
            "corpus": shared.corpus,
            "retriever": shared.retrievers[0],
            "retrievers": shared.retrievers[1:],
            "surveys": self._surveys,
            "render_mode": "ansi",
            "max_k": MAX_K,
            **kind.arguments,
        }
        self._env: Any
        if kind.vector:
            self._env = gymnasium.make_vec(kind.id, num_envs=kind.vector, **arguments)
        else:
            self._env = gymnasium.make(kind.id, **arguments)

    def play(self, actions: int) -> None:
        """Act `actions` times, in one episode after the other."""
        done = 0
        while done < actions:
            one = self._play_vector if self._kind.vector else self._play_scalar
            done += one(actions - done)
        self._env.close()

    def _play_scalar(self, most: int) -> int:
        """Play one episode, or as much of it as is left; return the number of actions."""
        survey_id = next(self._shared.turns)
        env, options = self._env, {"survey": survey_id}
        episode = self._episode(survey_id)
        try:
            observation, info = env.reset(seed=self._rng.randrange(2**31), options=options)
        except Exception as error:
            episode.crash(error)
            return most
        episode.begin(observation, info)
        looks = self._looked + _EVERY <= self._acted  # of this episode: at the start and the end
        if looks:
            self._looked = self._acted
            self._look(episode)
        done = 0
        while done < most and not episode.over:
            action = episode.next()
            done += 1
            self._acted += 1
            self._shared.advance(1)
            try:
                step = Step(*env.step(action))
            except Exception as error:
                episode.crash(error)
                return done
            episode.take(step)
            if done % 10 == 0:
                labels = [*labels_of(episode.survey), episode.survey.id]
                result = str(step.observation.get("result"))
                check_render(env, labels, result, episode.say("render()"))
        if looks:
            self._look(episode)
        return done

    def _play_vector(self, most: int) -> int:
        """Play in all environments of a vector, with resets of their own, from one reset on."""
        env, number = self._env, self._kind.vector
        try:
            observations, infos = env.reset(seed=self._rng.randrange(2**31))
        except Exception as error:
            self._episode(self._surveys[0]).crash(error)
            return most
        episodes = [self._begun(observations, infos, i) for i in range(number)]
        done = looked = 0
        while done < most:
            actions = [episode.next() for episode in episodes]
            acting = [not episode.over for episode in episodes]
            done += sum(acting)
            self._shared.advance(sum(acting))
            try:
                observations, rewards, terminations, truncations, infos = env.step(actions)
            except Exception as error:
                for episode in episodes:
                    episode.crash(error)
                return done
            self._keys(infos, episodes[0])
            for i, episode in enumerate(episodes):
                if not acting[i]:  # that action was passed over, and a new episode began
                    episodes[i] = self._begun(observations, infos, i)
                    continue
                ends = bool(terminations[i]), bool(truncations[i])
                anew = any(ends) and self._kind.same_step
                if anew:
                    one, info = infos["final_obs"][i], _info(infos["final_info"], i)
                else:
                    one, info = _one(observations, i), _info(infos, i)
                episode.take(Step(one, float(rewards[i]), *ends, info))
                if anew:
                    episodes[i] = self._begun(observations, infos, i)
            if done - looked >= _EVERY:
                looked = done
                self._look(episodes[0])
        self._look(episodes[0])
        return done

    def _begun(self, observations: Mapping[str, Any], infos: Mapping[str, Any], i: int) -> Episode:
        info = {name: value for name, value in _info(infos, i).items() if name not in _FINAL}
        known = info.get("survey") in self._shared.facts.surveys
        episode = self._episode(info["survey"] if known else self._surveys[0])
        episode.begin(_one(observations, i), info)
        return episode

    def _episode(self, survey_id: str) -> Episode:
        kind, shared = self._kind, self._shared
        survey, engines = shared.facts.surveys[survey_id], shared.retrievers
        reach = Reach(shared.facts, survey.date, survey.day, frozenset((survey_id,)))
        menu = Menu(shared.facts, reach, survey, kind.tools, engines, self._rng)
        results = Results(reach, shared.scorers, engines[0], shared.log)
        return Episode(kind, survey, reach, menu, results, shared.told, shared.log)

    def _look(self, episode: Episode) -> None:
        say = episode.say("public attributes")
        looked = check_attributes(self._env, self._shared.facts, self._headings, say)
        self._shared.log.counts["attributes looked at"] += looked

    def _keys(self, infos: Mapping[str, Any], episode: Episode) -> None:
        """Check also what a mask would hide."""
        allowed = {*END, *_FINAL} if self._kind.same_step else END
        if more := {name.removeprefix("_") for name in infos} - allowed:
            episode.say("step()")("info", f"infos has the keys {sorted(more)}")


def _one(observations: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Return one observation of a batch."""
    return {
        name: {key: column[i] for key, column in value.items()}
        if isinstance(value, Mapping)
        else value[i]
        for name, value in observations.items()
    }


def _info(infos: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Return what one environment put into the infos of a vector."""
    found: dict[str, Any] = {}
    for name, value in infos.items():
        mask = infos.get(f"_{name}")
        if isinstance(mask, np.ndarray) and mask[i]:
            found[name] = _info(value, i) if isinstance(value, Mapping) else value[i]
    return found
