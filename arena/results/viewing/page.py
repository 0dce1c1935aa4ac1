"""The page of `arena view`: runs, funnels and episodes in one HTML file that loads nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import read_json
from arena.kit.terminal import Table, progress
from arena.llm.outcomes import UNREAD, count_answers, is_unread
from arena.results.comparison.clusters import clusters_of, numbered
from arena.results.comparison.comparing import bootstrap
from arena.results.comparison.opening import (
    Effort,
    name_runs,
    played_episode,
    split_name,
    usage_of,
)
from arena.results.comparison.page import MARKS, digest_of, environment, mark
from arena.results.comparison.report import heading
from arena.results.messages import answers_by_step, call_of, open_answers
from arena.results.viewing.funnel import FUTURE, STAGES, RunFunnel
from arena.results.viewing.packing import Texts, block, in_blocks, listed
from arena.runs.checking import refuse_misstated
from arena.runs.directory import OpenedRun
from arena.runs.episodes import PlayedStep
from arena.runs.replaying import replay_episodes
from arena.runs.scoring import limits
from arena.session import step_text
from arena.tasks import TaskSet, choose_surveys, play_order
from arena.tools import encode

_FOLDER = Path(__file__).parent
_COST = ("steps", "searches", "reads", "errors", "truncated", "calls", "prompt_tokens",
         "completion_tokens", "dollars")  # fmt: skip
_LATER = 5  # papers of each search
_TEXT = 2_000  # characters of an abstract, or of a survey's title
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

    The page loads nothing, and its policy lets no script run but its own. The same runs give the
    same bytes.

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
        CorpusError: A run is of another corpus, does not replay, or states scores that its answers
            do not get.
        DataError: No run has an episode of these surveys.
    """
    given, directories = zip(*map(split_name, runs), strict=True)
    opened = [OpenedRun(directory) for directory in directories]
    page = _Page(Corpus.of(corpus, tasks), labels, answers)
    for run in opened:
        run.open_corpus(page.corpus)
        if run.files is not None:
            run.refuse_changed("metrics.json")
            refuse_misstated(run, read_json(run.directory / "metrics.json"), page.corpus)
    played = dict.fromkeys(s for run in opened for s in run.manifest["surveys"])
    chosen = choose_surveys(page.tasks, surveys, play_order(page.tasks, played))
    for name, run in zip(name_runs(given, opened), opened, strict=True):
        page.add(name, run, set(chosen))
    if not page.episodes:
        raise DataError("no run has an episode of these surveys. `--surveys` names others.")
    named = {each["name"]: each | {"place": place} for place, each in enumerate(page.runs)}
    script = (_FOLDER / "view.js").read_text("utf-8")
    styles = (_FOLDER.parent / "comparison" / "page.css", _FOLDER / "view.css")
    html: str = environment(_FOLDER).get_template("view.html").render(
        runs=[*named.values()], run_of=named, mark=mark, marks=MARKS, table=page.table(),
        corpus=page.corpus.sha256[:12], compared=compared, labels=labels,
        blocks=[(name, Markup(data)) for name, data in page.blocks()],
        style=Markup("".join(path.read_text("utf-8") for path in styles)),
        script=Markup(script), digest=digest_of(script),
    )  # fmt: skip
    return View(html, sum(map(len, page.episodes.values())))


