"""The shared state of an environment's episodes, and the episodes made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Dict, Discrete

from arena import trec
from arena.corpus import Corpus
from arena.corpus.digests import TITLE_ABSTRACT, Digests
from arena.corpus.view import CorpusView
from arena.envs._episode import ScoredEpisode, Scoring
from arena.envs._results import DEFAULT_POOL_CHARACTERS, PaperPool
from arena.envs.config import EnvConfig
from arena.envs.spaces import TextSpace, ToolCallSpace
from arena.errors import DataError, NoLabelsError, clip, did_you_mean
from arena.kit.files import read_json, sha256_json
from arena.metrics import EXTRACTOR
from arena.paper_texts import PAPER_TEXTS
from arena.papers import MAX_LISTED
from arena.rewards import MetricReward
from arena.samplers import Drawn
from arena.tasks import TaskSet, choose_topics, needs_of, text_of, with_text
from arena.tools import MAX_QUERIES, MAX_QUERY, Episode
from arena.version import __version__

# 1000 hits of each query with titles and ids of the greatest length, all escaped
_MAX_TEXT = 4_000_000 * MAX_QUERIES


def checked_seed(seed: object) -> int | None:
    """Return a seed as Gymnasium takes it: None or an integer >= 0."""
    is_number = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if seed is not None and (not is_number or seed < 0):  # type: ignore[operator]
        raise DataError(f"seed={clip(seed)}: give an integer >= 0, or None to draw one.")
    return None if seed is None else int(seed)  # type: ignore[call-overload]


class EpisodeFactory:
    """Makes the episodes of an environment, which share corpus, topics, engines and tools."""

    def __init__(
        self,
        corpus: Corpus | str | Path | None,
        config: EnvConfig,
        topics: Sequence[str] | int | None,
        tasks: str | Path | None,
    ) -> None:
        self._config = config
        self._prompt = config.prompt or "title"
        self.corpus = Corpus.resolve(corpus, tasks)  # type: ignore[arg-type]  # None is refused there
        self.tasks = TaskSet(self.corpus, config.references, config.since)
        self._check_metrics()
        self.task = config.resolved_task.on(self.tasks)
        reads = any(reward.reads_results for reward in config.rewards)
        self._scoring = Scoring(
            self.task, self.tasks, config.rewards, config.encoder, reads, bool(config.empty_gold)
        )
        self._starting_papers = None
        self._given: dict[str, list[dict[str, str]]] = {}  # listed once, for all forks
        if references := config.references or self.task.references:
            self._starting_papers = starting_papers(references, config.start_from, self.corpus)
        if self._starting_papers is not None:
            self._starting_papers.check(self.tasks)
        self._digests = (
            None if config.paper_text == TITLE_ABSTRACT else self._digests_of(config.paper_text)
        )
        engine = self.corpus.retriever(config.retriever, **config.retriever_options)
        self._engines = {config.retriever: engine}
        for name in config.retrievers:
            if name not in self._engines:
                self._engines[name] = self.corpus.retriever(name)
        self.pool = self._topics(topics)
        self._budget = {
            name.removeprefix("max_"): value
            for name, value in config.limits.items()
            if name not in ("max_k", "max_refused", "max_result_characters")
        }
        self._most = config.max_result_characters
        self._instructions = self.task.instructions(config.references, config.since)
        offered = self.task.offered(config.references, config.tools)
        bounds, choices = {"k": (1, config.max_k)}, {"retriever": tuple(self._engines)}
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

    @cached_property
    def identity(self) -> dict[str, str]:
        """The parts that a saved state of an episode depends on besides the topic, by name."""
        names = dict.fromkeys(self._engines)
        engines = {name: self.corpus.index_sha256(name) for name in names}
        return {
            "release": __version__,
            "corpus": self.corpus.sha256,
            "task set": str(self.tasks.sha256),
            "index": sha256_json(engines),
            "settings": self._config.sha256,
        }

    def named(
        self, options: Mapping[str, Any] | None, known: Sequence[str] = ("topic_id",)
    ) -> str | None:
        """Return the id of the topic that ``reset(options=...)`` names, or None."""
        options = options or {}
        for key in options:
            if key != "topic_id":
                raise DataError(f"reset has no option {clip(key)}.{did_you_mean(key, known)}")
        topic_id = options.get("topic_id")
        if topic_id is not None:
            self._text(topic_id)
        return topic_id

    @property
    def topics(self) -> dict[str, str]:
        """Id of each topic of the pool -> its text."""
        return {topic_id: self._text(topic_id) for topic_id in self.pool}

    @property
    def drawn(self) -> dict[str, Drawn]:
        """Id of each topic of the pool -> the topic, for a sampler."""
        return {topic_id: Drawn(self.tasks, topic_id) for topic_id in self.pool}

    def start(self, topic_id: str) -> ScoredEpisode:
        """Return a new episode of a topic."""
        topic = self.tasks.topic(topic_id)
        views: dict[str, CorpusView] = {}
        if self.tasks.expert:
            listed = self.corpus.listed(topic.date, self.tasks.expert_papers(topic_id))
            views = dict.fromkeys(self._engines, listed)

        def view_of(name: str) -> CorpusView:
            if name not in views:
                views[name] = self.corpus.at(
                    topic.date, exclude=[topic.id], retriever=self._engines[name]
                )
            return views[name]

        state = Episode(
            view=view_of(next(iter(self._engines))),
            view_of=view_of,
            stages=self.task.stages,
            tools=self.tools,
            instructions=self._instructions,
            budget=dict(self._budget),
        )
        references = None
        if self._starting_papers is not None:
            if topic_id not in self._given:
                ids = self._starting_papers.papers(self.tasks, state.view, topic_id)
                self._given[topic_id] = state.listed(ids)
            references = self._given[topic_id]
            state.given = frozenset(paper["id"] for paper in references)
        if self._digests is not None:
            state.digests = self._digests.shown(state.given)
        text, most, pool = self._text(topic_id), self._most, None
        if self._config.observation == "pool":
            pool = PaperPool(
                state.view, self.corpus.document_number, most or DEFAULT_POOL_CHARACTERS
            )
            most = None
        return ScoredEpisode(
            topic, state, self.tools, self._scoring, references, text, most, pool,
            self._config.max_refused,
        )  # fmt: skip

    def _text(self, topic_id: str) -> str:
        topic = self.tasks.topic(topic_id)
        if (text := text_of(topic, self._prompt)) is None:
            has = ", ".join(topic.prompts) or "none"
            raise DataError(
                f"prompt={clip(self._prompt)}: the topic {clip(topic_id)} has no such prompt "
                f"(it has: {has}). Give another prompt, or 'title'."
            )
        return text

    def _digests_of(self, name: str) -> Digests:
        if name not in [*self.corpus.manifest.get("digests", {})]:
            PAPER_TEXTS.get(name)
        digests = self.corpus.digests(name)
        if not digests.complete and self._starting_papers != StartingPapers(None):
            raise DataError(
                f"paper_text={clip(name)}: only papers that surveys cite have a digest here, "
                "so a digest would be a label. Make those of all papers (`arena-corpus digest "
                "--all`), or let episodes begin with the survey's own references."
            )
        return digests

    def _topics(self, topics: Sequence[str] | int | None) -> list[str]:
        asked = with_text(self.tasks, self._prompt)
        if isinstance(topics, str):
            asked = [s for s in asked if self.task.can_score(self.tasks, s)]
        if topics is not None:
            chosen = choose_topics(self.tasks, topics, asked)
            for topic_id in chosen:
                self._text(topic_id)
            return chosen
        empty = self._config.empty_gold
        pool = [
            s for s in asked
            if self.task.can_score(self.tasks, s) or (empty and not self.tasks.gold(s).gains)
        ]  # fmt: skip
        if pool:
            return pool
        raise NoLabelsError(
            f"no topic of {str(self.corpus.directory)!r} has {self.task.lacking(self.tasks)}, "
            f"which the task {self.task.name!r} needs. Name `topics` to play without a score, or "
            "build a corpus whose topics have it."
        )

    def _check_metrics(self) -> None:
        """Refuse metrics that no answer of the task has, or whose packages are missing."""
        from arena.mindmap import identity

        config = self._config
        paid = [each.metric for each in config.rewards if isinstance(each, MetricReward)]
        config.resolved_task.columns(paid)
        needs = needs_of([*config.resolved_task.own_metrics, *paid])
        if needs & {"encoder", "extractor"}:  # reports a missing package now, not at the end
            identity(config.encoder, EXTRACTOR if "extractor" in needs else None)


class StartingPapers(NamedTuple):
    """Papers an episode starts with: topic id -> paper ids, best first, or none.

    No rankings stand for the survey's own references, or with `TaskSet.expert` for the papers of
    its mind-map, in document order, which reveals nothing but their dates.
    """

    rankings: Mapping[str, Sequence[str]] | None

    def papers(self, tasks: TaskSet, view: CorpusView, topic_id: str) -> list[str]:
        """Return ids of papers that exist in `view`, in the order in which they are listed."""
        if tasks.expert:
            papers: Iterable[str] = tasks.expert_papers(topic_id)
        elif self.rankings is None:
            papers = tasks.gold(topic_id).gains
        else:
            papers = dict.fromkeys(self.rankings.get(topic_id, ()))
        return [paper_id for paper_id in papers if paper_id in view][:MAX_LISTED]

    def check(self, tasks: TaskSet) -> None:
        """Raise DataError for a run of other topics: every episode would start with nothing."""
        if self.rankings and not self.rankings.keys() & tasks.topics.keys():
            first = next(iter(self.rankings))
            raise DataError(
                f"start_from names {clip(first)} and no survey of this corpus."
                f"{did_you_mean(first, tasks.topics)} Give a run on this corpus."
            )


def starting_papers(
    references: str, found: Mapping[str, Sequence[str]] | str | Path | None, corpus: Corpus
) -> StartingPapers | None:
    """Return the starting papers of the environment's settings `references` and `start_from`."""
    if found is None:
        return None if references == "run" else StartingPapers(None)
    if references != "run":
        raise DataError(f"start_from=... goes with references='run', not with {references!r}.")
    if isinstance(found, Mapping):
        for topic_id, papers in found.items():
            if not isinstance(papers, list | tuple) or not all(isinstance(p, str) for p in papers):
                raise DataError(f"start_from[{clip(topic_id)}]={clip(papers)}: give a list of ids.")
        return StartingPapers({topic_id: tuple(papers) for topic_id, papers in found.items()})
    if not isinstance(found, str | Path):
        raise DataError(f"start_from={clip(found)}: give a run, or a mapping of topics to papers.")
    path = Path(found)
    _refuse_other_corpus(path if path.is_dir() else path.parent, corpus)
    run = trec.read_run(path / "run.trec" if path.is_dir() else path)
    number = corpus.document_number
    return StartingPapers({topic: trec.order(scores, number) for topic, scores in run.items()})


def _refuse_other_corpus(directory: Path, corpus: Corpus) -> None:
    """Raise DataError for a run of ours over another corpus, whose topics may share ids."""
    try:
        sha256 = read_json(directory / "manifest.json")["sha256"]["corpus"]
    except (ValueError, LookupError, TypeError):
        return  # a run of another system does not name its corpus
    if sha256 != corpus.sha256:
        raise DataError(
            f"start_from={clip(str(directory))} is a run over corpus {clip(sha256)}, this is "
            f"{corpus.sha256!r}. Give a run over this corpus."
        )
