"""Metrics: their class, all of them by name, and scores of one answer."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from arena.errors import DataError, clip
from arena.plugins import Registry, mirror

T = TypeVar("T")

Need = Literal["encoder", "extractor", "model", "corpus"]

ENCODER = "static"
"""Default encoder that compares headings."""

EXTRACTOR = "spacy"
"""Default extractor of the entities in headings."""

RANKING = "ranking"
"""Kind of the metrics that score papers in an order, which take a cutoff."""

_CUTOFF = re.compile(r"[1-9][0-9]{0,8}")  # no leading zero: one metric has one name


@dataclass(frozen=True)
class ScoreContext:
    """The things that a metric may use besides the answer and the gold.

    Attributes:
        encoder: Makes texts comparable: the name of a registered encoder, or an encoder.
        extractor: Finds the entities in headings, likewise.
        model: Client of a language model; None without one.
        tasks: The task set with the labels; None where an answer is scored by itself.
        topic_id: Id of the topic.
        seen: Ids of the papers that the episode showed, at least of those that a report cites;
            None if unknown.
        submitted: The answer as it was submitted, such as the Markdown of a report.
        k: Cutoff of a metric that is named ``NAME@k``, at least 1; None for the whole ranking.
    """

    encoder: Any = ENCODER
    extractor: Any = EXTRACTOR
    model: Any = None
    tasks: Any = None
    topic_id: str = ""
    seen: Set[str] | None = None
    submitted: Any = None
    k: int | None = None
    _kept: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned for this key, which all metrics of one answer share."""
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found


Score = Callable[[Any, Any, ScoreContext], float | None]

_ACCOUNT = re.compile(
    r"^(Paper|Released|Here): (.*?)(?=^(?:Paper|Released|Here): |^$|\Z)", re.M | re.S
)


def accounts(function: Callable[..., Any]) -> dict[str, str]:
    """Return what paragraphs of a docstring say behind ``Paper:``, ``Released:`` and ``Here:``.

    Under ``paper``, ``released`` and ``here``: how the paper of a benchmark, the code released with
    it, and this project count a metric. ``docs/differences.py`` makes tables of them.
    """
    found = _ACCOUNT.findall(inspect.getdoc(function) or "")
    return {key.lower(): " ".join(text.split()) for key, text in found}


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None, exactly rounded; None if there is none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


@dataclass(frozen=True)
class Metric:
    """A score of one answer against the gold of one topic.

    Attributes:
        name: Its name.
        kind: What it scores: a ``ranking`` (distinct ids, best first; the gold is id -> integer
            gain, 2 for influential and 1 for other papers), a ``map`` (`arena.mindmap.MindMap`;
            the gold is the survey's own), a ``report`` (`arena.report.Report` with resolved
            references; the gold is an `arena.report.metrics.ReportGold`), a report that is
            compared with the ``topic_id`` itself, which the context leads to, or what the kind of
            answer of a plug-in says.
        lower_is_better: Whether less is better; None for a count without a best direction.
        needs: What it uses of the context.
        score: Returns the score; None where the answer or the gold has nothing that it counts.
        paper: How the paper that a benchmark is described in counts it; see `accounts`.
        released: How the code released with it does.
        here: How this function does.
    """

    name: str
    kind: str
    lower_is_better: bool | None
    needs: frozenset[str]
    score: Score
    paper: str = ""
    released: str = ""
    here: str = ""

    def __post_init__(self) -> None:
        mirror(self, self.score)

    def __call__(self, answer: Any, gold: Any, **context: Any) -> float | None:
        """Return the score; `context` are the fields of a `ScoreContext`."""
        return self.score(answer, gold, ScoreContext(**context))

    def at(self, k: int) -> Metric:
        """Return the metric of the first `k` ids of a ranking."""

        @functools.wraps(self.score)
        def score(ranking: Sequence[str], gains: Any, context: ScoreContext) -> float | None:
            return self.score(ranking[:k], gains, replace(context, k=k))

        return replace(self, name=f"{self.name}@{k}", score=score)


