"""Why a reference was missed: how far each one came on its way into the answer; docs/viewing.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from arena._internal.terminal import Table, progress
from arena.corpus import Corpus
from arena.corpus.view import search_batch
from arena.papers import Hit
from arena.report import cited_ids
from arena.results.viewing.packing import listed
from arena.runs.directory import OpenedRun
from arena.runs.replaying import replay_episodes
from arena.runs.trajectories import answers_of
from arena.tasks import TaskSet, kind_of, stages_of, tools_of
from arena.tools import TOOLS, Call, parse_action

DEPTH = 1_000
"""Ranks of a query within which a paper counts as retrievable."""
STAGES = {
    "listed": "among the survey's listed references",
    "corpus": "in the corpus",
    "reach": "in reach: before the cutoff, no survey",
    "retrievable": f"in the first {DEPTH:,} of a query that was sent",
    "shown": "shown to the agent",
    "opened": "read, or its links followed",
    "ranked": "selected, drafted or ranked",
    "submitted": "in the answer",
    "counted": "within the cutoff of the headline metric",
}
"""The stages in order. A paper need not pass all: an agent that reads nothing opens none."""
_PLACE = {stage: number for number, stage in enumerate(STAGES)}
_FUTURE = "9999-12-31"


class WantedPaper(NamedTuple):
    """A listed reference of a survey in one episode.

    Attributes:
        paper: Its id.
        status: ``gold``, or why it is out of reach (docs/corpus-format.md).
        gain: 2 (influential), 1, or 0 out of reach.
        stages: The stages that it reached.
        rank: Its best rank in the queries that were sent, from 1; None below `DEPTH`.
        query: Number of the step that sent this query.
        submitted: Its rank in the answer, from 1; 0 in an answer without ranks, None if missed.
    """

    paper: str
    status: str
    gain: int
    stages: frozenset[str]
    rank: int | None
    query: int | None
    submitted: int | None

    @property
    def lost(self) -> str | None:
        """The stage at which it was lost: the one after the last that it reached; None if none."""
        last = max(_PLACE[stage] for stage in self.stages)
        return None if last == len(STAGES) - 1 else list(STAGES)[last + 1]


class Searches(NamedTuple):
    """What the searches of an episode could find: step -> rank of each paper, and later papers."""

    ranks: Mapping[int, Mapping[str, int]]
    later: Mapping[int, Sequence[Hit]]


class RunFunnel:
    """Follows the references of a run's surveys. `corpus` and `tasks` are those of the run."""

    def __init__(self, recorded: OpenedRun, corpus: Corpus, tasks: TaskSet) -> None:
        self._task, self._corpus, self._tasks = recorded.task, corpus, tasks
        config = recorded.config()
        self._own = config.retriever
        self._engines = {name: corpus.retriever(name) for name in config.retrievers}
        self._engines[self._own] = corpus.retriever(self._own, **config.retriever_options)
        names = (*tools_of(self._task, config.references), *config.tools)
        self._tools = {name: TOOLS.get(name) for name in names}
        headline = str(recorded.manifest["definition"].get("headline", ""))
        depth = headline.rpartition("@")[2]
        self.depth = int(depth) if "@" in headline and depth.isdigit() else None

    def search(self, record: Mapping[str, Any]) -> Searches:
        """Search again for each query of an episode, to rank `DEPTH`, and without the cutoff."""
        survey = self._tasks.survey(record["survey"])
        sent = [(n, c.arguments) for n, c in self._calls(record) if "query" in c.arguments]
        asked = []
        for day, deep in ((survey.date, True), (_FUTURE, False)):
            for _, given in sent:
                engine = self._engines[given.get("retriever") or self._own]
                view = self._corpus.at(day, exclude=[survey.id], retriever=engine)
                k = given.get("k", 10) + given.get("offset", 0)
                asked.append((view, given["query"], DEPTH if deep else k))
        found = search_batch(asked)
        ranks = {
            number: {hit.id: rank for rank, hit in enumerate(hits, 1)}
            for (number, _), hits in zip(sent, found, strict=False)
        }
        later = {
            number: [hit for hit in hits if hit.date >= survey.date]
            for (number, _), hits in zip(sent, found[len(sent) :], strict=True)
        }
        return Searches(ranks, later)

    def follow(
        self, record: Mapping[str, Any], shown: Iterable[Iterable[str]], searches: Searches
    ) -> list[WantedPaper]:
        """Return every listed reference; `shown` are the ids in each result of the episode."""
        survey = record["survey"]
        calls = [call for _, call in self._calls(record)]
        ids = [call.arguments.get("paper_ids", ()) for call in calls if call.tool.name == "select"]
        texts = [call.arguments["text"] for call in calls if call.tool.name == "write"]
        answers = answers_of(dict(record))
        stage = next((s for s, _ in stages_of(self._task) if "ranking" in kind_of(s).scored), None)
        ranking = kind_of(stage).papers(answers.get(stage)) if stage else []
        places = {paper: place for place, paper in enumerate(ranking, 1)}
        for answer in answers.values():
            if not isinstance(answer, list | str) and answer is not None:  # a mind-map
                places = dict.fromkeys(answer.all_papers(), 0) | places
        reached = {
            "shown": set(chain.from_iterable(shown)),
            "opened": {
                call.arguments["paper_id"] for call in calls if "paper_id" in call.arguments
            },
            "ranked": {*chain(*ids), *chain(*map(cited_ids, texts)), *places},
            "submitted": places.keys(),
            "counted": {p for p, n in places.items() if self.depth is None or n <= self.depth},
        }
        gains, wanted = self._tasks.gold(survey).gains, []
        for paper, status in self._tasks.references(survey).items():
            ranks = [(by[paper], step) for step, by in searches.ranks.items() if paper in by]
            rank, step = min(ranks, default=(None, None))
            stages = {"listed"} | {name for name, papers in reached.items() if paper in papers}
            stages |= {"corpus"} if status != "unknown" else set()
            stages |= {"reach"} if paper in gains else set()
            stages |= {"retrievable"} if rank else set()
            wanted.append(
                WantedPaper(
                    paper, status, gains.get(paper, 0), frozenset(stages), rank, step,
                    places.get(paper),
                )
            )  # fmt: skip
        return wanted

    def _calls(self, record: Mapping[str, Any]) -> list[tuple[int, Call]]:
        """Return the number of each step that was carried out, and its call."""
        parsed = [
            (number, parse_action(step["action"], self._tools))
            for number, step in enumerate(record["steps"], 1)
            if "error" not in step
        ]
        return [(number, call) for number, call in parsed if isinstance(call, Call)]


