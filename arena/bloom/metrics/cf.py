"""Citation Faithfulness: do the cited works say what the survey says?"""

from __future__ import annotations

from typing import NamedTuple

from arena.bloom.article import Work
from arena.bloom.base import Finding, JudgeFailedError, Pair, survey_metric
from arena.llm import Failed, Fields, ParseError, as_json
from arena.llm.schemas import object_schema
from arena.report import spread


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
    whole = _ask(pair, questions)
    alone = _ask(
        pair,
        [
            _Question(each.statement, (work,))
            for each, holds in zip(questions, whole, strict=True)
            for work in each.works
            if holds and len(each.works) > 1
        ],
    )
    places = [
        (n, i)
        for n, each in enumerate(questions)
        for i in range(len(each.works))
        if whole[n] and len(each.works) > 1
    ]
    verdicts = dict(zip(places, alone, strict=True))
    open_places = [place for place in places if verdicts[place] is False]
    rest = _ask(
        pair,
        [
            each._replace(works=each.works[:i] + each.works[i + 1 :])
            for n, i in open_places
            for each in [questions[n]]
        ],
    )
    for place, others in zip(open_places, rest, strict=True):
        verdicts[place] = None if others is None else not others
    return [
        (holds, [verdicts.get((n, i), holds) for i in range(len(questions[n].works))])
        for n, holds in enumerate(whole)
    ]


def _alone(pair: Pair, questions: list[_Question]) -> _Judged:
    """Judge as the released code does, which asks nothing of a work without an abstract."""
    single = [_Question(each.statement, (work,)) for each in questions for work in each.works]
    answers = iter(_ask(pair, [each for each in single if each.works[0].abstract]))
    judged: _Judged = []
    for each in questions:
        found = [next(answers) if work.abstract else False for work in each.works]
        unread = None in found
        holds = True if any(found) else None if unread else False
        # Which of several is needed is open as long as one is unread.
        sure = [None if one is None or (one and unread) else one for one in found]
        judged.append((holds, [sum(map(bool, found)) == 1 if one else one for one in sure]))
    return judged


def _ask(pair: Pair, questions: list[_Question]) -> list[bool | None]:
    values = [
        {
            "statement": each.statement,
            "works": "\n\n".join(f"{work.title}\n{work.abstract}" for work in each.works),
        }
        for each in questions
    ]
    answers = pair.ask("cf", values, _read, object_schema(supported={"type": "boolean"}))
    return [None if isinstance(each, Failed) else each for each in answers]


def _read(text: str) -> bool:
    found = as_json(text)
    value = str(found.get("supported")).lower() if isinstance(found, dict) else ""
    if value not in ("true", "false", "yes", "no"):
        raise ParseError('It is no JSON object whose "supported" is true or false.')
    return value in ("true", "yes")
