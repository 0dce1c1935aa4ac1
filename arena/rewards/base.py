"""Rewards, metrics as rewards, and sums of them by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.kit.options import check_options
from arena.metrics import METRICS, Metric
from arena.plugins import Registry


class Seen(NamedTuple):
    """A call that was carried out, and the JSON text of its result as the agent saw it."""

    tool: str
    arguments: Mapping[str, Any]
    result: str


class Progress(NamedTuple):
    """All that a reward may know of one step.

    Attributes:
        found: Number of distinct gold papers shown so far, this step included.
        found_before: The same number before this step.
        gold: Number of gold papers in reach, >= 0.
        searches: Searches made in this step, 0 or 1.
        reads: Reads made in this step, 0 or 1.
        characters: Characters of this step's results that show papers, >= 0.
        over: Whether the episode ends with this step, terminated or truncated.
        score: The task's headline metric of the submitted answers, its negative if less is better;
            None before the end and for a topic that cannot be scored. At most 1 for the tasks of
            this project.
        metrics: Metric -> score of the submitted answer, for the metrics that rewards are named
            after; empty before the end and without labels.
        cited: Number of distinct gold papers that the draft or the report has cited so far, this
            step included.
        cited_before: The same number before this step.
        topic: What the agent was asked for.
        cutoff: The first day out of reach, ``YYYY-MM-DD``.
        seen: The calls so far with their results, for a reward that `reads_results`; else empty.
    """

    found: int
    found_before: int
    gold: int
    searches: int
    reads: int
    characters: int
    over: bool
    score: float | None
    metrics: Mapping[str, float] = {}
    cited: int = 0
    cited_before: int = 0
    topic: str = ""
    cutoff: str = ""
    seen: Sequence[Seen] = ()


class Reward(ABC):
    """A reward of a step; the options are keyword arguments of the class.

    Rewards keep no state, so one serves any number of episodes.

    Attributes:
        reads_results: Whether it needs `Progress.seen`.
        sha256: Hash of the file that it reads, which runs record; None if it reads none.
    """

    reads_results: ClassVar[bool] = False
    sha256: str | None = None

    @abstractmethod
    def terms(self, progress: Progress) -> dict[str, float]:
        """Return the named terms that add up to the reward of a step.

        The names begin with the name of the reward, so that the names of a sum stay distinct.
        """


REWARDS: Registry[type[Reward]] = Registry("reward", packages=["arena.rewards"], base=Reward)
reward = REWARDS.register
"""Decorator: ``@reward("name")``."""


class MetricReward(Reward):
    """A metric of the submitted answer with the step that ends the episode, else 0.

    One of which less is better is paid as its negative. 0 for a topic whose labels have nothing
    that the metric counts.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        if metric.lower_is_better is None:
            raise DataError(
                f"{metric.name} is a count without a best direction: it cannot be a reward."
            )

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return the metric under its name."""
        value = progress.metrics.get(self.metric.name, 0.0)
        return {self.metric.name: 0.0 - value if self.metric.lower_is_better else value}


def make_rewards(
    name: str,
    options: Mapping[str, Any] | None = None,
    objects: Mapping[str, Reward] | None = None,
) -> list[Reward]:
    """Return the rewards and metrics that add up to `name`, such as ``"gain"`` or ``"gain+ari"``.

    `options` has the keyword arguments of each reward by its name, `objects` rewards that are
    made already.
    """
    names = [part.strip() for part in name.split("+")]
    if len(set(names)) < len(names):
        raise DataError(f"reward={clip(name)} names one reward twice.")
    options, objects = options or {}, objects or {}
    for key in options:
        if key not in names:
            raise DataError(f"reward_options names {clip(key)}.{did_you_mean(key, names)}")
    return [
        objects[part] if part in objects else _make(part, options.get(part, {})) for part in names
    ]


def plain_name(name: str) -> str:
    """Return the plain name of a reward, or of a sum, after loading the files that it names.

    A part ``FILE.py:NAME`` is a reward or a metric of the file.
    """
    return "+".join(map(_plain_part, name.split("+")))


def _plain_part(part: str) -> str:
    part = part.strip()
    try:
        return REWARDS.resolve(part)
    except DataError as error:
        try:
            return METRICS.resolve(part)
        except DataError:
            raise error from None


def _make(name: str, options: Mapping[str, Any]) -> Reward:
    is_metric = name.partition("@")[0] in METRICS.names()
    if not is_metric and name not in REWARDS.names():
        hint = did_you_mean(name, [*REWARDS.names(), *METRICS.names()])
        raise UnknownNameError(f"no reward named {clip(name)}.{hint}")
    if not is_metric or name in REWARDS.names():
        kind = REWARDS.get(name)
        return kind(**check_options(f"reward {name}", kind, options))
    check_options(f"reward {name}", lambda: None, options)
    return MetricReward(METRICS.get(name))
