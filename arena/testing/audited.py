"""One audited episode: draws the actions, and checks everything that comes back."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.corpus.digests import ShownDigests
from arena.envs import DEFAULT_POOL_CHARACTERS, cut
from arena.errors import UnknownPaperError, clip
from arena.kit.files import json_value
from arena.papers import MAX_QUERY, MAX_TITLE, Hit
from arena.runs.episodes import PlayedStep
from arena.tasks import EXPERT, TASKS, open_task
from arena.testing.attacks import Attack, Attacker, SentCall, probes, without_id
from arena.testing.exposure import Exposure
from arena.testing.reference import Bm25, PlainList, PlainView, wrong_scores
from arena.testing.report import AuditReport, Reporter
from arena.testing.stored import StoredCorpus, StoredTopic, work
from arena.testing.values import leaves, plain, strings
from arena.text.display import count
from arena.tools import (
    BudgetError,
    Episode,
    Search,
    Tool,
    ToolError,
    ToolResult,
    encode,
    parse_action,
)

ANY: Any = object()
"""Expected value of a key that must be there with any value."""

_OVER = "may still be shown, so the episode is over."
"""How a result ends in place of one with more characters than are left."""

_CHECKS = {
    "id": "leak.paper", "title": "answer.title", "date": "leak.date", "cutoff": "leak.date",
    "error": "leak.refusal", "message": "answer.instruction",
}  # fmt: skip


class AuditedEnv(NamedTuple):
    """An environment to audit."""

    id: str
    task: str
    arguments: Mapping[str, Any] = {}  # in addition to those of every audit
    vector: int = 0  # number of environments in a vector; 0 for a scalar one

    def but(self, **arguments: Any) -> AuditedEnv:
        """Return the same environment with other arguments."""
        return self._replace(arguments={**self.arguments, **arguments})

    @property
    def references(self) -> str:
        """The setting `references`."""
        return str(self.arguments.get("references") or TASKS.get(self.task).references)

    def starting_papers(self, topic: StoredTopic, view: PlainView) -> list[str] | None:
        """Return the ids of the papers that an episode starts with; None if it has no such list."""
        if found := self.arguments.get("start_from"):
            return [paper_id for paper_id in found.get(topic.id, ()) if paper_id in view][:1_000]
        named = [row["reference"] for row in topic.references]
        if self.references == EXPERT:  # all of the list
            named = [view.stored.papers[number].id for number in view.numbers]
        elif self.references != "oracle":
            return None
        rows = filter(None, map(view.row, named))
        return [row.id for row in sorted(rows)][:1_000]  # by their dates

    @property
    def name(self) -> str:
        """The id and what distinguishes this environment from others of that id."""
        words = [f"{name}={value!r}" for name, value in self.arguments.items()]
        return " ".join([self.id, *[f"vector of {self.vector}"] * bool(self.vector), *words])

    def episode(self, view: PlainView, retriever: Callable[[str], PlainView]) -> Episode:
        """Return the state of an episode over reference views."""
        task, references = open_task(self.task), self.references
        tools = {tool.name: tool for tool in task.offered(references)}
        return Episode(
            view,  # type: ignore[arg-type]
            retriever,  # type: ignore[arg-type]
            task.stages,
            tools,
            task.instructions(references, self.arguments.get("since")),
            {},
        )


class AuditState(NamedTuple):
    """The state that all episodes and views of one audit share."""

    corpus: Corpus
    stored: StoredCorpus
    retrievers: tuple[str, ...]  # the first one is the environments' own
    scorers: Mapping[str, Bm25]  # second BM25 of the engines that are one
    log: AuditReport
    exposure: Exposure
    topics: Iterator[str]  # ids of topics to play, without end

    def plain_view(self, cutoff: str, excluded: Collection[str], engine: str) -> PlainView:
        """Return the reference of a view."""

        def search(query: str, k: int) -> list[Hit]:
            view = self.corpus.at(cutoff, exclude=list(excluded), retriever=engine)
            return view.search(query, k)

        return PlainView(self.stored, cutoff, excluded, engine, search)

    def plain_list(self, topic: StoredTopic) -> PlainList:
        """Return the reference of all papers that the survey's own mind-map files."""
        known, key = self.stored.by_id, work(topic.text)
        named = {each for each in strings(topic.mind_map) if each in known} - {topic.id}
        papers = {each for each in named if work(known[each].title) != key}
        return PlainList(self.stored, topic.date, papers)


