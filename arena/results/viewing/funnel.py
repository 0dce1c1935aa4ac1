"""Why a reference was missed: how far each one came on its way into the answer; docs/viewing.md."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.corpus.view import search_batch
from arena.kit.terminal import progress
from arena.papers import Hit
from arena.report import cited_ids
from arena.results.viewing.packing import listed
from arena.runs.directory import OpenedRun
from arena.runs.replaying import replay_episodes
from arena.runs.trajectories import answers_of
from arena.tasks import Task, TaskSet
from arena.tools import Call, parse_action, queries_of

DEPTH = 1_000
"""Ranks of a query within which a paper counts as retrievable."""
FUTURE = "9999-12-31"
STAGES = {
    "listed": "among the topic's listed references",
    "corpus": "in the corpus",
    "reach": "in reach: before the cutoff, not a survey",
    "retrievable": f"in the first {DEPTH:,} of a query that was sent",
    "shown": "shown to the agent",
    "opened": "read, or its links followed",
    "ranked": "selected, drafted or ranked",
    "submitted": "in the answer",
    "counted": "within the cutoff of the headline metric",
}
"""The stages in order. A paper need not pass all: an agent that reads nothing opens none."""


class WantedPaper(NamedTuple):
    """A listed reference of a topic in one episode.

    Attributes:
        paper: Its id.
        status: ``gold``, or why it is out of reach (docs/corpus-format.md).
        stages: The stages that it reached.
        lost: The last of these, after which it was lost; None for a paper that counts.
        rank: Its best rank in the queries that were sent, from 1; None below `DEPTH`.
        query: Number of the step that sent this query.
        submitted: Its rank in the answer, from 1; 0 in an answer without ranks, None if missed.
    """

    paper: str
    status: str
    stages: tuple[str, ...]
    lost: str | None
    rank: int | None
    query: int | None
    submitted: int | None


Funnel = Mapping[str, Sequence[WantedPaper]]
"""Topic -> its listed references."""


class RunFunnel:
    """Follows the references of a run's topics. `corpus` and `tasks` are those of the run."""

    def __init__(self, recorded: OpenedRun, corpus: Corpus, tasks: TaskSet) -> None:
        self._task, self._corpus, self._tasks = recorded.task, corpus, tasks
        config = recorded.config()
        self._own = config.retriever
        self._engines = {name: corpus.retriever(name) for name in config.retrievers}
        self._engines[self._own] = corpus.retriever(self._own, **config.retriever_options)
        self._tools = recorded.tools
        depth = str(recorded.manifest["definition"].get("headline")).partition("@")[2]
        self.depth = int(depth) if depth.isdigit() else None

    def search(
        self, record: Mapping[str, Any]
    ) -> tuple[dict[int, dict[str, int]], dict[int, list[Hit]]]:
        """Search again for each query of an episode: to rank `DEPTH`, and without the cutoff.

        Returns step -> paper -> rank, and step -> hits that did not exist yet.
        """
        topic = self._tasks.topic(record["topic_id"])
        calls = self._calls(record)
        sent = [(n, query, c.arguments) for n, c in calls for query in queries_of(c.arguments)]
        asked = []
        for day in (topic.date, FUTURE):
            for _, query, given in sent:
                engine = self._engines[given.get("retriever") or self._own]
                view = self._corpus.at(day, exclude=[topic.id], retriever=engine)
                k = DEPTH if day != FUTURE else given.get("k", 10) + given.get("offset", 0)
                asked.append((view, query, k))
        found = search_batch(asked)
        ranks = {n: dict[str, int]() for n, *_ in sent}
        later = {n: list[Hit]() for n in ranks}
        for (n, *_), then, now in zip(sent, found, found[len(sent) :], strict=False):
            for rank, hit in enumerate(then, 1):  # the best of several queries
                ranks[n][hit.id] = min(rank, ranks[n].get(hit.id, rank))
            later[n] += [hit for hit in now if hit.date >= topic.date]
        return ranks, later

    def follow(
        self,
        record: dict[str, Any],
        shown: Iterable[Iterable[str]],
        ranks: Mapping[int, Mapping[str, int]],
    ) -> list[WantedPaper]:
        """Return every listed reference; `shown` are the ids in each result of the episode."""
        calls = [call for _, call in self._calls(record)]
        ids = [call.arguments["paper_ids"] for call in calls if call.tool.name == "select"]
        texts = [call.arguments["text"] for call in calls if call.tool.name == "write"]
        places = places_of(answers_of(record, self._task), self._task)
        topic, reached = record["topic_id"], dict[str, Collection[str]]()
        references = self._tasks.references(topic)
        reached["listed"] = references
        reached["corpus"] = {paper for paper, why in references.items() if why != "unknown"}
        reached["reach"] = self._tasks.gold(topic).gains
        reached["retrievable"] = set(chain(*ranks.values()))
        reached["shown"] = set(chain(*shown))
        reached["opened"] = {c.arguments["paper_id"] for c in calls if "paper_id" in c.arguments}
        reached["ranked"] = {*chain(*ids), *chain(*map(cited_ids, texts)), *places}
        reached["submitted"] = places
        reached["counted"] = {p for p, n in places.items() if self.depth is None or n <= self.depth}
        wanted = []
        for paper, status in references.items():
            stages = tuple(stage for stage in STAGES if paper in reached[stage])
            lost = None if "counted" in stages else stages[-1]
            best = min(((by[paper], n) for n, by in ranks.items() if paper in by), default=None)
            found, query = best or (None, None)
            wanted.append(WantedPaper(paper, status, stages, lost, found, query, places.get(paper)))
        return wanted

    def _calls(self, record: Mapping[str, Any]) -> list[tuple[int, Call]]:
        """Return the number of each step that was carried out, and its call."""
        steps = enumerate(record["steps"], 1)
        parsed = [
            (n, parse_action(each["action"], self._tools))
            for n, each in steps
            if "error" not in each
        ]
        return [(n, call) for n, call in parsed if isinstance(call, Call)]


def places_of(answers: Mapping[str, Any], task: Task) -> dict[str, int]:
    """Return paper -> its rank in the answers of an episode, by stage; see `AnswerKind.places`."""
    places: dict[str, int] = {}
    for stage in task.stages:  # the first rank of several counts
        for paper, rank in stage.answer.places(answers.get(stage.name)).items():
            places[paper] = places.get(paper) or rank
    return places


def funnel_of(
    recorded: OpenedRun, corpus: Corpus, tasks: TaskSet, topics: Collection[str] | None = None
) -> Funnel:
    """Return the funnel of a run, whose episodes are played again; `topics` names some of them."""
    funnel, found = RunFunnel(recorded, corpus, tasks), {}
    episodes = replay_episodes(recorded, corpus, topics)
    for record, steps in progress(episodes, desc="funnel", unit="episode"):
        shown = [listed(step.observation["result"]) for step in steps]
        found[record["topic_id"]] = funnel.follow(record, shown, funnel.search(record)[0])
    return found