Funnel = Mapping[str, Sequence[WantedPaper]]
"""Survey -> its listed references."""


def funnel_of(
    recorded: OpenedRun, corpus: Corpus, tasks: TaskSet, surveys: Collection[str] | None = None
) -> Funnel:
    """Return the funnel of a run, whose episodes are played again; `surveys` names some of them."""
    funnel = RunFunnel(recorded, corpus, tasks)
    episodes = replay_episodes(recorded, corpus, surveys)
    return {
        record["survey"]: funnel.follow(
            record,
            [listed(step.observation["result"]) for step in steps],
            funnel.search(record),
        )
        for record, steps in progress(episodes, desc="funnel", unit="episode")
    }


def funnel_json(funnels: Mapping[str, Funnel]) -> dict[str, Any]:
    """Return run -> stage -> how many references reached it and were lost there, and every one."""
    return {
        name: {
            "stages": {
                stage: {
                    "reached": sum(stage in each.stages for each in wanted),
                    "lost": sum(each.lost == stage for each in wanted),
                }
                for stage in STAGES
            },
            "references": {
                survey: [
                    {**each._asdict(), "stages": sorted(each.stages, key=list(STAGES).index)}
                    | {"lost": each.lost}
                    for each in papers
                ]
                for survey, papers in funnel.items()
            },
        }
        for name, funnel in funnels.items()
        if (wanted := [*chain.from_iterable(funnel.values())])
    }


def funnel_tables(funnels: Mapping[str, Funnel], against: str) -> list[Table]:
    """Return how many references reached each stage, and what runs counted that another lost."""
    counts = funnel_json(funnels)
    header = ["reached by"]
    for name in counts:
        header += [name, "lost"]
    rows = [
        [
            text,
            *chain(*((n["stages"][s]["reached"], n["stages"][s]["lost"]) for n in counts.values())),
        ]
        for s, text in STAGES.items()
    ]
    tables = [
        Table(header, rows, title="References listed by the surveys, and where they were lost")
    ]
    for name in funnels:
        if name == against:
            continue
        gained = _only(funnels[name], funnels[against]), _only(funnels[against], funnels[name])
        rows = [
            [text, *(lost[s] for lost in gained)] for s, text in STAGES.items() if s != "listed"
        ]
        header = ["not", f"only {name}", f"only {against}"]
        title = "References that one run counted, and where the other lost them"
        tables.append(Table(header, rows, title=title))
    return tables


def _only(run: Funnel, other: Funnel) -> Counter[str | None]:
    """Return where `other` lost the references that `run` counted."""
    return Counter(
        theirs.lost
        for survey in run.keys() & other.keys()
        for mine, theirs in zip(run[survey], other[survey], strict=True)
        if mine.lost is None and theirs.lost is not None
    )