class Target(NamedTuple):
    """An environment under attack; the actions are those that can be sent to it."""

    audited: AuditedEnv
    env: Any
    tools: Mapping[str, Tool]
    malformed: Sequence[Any]
    accepts: Callable[[Any], bool]
    state: AuditState
    rng: random.Random

    @classmethod
    def make(cls, audited: AuditedEnv, env: Any, state: AuditState, rng: random.Random) -> Target:
        """Return the target that an environment is; it may have a method ``accepts(action)``."""
        tools = dict((env.single_action_space if audited.vector else env.action_space).tools)
        accepts = getattr(env, "accepts", lambda action: True)
        odd = (probe.action for probe in probes(tools) if not probe.allowed)
        return cls(audited, env, tools, list(filter(accepts, odd)), accepts, state, rng)


class AuditedEpisode:
    """Draws actions for one episode and checks each answer; `over` once it has ended."""

    def __init__(self, target: Target, topic_id: str) -> None:
        state, audited = target.state, target.audited
        self._target, self._state, self._log = target, state, state.log
        since = audited.arguments.get("since")
        self._topic, self.over = state.stored.topic(topic_id, since), False
        date = self._topic.date
        self._where = f"{audited.name}, topic {topic_id!r} before {date}"
        views: dict[str, PlainView] = {
            name: state.plain_view(date, (topic_id,), name) for name in state.retrievers
        }
        if audited.references == EXPERT:
            views = dict.fromkeys(views, state.plain_list(self._topic))
        self._view = views[state.retrievers[0]]
        self._pool = audited.arguments.get("observation") == "pool"
        self._most = audited.arguments.get("max_result_characters") or DEFAULT_POOL_CHARACTERS
        # The same episode over the reference; what it answers is expected of the environment.
        self._expected = audited.episode(self._view, views.__getitem__)
        self._attacker = Attacker(
            self._view, target.rng, self._topic, target.tools, target.malformed
        )
        self._sent = {self._topic.text[:MAX_QUERY]}
        self._attack, self._waiting = Attack(()), list[SentCall]()
        self._answers: list[dict[str, Any]] = []
        self._call = SentCall(None)
        self._budget: dict[str, int] = {}

    def act(self) -> Any:
        """Return the action to send."""
        while not self._waiting:
            self._attack, self._answers = self._attacker.attack(), []
            if all(self._target.accepts(call.action) for call in self._attack.calls):
                self._waiting = list(self._attack.calls)
        self._call = self._waiting.pop(0)
        self._sent.update(strings(self._call.arguments))
        return self._call.action

    def begin(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        """Check what a reset returned."""
        audited, episode = self._target.audited, self._expected
        self._log.topics.add(self._topic.id)
        self._log.cutoffs.add(self._topic.date)
        report = self.reporter("reset()")
        result = self._observed(observation, report)
        compare(plain(info), {"topic_id": self._topic.id}, report, "leak.info")
        limits = {name: audited.arguments.get(f"max_{name}") for name in self._budget}
        given = {name: most for name, most in limits.items() if most is not None}
        if not given.items() <= self._budget.items():
            report("answer.budget", f"it begins with {self._budget}, and should with {given}")
        expected: dict[str, Any] = {"message": episode.instructions[0]}
        if (ids := audited.starting_papers(self._topic, self._view)) is not None:
            expected["references"] = episode.listed(ids)
            episode.given = frozenset(ids)
            self._log.counts["papers returned"] += len(ids)
        if stored := self._state.stored.digests.get(audited.arguments.get("paper_text", "")):
            allowed = stored.texts if stored.complete else episode.given
            known = {paper: stored.texts.get(paper, "") for paper in allowed}
            episode.digests = ShownDigests(stored.heading, lambda paper: known.get(paper, ""))
        if not self._pool:
            compare(result, expected, report)

    def take(self, step: PlayedStep) -> None:
        """Check what a step returned."""
        call, log, episode = self._call, self._log, self._expected
        report = self.reporter(clip(call.action, 300))
        log.counts["actions"] += 1
        log.tools[call.tool or "malformed"] += 1
        log.environments[self._target.audited.name] += 1
        before = self._budget
        predicted, broke = self._predicted(call, before, report)
        result = self._observed(step.observation, report)
        self.over = step.terminated or step.truncated
        if predicted is not None:
            if isinstance(predicted, ToolResult | Search):  # else the result itself may be an error
                broke = str(result.get("error")).endswith(_OVER)
            self._check_result(predicted, result, broke, report)
            self._check_cost(predicted, broke, step, report)
        if (stage := step.observation.get("stage")) != episode.stage:
            report("answer.observation", f"stage={stage!r}")
        if step.truncated:
            episode.finish(truncated=True)
        kinds = {stage.name: stage.answer for stage in episode.stages}
        answers = {s: kinds[s].to_json(each) for s, each in episode.answers.items()}
        check_info(step.info, self._topic, self.over, answers, report)
        spent = {name: before[name] - left for name, left in self._budget.items()}
        ends = {"terminated": step.terminated, "truncated": step.truncated}
        if self._pool:  # the past actions have the ids, and take room from the papers
            result = {n: v for n, v in result.items() if n not in ("actions", "papers")}
        self._answers.append({"result": result, "spent": spent, "reward": step.reward, **ends})
        if len(self._attack.calls) == len(self._answers) > 1:
            self._compare_answers(report)

    def crash(self, error: Exception) -> None:
        """Report an exception."""
        report = self.reporter(clip(self._call.action, 300))
        report("answer.crash", f"{type(error).__name__}: {error}")

    def reporter(self, action: str) -> Reporter:
        """Return a function that takes findings of this episode."""
        return lambda check, what: self._log.add(check, self._where, action, what)

    def _observed(self, observation: Mapping[str, Any], report: Reporter) -> dict[str, Any]:
        """Check an observation; return the result in it, which shows nothing out of reach."""
        expected = {"topic": self._topic.text[:MAX_QUERY], "cutoff": self._topic.date}
        expected |= dict.fromkeys(("stage", "result", "budget"), ANY)
        compare(observation, expected, report, "answer.observation")
        self._budget = {name: int(left) for name, left in observation["budget"].items()}
        result = json_value(observation["result"])
        if not isinstance(result, dict):
            report("answer.result", f"it is not a JSON object: {clip(observation['result'], 300)}")
            return {}
        for check, what in self._state.exposure.find(result, self._view, self._sent):
            report(check, what)
        return result

    def _predicted(
        self, call: SentCall, budget: dict[str, int], report: Reporter
    ) -> tuple[Any, bool]:
        """Return the result over the reference, None if it fails, and if a budget has run out."""
        self._expected.budget = budget | {"steps": budget["steps"] - 1}
        parsed_call = parse_action(call.action, self._target.tools)
        if isinstance(parsed_call, str):
            return {"error": parsed_call}, False
        try:
            return parsed_call.tool.function(self._expected, **parsed_call.arguments), False
        except (ToolError, UnknownPaperError) as error:
            return {"error": str(error)}, isinstance(error, BudgetError)
        except Exception as error:
            report("answer.crash", f"over the reference view: {type(error).__name__}: {error}")
            return None, False

    def _check_cost(self, predicted: Any, broke: bool, step: PlayedStep, report: Reporter) -> None:
        """Check what a call took off the budget, and whether the episode is over."""
        budget, text = self._expected.budget, step.observation["result"]
        if isinstance(predicted, ToolResult | Search):
            budget["characters"] -= 0 if broke else len(text)
        if self._budget != budget or min(budget.values()) < 0:
            report("answer.budget", f"{self._budget} are left, and should be {budget}")
        over = self._expected.over
        ends = over, not over and (broke or budget["steps"] <= 0)
        if (step.terminated, step.truncated) != ends:
            got = step.terminated, step.truncated
            report("answer.budget", f"terminated and truncated are {got}, and should be {ends}")

    def _check_result(
        self, predicted: Any, result: dict[str, Any], broke: bool, report: Reporter
    ) -> None:
        """Check a result against that of the reference."""
        shows, counts = isinstance(predicted, ToolResult), self._log.counts
        short = "max_result_characters" in self._target.audited.arguments and not self._pool
        if short and str(result.get("error")).endswith("are shown at most."):
            return
        if broke and isinstance(predicted, ToolResult | Search):
            compare(result, {"error": ANY}, report)
            return
        if self._pool:  # whose papers `Exposure` has looked at
            return
        if isinstance(predicted, Search):
            self._check_search(predicted, result, report)
            return
        expected = predicted.result if shows else predicted
        text = expected if isinstance(expected, str) else encode(expected)
        expected = json_value(cut(text, self._most) if short and len(text) > self._most else text)
        counts["papers returned"] += len(predicted.papers) if shows else 0
        counts["ids refused"] += str(expected.get("error")).startswith("no paper ")
        counts["texts compared"] += "text" in expected
        compare(result, expected, report)

    def _check_search(self, asked: Search, result: dict[str, Any], report: Reporter) -> None:
        """Check the list of hits of a search, or the list for each of its queries."""
        lists: list[Any] = [(asked.queries, result)]
        if len(asked.queries) > 1 and not asked.fuse:
            compare(result, {"lists": ANY, **({"cut": ANY} if "cut" in result else {})}, report)
            if len(parts := result.get("lists", ())) != len(asked.queries):
                report(
                    "answer.result",
                    f"{count(len(parts), 'list')} for {count(len(asked.queries), 'query')}",
                )
            lists = [((one,), part) for one, part in zip(asked.queries, parts, strict=False)]
        for queries, part in lists:
            more = {"cut": ANY} if "cut" in part else {} if part.get("hits") else {"message": ANY}
            compare(part, {"hits": ANY, **more}, report)
            view: Any = asked.view
            # How many hits are left of a result that is cut is not checked.
            most = len(part.get("hits", ())) if "cut" in {**part, **result} else asked.k
            request = view, queries, most, asked.offset
            check_hits(request, part.get("hits"), self._state, report, MAX_TITLE)

    def _compare_answers(self, report: Reporter) -> None:
        """Check that a call with a hidden id was answered as one with an id of no paper."""
        errors = (str(answer["result"].get("error")) for answer in self._answers)
        if any("may still be written" in error for error in errors):
            return  # the first of two equal texts may use the budget up
        self._log.counts["decoys compared"] += 1
        ids = self._attack.ids
        hidden, decoy, other = map(_by_key, self._answers, ids)
        for name in hidden | decoy:
            value, expected = hidden.get(name, ()), decoy.get(name, ())
            if value != expected == other.get(name, ()):  # else it differs every time
                what = f"{name}={clip(value, 300)} for {ids[0]!r}, but {clip(expected, 300)}"
                report("leak.decoy", f"{what} for {ids[1]!r}")


def _by_key(answer: dict[str, Any], paper_id: str) -> dict[str, list[Any]]:
    """Return the leaves of an answer by the key above them, without an id.

    So a key that differs every time, such as a counter, excuses no other.
    """
    found: dict[str, list[Any]] = defaultdict(list)
    for key, leaf in leaves(answer):
        text = without_id(leaf, paper_id) if isinstance(leaf, str) else leaf
        found[without_id(key, paper_id)].append(text)
    return found


def compare(
    value: Mapping[str, Any], expected: Mapping[str, Any], report: Reporter, check: str = ""
) -> None:
    """Check that a dict has exactly the expected keys, with the expected values.

    `check` is the id of all findings; without it each has that of its key.
    """
    if check:
        compare(value, expected, lambda _, what: report(check, what))
        return
    if "error" in value and "error" not in expected:
        report("answer.missing", f"refused: {value['error']}")
        return
    if "error" in expected and set(value) != set(expected):
        hidden = "error" not in value and str(expected["error"]).startswith("no paper ")
        what = f"it is {clip(value, 300)}, and should be refused alone: {expected['error']}"
        report("leak.paper" if hidden else "leak.refusal", what)
    elif set(value) != set(expected):
        report("answer.result", f"it has {sorted(value)}, and should have {sorted(expected)}")
    for name, known in expected.items():
        actual = value.get(name, known)
        same = actual == known and isinstance(actual, bool) == isinstance(known, bool)
        if known is not ANY and not same:
            kinds = {int: "answer.count", list: "answer.list"}
            own = _CHECKS.get(name) or kinds.get(type(known), "answer.text")
            report(own, f"{name}={clip(actual, 300)}, and by the files {clip(known, 300)}")


def check_hits(
    request: tuple[PlainView, tuple[str, ...], int, int],
    hits: Any,
    state: AuditState,
    report: Reporter,
    longest: int | None = None,
) -> None:
    """Check the hits of a search, their order and, where there is a second BM25, their scores.

    A request is view, queries, k and offset; `longest` is how many characters of a title are shown.
    """
    (view, queries, k, offset), log, numbers = request, state.log, []
    if not isinstance(hits, list) or not all(isinstance(hit, dict) for hit in hits):
        report("answer.result", f"hits={clip(hits, 300)} is not a list of objects")
        return
    log.counts["papers returned"] += len(hits)
    for hit in hits:
        if (row := view.row(paper_id := hit.get("id"))) is None:
            report("leak.paper", f"{paper_id!r} {view.why_not(paper_id)}, and was shown")
            continue
        numbers.append(row.number)
        shown = {"id": row.id, "title": row.title[:longest], "date": row.date, "score": ANY}
        compare(hit, shown, report)
    if len(numbers) < len(hits):
        return
    scores = [hit.get("score") for hit in hits]
    if not all(isinstance(score, float) and math.isfinite(score) for score in scores):
        report("answer.order", f"scores {scores!r}")
        return
    order = [(-score, number) for score, number in zip(scores, numbers, strict=True)]
    if order != sorted(order) or len(set(numbers)) < len(hits) or len(hits) > k:
        report("answer.order", f"{count(len(hits), 'hit')} for k={k}: {order[:5]!r} ...")
    expected = fused(view, queries, k, offset)
    if len(queries) > 1:
        log.counts["rankings fused again"] += 1
        if expected != [(hit["id"], hit["score"]) for hit in hits]:
            report("answer.fusion", f"{count(len(hits), 'hit')}, not those of the queries, fused")
        return
    if [paper for paper, _ in expected] != [hit["id"] for hit in hits]:
        found = count(len(hits), "hit")
        report("answer.page", f"{found}, not those from {offset} on of one search")
    if scorer := state.scorers.get(view.engine):
        log.counts["rankings computed again"] += 1
        log.counts["scores compared"] += len(scores)
        if wrong := wrong_scores(scorer.scores(queries[0], view), numbers, scores, offset, k):
            report("answer.score", wrong)


def fused(view: Any, queries: Sequence[str], k: int, offset: int) -> list[tuple[str, float]]:
    """Return id and score of what searches find together, by the sum of 1 / (60 + rank)."""
    depth = offset + k if len(queries) == 1 else max(1_000, offset + k)
    shares: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        for rank, hit in enumerate(view.search(query, depth), 1):
            shares[hit.id].append(1 / (60 + rank))
    scores = {paper: reduce(add, sorted(parts)) for paper, parts in shares.items()}
    number = {paper: row.number for paper in scores if (row := view.row(paper))}
    ranked = sorted(scores, key=lambda paper: (-scores[paper], number.get(paper, -1)))
    return [(paper, scores[paper]) for paper in ranked[offset : offset + k]]


def check_info(
    info: Mapping[str, Any],
    topic: StoredTopic,
    over: bool,
    answers: dict[str, Any],
    report: Reporter,
) -> None:
    """Check the info of a step: at the end it has what was submitted, and figures.

    `answers` maps each stage to what was submitted.
    """
    expected: dict[str, Any] = {"topic_id": topic.id, "reward_terms": ANY, "gain": ANY}
    if over:
        expected |= dict.fromkeys({"digests", "seen"} & info.keys(), ANY)  # where there are some
        expected |= {"unseen": ANY, "termination": ANY}
        expected |= {"gold": len(topic.gains), "references": len(topic.references)}
        expected |= {"references_total": topic.references_total, "answers": answers}
        expected |= {"metrics": ANY}
    compare(plain(info), expected, report, "leak.info")
    metrics = info.get("metrics", {})
    if not all(isinstance(n, float | int) and math.isfinite(n) for n in metrics.values()):
        report("leak.info", f"metrics={metrics!r}")
