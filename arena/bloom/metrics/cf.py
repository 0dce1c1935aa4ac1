"""Citation Faithfulness: do the cited works say what the survey says?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple, TypeVar

from arena.bloom.article import Work
from arena.bloom.base import Finding, JudgeFailedError, Pair, survey_metric
from arena.llm import Failed, Fields, ParseError, as_json
from arena.llm.prompts import object_schema
from arena.report import spread

K = TypeVar("K", bound=Hashable)


class _Question(NamedTuple):
    statement: str
    works: tuple[Work, ...]


@survey_metric(
    "cf",
    tier="comprehension",
    needs=("judge",),
    columns=("f1", "precision", "recall"),
    prompts={"cf": Fields(("statement", "works"))},
)
def cf(pair: Pair) -> Finding:
    """Citation Faithfulness: the statements of the generated survey that their citations support.

    Bloom-Eval, B.2, after AutoSurvey, in [0, 1]: recall is the share of the statements with a
    citation that the cited works, by title and abstract, support together. Precision is the share
    of the citations that are needed: the works together support the statement, and this one does
    alone or the others do not. A work without an abstract cannot be judged, so that the citation
    counts nowhere; nor does what has no readable answer.

    With `Tools.official` each work is asked about alone: a statement is supported if any work
    supports it, a citation is needed if it alone does, and without an abstract nothing is
    supported. `Tools.most` bounds the statements.
    """
    report, works = pair.generated.report, pair.generated.works_by_key()
    rows: list[tuple[str, ...]] = []
    questions = []
    for each in spread([each for each in report.statements if each.citations], pair.tools.most):
        cited = [works[key] for key in each.citations if key in works and works[key].title]
        known = tuple(work for work in cited if work.abstract)
        rows += [(each.text, work.title, "no abstract") for work in cited if not work.abstract]
        if known or (pair.tools.official and cited):
            questions.append(_Question(each.text, tuple(cited) if pair.tools.official else known))
    judged = _alone(pair, questions) if pair.tools.official else _together(pair, questions)
    rows += [
        (question.statement, work.title, {True: "needed", False: "not needed", None: "failed"}[one])
        for question, (_, needed) in zip(questions, judged, strict=True)
        for work, one in zip(question.works, needed, strict=True)
    ]
    supported = [each for each, _ in judged if each is not None]
    needed = [one for _, many in judged for one in many if one is not None]
    headers = ("statement", "work", "citation")
    if questions and not (supported and needed):
        raise JudgeFailedError("the judge has no readable answer on any citation.")
    if not questions:
        none = dict.fromkeys(("f1", "precision", "recall"))
        return Finding(none, rows, headers, "no statement cites a work whose abstract is known.")
    recall, precision = sum(supported) / len(supported), sum(needed) / len(needed)
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return Finding({"f1": f1, "precision": precision, "recall": recall}, rows, headers)


_Judged = list[tuple[bool | None, list[bool | None]]]  # the statement, and each of its citations


def _together(pair: Pair, questions: list[_Question]) -> _Judged:
    """Judge each statement by all its works; those of a supported one alone, then the others."""
    whole = _ask(pair, dict(enumerate(questions)))
    several = {
        (n, i): each._replace(works=(work,))
        for n, each in enumerate(questions)
        for i, work in enumerate(each.works)
        if whole[n] and len(each.works) > 1
    }
    needed = _ask(pair, several)
    others = {
        (n, i): questions[n]._replace(works=questions[n].works[:i] + questions[n].works[i + 1 :])
        for (n, i), holds in needed.items()
        if holds is False
    }
    for place, holds in _ask(pair, others).items():
        needed[place] = None if holds is None else not holds
    return [
        (whole[n], [needed.get((n, i), whole[n]) for i in range(len(each.works))])
        for n, each in enumerate(questions)
    ]


def _alone(pair: Pair, questions: list[_Question]) -> _Judged:
    """Judge as the released code does, which asks nothing of a work without an abstract."""
    single = {
        (n, i): each._replace(works=(work,))
        for n, each in enumerate(questions)
        for i, work in enumerate(each.works)
        if work.abstract
    }
    answers = _ask(pair, single)
    judged: _Judged = []
    for n, each in enumerate(questions):
        found = [answers.get((n, i), False) for i in range(len(each.works))]
        unread = None in found
        holds = True if any(found) else None if unread else False
        # Which of several is needed is open as long as one is unread.
        sure = [None if one is None or (one and unread) else one for one in found]
        judged.append((holds, [sum(map(bool, found)) == 1 if one else one for one in sure]))
    return judged


def _ask(pair: Pair, questions: Mapping[K, _Question]) -> dict[K, bool | None]:
    """Return what the judge says to each question; None where that cannot be read."""
    values = [
        {
            "statement": each.statement,
            "works": "\n\n".join(f"{work.title}\n{work.abstract}" for work in each.works),
        }
        for each in questions.values()
    ]
    answers = pair.ask("cf", values, _read, object_schema(supported={"type": "boolean"}))
    read = (None if isinstance(each, Failed) else each for each in answers)
    return dict(zip(questions, read, strict=True))


def _read(text: str) -> bool:
    found = as_json(text)
    value = str(found.get("supported")).lower() if isinstance(found, dict) else ""
    if value not in ("true", "false", "yes", "no"):
        raise ParseError('It is no JSON object whose "supported" is true or false.')
    return value in ("true", "yes")
