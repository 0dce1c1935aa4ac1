"""One running episode: the tools' side (`Episode`) and the labels' side (`Scoring`), kept apart."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from arena.counted import ReaderDefectError, unreadable
from arena.envs._results import POOL_FORM, PaperPool, cut, lists_paper
from arena.errors import (
    ArenaError,
    DataError,
    UnknownPaperError,
    UnreadableError,
    clip,
    finite,
    returned,
)
from arena.failures import scoring_failure
from arena.kit.files import json_value, schema_error
from arena.metrics import ScoreContext
from arena.rewards import MetricReward, Progress, Reward, Seen
from arena.tasks import Task, TaskSet, Topic
from arena.text.display import printable, result_lines
from arena.tools import (
    MAX_QUERY,
    BudgetError,
    Call,
    Episode,
    Search,
    Tool,
    ToolError,
    ToolResult,
    encode,
    parse_action,
)

_FORM = {
    "budget": dict, "selected": list, "draft": list, "cited": list, "answers": dict, "over": bool,
    "digested": dict, "at": int, "shown": list, "result": str, "ended": bool,
}  # fmt: skip


class StepResult(NamedTuple):
    """The result of a step, in Gymnasium's order."""

    observation: dict[str, Any]
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Scoring(NamedTuple):
    """The metrics and rewards of an environment; `encoder` compares headings.

    `reads_results` says whether a reward needs all results of an episode, `empty_gold` whether an
    answer without papers is right where no gold is in reach.
    """

    task: Task
    tasks: TaskSet
    rewards: Sequence[Reward]
    encoder: str
    reads_results: bool
    empty_gold: bool = False

    def final_info(
        self, topic_id: str, answers: Mapping[str, Any], seen: Set[str]
    ) -> tuple[dict[str, Any], dict[str, float]]:
        """Return what the info of the last step adds: answers, metrics and counts of gold.

        Then metric -> score for the metrics that a reward pays. If an exception ends the scoring,
        there are no metrics, and ``failed`` says which it was.
        """
        gold = self.tasks.gold(topic_id)
        context = ScoreContext(self.encoder, tasks=self.tasks, topic_id=topic_id, seen=seen)
        submitted = {}
        for stage in self.task.stages:
            if stage.name in answers:
                submitted[stage.name] = stage.answer.to_json(answers[stage.name])
        info: dict[str, Any] = {
            "answers": submitted,
            "metrics": {},
            "gold": len(gold.gains),
            "references": gold.references,
            "references_total": gold.references_total,
        }
        try:
            scores, paid = self.task.evaluate(answers, context), {}
            for reward in self.rewards:
                if isinstance(reward, MetricReward):
                    name = reward.metric.name
                    score = scores.get(name)
                    if score is None:
                        score = self.task.evaluate_by(reward.metric, answers, context)
                    if score is not None:
                        paid[name] = score
            return info | {"metrics": scores}, paid
        except Exception as error:
            return info | {"failed": scoring_failure(error)}, {}


