"""The page of `arena view`: runs, funnels and episodes in one HTML file that loads nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from arena._internal.files import read_json
from arena._internal.terminal import Table, progress
from arena.corpus import Corpus
from arena.errors import DataError, UnknownPaperError
from arena.llm.store import Store
from arena.results.comparison.comparing import bootstrap
from arena.results.comparison.opening import Effort, name_runs, played_episode, split_name
from arena.results.comparison.page import MARKS, digest_of, environment, mark
from arena.results.comparison.report import heading
from arena.results.messages import answers_by_step, call_of, open_answers
from arena.results.viewing.funnel import STAGES, RunFunnel, Searches
from arena.results.viewing.packing import Texts, block, listed, starts
from arena.runs.directory import OpenedRun, read_timing
from arena.runs.episodes import PlayedStep
from arena.runs.replaying import replay_episodes
from arena.tasks import TaskSet, choose_surveys, play_order
from arena.tools import encode

_FOLDER = Path(__file__).parent
_COST = ("steps", "searches", "reads", "errors", "truncated", "calls", "prompt_tokens",
         "completion_tokens", "dollars")  # fmt: skip
_LATER = 5  # papers of each search
_ABSTRACT = 2_000  # characters
_BLOCK = 1 << 16  # characters of the episodes in a block
_LEVEL = 0.95


class View(NamedTuple):
    """A page, and how many episodes it has."""

    html: str
    episodes: int


def as_view(
    runs: Sequence[str | Path],
    corpus: Corpus | str | Path,
    *,
    tasks: str | Path | None = None,
    surveys: Sequence[str] | int | None = None,
    answers: str | Path | None = None,
    compared: str = "",
    labels: bool = True,
) -> View:
    """Return a page of runs; each is played again, and must give what it recorded.

    The page loads nothing, its policy lets no script run but its own, and text of papers and
    models is put into it as text. The same runs give the same bytes.

    Args:
        runs: Directories of runs over one corpus, finished or not, each alone or as ``NAME=DIR``.
        corpus: Their corpus, or its directory.
        tasks: Directory of the task set that the runs played, if any.
        surveys: Ids, or how many of the first that were played; by default all.
        answers: File of the language model's answers, for what it wrote.
        compared: Address of the page of `arena compare`, for a link.
        labels: Whether the page has labels, and all that depends on them: rewards, scores,
            funnels, and papers that did not exist yet.

    Raises:
        CorpusError: A run is of another corpus, or does not replay.
        DataError: No run has an episode of these surveys.
    """
    given, directories = zip(*map(split_name, runs), strict=True)
    recorded = [OpenedRun(directory) for directory in directories]
    names = name_runs(given, recorded)
    corpus = Corpus.of(corpus, tasks)
    task_set = TaskSet(corpus)
    played = dict.fromkeys(s for run in recorded for s in run.manifest["surveys"])
    chosen = choose_surveys(task_set, surveys, play_order(task_set, played))
    page = _Page(corpus, task_set, labels, open_answers(answers))
    added = [page.add(*named, chosen) for named in zip(names, recorded, strict=True)]
    if not any(run.efforts for run in added):
        raise DataError("no run has an episode of these surveys. `--surveys` names others.")
    shown = [survey for survey in chosen if survey in page.episodes]
    index, chunks = page.index(added, shown)
    entries = [{"name": run.name, "place": place} for place, run in enumerate(added)]
    script = (_FOLDER / "view.js").read_text(encoding="utf-8")
    shared = (_FOLDER.parent / "comparison" / "page.css").read_text(encoding="utf-8")
    html: str = environment(_FOLDER).get_template("view.html").render(
        runs=entries,
        run_of={entry["name"]: entry for entry in entries},
        mark=mark,
        marks=MARKS,
        corpus=corpus.sha256[:12],
        table=_table(added, labels),
        compared=compared,
        labels=labels,
        several=len(added) > 1,
        blocks=[(name, Markup(data)) for name, data in [("index", index), *chunks]],
        style=Markup(shared + (_FOLDER / "view.css").read_text(encoding="utf-8")),
        script=Markup(script),
        digest=digest_of(script),
    )  # fmt: skip
    return View(html, sum(len(run.efforts) for run in added))


class _Added(NamedTuple):
    """A run on the page; `values` are the headline metric of each survey that has one."""

    name: str
    run: OpenedRun
    depth: int | None
    budget: list[str]
    efforts: list[Effort]
    values: dict[str, float]
    whole: bool

    @property
    def headline(self) -> str:
        return str(self.run.manifest["definition"].get("headline", ""))


class _Page:
    """Collects the episodes; `episodes` has survey -> place of the run -> packed episode."""

    def __init__(self, corpus: Corpus, tasks: TaskSet, labels: bool, store: Store | None) -> None:
        self._corpus, self._tasks, self._labels, self._store = corpus, tasks, labels, store
        self._later = corpus.at("9999-12-31")
        self._texts = Texts()
        self.episodes: dict[str, dict[int, dict[str, Any]]] = {}
        self._runs = 0
        self._tools: set[str] = set()

    def add(self, name: str, run: OpenedRun, surveys: Sequence[str]) -> _Added:
        """Add the episodes of a run."""
        run.open_corpus(self._corpus)
        funnel, place = RunFunnel(run, self._corpus, self._tasks), self._runs
        self._runs += 1
        added = _Added(
            name, run, funnel.depth, [], [], {}, {*run.manifest["surveys"]} <= {*surveys}
        )
        episodes = replay_episodes(run, self._corpus, set(surveys))
        for record, steps in progress(episodes, desc=name, unit="episode"):
            survey = record["survey"]
            packed = self._packed(record, steps, funnel)
            self.episodes.setdefault(survey, {})[place] = packed
            added.budget[:] = steps[0].observation["budget"]
            self._tools.update(call_of(step["action"])[0] for step in record["steps"])
            added.efforts.append(played_episode(record, run.manifest, None).effort)
            value = record["metrics"].get(added.headline)
            if value is not None and self._labels:
                added.values[survey] = value
        return added

    def _packed(
        self, record: Mapping[str, Any], steps: Sequence[PlayedStep], funnel: RunFunnel
    ) -> dict[str, Any]:
        """Return an episode: lists with an entry for the reset (but "a") and for each step.

        "b" is the budget at the reset, then what each step spent of it.
        """
        seen = [step.observation for step in steps]
        pack = self._texts.pack
        packed: dict[str, Any] = {
            "o": [pack(each["result"]) for each in seen],
            "a": [pack(encode(step.action)) for step in steps[1:]],
            "b": [list(seen[0]["budget"].values()), *starmap(_spent, pairwise(seen))],
            "s": [each["stage"] for each in seen],
            "topic": seen[0]["topic"],
            "end": "cut off by the budget" if record["truncated"] else "submitted",
            "answers": {
                stage: pack(encode(answer))
                for stage, answer in record["answers"].items()
                if not isinstance(answer, list)
            },
            "usage": record["notes"].get("llm", {}).get("total", {}),
        }
        said = answers_by_step(record, self._store)
        packed["said"] = {
            step: [
                [each.text, each.tool_calls, each.usage.prompt, each.usage.completion, each.key]
                for each in answers
            ]
            for step, answers in said.items()
        }
        if self._labels:
            shown = [listed(each["result"]) for each in seen]
            packed |= self._labelled(record, steps, shown, funnel, funnel.search(record))
        return packed

    def _labelled(
        self,
        record: Mapping[str, Any],
        steps: Sequence[PlayedStep],
        shown: Sequence[Sequence[str]],
        funnel: RunFunnel,
        searches: Searches,
    ) -> dict[str, Any]:
        """Return what depends on labels; papers are places among the survey's references."""
        wanted = funnel.follow(record, shown, searches)
        bits = {stage: 1 << number for number, stage in enumerate(STAGES)}
        open_ = {each.paper: n for n, each in enumerate(wanted) if each.gain}
        new = [[open_.pop(p) for p in dict.fromkeys(papers) if p in open_] for papers in shown]
        return {
            "r": [step.reward for step in steps],
            "t": [step.info.get("reward_terms", {}) for step in steps],
            "w": new,
            "later": {
                step: [
                    [self._texts.paper(hit.id, hit.title, hit.date) for hit in hits[:_LATER]],
                    len(hits),
                ]
                for step, hits in searches.later.items()
                if hits
            },
            "wanted": [
                [sum(bits[s] for s in each.stages), each.rank, each.query, each.submitted]
                for each in wanted
            ],
            "metrics": record["metrics"],
        }

    def _survey(self, survey_id: str) -> dict[str, Any]:
        """Return the labels of a survey."""
        if not self._labels:
            return {"refs": []}
        refs, gains = [], self._tasks.gold(survey_id).gains
        for paper, status in self._tasks.references(survey_id).items():
            title, date, abstract = "", "", ""
            try:
                found = self._later.paper(paper)
                title, date, abstract = found.title, found.date, found.abstract
            except UnknownPaperError:  # undated, a survey, or in no corpus
                with suppress(KeyError):
                    title = self._tasks.facts(survey_id, [paper])[paper].title
            text = self._texts.number(encode(abstract[:_ABSTRACT])) if abstract else None
            number = self._texts.paper(paper, title, date)
            refs.append([number, gains.get(paper, 0), status, text])
        own = self._tasks.mind_map(survey_id)
        tree = None if own is None else self._texts.pack(encode(own.to_json()))
        return {"refs": refs, "map": tree}

    def index(
        self, runs: Sequence[_Added], surveys: Sequence[str]
    ) -> tuple[str, list[tuple[str, str]]]:
        """Return the block that is read first, and the names and contents of the others."""
        blocks: list[list[Any]] = [[]]
        rows, episodes, size = [], [], 0
        for place, survey_id in enumerate(surveys):
            if size > _BLOCK:
                blocks.append([])
                size = 0
            own = self.episodes.pop(survey_id)
            blocks[-1].append([self._survey(survey_id), own])
            size += len(json.dumps(blocks[-1][-1]))
            survey = self._tasks.survey(survey_id)
            where = [len(blocks) - 1, len(blocks[-1]) - 1]
            rows.append([survey_id, survey.title[:_ABSTRACT], survey.date, *where])
            for run, packed in own.items():
                value = runs[run].values.get(survey_id)
                masks = [each[0] for each in packed.get("wanted", ())]
                episodes.append([run, place, len(packed["a"]), value, masks])
        texts = self._texts.blocks()
        index = {
            "labels": self._labels,
            "runs": [
                {"name": r.name, "task": r.run.task, "budget": r.budget, "depth": r.depth,
                 "headline": r.headline}
                for r in runs
            ],
            "stages": list(STAGES.items()),
            "tools": sorted(self._tools), "surveys": rows, "episodes": episodes,
            "texts": starts(texts),
        }  # fmt: skip
        chunks = [(f"e{n}", block(each)) for n, each in enumerate(blocks)]
        return block(index), chunks + [(f"t{n}", block(each)) for n, each in enumerate(texts)]


