"""Metrics of surveys, and the state that those of one pass share.

To add one, add a module to `arena_suites.bloom_eval.metrics`:

    @survey_metric("words", tier="application")
    def words(pair):
        '''Length of the generated survey, as a share of the experts'.'''
        return Finding({"": len(pair.generated.text) / len(pair.human.text)})

Its columns, here ``words``, then are metrics of `arena.metrics`: runs and rewards know them.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeVar

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import NDArray

from arena import metrics
from arena.errors import DataError
from arena.kit.files import sha256_json
from arena.kit.options import check_options
from arena.llm import Client, Failure, Fields, ModelSession, Question, Template
from arena.llm.prompts import load_templates
from arena.metrics import ScoreContext
from arena.plugins import Registry
from arena_suites.bloom_eval.article import Article, articles_of
from arena_suites.bloom_eval.matching import one_to_one, read_pairs

if TYPE_CHECKING:
    from arena.report import Report
    from arena.report.metrics import ReportGold

T = TypeVar("T")

Tier = Literal[
    "memory", "comprehension", "application", "analysis", "evaluation", "creation", "supplementary"
]
TIERS = ("memory", "comprehension", "application", "analysis", "evaluation", "creation")
"""The tiers of Bloom's taxonomy, from recall to creation."""
SUPPLEMENTARY: Final = "supplementary"
"""The tier of what is in no mean and has no best direction (tables 5 and 9)."""

Need = Literal["judge", "matcher", "embeddings"]

_PROMPTS = Path(__file__).parent / "metrics" / "prompts"


class Finding(NamedTuple):
    """The finding of a metric in a pair of surveys: column -> score, ``""`` for the only column.

    `rows` are what made the scores, such as the pairs that match and what has no partner; `reason`,
    a sentence, says why a score is None.
    """

    scores: Mapping[str, float | None]
    rows: Sequence[tuple[str, ...]] = ()
    headers: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class SurveyMetric:
    """A metric; see `survey_metric`."""

    name: str
    tier: Tier
    needs: tuple[Need, ...]
    columns: tuple[str, ...]
    prompts: Mapping[str, Fields]
    find: Callable[[SurveyPair], Finding]

    def names(self) -> list[str]:
        """Return the names of its scores, such as ``hirc_f1``."""
        return [self.column_name(column) for column in self.columns]

    def column_name(self, column: str) -> str:
        """Return the name of a score by its column."""
        return f"{self.name}_{column}".rstrip("_")


_SURVEY_METRICS: Registry[SurveyMetric] = Registry(
    "survey metric", packages=["arena_suites.bloom_eval.metrics"], listed=False
)


@dataclass(frozen=True)
class SurveyComparison:
    """How surveys are compared, for all topics: the options of `score_surveys`, and the judge.

    At the threshold 0.6 F1 of the encoder ``static`` is best: on 118 pairs of headings of real
    surveys, labelled by one language model, precision is .69 and recall, of pairs above 0.35, .73;
    at 0.5 .55 and .88, at 0.7 .85 and .53.
    """

    encoder: Any = "static"
    matcher: Literal["embedding", "judge"] = "embedding"
    threshold: Annotated[float, Interval(ge=0, le=1)] = 0.6
    clusters: Literal["linkage", "bertopic"] = "linkage"
    judge: Client | None = None
    prompts: str | Path | None = None
    max_statements: Annotated[int, Ge(1)] | None = None
    official: bool = False
    no_abstract: Literal["unsupported", "left-out"] = "unsupported"

    def __post_init__(self) -> None:
        check_options("comparison of surveys", type(self), vars(self))
        if self.matcher == "judge" and self.judge is None:
            raise DataError("--matcher judge: name a model with --llm-option model=NAME.")
        if self.judge is not None or self.prompts is not None:
            self.templates()  # refused now if one cannot be used

    def templates(self) -> dict[str, Template]:
        """Return the prompts of all metrics by name."""
        wanted = dict[str, Fields]()
        for metric in survey_metrics().values():
            wanted |= metric.prompts
        return load_templates(wanted, _PROMPTS, self.prompts)

    def prompts_sha256(self) -> str:
        """Return the hash of all prompts."""
        return sha256_json({name: each.text for name, each in sorted(self.templates().items())})


