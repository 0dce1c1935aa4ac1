"""The report card of environments: are they worth training on, what should a model score?

Checks have the ids of OpenEnv's environment validation (its RFC 008) where it has one; ours begin
with ``arena.``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import gymnasium

from arena.agents import Agent, Desk, Researcher, Steps
from arena.corpus import Corpus
from arena.errors import NoLabelsError
from arena.kit.terminal import Table, progress
from arena.papers import MAX_QUERY, MAX_SUBMITTED
from arena.report.listing import listing
from arena.rewards import REWARDS
from arena.runs.episodes import play
from arena.runs.players import AgentFactory, Oracle
from arena.tasks import TaskSet, environment_ids, open_task
from arena.testing.checked import STEPS, CheckedEnv, random_play
from arena.testing.report import AuditReport
from arena.text.display import count
from arena.tools import tool_schemas

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
    "semantic.replayability": ("contract.determinism",),
    "runtime.oracle_containment": ("contract.no-gold",),
    "semantic.no_solution_leakage": ("leak.",),
}
_METRIC = "metric"
_HEADINGS = ("Introduction", "Methods", "Models", "Data", "Evaluation", "Applications", "Future")


def _empty(desk: Desk) -> Steps[None]:
    yield from ()


def _copy(desk: Desk) -> Steps[None]:
    """The content of the first observation: its ids, its text, its papers under one heading."""
    yield from ()
    desk.ranking, desk.report = desk.given, str(desk.observation)
    desk.mind_map = {"label": desk.topic, "papers": desk.given}


def _constant(desk: Desk, query: str = "an overview of") -> Steps[None]:
    """The same for every topic: the hits of one query, and common headings."""
    desk.ranking = [hit.id for hit in (yield from desk.search(query))]
    desk.mind_map = {"label": desk.topic, "children": [{"label": each} for each in _HEADINGS]}


def _long_query(desk: Desk) -> Steps[None]:
    """A search for the titles of all hits at once."""
    hits = yield from desk.search(desk.topic)
    words = " ".join([desk.topic, *(hit.title for hit in hits)])
    yield from _constant(desk, words[:MAX_QUERY])


def _everything(desk: Desk) -> Steps[None]:
    """A thousand hits, all submitted or cited; each given paper under a heading of its own."""
    for offset in range(0, MAX_SUBMITTED, 100):
        if not (yield from desk.search(desk.topic, offset=offset)):
            break
    desk.ranking = [*desk.papers][:MAX_SUBMITTED]
    desk.report = listing(desk.topic, [desk.papers[each][:3] for each in desk.ranking])
    parts = [{"label": desk.papers[each].title, "papers": [each]} for each in desk.given]
    desk.mind_map = {"label": desk.topic, "children": parts}


HACKS: Mapping[str, Callable[[Desk], Steps[None]]] = {
    "empty": _empty, "copy": _copy, "constant": _constant, "long query": _long_query,
    "everything": _everything,
}  # fmt: skip
"""The behaviour of each in every stage."""


class Hacker(Researcher):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.discover = self.select = self.organize = HACKS[name]  # type: ignore


def report_card(
    corpus: Corpus,
    audited: AuditReport,
    environments: Sequence[str] | None = None,
    topics: int = 10,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the report card of a corpus, as values of JSON; docs/auditing.md describes it.

    The `topics` that are played are evenly spread over those that can be scored.
    """
    tasks, left_out = [], {}
    for name in progress(environments or environment_ids(), desc="card", unit="environment"):
        try:
            tasks.append(_Played(name, corpus, topics, options or {}).card())
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
        self._tasks = TaskSet(corpus, own.config.references, own.config.since)
        self._texts = own.topics
        every, least = list(self._texts), min(most, len(self._texts))
        self._topics = [every[n * len(every) // least] for n in range(least)]
        self._task = task.on(self._tasks)
        self._ladder = _LADDER if any(kind.has_order for kind in task.kinds) else _OF_MAPS
        self._scores: dict[str, list[dict[str, float]]] = defaultdict(list)

    def card(self) -> dict[str, Any]:
        for topic in self._topics:
            for name, act in self._players(topic):
                steps, paid = list(play(self._env, act, topic, 0)), dict.fromkeys(self._names, 0.0)
                for step in steps:
                    for term, value in step.info.get("reward_terms", {}).items():
                        paid[term.partition(".")[0]] += value
                metric = steps[-1].info["metrics"].get(self._task.headline_name)
                self._scores[name].append(paid | {_METRIC: metric or 0.0})
        rows = [self._row(reward) for reward in self._names]
        return {
            "task": self._task.name, "metric": self._task.headline_name,
            "topics": len(self._topics),
            "metrics": self._means(_METRIC),
            "rewards": [row for row in rows if any(row["mean"].values())],
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
            left = observation["budget"]
            if not first or not left["reads"] or left["steps"] < 6:
                return submits(observation)
            tool, arguments = first.pop(0)
            return {"tool": tool, "arguments": arguments}

        yield "oracle", known

    def _means(self, reward: str) -> dict[str, float]:
        means = {name: fmean(s[reward] for s in scores) for name, scores in self._scores.items()}
        return {name: round(mean, 4) for name, mean in means.items()}

    def _row(self, reward: str) -> dict[str, Any]:
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
