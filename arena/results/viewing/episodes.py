"""The episodes of a page: each is played again, and packed with what its labels say of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from arena.corpus import Corpus
from arena.errors import DataError
from arena.kit.files import read_sealed, sha256_file
from arena.kit.terminal import progress
from arena.llm.outcomes import count_answers
from arena.results.comparison.comparing import Comparison
from arena.results.comparison.opening import usage_of
from arena.results.messages import answers_by_step, call_of, open_answers
from arena.results.viewing.funnel import FUTURE, STAGES, RunFunnel, places_of
from arena.results.viewing.packing import Texts, block, in_blocks, listed
from arena.runs.credit import read_credit
from arena.runs.directory import OpenedRun
from arena.runs.episodes import PlayedStep
from arena.runs.players import ORACLE
from arena.runs.replaying import replay_episodes
from arena.runs.trajectories import TRAJECTORIES, answers_of
from arena.session import step_text
from arena.tasks import Task, TaskSet, play_order
from arena.text.display import count
from arena.tools import encode

_Verdicts = Sequence[Sequence[str]]
"""A statement of a report, the verdict on it, the paper that was read for it or "", and why."""
_DECIDED = {
    "citations that support their statement": ("match", "mismatch", "not_found"),
    "statements without a citation that are held true": ("true", "false", "tie"),
}
"""Row of a tally -> the outcomes that it counts; its number is that of the first."""
_CREDIT = ("shapley", "headline_script", "headline_played")
_LATER = 5  # papers of each search
_TEXT = 2_000  # characters of an abstract, or of a survey's title


class Episodes:
    """Collects ``packed``: topic -> place of the run -> episode.

    ``shown`` has the value of each by its run's headline, without labels its number of steps, and
    `number` is that of episodes. `searched` is whether any sent a query.

    Args:
        corpus: The corpus of the runs, with their tasks.
        labels: Whether to pack labels and what depends on them.
        answers: File of the answers of language models.
        since: The setting of the runs.
    """

    def __init__(
        self, corpus: Corpus, labels: bool, answers: str | Path | None, since: str | None = None
    ) -> None:
        self.tasks, self.labels = TaskSet(corpus, since=since), labels
        self.packed: dict[str, dict[int, dict[str, Any]]] = {}
        self.shown: dict[str, dict[int, Any]] = {}
        self.number = 0
        self.searched = False
        self._corpus, self._later = corpus, corpus.at(FUTURE)
        self._store = open_answers(answers)
        self._texts, self._tools, self._runs = Texts(), set[str](), list[dict[str, Any]]()

    def add(self, name: str, run: OpenedRun, topics: Collection[str]) -> None:
        """Add a run and its episodes of `topics`."""
        funnel, place = RunFunnel(run, self._corpus, self.tasks), len(self._runs)
        about = {"name": name, "task": run.task.name, "depth": funnel.depth}
        self._runs.append(about | {"knows": run.manifest["agent"] == ORACLE})
        headline = run.manifest["definition"].get("headline")
        credit = read_credit(run) if self.labels else {}
        episodes = replay_episodes(run, self._corpus, topics)
        verdicts = _read_verdicts(run) if self.labels else {}  # a board believes no verdicts
        for record, steps in progress(episodes, desc=name, unit="episode"):
            said = verdicts.get(record["topic_id"], [])
            packed = self._episode(record, steps, funnel, run.task, said)
            if calls := credit.get((record["topic_id"], record.get("repeat", 0))):
                packed["credit"] = [[call.get(name) for name in _CREDIT] for call in calls]
            self.packed.setdefault(record["topic_id"], {})[place] = packed
            value = (
                record["metrics"].get(headline) if self.labels else count(len(steps) - 1, "step")
            )
            self.shown.setdefault(record["topic_id"], {})[place] = value
            self.number += 1
            self._tools.update(call_of(step["action"])[0] for step in record["steps"])
            self._runs[place]["budget"] = list(steps[0].observation["budget"])

    def add_answers(
        self, name: str, compared: Comparison, place: int, topics: Collection[str]
    ) -> None:
        """Add the answers and scores of a compared system that has no steps, of `topics`."""
        system, metrics = compared.runs[place], [each.metric for each in compared.metrics]
        assert system.task is not None
        for topic in set(topics) & set(system.episodes):
            record = {"task": system.task.name, "topic_id": topic}
            given = record | {"answers": system.episodes[topic].answers}
            packed = self._answers(topic, answers_of(given, system.task), system.task, [])
            row = system.metrics["per_topic"][topic]
            packed["metrics"] = {metric: row[metric] for metric in metrics}
            self.packed.setdefault(topic, {})[place] = packed
        self._runs.append({"name": name, "task": system.task.name, "depth": None})

    def _answers(
        self, topic: str, answers: Mapping[str, Any], task: Task, verdicts: _Verdicts
    ) -> dict[str, Any]:
        """Return how answers are drawn, and with labels their tally and the rank of references.

        `verdicts` are on the statements of an answer that is a text.
        """
        tasks, drawn, tally = self.tasks if self.labels else None, [], list[tuple[str, int, int]]()
        for stage in task.stages:
            kind, given = stage.answer, answers.get(stage.name)
            if given is not None:
                panel = kind.panel(given, tasks, topic)
                if kind.writes and verdicts:
                    panel["verdicts"] = verdicts
                    outcomes = [each[1] for each in verdicts]
                    for words, decided in _DECIDED.items():
                        found = [outcome for outcome in outcomes if outcome in decided]
                        tally.append((words, found.count(decided[0]), len(found)))
                drawn.append((stage.name, kind.noun, panel))
            tally += kind.tally(given, tasks, topic) if tasks else []
        packed: dict[str, Any] = {
            "answers": [(*names, self._texts.pack(encode(panel), True)) for *names, panel in drawn]
        }
        if tasks:
            packed["tally"] = tally
            packed["ranks"] = [*map(places_of(answers, task).get, tasks.references(topic))]
        return packed

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

    def _episode(
        self,
        record: dict[str, Any],
        steps: Sequence[PlayedStep],
        funnel: RunFunnel,
        task: Task,
        verdicts: _Verdicts,
    ) -> dict[str, Any]:
        """Return an episode: lists with an entry for the reset (but "a") and for each step.

        "b" is the budget at the reset, then what each step spent of it; "w" has papers by their
        places among the survey's references, when they were first shown.
        """
        seen, pack = [step.observation for step in steps], self._texts.pack
        left = [list(each["budget"].values()) for each in seen]
        answers = answers_of(record, task)
        packed: dict[str, Any] = {
            "o": [pack(each["result"]) for each in seen],
            "a": [pack(encode(step.action), of_agent=True) for step in steps[1:]],
            "b": [left[0], *(np.subtract(had, has).tolist() for had, has in pairwise(left))],
            "s": [each["stage"] for each in seen],
            "topic": seen[0]["topic"],
            "end": "cut off by the budget" if record["truncated"] else "submitted",
            "usage": (usage_of(record["notes"]) or {}) | (count_answers([record["notes"]]) or {}),
            "said": self._said(record, steps),
            **self._answers(record["topic_id"], answers, task, verdicts),
        }
        if not self.labels:
            return packed
        shown = [listed(each["result"]) for each in seen]
        ranks, later = funnel.search(record)
        self.searched |= bool(ranks)
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
                [sum(1 << n for n, s in enumerate(STAGES) if s in w.stages), w.rank, w.query]
                for w in wanted
            ],
            "metrics": record["metrics"],
        }

    def _references(self, topic_id: str) -> list[list[Any]]:
        """Return the references of a topic: number of the paper, gain, status, abstract."""
        refs, gains = [], self.tasks.gold(topic_id).gains
        for paper, status in self.tasks.references(topic_id).items():
            title = date = abstract = ""
            if paper in self._later:
                found = self._later.paper(paper)
                title, date, abstract = found.title, found.date, found.abstract
            elif status != "unknown":
                title = self.tasks.facts(topic_id, [paper])[paper].title
            text = self._texts.number(encode(abstract[:_TEXT])) if abstract else None
            refs.append([self._texts.paper(paper, title, date), gains.get(paper, 0), status, text])
        return refs

    def blocks(self, anchors: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield names and contents: first the index, then topics with episodes, then texts.

        `anchors` are the addresses of topics on the page.
        """
        order = play_order(self.tasks, self.packed)
        refs = {each: self._references(each) if self.labels else [] for each in order}
        blocks = in_blocks([[refs[each], self.packed[each]] for each in order])
        places = [(n, m) for n, each in enumerate(blocks) for m in range(len(each))]
        rows, episodes, tallies = [], [], []
        for at, topic_id in enumerate(order):
            topic = self.tasks.topic(topic_id)
            about = [topic_id, topic.text[:_TEXT], topic.date, *places[at]]
            rows.append([*about, anchors[topic_id]])
            for run, packed in self.packed[topic_id].items():
                tallies.append([run, at, packed.pop("tally", [])])
                masks = [each[0] for each in packed.get("wanted", ())]
                if "a" in packed:
                    episodes.append([run, at, len(packed["a"]), masks])
        texts = in_blocks(self._texts)
        starts = np.cumsum([0, *map(len, texts)])[:-1].tolist()
        index = {
            "labels": self.labels, "runs": self._runs, "stages": list(STAGES.items()),
            "tools": sorted(self._tools), "topics": rows, "episodes": episodes, "texts": starts,
            "tallies": tallies,
        }  # fmt: skip
        yield "index", block(index)
        yield from ((f"e{n}", block(each)) for n, each in enumerate(blocks))
        yield from ((f"t{n}", block(each)) for n, each in enumerate(texts))


def _read_verdicts(run: OpenedRun) -> dict[str, _Verdicts]:
    """Return topic -> verdicts, as ``arena judge statements`` wrote them for these episodes."""
    path = run.directory / "judgements" / "statements.json"
    if not path.is_file() or not run.files:
        return {}
    kept = read_sealed(path)
    if kept["sha256"].get(TRAJECTORIES) != sha256_file(run.path):
        return {}
    names = ("statement", "outcome", "paper", "reason")
    try:
        return {
            topic: [[str(row.get(n) or "") for n in names] for row in (*of["cited"], *of["claims"])]
            for topic, of in kept["reports"].items()
        }
    except (LookupError, TypeError, AttributeError):
        raise DataError(
            f"{str(path)!r} has judgements of another form. Repeat `arena judge statements`."
        ) from None
