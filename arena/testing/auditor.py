"""The audit: every tool of every environment and every method of views, against the files."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gymnasium

from arena._internal.code import code_sha256
from arena._internal.options import whole
from arena._internal.progress import progress
from arena.corpus import Corpus
from arena.corpus.indexes import read_index
from arena.errors import DataError
from arena.runs.episodes import PlayedStep, play
from arena.tasks import TASKS, environment_ids, stages_of
from arena.testing.actions import schemas_of
from arena.testing.audited import AuditedEpisode, Kind, Shared, check_attributes
from arena.testing.bm25 import Bm25
from arena.testing.contract import Subject, names_of, task_of
from arena.testing.episodes import info_of, unbatched
from arena.testing.exposure import Exposure
from arena.testing.files import Facts
from arena.testing.oracles import END, ORACLES
from arena.testing.report import Report
from arena.testing.views import Views
from arena.tools import TOOLS, tool_schemas

_MOST = 10**8
_EVERY = 150  # actions between two looks at the attributes
_FINAL = ("final_obs", "final_info")
_TIGHT = {"max_steps": 25, "max_searches": 5, "max_reads": 5, "max_characters": 30_000}
_MAX_CHARACTERS = 200_000_000  # a corpus with more text gets no second BM25


def audit(
    corpus: str | Path,
    actions: int = 10_000,
    seed: int = 0,
    retrievers: Sequence[str] = ("bm25",),
    environments: Sequence[str] | None = None,
    tools: Sequence[str] = (),
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
        tools: Further tools that the environments offer, such as ``FILE.py:NAME``.

    Returns:
        All findings and how much was checked. The audit does not stop at a finding.

    Raises:
        CorpusError: If the corpus cannot be opened.
        UnknownNameError: If an engine, environment or tool does not exist.
        DataError: If another argument is out of range.
    """
    begun = time.perf_counter()
    whole("actions", actions, 1, _MOST)
    whole("seed", seed, 0, _MOST)
    engines = tuple(names_of("retrievers", retrievers))
    ids = environment_ids() if environments is None else names_of("environments", environments)
    if not engines or not ids:
        raise DataError(f"retrievers={engines}, environments={ids}: name at least one of each.")
    further = [TOOLS.resolve(name) for name in names_of("tools", tools)]
    for name in further:
        TOOLS.get(name)
    opened = Corpus.open(corpus)
    for name in engines:
        opened.retriever(name)
    facts, log = Facts(opened.directory), Report()
    inputs = {name: facts.digests(name)[1] for name in facts.inputs}
    audited = kinds(ids, str(opened.directory), inputs)
    for check, file, what in facts.broken_rules():
        log.add(check, file, "", what)
    log.counts["dates derived again"] = len(facts.papers) + len(facts.surveys)
    log.counts["links derived again"] = len(facts.links)
    log.counts["labels derived again"] = sum(len(s.references) for s in facts.surveys.values())
    scorers = _scorers(opened, facts, engines)
    # From late to early, so that what one episode leaves behind is out of the next one's reach.
    surveys = cycle(sorted(facts.surveys, key=lambda s: (facts.surveys[s].day, s), reverse=True))
    views, unproven = max(1, actions // 10), set()
    with progress(total=actions + views, desc="audit", unit="action") as bar:
        shared = Shared(facts, engines, scorers, log, Exposure(facts), surveys, bar.update)
        for number, kind in enumerate(audited):
            share = actions * (number + 1) // len(audited) - actions * number // len(audited)
            rng = random.Random(f"{seed} {kind.name}")
            driver = _Driver(kind, str(opened.directory), shared, rng, further)
            unproven |= driver.tools.keys() - ORACLES.keys()
            driver.play(share)
        attacked = Views(opened, shared, random.Random(f"{seed} views"))
        for _ in range(views):
            attacked.ask()
            bar.update(1)
    for check, tool, what in shared.exposure.over_many_calls():
        log.add(check, "all episodes", tool, what)
    log.counts["surveys"], log.counts["cutoffs"] = len(log.surveys), len(log.cutoffs)
    indexes = {f"index {name}": opened.index_sha256(name) for name in engines}
    tasks = str(opened.manifest["tasks_sha256"])
    code = code_sha256(rooms=("testing",))
    log.hashes = {"corpus": opened.sha256, "tasks": tasks, **indexes, "code": code}
    log.settings = {
        "actions": actions,
        "seed": seed,
        "retrievers": list(engines),
        "scores_not_compared": [name for name in engines if name not in scorers],
        "tools_without_oracle": sorted(unproven),
    }
    log.seconds = time.perf_counter() - begun
    return log


def kinds(
    env_ids: Sequence[str], corpus: str, inputs: Mapping[str, bool] = MappingProxyType({})
) -> list[Kind]:
    """Return the environments to audit: every id alone, with small budgets, and as vectors.

    Args:
        env_ids: Gymnasium ids.
        corpus: Directory of a corpus.
        inputs: Name of an input that the corpus has digests of -> whether they are of all papers.
    """
    alone, tight, vectors = [], [], []
    for env_id in env_ids:
        subject = Subject(env_id, corpus, {"surveys": 1})
        spec, name = subject.spec, task_of(subject.make())
        stages = tuple((stage, task.answer) for stage, task in stages_of(name))
        default = TASKS.get(name).references
        own = [Kind(spec.id, stages, starts_with_references=default == "oracle")]
        if default:
            other = "found" if default == "oracle" else "oracle"
            own.append(Kind(spec.id, stages, {"references": other}, other == "oracle"))
        usable = [name for name, complete in inputs.items() if complete or default == "oracle"]
        own += [own[0]._replace(arguments={"show": name}) for name in usable]
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
        rng: Source of randomness.
        tools: Names of further tools.

    Attributes:
        tools: Schemas of the tools of the environment.
    """

    def __init__(
        self, kind: Kind, corpus: str, shared: Shared, rng: random.Random, tools: Sequence[str]
    ) -> None:
        self._kind, self._shared, self._rng = kind, shared, rng
        self._acted, self._looked = 0, -_EVERY
        by_id = shared.facts.by_id
        headings = (text for s in shared.facts.surveys.values() for text in s.headings)
        self._headings = frozenset(h for h in headings if len(h) > 12 and h not in by_id)
        arguments = {
            "corpus": corpus,
            "retriever": shared.retrievers[0],
            "retrievers": shared.retrievers[1:],
            "surveys": list(shared.facts.surveys),
            "render_mode": "ansi",
            "max_k": 100,
            **({"tools": tools} if tools else {}),
            **kind.arguments,
        }
        vector = {"num_envs": kind.vector} if kind.vector else {}
        make: Callable[..., Any] = gymnasium.make_vec if kind.vector else gymnasium.make
        self._env = make(kind.id, **vector, **arguments)
        self._given = copy.deepcopy(tool_schemas(self._env))
        self.tools = copy.deepcopy(schemas_of(self._env))

    def play(self, actions: int) -> None:
        """Act `actions` times, in one episode after the other."""
        play_some = self._play_vector if self._kind.vector else self._play_scalar
        while self._acted < actions and play_some(actions):
            pass
        self._shared.advance(max(0, actions - self._acted))
        self._env.close()

    def _play_scalar(self, actions: int) -> bool:
        """Play one episode, at most until `actions` are done; return whether to go on."""
        survey, seed = next(self._shared.surveys), self._rng.randrange(2**31)
        episode = self._episode(survey)
        looks = self._looked + _EVERY <= self._acted  # at the start and the end of this episode
        steps = play(self._env, episode.act, survey, seed)
        number = -1
        while number < 0 or (self._acted < actions and not episode.over):
            try:
                step = next(steps)
            except Exception as error:
                episode.crash(error)
                self._done(number >= 0)
                return number >= 0
            number += 1
            self._done(number > 0)
            episode.take(step)
            if number and number % 10 == 0:
                episode.check_render(self._env.render(), step.observation)
            if looks and not number:
                self._look(episode)
        if looks:
            self._look(episode)
        return True

    def _play_vector(self, actions: int) -> bool:
        """Play in all environments of a vector, which reset themselves."""
        env, places = self._env, range(self._kind.vector)
        episodes: list[AuditedEpisode] = []
        try:
            observations, infos = env.reset(seed=self._rng.randrange(2**31))
            episodes = [self._started(observations, infos, place) for place in places]
            while self._acted < actions:
                sent = [episode.act(None) for episode in episodes]
                acting = [not episode.over for episode in episodes]
                self._done(sum(acting))
                observations, rewards, terminations, truncations, infos = env.step(sent)
                self._check_keys(infos, episodes[0])
                for i in places:
                    if not acting[i]:  # the action was ignored, and a new episode began
                        episodes[i] = self._started(observations, infos, i)
                        continue
                    over = bool(terminations[i]), bool(truncations[i])
                    anew = any(over) and self._kind.same_step
                    one = infos["final_obs"][i] if anew else unbatched(observations, i)
                    info = info_of(infos["final_info"] if anew else infos, i)
                    step = PlayedStep(sent[i], one, float(rewards[i]), *over, info)
                    episodes[i].take(step)
                    if anew:
                        episodes[i] = self._started(observations, infos, i)
                if self._acted - self._looked >= _EVERY:
                    self._look(episodes[0])
            self._look(episodes[0])
        except Exception as error:
            for episode in episodes or [self._episode(next(self._shared.surveys))]:
                episode.crash(error)
            return bool(episodes)
        return True

    def _started(
        self, observations: Mapping[str, Any], infos: Mapping[str, Any], place: int
    ) -> AuditedEpisode:
        info = {name: v for name, v in info_of(infos, place).items() if name not in _FINAL}
        surveys = self._shared.facts.surveys
        episode = self._episode(info["survey"] if info.get("survey") in surveys else min(surveys))
        episode.take(PlayedStep(None, unbatched(observations, place), 0.0, False, False, info))
        return episode

    def _episode(self, survey_id: str) -> AuditedEpisode:
        """Begin an episode with fresh schemas, which the agent then edits."""
        episode = AuditedEpisode(self._kind, self.tools, survey_id, self._shared, self._rng)
        schemas = tool_schemas(self._env)
        if schemas != self._given:
            what = "the tool schemas show what an agent wrote into those of an earlier episode"
            episode.reporter("tool_schemas()")("isolation", what)
        _edit(schemas)
        return episode

    def _done(self, actions: int) -> None:
        self._acted += actions
        self._shared.advance(actions)

    def _look(self, episode: AuditedEpisode) -> None:
        self._looked = self._acted
        report, facts = episode.reporter("public attributes"), self._shared.facts
        count = check_attributes(self._env, facts, self._headings, report)
        self._shared.log.counts["attributes looked at"] += count

    def _check_keys(self, infos: Mapping[str, Any], episode: AuditedEpisode) -> None:
        """Check the keys of the infos, also those that a mask hides."""
        allowed = {*END, *(_FINAL if self._kind.same_step else ())}
        allowed |= {"digests"} if "show" in self._kind.arguments else set()
        if more := {name.removeprefix("_") for name in infos} - allowed:
            episode.reporter("step()")("info", f"infos has the keys {sorted(more)}")


def _edit(value: Any) -> None:
    """Write into every dict of a value of JSON."""
    for item in list(value.values() if isinstance(value, dict) else value):
        if isinstance(item, dict | list):
            _edit(item)
    if isinstance(value, dict):
        value["x-edited"] = "by an agent"


def _scorers(corpus: Corpus, facts: Facts, names: tuple[str, ...]) -> dict[str, Bm25]:
    """Return a second BM25 for each index that is one, unless there is too much text."""
    texts = (text for number in range(len(facts.papers)) for text in facts.texts(number))
    if sum(map(len, texts)) > _MAX_CHARACTERS:
        return {}
    single = [name for name in names if "(" not in name]  # no combination
    manifests = {n: read_index(corpus.directory, n, corpus.sha256) for n in single}
    return {
        name: Bm25(facts, tuple(manifest["fields"]))
        for name, manifest in manifests.items()
        if manifest["engine"] == "bm25"
    }
