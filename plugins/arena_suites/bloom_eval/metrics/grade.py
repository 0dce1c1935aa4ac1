"""GRADE: a judge writes weighted criteria for a topic, then scores two surveys on each of them.

Bloom-Eval, appendix A.2. The released code always shows the generated survey first; here the judge
sees both orders, unless `official`.
"""

from __future__ import annotations

import json
import statistics
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from arena.llm import Failure, Fields, ParseError, as_json, tagged
from arena_suites.bloom_eval.base import Finding, JudgeFailedError, SurveyPair, survey_metric

_COLUMNS = ("", "order")
_PROMPTS = {
    "grade-criteria": Fields(("task", "dimension", "question")),
    "grade-scores": Fields(
        ("task", "dimension", "article_1", "article_2", "criteria", "key"), ("question", "focus")
    ),
}
_HEADERS = ("criterion", "explanation", "weight", "first", "generated", "human", "analysis")
_LONGEST = 300  # characters of an analysis in the rows


class Dimension(NamedTuple):
    """The comparison of a metric of this kind: `focus`, under `key` in the answer of the judge."""

    name: str
    question: str
    focus: str
    key: str


_FRAMEWORK = Dimension(
    "application of a framework",
    "Does the survey choose a recognised principle of order that suits this field, such as time, "
    "method, task or theory, make it plain, and carry it through from the first section to the "
    "last?",
    "Look at the introduction, the headings, and how each section takes its place among them.",
    "framework_application",
)
_NOVELTY = Dimension(
    "novelty of the framework",
    "Does the survey order this field in a way of its own, and does that order show connections, "
    "differences or gaps that the usual scheme hides, rather than repeat the usual scheme?",
    "Look at how the survey says that it divides the field, at the headings, and at what it "
    "concludes from the division; a label without use is not new.",
    "framework_novelty",
)
_OUTLOOK = Dimension(
    "quality of the research outlook",
    "Are the questions and directions that the survey proposes for research new, insightful, drawn "
    "from gaps that it has shown, and feasible?",
    "Judge only what stands in conclusions, future work, challenges and outlook.",
    "research_heuristics",
)


class _Criterion(NamedTuple):
    name: str
    explanation: str
    weight: float


@survey_metric("fap", tier="application", needs=["judge"], columns=_COLUMNS, prompts=_PROMPTS)
def fap(pair: SurveyPair) -> Finding:
    """Framework Application: GRADE of the order that the survey gives its field, in [0, 1].

    Paper: B.3, equations 3 and 4, by gpt-5-mini; its rubrics have 3 to 7 criteria (Table 13).
    Released: the judge always sees the generated survey first; weights may have any sum, and two
        scores of 0 give 0.
    Here: the mean over both orders; ``order`` is the difference of the two. Weights add up to 1, 3
        to 7 criteria are asked for, and two scores of 0 give 0.5.
    """
    return grade(pair, _FRAMEWORK)


@survey_metric("fnov", tier="creation", needs=["judge"], columns=_COLUMNS, prompts=_PROMPTS)
def fnov(pair: SurveyPair) -> Finding:
    """Framework Novelty: GRADE of the originality and insight of the survey's order, in [0, 1].

    Paper: B.6, as for ``fap``.
    Released: as for ``fap``.
    Here: as for ``fap``.
    """
    return grade(pair, _NOVELTY)


@survey_metric("roq", tier="creation", needs=["judge"], columns=_COLUMNS, prompts=_PROMPTS)
def roq(pair: SurveyPair) -> Finding:
    """Research Outlook Quality: GRADE of the research that the survey proposes, in [0, 1].

    Paper: B.6, as for ``fap``; of conclusions, future work, challenges and prospects alone.
    Released: as for ``fap``.
    Here: as for ``fap``; the judge reads the whole, and its prompt names these.
    """
    return grade(pair, _OUTLOOK)


