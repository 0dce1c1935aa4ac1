"""The report card of environments: are they worth training on, what should a model score?

Checks have the ids of OpenEnv's environment validation (its RFC 008) where it has one; ours begin
with ``arena.``.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import gymnasium

from arena.agents import Agent
from arena.corpus import Corpus
from arena.errors import NoLabelsError
from arena.kit.terminal import Table, progress
from arena.rewards import REWARDS
from arena.runs.episodes import play
from arena.runs.players import AgentFactory, Oracle
from arena.tasks import TaskSet, environment_ids, open_task
from arena.testing.checked import STEPS, CheckedEnv, random_play
from arena.testing.report import AuditReport
from arena.testing.stored import NEVER, StoredCorpus
from arena.testing.values import strings
from arena.text.display import count
from arena.tools import tool_schemas
from arena_integrations._hacks import HACKS, Hacker

QUESTION = "How hard is this, and what should my model score?"
MARGIN, UNEQUAL = 0.1, 0.2
"""The least gap to the floor, as in OpenEnv's policy; the least share of unequal groups."""
_SEEDS = [f"seed {number}" for number in range(4)]  # of random actions
_LADDER: dict[str, tuple[str, dict[str, Any]]] = {
    "random": ("random", {}), "title": ("title", {}), "scout": ("scout", {}),
    "ranker": ("scout", {"ranker": "learned"}),
}  # fmt: skip
_OF_MAPS: dict[str, tuple[str, dict[str, Any]]] = {
    name: (name, {}) for name in ("random", "clustering", "organizer")
}
_AUDITED = {
    "runtime.reward_well_formed": ("contract.rewards",),
    "runtime.observation_schema": ("contract.space", "answer.observation"),
    "runtime.tool_declaration_accuracy": ("contract.schema",),
    "runtime.episode_isolation": ("contract.isolation", "contract.reset"),
    "runtime.episode_determinism": ("contract.determinism", "contract.vector"),
    "runtime.oracle_containment": ("contract.no-gold",),
    "semantic.no_solution_leakage": ("leak.",),
}
_METRIC = "metric"
_WORD = re.compile(r"[^\W\d_]{4,}")