def _spent(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[int]:
    left = zip(before["budget"].values(), after["budget"].values(), strict=True)
    return [had - has for had, has in left]


def _table(runs: Sequence[_Added], labels: bool) -> Table:
    totals = [Effort.total(r.efforts, read_timing(r.run.directory)) for r in runs if r.efforts]
    cost = [name for name in _COST if any(getattr(total, name) for total in totals)]
    header = ["run", "task", "agent", "engine", "episodes"]
    header += ["metric", "mean", "95 % interval", "floor", "ceiling"] if labels else []
    rows = []
    for run in runs:
        manifest = run.run.manifest
        row = [run.name, run.run.task, manifest["agent"], manifest["environment"]["retriever"]]
        row += [f"{len(run.efforts)} of {len(manifest['surveys'])}"]
        row += _scores(run) if labels else []
        total = Effort.total(run.efforts, None) if run.efforts else None
        rows.append([*row, *(getattr(total, name, None) for name in cost)])
    return Table([*header, *map(heading, cost)], rows, "llll" + "r" * (len(header) + len(cost) - 4))


def _scores(run: _Added) -> Iterator[Any]:
    """Yield headline metric, mean, interval, floor and ceiling."""
    yield run.headline
    values = np.array(list(run.values.values()), np.float64)
    low, high = bootstrap(values[:, None], _LEVEL)[0] if len(values) else (None, None)
    yield math.fsum(values) / len(values) if len(values) else None
    yield None if low is None else f"{low:.4f} to {high:.4f}"
    scores: dict[str, Any] = {}
    if run.whole:  # else they are those of other surveys
        with suppress(ValueError):
            scores = read_json(run.run.directory / "metrics.json")
    yield ((scores.get("floors") or {}).get("random") or {}).get(run.headline)
    yield scores.get("ceiling", {}).get(run.headline)
