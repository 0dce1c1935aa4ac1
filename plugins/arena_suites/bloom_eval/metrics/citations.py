"""Metrics of citations: the works that its field builds on, and works that say what it says."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from arena.llm import Failure, Fields, ParseError, as_json
from arena_suites._parts import spread
from arena_suites.bloom_eval.article import Work
from arena_suites.bloom_eval.base import Finding, JudgeFailedError, SurveyPair, survey_metric
from arena_suites.bloom_eval.matching import ratios

LEAST_CITATIONS = 51
LEAST_RATIO = 90


@survey_metric("hirc", tier="memory", columns=("f1", "precision", "recall"))
def hirc(pair: SurveyPair) -> Finding:
    """High-Impact Reference Coverage: the experts' works with over 50 citations, in [0, 1].

    Precision over all generated references, recall over these works. None if no work of the experts
    is known to have as many citations.

    Paper: B.1, citations by Google Scholar.
    Released: the generated references, in their order, each take the work still free with the
        greatest rounded ratio of lower-cased titles, at least 90 (in an older script 80).
    Here: the same; one of the same paper's id has 100, and a reference without a title or id takes
        none. Citations are those of the data, or of the corpus.
    """
    human, generated = pair.human.works, pair.generated.works
    core = [work for work in human if (work.citations or 0) >= LEAST_CITATIONS]
    taken: dict[int, Work] = {}
    for work in generated:
        free = [(_likeness(work, each), -i) for i, each in enumerate(core) if i not in taken]
        ratio, place = max(free, default=(0, 0))
        if ratio >= LEAST_RATIO:
            taken[-place] = work
    rows = [
        (each.title, str(each.citations), *(("found", by.title) if by else ("missed", "")))
        for each, by in zip(core, map(taken.get, range(len(core))), strict=True)
    ]
    reason = "" if core else "none of the experts' references has more than 50 citations."
    if all(work.citations is None for work in human):
        reason = "the citations of the experts' references are unknown."
    headers = ("experts' reference", "citations", "found", "generated reference")
    return Finding(ratios(len(taken), len(core), len(generated)), rows, headers, reason)


def _likeness(a: Work, b: Work) -> int:
    if a.paper is not None and a.paper == b.paper:
        return 100
    return title_ratio(b.title, a.title) if a.title and b.title else 0


def title_ratio(a: str, b: str) -> int:
    """Return thefuzz's rounded ratio of lower-cased titles, in [0, 100].

    200 x the longest common subsequence / the sum of the lengths; 0 where the lengths alone keep
    it below 89.

    >>> title_ratio("Deep learning", "Deep Learning."), title_ratio("Graphs", "Trees of graphs")
    (96, 0)
    """
    a, b = a.lower(), b.lower()
    if a == b:
        return 100
    total = len(a) + len(b)
    if 2 * min(len(a), len(b)) < 0.89 * total:
        return 0
    # Hyyrö, 2004: a row of the table in the bits of one number, 0 where the length grows
    places = _places(a)
    row = full = (1 << len(a)) - 1
    for letter in b:
        if met := row & places.get(letter, 0):
            row = (row + met | row - met) & full
    common = len(a) - row.bit_count()
    return round(100 * (1 - (total - 2 * common) / total))  # in its order, to round as it does


@lru_cache(maxsize=4096)
def _places(text: str) -> dict[str, int]:
    """Return letter -> a number with a bit for each place of the letter."""
    places: dict[str, int] = {}
    for i, letter in enumerate(text):
        places[letter] = places.get(letter, 0) | 1 << i
    return places


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
def cf(pair: SurveyPair) -> Finding:
    """Citation Faithfulness: the statements of the generated survey that their citations support.

    In [0, 1]: recall is the share of the statements with a citation that are supported, precision
    the share of the citations that are needed. What has no readable answer counts nowhere.
    `max_statements` bounds the statements.

    Paper: B.2, by gpt-4o, with title and abstract of each cited work; after AutoSurvey.
    Released: each work is asked about alone: a statement is supported if any work supports it, a
        citation is needed if it alone does. A work without an abstract supports nothing. A failed
        request ends the run.
    Here: AutoSurvey's: a statement is supported by all its works together, a citation is needed if
        it supports the statement alone or the others do not. A work without an abstract supports
        nothing; with ``--no-abstract left-out`` its citations count nowhere.
    """
    official = pair.comparison.official
    left_out = pair.comparison.no_abstract == "left-out" and not official
    report = pair.generated.report
    works = {work.key: work for work in pair.generated.works if work.key}
    rows: list[tuple[str, ...]] = []
    questions = []
    for each in spread(
        [each for each in report.statements if each.citations], pair.comparison.max_statements
    ):
        cited = [works[key] for key in each.citations if key in works and works[key].title]
        rows += [(each.text, work.title, "no abstract") for work in cited if not work.abstract]
        counted = tuple(work for work in cited if work.abstract or not left_out)
        if counted:
            questions.append(_Question(each.text, counted))
    judged = _alone(pair, questions) if official else _together(pair, questions)
    rows += [
        (question.statement, work.title, {True: "needed", False: "not needed", None: "failed"}[one])
        for question, (_, needed) in zip(questions, judged, strict=True)
        for work, one in zip(question.works, needed, strict=True)
        if work.abstract
    ]
    supported = [each for each, _ in judged if each is not None]
    needed = [one for _, many in judged for one in many if one is not None]
    headers = ("statement", "work", "citation")
    if questions and not (supported and needed):
        raise JudgeFailedError("the judge has no readable answer on any citation.")
    if not questions:
        none = dict.fromkeys(("f1", "precision", "recall"))
        return Finding(none, rows, headers, "no statement cites a work that is known.")
    recall, precision = sum(supported) / len(supported), sum(needed) / len(needed)
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    unknown = sum(not work.abstract for each in questions for work in each.works)
    reason = f"{unknown} of {len(needed)} citations lead to no abstract, and so support nothing."
    scores = {"f1": f1, "precision": precision, "recall": recall}
    return Finding(scores, rows, headers, reason if unknown else "")


_Judged = list[tuple[bool | None, list[bool | None]]]  # the statement, and each of its citations
_Part = tuple[int, tuple[int, ...]]  # number of a question, and those of some of its works


def _together(pair: SurveyPair, questions: list[_Question]) -> _Judged:
    """Judge each statement by all its works; those of a supported one alone, then the others."""
    known: list[_Part] = [
        (n, tuple(i for i, work in enumerate(each.works) if work.abstract))
        for n, each in enumerate(questions)
    ]
    whole = _ask(pair, questions, [(n, places) for n, places in known if places])
    several = [each for each in known if len(each[1]) > 1 and whole[each]]
    alone = _ask(pair, questions, [(n, (i,)) for n, places in several for i in places])
    others = {
        (n, i): tuple(place for place in known[n][1] if place != i)
        for (n, (i,)), supported in alone.items()
        if supported is False
    }
    without = _ask(pair, questions, [(n, places) for (n, _), places in others.items()])
    judged: _Judged = []
    for n, places in known:
        supported = whole.get((n, places), False)
        needed: list[bool | None] = [False] * len(questions[n].works)
        for i in places:
            needed[i] = alone.get((n, (i,)), supported)
            if (n, i) in others:
                other = without[n, others[n, i]]
                needed[i] = None if other is None else not other
        judged.append((supported, needed))
    return judged


def _alone(pair: SurveyPair, questions: list[_Question]) -> _Judged:
    """Judge as the released code does, which asks nothing of a work without an abstract."""
    answers = _ask(
        pair,
        questions,
        [(n, (i,)) for n, q in enumerate(questions) for i, w in enumerate(q.works) if w.abstract],
    )
    judged: _Judged = []
    for n, each in enumerate(questions):
        found = [answers.get((n, (i,)), False) for i in range(len(each.works))]
        unread = None in found
        supported = True if any(found) else None if unread else False
        # Which of several is needed is open as long as one is unread.
        sure = [None if one is None or (one and unread) else one for one in found]
        judged.append((supported, [sum(map(bool, found)) == 1 if one else one for one in sure]))
    return judged


def _ask(
    pair: SurveyPair, questions: list[_Question], parts: Iterable[_Part]
) -> dict[_Part, bool | None]:
    """Return what the judge says to each part of a question; None where that cannot be read."""
    values = {}
    for n, places in parts:
        works = (questions[n].works[place] for place in places)
        texts = "\n\n".join(f"{work.title}\n{work.abstract}" for work in works)
        values[n, places] = {"statement": questions[n].statement, "works": texts}
    answers = pair.ask("cf", [*values.values()], _read)
    read = (None if isinstance(each, Failure) else each for each in answers)
    return dict(zip(values, read, strict=True))


def _read(text: str) -> bool:
    found = as_json(text)
    value = str(found.get("supported")).lower() if isinstance(found, dict) else ""
    if value not in ("true", "false", "yes", "no"):
        raise ParseError('It is not a JSON object whose "supported" is true or false.')
    return value in ("true", "yes")