@dataclass
class SurveyPair:
    """Two surveys on one topic, what metrics compute of them once, and calls of the judge."""

    human: Article
    generated: Article
    comparison: SurveyComparison = field(default_factory=SurveyComparison)
    _kept: dict[Hashable, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        judge = self.comparison.judge
        self.session = None if judge is None else ModelSession(judge)

    @property
    def sides(self) -> dict[str, Article]:
        """Both surveys, under ``human`` and ``generated``."""
        return {"human": self.human, "generated": self.generated}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned for this key."""
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found

    def cosines(
        self, rows: Sequence[str], columns: Sequence[str], cased: bool = False
    ) -> NDArray[np.float64]:
        """Return the cosines of texts, shape (len(rows), len(columns)); 0 for a blank text.

        Unless `cased`, case does not count: a static encoder finds "INTRODUCTION" unlike
        "Introduction".
        """
        from arena.mindmap import cosines  # keeps the vectors of labels

        if not cased:
            rows, columns = ([text.lower() for text in texts] for texts in (rows, columns))
        return cosines(rows, columns, self.comparison.encoder)

    def match(
        self,
        human: Sequence[str],
        generated: Sequence[str],
        prompt: str,
        cosines: NDArray[np.float64] | None = None,
        several: bool = False,
    ) -> list[tuple[int, int]]:
        """Return the pairs of items that mean the same, as places, in order; each item once.

        By the judge if `matcher` says so, the first pair of an item: `prompt` names its template,
        with the fields ``human`` and ``generated``. Else
        one-to-one with the greatest sum of cosines, each at least `threshold`; `cosines`, shape
        (len(human), len(generated)), are those of the texts by default. With `several`, all pairs.
        """
        if self.comparison.matcher != "judge":
            found = self.cosines(human, generated) if cosines is None else cosines
            if several:
                return [
                    (int(i), int(j)) for i, j in np.argwhere(found >= self.comparison.threshold)
                ]
            return one_to_one(found, self.comparison.threshold)
        unique: list[tuple[int, int]] = []
        for i, j in self.judged_pairs(human, generated, prompt):
            if several or all(i != row and j != column for row, column in unique):
                unique.append((i, j))
        return unique

    def judged_pairs(
        self, human: Sequence[str], generated: Sequence[str], prompt: str
    ) -> list[tuple[int, int]]:
        """Return all pairs that the judge names, repeated ones too, without unknown texts.

        Arguments and errors are those of `match`.
        """
        if not human or not generated:
            return []
        sides = {"human": human, "generated": generated}
        values = {side: json.dumps([*texts], ensure_ascii=False) for side, texts in sides.items()}
        answer = self.ask_one(prompt, values, read_pairs, "the judge named no pairs")
        ours, theirs = map(_places, sides.values())
        pairs = []
        for a, b in ((_plain(a), _plain(b)) for a, b in answer):
            if a in ours and b in theirs:
                # Of items with one text the next is meant each time.
                i, j = (each.pop(0) if len(each) > 1 else each[0] for each in (ours[a], theirs[b]))
                pairs.append((i, j))
        return pairs

    def ask_one(
        self,
        prompt: str,
        values: Mapping[str, str],
        read: Callable[[str], T],
        failure: str,
    ) -> T:
        """Return the judge's answer to one request; arguments are those of `ask`."""
        (answer,) = self.ask(prompt, [values], read)
        if isinstance(answer, Failure):
            raise JudgeFailedError(f"{failure}: {answer.reason}")
        return answer

    def ask(
        self,
        prompt: str,
        many: Sequence[Mapping[str, str]],
        read: Callable[[str], T],
    ) -> list[T | Failure]:
        """Ask the judge side by side; answers and failures in the order of the requests.

        `many` has the values of the template's fields for each request. `read` reads an answer, or
        raises ParseError.
        """
        if self.session is None:
            raise DataError("this metric needs a judge: name a model.")
        template = self.once("templates", self.comparison.templates)[prompt]
        return Question(template, read).ask(self.session, many)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _places(texts: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(_plain(text), []).append(place)
    return places


class JudgeFailedError(DataError):
    """The judge gave no readable answer, so that a score is missing."""


def _pair(report: Report, context: ScoreContext) -> SurveyPair:
    comparison = SurveyComparison(encoder=context.encoder, judge=context.model)
    return SurveyPair(*articles_of(report, context), comparison)


def _register(metric: SurveyMetric, column: str) -> None:
    """Register one score of a metric of surveys."""

    @functools.wraps(metric.find)
    def score(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
        pair = context.once(SurveyPair, lambda: _pair(report, context))
        return pair.once(metric.name, lambda: metric.find(pair)).scores[column]

    first = (metric.find.__doc__ or "").strip().split("\n")[0]
    score.__doc__ = (
        f"{metric.tier.capitalize()} (needs {' and '.join(metric.needs) or 'no model'}). {first}"
    )
    needs: set[metrics.Need] = {"corpus"}
    needs |= {"model"} if "judge" in metric.needs else {"encoder"} if metric.needs else set()
    name, lower = metric.column_name(column), None if metric.tier == SUPPLEMENTARY else False
    metrics.metric(name, "survey", lower_is_better=lower, needs=needs)(score)


def survey_metric(
    name: str,
    tier: Tier,
    needs: Iterable[Need] = (),
    columns: Sequence[str] = ("",),
    prompts: Mapping[str, Fields] | None = None,
) -> Callable[[Callable[[SurveyPair], Finding]], Callable[[SurveyPair], Finding]]:
    """Return a decorator that registers a function as a metric of surveys of a `tier`.

    A score is called ``NAME_COLUMN``, or ``NAME`` for the column ``""``. A metric has no score
    without a ``judge`` if it needs one; it may also need ``embeddings``, or a ``matcher``, which is
    either. Its `prompts` are files ``NAME.txt`` in ``metrics/prompts``.
    """

    def register(find: Callable[[SurveyPair], Finding]) -> Callable[[SurveyPair], Finding]:
        metric = SurveyMetric(name, tier, tuple(needs), tuple(columns), prompts or {}, find)
        _SURVEY_METRICS.register(name)(metric)
        for column in columns:
            _register(metric, column)
        return find

    return register


def survey_metrics(names: Iterable[str] | None = None) -> dict[str, SurveyMetric]:
    """Return the metrics of surveys with these names in their order; by default all, by tier."""
    if names is None:
        known = _SURVEY_METRICS.names()
        names = sorted(
            known, key=lambda name: (*TIERS, SUPPLEMENTARY).index(_SURVEY_METRICS.get(name).tier)
        )
    return {metric.name: metric for metric in map(_SURVEY_METRICS.get, names)}


def compare(
    pair: SurveyPair | None, names: Iterable[str] | None = None, unread: str = ""
) -> dict[str, dict[str, Any]]:
    """Score a pair of surveys; metrics share extraction, embeddings and answers.

    Returns:
        Metric -> ``finding``, ``seconds``, and the judge's ``calls`` and ``failed`` answers. A
        metric that needs a judge where there is none has scores of None, and a reason; without a
        pair so has every metric, and the reason is `unread`.
    """
    rows = {}
    session = None if pair is None else pair.session
    for name, metric in survey_metrics(names).items():
        before, start = _judge_notes(session), time.perf_counter()
        reason = unread
        if pair is not None and "judge" in metric.needs and session is None:
            reason = "it needs a judge."
        finding = Finding(dict.fromkeys(metric.columns), reason=reason)
        if pair is not None and not reason:
            try:
                finding = metric.find(pair)
            except JudgeFailedError as error:
                finding = finding._replace(reason=str(error))
        seconds = time.perf_counter() - start
        spent = {key: count - before[key] for key, count in _judge_notes(session).items()}
        rows[name] = {"finding": finding, "seconds": seconds, **spent}
    return rows


def _judge_notes(session: ModelSession | None) -> dict[str, int]:
    notes = session.notes() if session else {}
    return {key: len(notes.get(key, ())) for key in ("calls", "failed")}