class ScoredEpisode:
    """An episode with its score.

    A step is `start_step`; then, if that returned a search, the caller makes the search; then
    `finish_step`. A vector environment makes the searches of many episodes in one batch. `shown`
    are the papers that the agent has seen, in order, `result` is the JSON text of the last result,
    `score` the headline once the episode is over, None without labels, and `name` the environment's
    id of the topic.
    """

    def __init__(
        self,
        topic: Topic,
        state: Episode,
        tools: Mapping[str, Tool],
        scoring: Scoring,
        references: list[dict[str, str]] | None,
        text: str,
        most: int | None = None,
        pool: PaperPool | None = None,
        max_refused: int | None = None,
    ) -> None:
        self.topic, self.name = topic, topic.id
        self._most, self._pool = most, pool
        self._max_refused, self._refused = max_refused, 0
        self.over = False
        self._state = state
        self._tools = tools
        self._scoring = scoring
        self.text = text[:MAX_QUERY]
        self._gains = scoring.tasks.gold(topic.id).gains
        self._empty = scoring.empty_gold and not self._gains
        self._seen: list[Seen] = []
        self._gold_shown: set[str] = set()
        self._gold_cited: Set[str] = set()
        self.shown: dict[str, None] = {paper["id"]: None for paper in references or ()}
        self._shown: ToolResult | dict[str, Any] = {}
        self._broke, self._defect = "", ""
        self._before = dict(state.budget)
        self.score: float | None = None
        result: dict[str, Any] = {"message": state.instructions[0]}
        if references is not None:
            result["references"] = references
            self._gold_shown.update(self._gains.keys() & self.shown.keys())
        self.result = encode(result) if pool is None else str(pool.result(result, (), None).result)

    def start_step(self, action: Any) -> Search | None:
        """Carry out an action up to its search; return the search if there is one."""
        state = self._state
        self._before = dict(state.budget)
        state.budget["steps"] = max(0, state.budget["steps"] - 1)  # 0 if an engine failed
        self._broke, self._defect = "", ""
        self._call: Call | None = None  # unless it is carried out
        try:
            try:
                call = parse_action(action, self._tools)
            except ArenaError:
                raise
            except Exception as error:
                raise unreadable(error) from error
            if isinstance(call, str):
                raise ToolError(call)
            result = call.tool.function(state, **call.arguments)
        except BudgetError as error:
            self._shown, self._broke = {"error": str(error)}, error.budget
        except (ToolError, UnknownPaperError, UnreadableError) as error:
            self._shown = {"error": str(error)}
            self._defect = str(error) if isinstance(error, ReaderDefectError) else ""
        else:
            self._call = call
            if isinstance(result, Search):
                return result
            if not isinstance(result, dict | ToolResult):
                raise returned(f"the tool {call.tool.name}", result, "a dict, ToolResult or Search")
            self._shown = result
        return None

    def finish_step(self, hits: ToolResult | None = None) -> StepResult:
        """End the step that `start_step` began; `hits` is the result of its search."""
        state, before = self._state, self._before
        shown = self._shown if hits is None else hits
        found_before, cited_before = len(self._gold_shown), len(self._gold_cited)
        if state.cited:
            self._gold_cited = self._gains.keys() & state.cited
        if isinstance(shown, ToolResult):
            self._show(shown)
        elif self._pool is None:
            self.result = self._encoded(shown)
        else:
            self._show(ToolResult(shown, ()), free=True)
        if self._call is not None and self._scoring.reads_results:
            self._seen.append(Seen(self._call.tool.name, self._call.arguments, self.result))
        budget = state.budget
        if not self._defect:  # which is no fault of the agent
            self._refused = self._refused + 1 if self._call is None else 0
        terminated, reason = state.over, self._broke
        if terminated:
            finished = self._call is not None and self._call.tool.name == "finish"
            reason = "finished" if finished else "submitted"
        elif self._max_refused is not None and self._refused >= self._max_refused:
            reason = reason or "refused"
        elif budget["steps"] <= 0:
            reason = reason or "steps"
        truncated = not terminated and reason != ""
        self.over = terminated or truncated
        info: dict[str, Any] = {"topic_id": self.name}
        paid_metrics: dict[str, float] = {}
        if self.over:
            if truncated:
                state.finish(truncated=True)
            seen = state.cited.keys() & self.shown.keys()
            final, paid_metrics = self._scoring.final_info(self.topic.id, state.answers, seen)
            info |= final
            submitted: set[str] = set()
            for stage in self._scoring.task.stages:
                if stage.name in state.answers:
                    submitted.update(stage.answer.places(state.answers[stage.name]))
            unseen = submitted - self.shown.keys()
            info["unseen"] = len(unseen) / len(submitted) if submitted else None
            info["termination"] = reason
            self.score = self._scoring.task.worth(info["metrics"])
            if "written" in budget:
                info["seen"] = sorted(seen)
            if state.digests is not None:
                with_digest = sum(state.digested.values())
                missing = len(state.digested) - with_digest
                info["digests"] = {"shown": with_digest, "missing": missing}
        progress = Progress(
            len(self._gold_shown),
            found_before,
            len(self._gains),
            before["searches"] - budget["searches"],
            before["reads"] - budget["reads"],
            before["characters"] - budget["characters"],
            self.over,
            self.score,
            paid_metrics,
            len(self._gold_cited),
            cited_before,
            self.text,
            self.topic.date,
            self._seen,
        )
        terms: dict[str, float] = {}
        if self._empty:
            terms["abstention"] = float(self.over and self._scoring.task.abstains(state.answers))
        for reward in () if self._empty else self._scoring.rewards:
            its = reward.terms(progress)
            for name, term in its.items() if isinstance(its, dict) else (("", None),):
                usual = type(term) is float and math.isfinite(term)
                number = term if usual else finite(term)
                if number is None or name in terms:
                    wanted = "its terms, a dict of name -> finite number, with names of its own"
                    raise returned(f"the reward {type(reward).__name__}", its, wanted)
                terms[name] = number
        info["reward_terms"] = terms
        if self._defect:
            info["defect"] = self._defect
        new = progress.found - progress.found_before
        info["gain"] = new / progress.gold if new else 0.0
        paid = math.fsum(terms.values())
        return StepResult(self.observation(), paid, terminated, truncated, info)

    def observation(self) -> dict[str, Any]:
        """Return the observation of the present state."""
        return {
            "topic": self.text,
            "cutoff": self.topic.date,
            "stage": self._state.stage,
            "result": self.result,
            "budget": dict(self._state.budget),
        }

    def save(self) -> dict[str, Any]:
        """Return all that changes, as values of JSON and without a label."""
        return {
            **self._state.save(),
            "shown": list(self.shown),
            "result": self.result,
            "ended": self.over,
            **({} if self._pool is None else {"pool": self._pool.save()}),
            **({"seen": list(map(list, self._seen))} if self._scoring.reads_results else {}),
            **({} if self._max_refused is None else {"refused": self._refused}),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from what `save` returned in an episode of the same topic and settings.

        This one has just begun. Raise DataError for what no such episode returns.
        """
        try:
            if why := self._wrong(saved):
                raise DataError(f"{why}: this is no state of an episode of {self.topic.id!r}.")
            self._restore(saved)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            why = f"{type(error).__name__}: {clip(str(error))}"
            raise DataError(f"{why}: this is no state that save() returned.") from None

    def _wrong(self, saved: Mapping[str, Any]) -> str | None:
        """Return what in a saved state is not of this episode, or None."""
        form = _FORM if self._pool is None else _FORM | {"pool": POOL_FORM}
        if why := schema_error(
            saved, form if self._max_refused is None else form | {"refused": int}
        ):
            return why
        state, pool = self._state, saved.get("pool", {"scores": {}, "actions": [], "listed": 0})
        for name in ("shown", "selected", "cited", "digested"):
            if out := [paper for paper in saved[name] if paper not in state.view]:
                return f"{name} has {clip(out[0])}, which is out of reach"
        if out := [paper for paper in pool["scores"] if paper not in state.view]:
            return f"pool has {clip(out[0])}, which is out of reach"
        kinds = {stage.name: stage.answer for stage in state.stages}
        left, answers, seen = saved["budget"], saved["answers"], saved.get("seen", [])
        good = {
            "budget": left.keys() == state.budget.keys()
            and all(type(n) is int and 0 <= n <= state.budget[name] for name, n in left.items()),
            "at": 0 <= saved["at"] < len(kinds),
            "answers": all(kinds[stage].fits(answers[stage]) for stage in answers),
            "draft": all({type(h), type(t), *map(type, i)} == {str} for h, t, i in saved["draft"]),
            "result": isinstance(json_value(saved["result"]), dict),
            "pool": {*map(type, pool["actions"])} <= {str}
            and all(type(n) in (int, float) and 0 <= n < 1e9 for n in pool["scores"].values())
            and 0 <= pool["listed"] <= len(pool["scores"]),
            "seen": all(
                type(tool) is str and type(given) is dict and isinstance(json_value(text), dict)
                for tool, given, text in seen
            ),
        }  # fmt: skip
        return next((f"{name}={clip(saved[name])}" for name in good if not good[name]), None)

    def _restore(self, saved: Mapping[str, Any]) -> None:
        self._state.restore(saved)
        self.shown = dict.fromkeys(saved["shown"])
        self.result, self.over = saved["result"], saved["ended"]
        self._seen = [Seen(*each) for each in saved.get("seen", ())]
        self._refused = saved.get("refused", 0)
        if self._pool is not None:
            self._pool.restore(saved["pool"])
        self._gold_shown = self._gains.keys() & self.shown.keys()
        self._gold_cited = self._gains.keys() & self._state.cited

    def render(self) -> str:
        """Return the state as text for a person to read."""
        left = ", ".join(f"{name} left {n}" for name, n in self._state.budget.items())
        head = printable(f"{self._state.stage}: {self.text} (before {self.topic.date})")
        return "\n".join([head, left, *result_lines(json.loads(self.result), 1000), ""])

    def _encoded(self, result: dict[str, Any]) -> str:
        try:
            return encode(result)
        except (TypeError, ValueError):
            name = self._call.tool.name if self._call else ""
            raise returned(f"the tool {name}", result, "a dict of values of JSON") from None

    def _show(self, shown: ToolResult, free: bool = False) -> None:
        if self._pool is not None:
            given = shown.result if isinstance(shown.result, dict) else json.loads(shown.result)
            shown = self._pool.result(given, shown.papers, self._call)
        text = shown.result if isinstance(shown.result, str) else self._encoded(shown.result)
        papers, budget = shown.papers, self._state.budget
        if self._most is not None and len(text) > self._most:
            text = cut(text, self._most)
            papers = [paper for paper in papers if lists_paper(text, paper)]
        if not free and len(text) > budget["characters"]:
            error = (
                f"the result has {len(text)} characters and {budget['characters']} may still be "
                "shown, so the episode is over."
            )
            self.result, self._broke = encode({"error": error}), "characters"
            return
        budget["characters"] -= 0 if free else len(text)
        self.result = text
        self.shown.update(dict.fromkeys(papers))
        gains = self._gains
        self._gold_shown.update([paper_id for paper_id in papers if paper_id in gains])