class _Page:
    """Collects runs, and ``episodes``: survey -> place of the run -> episode."""

    def __init__(self, corpus: Corpus, labels: bool, answers: str | Path | None) -> None:
        self.corpus, self.tasks, self._labels = corpus, TaskSet(corpus), labels
        self._store, self._later = open_answers(answers), corpus.at(FUTURE)
        self.runs: list[dict[str, Any]] = []
        self.episodes: dict[str, dict[int, dict[str, Any]]] = {}
        self._texts, self._tools, self._rows = Texts(), set[str](), list[tuple[Any, Effort]]()

    def add(self, name: str, run: OpenedRun, surveys: Collection[str]) -> None:
        """Add the episodes of a run."""
        funnel = RunFunnel(run, self.corpus, self.tasks)
        headline = str(run.manifest["definition"].get("headline"))
        about: dict[str, Any] = {"name": name, "task": run.task.name, "depth": funnel.depth}
        about |= {"budget": [], "forms": funnel.forms}
        efforts: list[Effort] = []
        values: dict[str, list[float]] = {}
        episodes = replay_episodes(run, self.corpus, surveys)
        for record, steps in progress(episodes, desc=name, unit="episode"):
            value = record["metrics"].get(headline) if self._labels else None
            packed = self._packed(record, steps, funnel) | {"value": value}
            self.episodes.setdefault(record["survey"], {})[len(self.runs)] = packed
            self._tools.update(call_of(step["action"])[0] for step in record["steps"])
            about["budget"] = list(steps[0].observation["budget"])
            efforts.append(played_episode(record, run, None).effort)
            if value is not None:
                values.setdefault(record["survey"], []).append(value)
        self.runs.append(about)
        if efforts:
            manifest, played = run.manifest, run.manifest["surveys"]
            counts = {"model": count_answers(record["notes"] for record in run.episodes())}
            agent = manifest["agent"] + f" {UNREAD} (no answer readable)" * is_unread(counts)
            row = [name, run.task.name, agent, manifest["environment"]["retriever"]]
            row.append(f"{len(efforts)} of {len(played)}")
            if self._labels:
                # A survey counts once, in the order in which comparisons resample
                means = {survey: fmean(each) for survey, each in sorted(values.items())}
                whole = run.files is not None and {*surveys} >= {*played}
                row += [headline, *_scores(run, means, headline, self.tasks, whole)]
            self._rows.append((row, Effort.total(efforts, None)))

    def table(self) -> Table:
        """Return the table of the runs."""
        cost = [name for name in _COST if any(getattr(total, name) for _, total in self._rows)]
        header = ["run", "task", "agent", "engine", "episodes"]
        header += ["metric", "mean", "95 % interval", "floor", "ceiling"] if self._labels else []
        rows = [[*row, *(getattr(total, name) for name in cost)] for row, total in self._rows]
        header += map(heading, cost)
        return Table(header, rows, "llll" + "r" * (len(header) - 4))

    def _said(
        self, record: dict[str, Any], steps: Sequence[PlayedStep]
    ) -> dict[int, list[list[Any]]]:
        """Return number of a step -> the model's answers: text, calls, tokens, prompt, and notes.

        A prompt is how many messages it has in common with the one before, and the others, in
        which an observation stands as the number of its step. The notes are the step that asked,
        and of an answer that could not be read the kind and why.
        """
        if self._store is None or not (answers := answers_by_step(record, self._store)):
            return {}
        notes = iter(record["notes"]["llm"]["calls"])
        places = {step_text(step.observation): n for n, step in enumerate(steps)}
        said: dict[int, list[list[Any]]] = {}
        before: list[Any] = []
        for number, of_step in answers.items():
            for a in of_step:
                messages, prompt = self._store.asked(a.key), list[Any]()
                note = next(notes)
                if messages is not None:
                    pairs = zip(before, messages, strict=False)
                    same = len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])
                    rest = [
                        m | {"content": places.get(str(m.get("content")), m.get("content"))}
                        for m in messages[same:]
                    ]
                    prompt = [same, self._texts.pack(encode(rest), of_agent=True)]
                    before = messages
                row = [a.text, a.tool_calls, a.usage.prompt, a.usage.completion, prompt]
                row += [str(note.get(name, "")) for name in ("step", "kind", "why")]
                said.setdefault(number, []).append(row)
        return said

    def _packed(
        self,
        record: dict[str, Any],
        steps: Sequence[PlayedStep],
        funnel: RunFunnel,
    ) -> dict[str, Any]:
        """Return an episode: lists with an entry for the reset (but "a") and for each step.

        "b" is the budget at the reset, then what each step spent of it; "w" has papers by their
        places among the survey's references, when they were first shown.
        """
        seen, pack = [step.observation for step in steps], self._texts.pack
        left = [list(each["budget"].values()) for each in seen]
        answers = {s: a for s, a in record["answers"].items() if funnel.forms.get(s)}
        packed: dict[str, Any] = {
            "o": [pack(each["result"]) for each in seen],
            "a": [pack(encode(step.action), of_agent=True) for step in steps[1:]],
            "b": [left[0], *(np.subtract(had, has).tolist() for had, has in pairwise(left))],
            "s": [each["stage"] for each in seen],
            "topic": seen[0]["topic"],
            "end": "cut off by the budget" if record["truncated"] else "submitted",
            "answers": {s: pack(encode(answer), of_agent=True) for s, answer in answers.items()},
            "usage": (usage_of(record["notes"]) or {}) | (count_answers([record["notes"]]) or {}),
            "said": self._said(record, steps),
        }
        if not self._labels:
            return packed
        shown = [listed(each["result"]) for each in seen]
        ranks, later = funnel.search(record)
        wanted, paper = funnel.follow(record, shown, ranks), self._texts.paper
        new = {each.paper: n for n, each in enumerate(wanted) if "reach" in each.stages}
        return packed | {
            "r": [step.reward for step in steps],
            "t": [step.info.get("reward_terms", {}) for step in steps],
            "w": [[new.pop(p) for p in dict.fromkeys(papers) if p in new] for papers in shown],
            "later": {
                step: [[paper(hit.id, hit.title, hit.date) for hit in hits[:_LATER]], len(hits)]
                for step, hits in later.items()
                if hits
            },
            "wanted": [
                [sum(1 << n for n, s in enumerate(STAGES) if s in w.stages), *w[-3:]]
                for w in wanted
            ],
            "metrics": record["metrics"],
        }

    def _survey(self, survey_id: str) -> dict[str, Any]:
        """Return the labels of a survey: its references, and its own mind-map."""
        if not self._labels:
            return {"refs": []}
        refs, gains = [], self.tasks.gold(survey_id).gains
        for paper, status in self.tasks.references(survey_id).items():
            title = date = abstract = ""
            if paper in self._later:
                found = self._later.paper(paper)
                title, date, abstract = found.title, found.date, found.abstract
            elif status != "unknown":
                title = self.tasks.facts(survey_id, [paper])[paper].title
            text = self._texts.number(encode(abstract[:_TEXT])) if abstract else None
            refs.append([self._texts.paper(paper, title, date), gains.get(paper, 0), status, text])
        own = self.tasks.mind_map(survey_id)
        return {"refs": refs, "map": own and self._texts.pack(encode(own.to_json()))}

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Yield names and contents: first the index, then surveys with episodes, then texts."""
        order = play_order(self.tasks, self.episodes)
        blocks = in_blocks([[self._survey(each), self.episodes[each]] for each in order])
        places = [(n, m) for n, each in enumerate(blocks) for m in range(len(each))]
        rows, episodes = [], []
        for at, survey_id in enumerate(order):
            survey = self.tasks.survey(survey_id)
            rows.append([survey_id, survey.title[:_TEXT], survey.date, *places[at]])
            for run, packed in self.episodes[survey_id].items():
                masks = [each[0] for each in packed.get("wanted", ())]
                episodes.append([run, at, len(packed["a"]), packed["value"], masks])
        texts = in_blocks(self._texts)
        starts = np.cumsum([0, *map(len, texts)])[:-1].tolist()
        index = {
            "labels": self._labels, "runs": self.runs, "stages": list(STAGES.items()),
            "tools": sorted(self._tools), "surveys": rows, "episodes": episodes, "texts": starts,
        }  # fmt: skip
        yield "index", block(index)
        yield from ((f"e{n}", block(each)) for n, each in enumerate(blocks))
        yield from ((f"t{n}", block(each)) for n, each in enumerate(texts))


def _scores(
    run: OpenedRun, values: Mapping[str, float], headline: str, tasks: TaskSet, whole: bool
) -> tuple[float | None, str | None, float | None, float | None]:
    """Return mean, interval, floor and ceiling over the surveys of `values`, a `whole` run's."""
    if not values:
        return None, None, None, None
    groups = numbered(clusters_of({survey: tasks.groups(survey) for survey in values}).values())
    ((low, high),) = bootstrap(np.array([*values.values()])[:, None], _LEVEL, groups)
    known: Any = read_json(run.directory / "metrics.json") if whole else limits(run, tasks, values)
    return (
        math.fsum(values.values()) / len(values),
        None if low is None else f"{low:.4f} to {high:.4f}",
        ((known.get("floors") or {}).get("random") or {}).get(headline),
        known["ceiling"].get(headline),
    )