def report_card(
    corpus: Corpus,
    audited: AuditReport,
    environments: Sequence[str] | None = None,
    topics: int = 10,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the report card of a corpus, as values of JSON; docs/auditing.md describes it.

    Args:
        corpus: The corpus, opened with a task set or not.
        audited: What an audit of it has found.
        environments: Ids; by default those of all tasks.
        topics: How many to play, evenly spread over those that can be scored.
        options: Arguments of the environments.
    """
    late, tasks, left_out = _late_words(StoredCorpus(corpus.directory)), [], {}
    for name in progress(environments or environment_ids(), desc="card", unit="environment"):
        try:
            tasks.append(_Played(name, corpus, topics, options or {}).card(late))
        except NoLabelsError as error:
            left_out[name] = str(error)
    found = {
        name: (not (of := [c for c in audited.by_check if c.startswith(checks)]), {"findings": of})
        for name, checks in _AUDITED.items()
    }
    return {
        "question": QUESTION, "answers": list(map(_answer, tasks)), "tasks": tasks,
        "checks": _checks(found), "left_out": left_out, "hashes": audited.hashes,
    }  # fmt: skip


class _Played:
    """The episodes of one environment: agent -> by topic what each reward paid, and the metric."""

    def __init__(self, env_id: str, corpus: Corpus, most: int, options: Mapping[str, Any]) -> None:
        task = open_task(CheckedEnv(env_id, {"corpus": corpus, **options}).task)
        pool = options.get("observation") == "pool"
        kinds = {name: REWARDS.get(name) for name in REWARDS.names() if name != "cost"}
        self._names = [name for name in kinds if not (pool and kinds[name].reads_results)]
        self._env: Any = gymnasium.make(
            env_id, corpus=corpus, **{**options, "reward": "+".join(self._names)}
        )
        own: Any = self._env.unwrapped
        self._tasks, self._texts = (
            TaskSet(corpus, own.config.references, own.config.since),
            own.topics,
        )
        every, least = list(self._texts), min(most, len(self._texts))
        self._topics = [every[n * len(every) // least] for n in range(least)]
        self._task = task.on(self._tasks)
        self._ladder = _LADDER if any(kind.has_order for kind in task.kinds) else _OF_MAPS
        self._scores: dict[str, list[dict[str, float]]] = defaultdict(list)

    def card(self, late: Mapping[str, int]) -> dict[str, Any]:
        """Play, and return the part of the card; `late` is what `_late_words` returns."""
        words, differences = set[str](), 0
        for topic in self._topics:
            day = dt.date.fromisoformat(self._tasks.topic(topic).date).toordinal()
            for name, act in self._players(topic):
                steps, paid = list(play(self._env, act, topic, 0)), dict.fromkeys(self._names, 0.0)
                for step in steps:
                    for term, value in step.info.get("reward_terms", {}).items():
                        paid[term.partition(".")[0]] += value
                    said = json.loads(step.observation["result"], object_pairs_hook=_values)
                    found = _WORD.findall(" ".join(strings(said)).lower())
                    words.update(word for word in found if late.get(word, 0) >= day)
                metric = steps[-1].info["metrics"].get(self._task.headline_name)
                self._scores[name].append(paid | {_METRIC: metric or 0.0})
                if topic == self._topics[0]:
                    rest = iter([step.action for step in steps[1:]])
                    again = list(play(self._env, lambda _: next(rest), topic, 0))  # noqa: B023
                    differences += again != steps
        rows = [self._row(reward) for reward in self._names]
        return {
            "task": self._task.name, "metric": self._task.headline_name,
            "topics": len(self._topics),
            "metrics": self._means(_METRIC),
            "rewards": [row for row in rows if any(row["mean"].values())],
            "checks": _checks({
                "semantic.replayability": (not differences, {"different": differences}),
                "arena.canary_words": (not words, {"found": sorted(words)[:20]}),
            }),
        }  # fmt: skip

    def _players(self, topic: str) -> Iterator[tuple[str, Callable[[Any], Any]]]:
        """Yield the agents by name: scripts, hacks, random actions, and the oracle.

        That searches for the topic and reads the labels, while the budget lasts, before it submits.
        """
        agents: dict[str, Agent] = {
            name: AgentFactory(agent, options, self._task, self._tasks).make(topic, 0)
            for name, (agent, options) in self._ladder.items()
        } | {name: Hacker(name) for name in HACKS}
        for name, agent in agents.items():
            agent.tools = tool_schemas(self._env)
            yield name, agent.act
        for seed, name in enumerate(_SEEDS):
            yield name, random_play(self._env, seed, STEPS)
        submits = Oracle(self._task, self._task.ideal(self._tasks, topic)).act
        first = [("search", {"query": self._texts[topic], "k": 100})]
        first += [("read", {"paper_id": paper}) for paper in self._tasks.gold(topic).gains]

        def known(observation: Any) -> Any:
            if (
                not first
                or not observation["budget"]["reads"]
                or observation["budget"]["steps"] < 6
            ):
                return submits(observation)
            tool, arguments = first.pop(0)
            return {"tool": tool, "arguments": arguments}

        yield "oracle", known

    def _means(self, reward: str) -> dict[str, float]:
        means = {name: fmean(s[reward] for s in scores) for name, scores in self._scores.items()}
        return {name: round(mean, 4) for name, mean in means.items()}

    def _row(self, reward: str) -> dict[str, Any]:
        """Return the numbers and checks of one reward."""
        mean, metric = self._means(reward), self._means(_METRIC)
        ladder = {name: mean[name] for name in (*self._ladder, "oracle")}
        best = max(mean[name] for name in self._ladder)
        floor = {name: mean[name] for name in ("random", "empty", "copy")}
        gap = round(mean["oracle"] - max(floor.values()), 4)
        hacks = {name: {"reward": mean[name], "metric": metric[name]} for name in HACKS}
        worst = max(HACKS, key=lambda name: mean[name])
        groups = zip(*(self._scores[name] for name in _SEEDS), strict=True)
        share = round(fmean(len({round(s[reward], 9) for s in each}) > 1 for each in groups), 4)
        deviation = round(stdev(mean[name] for name in _SEEDS), 4)
        constant = round(max(mean["copy"], mean["constant"]) - mean["empty"], 4)
        rising = all(one < other for one, other in pairwise(ladder.values()))
        label = f"{reward} (not a metric)" if REWARDS.get(reward).reads_results else reward
        checks: dict[str, tuple[bool, Mapping[str, Any]]] = {
            "semantic.oracle_max": (mean["oracle"] >= 1 - MARGIN, {"oracle": mean["oracle"]}),
            "semantic.floor_gap": (gap >= MARGIN, {"gap": gap, **floor}),
            "semantic.canary_floor": (constant <= MARGIN, {"above_empty": constant}),
            "statistical.headroom": (mean["oracle"] > best, {"best_script": best}),
            "statistical.variance_bound": (deviation <= MARGIN, {"deviation": deviation}),
            "arena.unequal_rewards": (share >= UNEQUAL, {"share": share}),
            "statistical.training_signal": (rising, ladder),
            "statistical.gameability_gap": (mean[worst] < best, {"worst": worst, "hacks": hacks}),
        }
        return {"reward": reward, "label": label, "mean": mean, "checks": _checks(checks)}


def _checks(measured: Mapping[str, tuple[bool, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return checks in the form of OpenEnv's reports."""
    return [
        {"check_id": name, "status": "pass" if passed else "fail", "measured": numbers}
        for name, (passed, numbers) in measured.items()
    ]


def _values(pairs: Sequence[tuple[str, Any]]) -> list[Any]:
    """Return the values of a JSON object that are of papers, without its keys."""
    return [value for name, value in pairs if name not in ("id", "error", "message", "actions")]


def _late_words(stored: StoredCorpus) -> dict[str, int]:
    """Return each word of the papers -> the day of the first that has it.

    No result may show it in an episode of that day or before.
    """
    first: dict[str, int] = {}
    for paper in stored.papers:  # in order of their days
        if not paper.survey and paper.day < NEVER:
            for text in stored.texts(paper.number):
                for word in _WORD.findall(text.lower()):
                    first.setdefault(word, paper.day)
    return first


def _answer(task: Mapping[str, Any]) -> str:
    """Return what a model should score, as one sentence."""
    metrics = task["metrics"]
    scripts = {n: v for n, v in metrics.items() if n not in (*HACKS, *_SEEDS, "oracle")}
    hack = max(HACKS, key=lambda name: metrics[name])
    listed = ", ".join(f"{name} {value:.3f}" for name, value in scripts.items())
    best = max(scripts, key=lambda name: scripts[name])
    return (
        f"{task['task']}, {task['metric']} on {count(task['topics'], 'topic')}: "
        f"{listed}, the labels "
        f"{metrics['oracle']:.3f}. A model should score more than the trick {hack!r} "
        f"({metrics[hack]:.3f}), and one that has learned to search more than {best!r} "
        f"({scripts[best]:.3f})."
    )


def table(card: Mapping[str, Any]) -> Table:
    """Return what agents earn by each reward, and the checks that fail."""
    rows: list[tuple[Any, ...]] = []
    for task in card["tasks"]:
        for row in task["rewards"]:
            mean, by = row["mean"], {check["check_id"]: check for check in row["checks"]}
            worst = by["statistical.gameability_gap"]["measured"]["worst"]
            rows.append((
                task["task"], row["label"], mean["random"],
                by["statistical.headroom"]["measured"]["best_script"], mean["oracle"],
                mean["empty"], mean["copy"], mean[worst], worst,
                by["statistical.variance_bound"]["measured"]["deviation"],
                by["arena.unequal_rewards"]["measured"]["share"], _failed(row["checks"]),
            ))  # fmt: skip
        rows.append((task["task"], "all", *[None] * 9, _failed(task["checks"])))
    rows.append(("all", "all", *[None] * 9, _failed(card["checks"])))
    names = ("random", "best script", "oracle", "empty", "copy", "best hack", "which")
    header = ("task", "reward", *names, "over seeds", "unequal", "failed checks")
    return Table(header, rows, "llrrrrrrlrrl", title="What agents earn")


def _failed(checks: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(c["check_id"] for c in checks if c["status"] == "fail") or "none"


def as_page(card: Mapping[str, Any]) -> str:
    """Return the card as one HTML page that loads nothing."""
    from arena.results.viewing.drawing import digest_of, environment, mark, style

    made: str = environment(Path(__file__).parent).get_template("report_card.html").render(
        card=card, content=table(card), style=style(), digest=digest_of(""), mark=mark, runs=(),
        run_of={},
    )  # fmt: skip
    return made