class MetricRegistry(Registry[Metric]):
    """All metrics by name; ``NAME@k`` is the ranking metric NAME of the first k ids."""

    def get(self, name: str) -> Metric:
        """Return a metric.

        Args:
            name: ``NAME``, or ``NAME@k`` with k from 1 to 999999999 without leading zeros.

        >>> METRICS.get("recall@10").name, METRICS.get("tree_edit_distance").lower_is_better
        ('recall@10', True)
        >>> METRICS.get("ndgc@10")
        Traceback (most recent call last):
        arena.errors.UnknownNameError: no metric named 'ndgc'. Did you mean 'ndcg'?
        """
        base, at, cutoff = name.partition("@") if isinstance(name, str) else (name, "", "")
        metric = super().get(base)
        if not at:
            return metric
        if metric.kind != RANKING:
            raise DataError(
                f"metric {clip(name)}: {base!r} scores no ranking, so it has no cutoff."
            )
        if not _CUTOFF.fullmatch(cutoff):
            raise DataError(
                f"metric {clip(name)}: the cutoff after '@' must be an integer from 1 to "
                f"999999999, as in '{base}@10'."
            )
        return metric.at(int(cutoff))

    def scoring(self, kind: str) -> list[Metric]:
        """Return all metrics of a kind, in order of their names."""
        return [metric for metric in map(self.get, self.names()) if metric.kind == kind]

    def resolve(self, name: str) -> str:
        """Return the plain name of a metric of a file, ``FILE.py:NAME`` or ``FILE.py:NAME@k``."""
        place, colon, inside = name.rpartition(":")
        base, at, cutoff = inside.partition("@")
        return super().resolve(place + colon + base) + at + cutoff


METRICS = MetricRegistry(
    "metric",
    packages=["arena.metrics", "arena.mindmap.metrics", "arena.report.metrics"],
    base=Metric,
)


def metric(
    name: str, kind: str, *, lower_is_better: bool | None = False, needs: Iterable[Need] = ()
) -> Callable[[Score], Metric]:
    """Return a decorator that makes a function ``(answer, gold, context)`` a registered `Metric`.

    Arguments are the attributes of `Metric`.
    """

    def register(score: Score) -> Metric:
        made = Metric(
            name, kind, lower_is_better, frozenset(needs), score, **accounts(inspect.unwrap(score))
        )
        return METRICS.register(name)(made)

    return register


def evaluate(
    answer: Any, gold: Any, names: Iterable[str], context: ScoreContext | None = None
) -> dict[str, float | None]:
    """Score one answer by metrics of its kind; for answer and gold see `Metric`.

    Returns:
        Score by name, in the order of `names`; None where a metric has nothing to count.

    >>> evaluate(["a", "x", "b"], {"a": 2, "b": 1}, ["recall@1", "precision@2", "mrr"])
    {'recall@1': 0.5, 'precision@2': 0.5, 'mrr': 1.0}
    """
    context = context or ScoreContext()
    return {name: METRICS.get(name).score(answer, gold, context) for name in names}


def checked(
    ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
) -> tuple[Sequence[str], dict[str, int]]:
    """Return the first `k` ids of `ranking`, and the entries of `gains` that are relevant.

    Relevant is a gain of at least 1, as in trec_eval and ranx. A repeated id, which would count
    twice, is refused, and so is a query without a relevant id: no metric is defined then.
    """
    if len(set(ranking)) != len(ranking):
        document, times = Counter(ranking).most_common(1)[0]
        raise DataError(f"ranking has {clip(document)} {times} times: expected distinct ids.")
    relevant = dict(gains)
    if min(relevant.values(), default=1) < 1:
        relevant = {document: gain for document, gain in gains.items() if gain >= 1}
    if not relevant:
        raise DataError(
            "no gold: a query needs an id of gain 1 or more to be scored; leave this one out."
        )
    return ranking[: context.k], relevant