def grade(pair: SurveyPair, dimension: Dimension) -> Finding:
    """Return the GRADE of the generated survey and the experts', in [0, 1]; .5 is parity.

    Equations 3 and 4: a survey's score is the sum of weight x score over the criteria, and GRADE is
    generated / (generated + human); .5 if both are 0. Column ``""`` is the mean over both orders in
    which the judge sees the surveys, ``order`` the GRADE with the generated one first minus that
    with it second, in [-1, 1]. Under `official` the generated one is first, ``order`` is
    None, weights may have any sum, and two scores of 0 give 0.

    The judge writes the criteria from the experts' title alone, and scores without the weights.
    """
    official = pair.comparison.official
    about = {"task": pair.human.title, "dimension": dimension.name, "question": dimension.question}
    read = partial(_read_criteria, any_sum=official)
    rubric = pair.ask_one("grade-criteria", about, read, "the judge wrote no criteria")
    shown = {side: article.text for side, article in pair.sides.items()}
    criteria = [{"criterion": each.name, "explanation": each.explanation} for each in rubric]
    about |= {"focus": dimension.focus, "key": dimension.key}
    about["criteria"] = json.dumps(criteria, ensure_ascii=False, indent=2)
    orders = [("generated", "human"), ("human", "generated")][: 1 if official else 2]
    many = [about | {"article_1": shown[one], "article_2": shown[two]} for one, two in orders]
    names = [each.name for each in rubric]
    answers = pair.ask("grade-scores", many, partial(_read_scores, names=names))
    rows, grades = [], []
    for order, answer in zip(orders, answers, strict=True):
        if isinstance(answer, Failure):
            problem = f"with the {order[0]} survey first the judge gave no scores"
            raise JudgeFailedError(f"{problem}: {answer.reason}")
        sums = dict.fromkeys(order, 0.0)
        for each, (scores, analysis) in zip(rubric, answer, strict=True):
            by_side = dict(zip(order, scores, strict=True))
            for side, score in by_side.items():
                sums[side] += each.weight * score
            found = (f"{number:g}" for number in (by_side["generated"], by_side["human"]))
            explained = (each.name, each.explanation, f"{each.weight:.3g}")
            rows.append((*explained, order[0], *found, analysis[:_LONGEST]))
        both = sums["generated"] + sums["human"]
        grades.append(sums["generated"] / both if both else 0.0 if official else 0.5)
    difference = None if official else grades[0] - grades[1]
    reason = "the released code shows one order only." if official else ""
    return Finding({"": statistics.fmean(grades), "order": difference}, rows, _HEADERS, reason)


def _read_criteria(text: str, any_sum: bool) -> list[_Criterion]:
    """Return the criteria, weights divided by their sum, which is near 1 if none is missing."""
    with suppress(ParseError):
        text = tagged(text, "json_output")
    criteria = [
        _Criterion(_text(row, "criterion"), _text(row, "explanation"), _number(row, "weight"))
        for row in _objects(as_json(text), "weight")
    ]
    names = {each.name.casefold() for each in criteria}
    if not criteria or "" in names or len(names) < len(criteria):
        raise ParseError("It lists no criteria, or not each under a name of its own.")
    total = sum(each.weight for each in criteria)
    if not all(each.weight for each in criteria) or not (any_sum or abs(total - 1) <= 0.05):
        raise ParseError(f"The weights must be positive and add up to 1, not to {total:g}.")
    return [each._replace(weight=each.weight / total) for each in criteria]


def _read_scores(text: str, names: list[str]) -> list[tuple[tuple[float, float], str]]:
    """Return the scores of both surveys and the analysis, by the criterion's name or its place."""
    rows = _objects(as_json(text), "article_1_score")
    by_name = {_text(row, "criterion").casefold(): row for row in reversed(rows)}
    if all(name.casefold() in by_name for name in names):
        rows = [by_name[name.casefold()] for name in names]
    elif len(rows) != len(names):
        raise ParseError(f"It has scores for {len(rows)} of {len(names)} criteria.")
    keys = ("article_1_score", "article_2_score")
    return [
        ((_number(row, keys[0], 10), _number(row, keys[1], 10)), _text(row, "analysis"))
        for row in rows
    ]


def _objects(value: Any, key: str) -> list[dict[str, Any]]:
    """Return all objects in a JSON value that have a key."""
    if isinstance(value, dict) and key in value:
        return [value]
    items = list(value.values()) if isinstance(value, dict) else value
    return [each for item in items for each in _objects(item, key)] if type(items) is list else []


def _text(row: dict[str, Any], key: str) -> str:
    return " ".join(str(row.get(key) or "").split())


def _number(row: dict[str, Any], key: str, most: float = 1e9) -> float:
    """Return a number from 0 to `most`, also of ``"7"`` and ``"7/10"``."""
    found = str(row.get(key)).partition("/")[0]
    with suppress(ValueError):
        if 0 <= float(found) <= most:
            return float(found)
    raise ParseError(f"{key} must be a number from 0 to {most:g}.")
