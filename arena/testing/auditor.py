"""The audit: every tool of every environment and every method of views, against the files."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium

from arena._internal.code import code_sha256
from arena._internal.progress import progress
from arena.corpus import Corpus
from arena.corpus.indexes import read_index
from arena.errors import DataError, clip
from arena.tasks import TASKS, environment_ids, stages_of
from arena.testing.actions import schemas_of
from arena.testing.audited import Episode, Kind, Shared, Step, check_attributes
from arena.testing.bm25 import MAX_CHARACTERS, Bm25, characters
from arena.testing.contract import find_spec, task_of
from arena.testing.episodes import info_of, unbatched
from arena.testing.exposure import Exposure
from arena.testing.files import Facts
from arena.testing.oracles import END, ORACLES
from arena.testing.report import Report
from arena.testing.stored import check_files
from arena.testing.unproven import References
from arena.testing.views import Views

_MOST = 10**8
_MAX_K = 100
_EVERY = 150  # actions between two looks at the attributes
_FINAL = ("final_obs", "final_info")
_TIGHT = {"max_steps": 25, "max_searches": 5, "max_reads": 5, "max_characters": 30_000}


def audit(
    corpus: str | Path,
    actions: int = 10_000,
    seed: int = 0,
    retrievers: Sequence[str] = ("bm25",),
    environments: Sequence[str] | None = None,
) -> Report:
    """Attack every tool of every environment over a corpus, and compare each answer with the files.

    A tenth as many views are opened besides, at random cutoffs and without random papers.

    Args:
        corpus: Directory of a built corpus. It is only read; all its papers are held in memory.
        actions: Number of actions to send to environments, from 1 to 100,000,000.
        seed: Seed of all randomness, from 0 to 100,000,000. The same corpus, code and arguments
            give the same report, except for the duration.
        retrievers: Engines to search with; the first is the environments' own.
        environments: Gymnasium ids, ``module:id`` for those of other distributions; by default
            the environments of all registered tasks.

    Returns:
        All findings and how much was checked. The audit does not stop at a finding.

    Raises:
        CorpusError: If the corpus cannot be opened.
        UnknownNameError: If an engine or environment does not exist.
        DataError: If another argument is out of range.
    """
    begun = time.perf_counter()
    for name, value, least in (("actions", actions, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
            raise DataError(f"{name}={clip(value)}: give an integer from {least} to {_MOST}.")
    if isinstance(retrievers, str) or not retrievers:
        raise DataError(f"retrievers={clip(retrievers)}: give a list of names.")
    opened = Corpus.open(corpus)
    names = tuple(dict.fromkeys(retrievers))
    for name in names:
        opened.retriever(name)
    env_ids = environment_ids() if environments is None else environments
    audited = kinds(env_ids, str(opened.directory))
    facts, log = Facts(opened.directory), Report()
    check_files(facts, log)
    scorers = _scorers(opened, facts, names)
    references = References()
    shared = Shared(facts, Exposure(facts), names, scorers, {}, references, log)
    surveys = random.Random(f"{seed} surveys").sample(list(facts.surveys), len(facts.surveys))
    turns = itertools.cycle(surveys)
    views, unproven = max(1, actions // 10), set()
    with progress(total=actions + views, desc="audit", unit="action") as bar:
        for number, kind in enumerate(audited):
            share = actions * (number + 1) // len(audited) - actions * number // len(audited)
            rng = random.Random(f"{seed} {kind.name}")
            driver = _Driver(kind, str(opened.directory), shared, turns, rng, bar.update)
            unproven |= driver.tools.keys() - ORACLES.keys()
            driver.play(share)
        attacked = Views(opened, shared, random.Random(f"{seed} views"))
        for _ in range(views):
            attacked.ask()
            bar.update(1)
    references.report(log)
    log.counts["surveys"], log.counts["cutoffs"] = len(log.surveys), len(log.cutoffs)
    indexes = {f"index {name}": opened.index_sha256(name) for name in names}
    tasks = str(opened.manifest["tasks_sha256"])
    code = code_sha256(rooms=("testing",))
    log.hashes = {"corpus": opened.sha256, "tasks": tasks, **indexes, "code": code}
    log.settings = {
        "actions": actions,
        "seed": seed,
        "retrievers": list(names),
        "scores_not_compared": [name for name in names if name not in scorers],
        "tools_without_oracle": sorted(unproven),
    }
    log.sort()
    log.seconds = time.perf_counter() - begun
    return log


def kinds(env_ids: Sequence[str], corpus: str) -> list[Kind]:
    """Return the environments to audit: every id alone, with small budgets, and as vectors.

    Args:
        env_ids: Gymnasium ids.
        corpus: Directory of a corpus.
    """
    alone, tight, vectors = [], [], []
    for env_id in env_ids:
        spec = find_spec(env_id)
        with gymnasium.make(spec, corpus=corpus, surveys=1) as env:
            name = task_of(env)
        stages = tuple((stage, task.answer) for stage, task in stages_of(name))
        default = TASKS.get(name).references
        own = [Kind(spec.id, stages, starts_with_references=default == "oracle")]
        if default:
            other = "found" if default == "oracle" else "oracle"
            own.append(Kind(spec.id, stages, {"references": other}, other == "oracle"))
        alone += own
        tight.append(own[0]._replace(arguments=_TIGHT))
        if spec.vector_entry_point is not None:
            vectors += [kind._replace(vector=4) for kind in own]
            if len(stages) > 1:
                again = {"autoreset_mode": "SameStep", "max_steps": 25}
                vectors.append(own[0]._replace(vector=4, arguments=again))
    return [*alone, *tight, *vectors]


class _Driver:
    """Plays one kind of environment.

    Args:
        kind: The environment.
        corpus: Directory of the corpus.
        shared: What all episodes share.
        turns: Surveys to play, without end.
        rng: Source of randomness.
        advance: Called with a number of actions that are done.

    Attributes:
        tools: Schemas of the tools of the environment.
    """

    def __init__(
        self,
        kind: Kind,
        corpus: str,
        shared: Shared,
        turns: Iterator[str],
        rng: random.Random,
        advance: Callable[[int], Any],
    ) -> None:
        self._kind, self._shared, self._turns, self._rng = kind, shared, turns, rng
        self._advance, self._acted, self._looked = advance, 0, -_EVERY
        facts = shared.facts
        self._surveys = list(facts.surveys)
        self._headings = frozenset(
            heading
            for survey in facts.surveys.values()
            for heading in survey.headings
            if len(heading) > 12 and heading not in facts.by_id
        )
        arguments = {
            "corpus": corpus,
            "retriever": shared.retrievers[0],
            "retrievers": shared.retrievers[1:],
            "surveys": self._surveys,
            "render_mode": "ansi",
            "max_k": _MAX_K,
            **kind.arguments,
        }
        self._env: Any
        if kind.vector:
            self._env = gymnasium.make_vec(kind.id, num_envs=kind.vector, **arguments)
        else:
            self._env = gymnasium.make(kind.id, **arguments)
        self.tools = schemas_of(self._env)

    def play(self, actions: int) -> None:
        """Act `actions` times, in one episode after the other."""
        done = 0
        while done < actions:
            one = self._play_vector if self._kind.vector else self._play_scalar
            done += one(actions - done)
        self._env.close()

    def _play_scalar(self, most: int) -> int:
        """Play at most `most` actions of one episode; return how many."""
        survey_id = next(self._turns)
        env, episode = self._env, self._episode(survey_id)
        try:
            seed = self._rng.randrange(2**31)
            observation, info = env.reset(seed=seed, options={"survey": survey_id})
        except Exception as error:
            episode.crash(error)
            return most
        episode.begin(observation, info)
        looks = self._looked + _EVERY <= self._acted  # at the start and the end of this episode
        if looks:
            self._looked = self._acted
            self._look(episode)
        done = 0
        while done < most and not episode.over:
            action = episode.next()
            done += 1
            self._acted += 1
            self._advance(1)
            try:
                step = Step(*env.step(action))
            except Exception as error:
                episode.crash(error)
                return done
            episode.take(step)
            if done % 10 == 0:
                episode.check_render(env, step)
        if looks:
            self._look(episode)
        return done

    def _play_vector(self, most: int) -> int:
        """Play in all environments of a vector, which reset themselves; return how many actions."""
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
            self._advance(sum(acting))
            try:
                observations, rewards, terminations, truncations, infos = env.step(actions)
            except Exception as error:
                for episode in episodes:
                    episode.crash(error)
                return done
            self._check_keys(infos, episodes[0])
            for i, episode in enumerate(episodes):
                if not acting[i]:  # the action was ignored, and a new episode began
                    episodes[i] = self._begun(observations, infos, i)
                    continue
                ends = bool(terminations[i]), bool(truncations[i])
                anew = any(ends) and self._kind.same_step
                if anew:
                    one, info = infos["final_obs"][i], info_of(infos["final_info"], i)
                else:
                    one, info = unbatched(observations, i), info_of(infos, i)
                episode.take(Step(one, float(rewards[i]), *ends, info))
                if anew:
                    episodes[i] = self._begun(observations, infos, i)
            if done - looked >= _EVERY:
                looked = done
                self._look(episodes[0])
        self._look(episodes[0])
        return done

    def _begun(self, observations: Mapping[str, Any], infos: Mapping[str, Any], i: int) -> Episode:
        info = {name: value for name, value in info_of(infos, i).items() if name not in _FINAL}
        known = info.get("survey") in self._shared.facts.surveys
        episode = self._episode(info["survey"] if known else self._surveys[0])
        episode.begin(unbatched(observations, i), info)
        return episode

    def _episode(self, survey_id: str) -> Episode:
        return Episode(self._kind, self.tools, survey_id, self._shared, self._rng)

    def _look(self, episode: Episode) -> None:
        report = episode.reporter("public attributes")
        count = check_attributes(self._env, self._shared.facts, self._headings, report)
        self._shared.log.counts["attributes looked at"] += count

    def _check_keys(self, infos: Mapping[str, Any], episode: Episode) -> None:
        """Check the keys of the infos, also those that a mask hides."""
        allowed = {*END, *_FINAL} if self._kind.same_step else END
        if more := {name.removeprefix("_") for name in infos} - allowed:
            episode.reporter("step()")("info", f"infos has the keys {sorted(more)}")


def _scorers(corpus: Corpus, facts: Facts, names: tuple[str, ...]) -> dict[str, Bm25]:
    """Return a second BM25 for each index that is one, unless there is too much text."""
    scorers: dict[str, Bm25] = {}
    if characters(facts) > MAX_CHARACTERS:
        return scorers
    for name in names:
        if "(" in name:  # a combination
            continue
        manifest = read_index(corpus.directory, name, corpus.sha256)
        if manifest["engine"] == "bm25":
            scorers[name] = Bm25(facts, tuple(manifest["fields"]))
    return scorers
