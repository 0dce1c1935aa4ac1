"""Counts per episode and training step that show a collapse early, and one line of alarm.

The rules of thumb and their sources: docs/trainers.md.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from arena.kit.files import json_value
from arena.tools import json_action
from arena.tools.base import usual_call

WINDOW = 64
"""Episodes after which `Watch` looks, where nobody says where a step of training ends."""
_RULES = {
    "equal_groups": (0.5, "of the groups have equal rewards, from which nothing is learned"),
    "wasted_queries": (0.5, "of the queries are empty or repeated"),
    "refused_in_a_row": (3.0, "calls in a row are refused in the mean episode (max_refused)"),
    "invalid_rollouts": (0.1, "of the rollouts are not valid, since a tool failed"),
}
_log = logging.getLogger(__name__)


class Totals(NamedTuple):
    """The earnings of an episode so far, with the sums of its reward terms and the budget left.

    Refused actions count as steps. Metrics are empty until the episode is over. `valid` is False
    where a tool failed, which is no fault of the agent: then the reward is not the agent's.
    `termination` says why the episode ended, as `info` does, or ``failed``; "" before the end.
    `telemetry` is as `telemetry` returns it.
    `credit` has a number for each action once the episode is over, if the sessions share it out.
    """

    topic_id: str
    steps: int
    reward: float
    terms: dict[str, float]
    metrics: dict[str, float]
    budget: dict[str, int]
    over: bool
    valid: bool = True
    termination: str = ""
    telemetry: dict[str, int] = {}  # noqa: RUF012 - never changed
    credit: Sequence[float] = []


class Counts:
    """The numbers of an episode that trainers watch, counted call by call.

    ``calls``; ``queries`` of the searches, and how many of them are ``empty_queries`` (no letter or
    digit) and ``repeated_queries`` (with the same page, sent before); ``refused`` calls and the
    most ``refused_in_a_row``.
    """

    def __init__(self) -> None:
        self.numbers = {
            "calls": 0, "queries": 0, "empty_queries": 0, "repeated_queries": 0, "refused": 0,
            "refused_in_a_row": 0,
        }  # fmt: skip
        self._sent: set[tuple[Any, ...]] = set()
        self._row = 0

    def add(self, action: Any, refused: bool) -> None:
        """Count the next call, and whether it was refused."""
        numbers = self.numbers
        numbers["calls"] += 1
        numbers["refused"] += refused
        self._row = self._row + 1 if refused else 0
        numbers["refused_in_a_row"] = max(numbers["refused_in_a_row"], self._row)
        for query, *page in () if refused else _queries(action):
            sent = (" ".join(query.casefold().split()), *page)
            numbers["queries"] += 1
            numbers["empty_queries"] += not any(map(str.isalnum, sent[0]))
            numbers["repeated_queries"] += sent in self._sent
            self._sent.add(sent)


def telemetry(actions: Sequence[Any], refused: Sequence[bool], characters: int) -> dict[str, int]:
    """Return the `Counts` of an episode, and the given `characters` of results that show papers.

    These are characters, as budgets count them: how many tokens they are depends on the model.
    """
    counts = Counts()
    for action, failed in zip(actions, refused, strict=True):
        counts.add(action, failed)
    return counts.numbers | {"characters": characters}


def _queries(action: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the queries of a call that was carried out, with page and engine."""
    given = json_action(action)
    called = usual_call(json_value(given) if isinstance(given, str) else given)
    if called["tool"] == "search":
        asked = called["arguments"]
        for query in asked.get("queries") or [asked.get("query") or ""]:
            yield query, asked.get("offset") or 0, asked.get("retriever")


def summary(rollouts: Sequence[Totals]) -> dict[str, float]:
    """Return the numbers of a step of training: means over its rollouts, at least one, and shares.

    ``wasted_queries`` is the share of queries that are empty or repeated, ``invalid_rollouts`` that
    of rollouts in which a tool failed, ``equal_groups`` that of topics with several valid rollouts
    whose rewards are equal; it is left out where no topic has several.
    """
    names = dict.fromkeys(name for each in rollouts for name in each.telemetry)
    found = {name: fmean(each.telemetry.get(name, 0) for each in rollouts) for name in names}
    if found.get("queries"):
        wasted = found["empty_queries"] + found["repeated_queries"]
        found["wasted_queries"] = min(1.0, wasted / found["queries"])
    found["invalid_rollouts"] = fmean(not each.valid for each in rollouts)
    groups: dict[str, list[float]] = {}
    for each in rollouts:
        if each.valid:
            groups.setdefault(each.topic_id, []).append(each.reward)
    several = [rewards for rewards in groups.values() if len(rewards) > 1]
    if several:
        found["equal_groups"] = fmean(max(r) - min(r) < 1e-9 for r in several)
    return found


def alarm(numbers: Mapping[str, float]) -> str:
    """Return one line about the rules of thumb that a `summary` breaks, or ""."""
    broken = [
        f"{numbers[name]:.2g} {words}"
        for name, (limit, words) in _RULES.items()
        if numbers.get(name, 0) > limit
    ]
    return f"training: {'; '.join(broken)}. See docs/trainers.md." if broken else ""


class Watch:
    """Logs an `alarm` of `WINDOW` rollouts, each rule once; from any thread."""

    def __init__(self) -> None:
        self._rollouts: list[Totals] = []
        self._lock = threading.Lock()
        self._said: set[str] = set()

    def add(self, rollout: Totals) -> None:
        """Count a rollout that is over."""
        with self._lock:
            self._rollouts.append(rollout)
            if len(self._rollouts) < WINDOW:
                return
            ended, self._rollouts = self._rollouts, []
        numbers = {name: n for name, n in summary(ended).items() if name not in self._said}
        if line := alarm(numbers):
            self._said |= {name for name in numbers.keys() & _RULES if alarm({name: numbers[name]})}
            _log.warning(line)
