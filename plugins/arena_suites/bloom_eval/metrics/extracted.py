"""The findings of a judge in both surveys, side by side: facts, criticism and named entities."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from arena.llm import Failure, Fields, ParseError, as_json
from arena.text import tokenize
from arena.text.display import count
from arena_suites._parts import chunks
from arena_suites.bloom_eval.base import Finding, JudgeFailedError, SurveyPair, survey_metric
from arena_suites.bloom_eval.matching import (
    distribution_similarity,
    ratios,
    side_by_side,
)


@survey_metric(
    "fcons",
    tier="memory",
    needs=("judge", "matcher"),
    columns=("f1", "precision", "recall"),
    prompts={"fcons": Fields(("text",)), "fcons-match": Fields(("human", "generated"))},
)
def fcons(pair: SurveyPair) -> Finding:
    """Factual Consistency: the share of factual statements that both surveys make, in [0, 1].

    A judge lists the factual statements of both; F1, precision and recall of those that assert the
    same; see `match_claims`.

    Paper: B.1, by gpt-5-mini; the section speaks of generated claims that the experts entail.
    Released: pairs of statements as the model names them, repeated ones too, so that a score can
        exceed 1.
    Here: each distinct statement once, paired one-to-one.
    """
    return match_claims(pair, "fcons", "factual_statements")


@survey_metric(
    "caa",
    tier="evaluation",
    needs=("judge", "matcher"),
    columns=("f1", "precision", "recall"),
    prompts={"caa": Fields(("text",)), "caa-match": Fields(("human", "generated"))},
)
def caa(pair: SurveyPair) -> Finding:
    """Critical Analysis Alignment: the share of critical statements of both surveys, in [0, 1].

    A judge lists the statements of both on limitations, flaws and gaps; F1, precision and recall of
    those that say the same; see `match_claims`.

    Paper: B.5, by gpt-5-mini.
    Released: as for ``fcons``.
    Here: as for ``fcons``.
    """
    return match_claims(pair, "caa", "critical_statements")


def match_claims(pair: SurveyPair, prompt: str, key: str) -> Finding:
    """Return F1, precision and recall of the claims that both surveys make.

    Each distinct claim counts once, and so does each in the pairs; with `official` all pairs
    of the judge count, repeated ones too, so that a score can exceed 1. Rows say of each claim
    whether its survey has it word for word.

    The template `prompt` finds the claims, in a list under `key`; ``PROMPT-match`` pairs them.
    """
    found = extract(pair, prompt, [key])
    claims = {
        side: list({text.casefold(): text for text in reversed(each.items[key])}.values())[::-1]
        for side, each in found.items()
    }
    human, generated = claims["human"], claims["generated"]
    match = pair.judged_pairs if pair.comparison.official else pair.match
    pairs = match(human, generated, f"{prompt}-match")
    rows = []
    for texts in side_by_side(pairs, [(text,) for text in human], [(text,) for text in generated]):
        sides = zip(found.values(), texts, strict=True)
        found_in = ["yes" if survey.contains(text) else "no" for survey, text in sides if text]
        rows.append((*texts, ", ".join(found_in)))
    if any(each.unread for each in found.values()):
        rows.append((found["human"].unread, found["generated"].unread, ""))
    scores = ratios(len(pairs), len(human), len(generated))
    reason = "" if human else "the judge finds no such claim in the experts' survey."
    return Finding(scores, rows, ("experts", "generated", "word for word"), reason)


CATEGORIES = ("methods_models", "datasets", "evaluation_metrics")


@survey_metric(
    "efid",
    tier="memory",
    needs=("judge", "matcher"),
    columns=("f1", "precision", "recall", "ds"),
    prompts={
        "efid": Fields(("text",)),
        "efid-names": Fields(("names",)),
        "efid-match": Fields(("human", "generated")),
    },
)
def efid(pair: SurveyPair) -> Finding:
    """Entity Fidelity: the entities of both surveys, and how often each names them, in [0, 1].

    A judge lists methods and models, data sets, and evaluation metrics; F1, precision and recall of
    those that both name, and ``ds``, the distributional similarity of their frequencies, 0 if
    nothing is shared.

    Paper: B.1 and A.1, by gpt-5-mini.
    Released: a model gives the names of one entity one name, and drops general terms; it pairs the
        rest of a category. Its own list says how often each occurs, and all its pairs count,
        repeated ones too, so that a score can exceed 1.
    Here: names that differ in case alone are equal; the matcher pairs the others of a category
        one-to-one. A name counts as often as the sentences have it, in a spelling of the judge's
        list and not within a longer name; one that they do not have is left out.
    """
    official = pair.comparison.official
    found = extract(pair, "efid", CATEGORIES)
    counts = (
        _released_counts(pair, found)
        if official
        else {side: _count(each) for side, each in found.items()}
    )
    rows: list[tuple[str, ...]] = []
    shared: list[tuple[int, int]] = []
    for category in CATEGORIES:
        human, generated = ([*counts[side][category].items()] for side in pair.sides)
        pairs = _same_names(pair, [name for name, _ in human], [name for name, _ in generated])
        shared += [(human[i][1], generated[j][1]) for i, j in pairs]
        cells = ([(name, str(times)) for name, times in side] for side in (human, generated))
        rows += [(category, *row) for row in side_by_side(pairs, *cells)]
    if any(each.unread for each in found.values()):
        rows.append(("", found["human"].unread, "", found["generated"].unread, ""))
    totals = [
        # The released code puts the categories together.
        len({name for names in each.values() for name in names})
        if official
        else sum(map(len, each.values()))
        for each in counts.values()
    ]
    scores = ratios(len(shared), *totals)
    times = [human for human, _ in shared], [generated for _, generated in shared]
    scores["ds"] = distribution_similarity(*times) if totals[0] else None
    reason = "" if totals[0] else "the judge finds no entity in the experts' survey."
    return Finding(scores, rows, ("category", "experts", "times", "generated", "times"), reason)


def _count(found: FoundItems) -> dict[str, dict[str, int]]:
    """Return category -> distinct name, as first written -> how often the sentences have it."""
    every = {name for listed in found.items.values() for name in listed}
    any_name = "|".join(map(re.escape, sorted(every, key=len, reverse=True))) or r"\Z\A."
    times = Counter(re.findall(rf"(?<!\w)(?:{any_name})(?!\w)", " ".join(found.text.split())))
    counts: dict[str, dict[str, int]] = {}
    for key, listed in found.items.items():
        first: dict[str, str] = {}
        counts[key] = {}
        for spelling in dict.fromkeys(listed):
            if times[spelling]:
                name = first.setdefault(spelling.casefold(), spelling)
                counts[key][name] = counts[key].get(name, 0) + times[spelling]
    return counts


def _released_counts(
    pair: SurveyPair, found: dict[str, FoundItems]
) -> dict[str, dict[str, dict[str, int]]]:
    """Return side -> category -> name that the judge gives an entity -> how often it lists it."""
    lists = (
        {key: [*dict.fromkeys(each.items[key])] for key in CATEGORIES} for each in found.values()
    )
    many = [{"names": json.dumps(each, ensure_ascii=False)} for each in lists]
    counts = {}
    for (side, each), names in zip(
        found.items(), pair.ask("efid-names", many, _read_names), strict=True
    ):
        if isinstance(names, Failure):
            raise JudgeFailedError(f"the judge gave no names of the {side} survey: {names.reason}")
        counts[side] = {
            key: dict(Counter(names[key][name] for name in each.items[key] if name in names[key]))
            for key in CATEGORIES
        }
    return counts


def _read_names(text: str) -> dict[str, dict[str, str]]:
    found = as_json(text)
    maps: list[Any] = [None]
    if isinstance(found, dict):
        maps = [found.get(key, {}) for key in CATEGORIES]
    if not all(isinstance(each, dict) for each in maps):
        raise ParseError(f"It is not a JSON object with objects under {', '.join(CATEGORIES)}.")
    return {
        key: {
            " ".join(old.split()): " ".join(new.split())
            for old, new in names.items()
            if isinstance(new, str)
        }
        for key, names in zip(CATEGORIES, maps, strict=True)
    }


def _same_names(pair: SurveyPair, human: list[str], generated: list[str]) -> list[tuple[int, int]]:
    """Return the places of the names that mean the same."""
    if pair.comparison.official:
        return pair.judged_pairs(human, generated, "efid-match")
    by_case = {name.casefold(): j for j, name in enumerate(generated)}
    equal = {i: by_case[a.casefold()] for i, a in enumerate(human) if a.casefold() in by_case}
    ours = [i for i in range(len(human)) if i not in equal]
    theirs = [j for j in range(len(generated)) if j not in equal.values()]
    names = [human[i] for i in ours], [generated[j] for j in theirs]
    others = pair.match(*names, "efid-match")
    return [*equal.items(), *((ours[i], theirs[j]) for i, j in others)]


# Asking the judge

CHUNK = 12_000
"""Characters of a survey in one request."""
OFFICIAL_CHUNK = 40_000
"""The same for `official`: the released code's 10,000 tokens, of 4 characters each."""


class FoundItems(NamedTuple):
    """The findings of the judge in one survey.

    Attributes:
        items: Key of the answers -> texts as the judge wrote them, in order, repeated ones too.
    """

    items: dict[str, list[str]]
    text: str
    unread: str

    def contains(self, text: str) -> bool:
        """Return whether the survey has a text word for word, case and punctuation aside."""
        return f" {' '.join(tokenize(text))} " in f" {' '.join(tokenize(self.text))} "


def extract(pair: SurveyPair, prompt: str, keys: Sequence[str]) -> dict[str, FoundItems]:
    """Return what the judge lists in each survey, ``human`` and ``generated``, read in parts."""
    size = OFFICIAL_CHUNK if pair.comparison.official else CHUNK
    parts = [
        (side, text) for side, each in pair.sides.items() for text, _ in chunks(each.report, size)
    ]
    answers = pair.ask(prompt, [{"text": text} for _, text in parts], partial(_read_lists, keys))
    found = {}
    for side, article in pair.sides.items():
        mine = [each for (of, _), each in zip(parts, answers, strict=True) if of == side]
        read = [each for each in mine if not isinstance(each, Failure)]
        if mine and not read:
            raise JudgeFailedError(f"the judge read no part of the {side} survey.")
        items = {key: [text for each in read for text in each[key]] for key in keys}
        lost = len(mine) - len(read)
        unread = f"({lost} of {count(len(mine), 'part')} not read)" if lost else ""
        found[side] = FoundItems(items, " ".join(s.text for s in article.report.statements), unread)
    return found


def _read_lists(keys: Sequence[str], text: str) -> dict[str, list[str]]:
    found = as_json(text)
    if isinstance(found, list) and len(keys) == 1:
        found = {keys[0]: found}
    if not isinstance(found, dict) or not any(isinstance(found.get(key), list) for key in keys):
        raise ParseError(f"It is not a JSON object with lists under {', '.join(keys)}.")
    lists = {key: found[key] if isinstance(found.get(key), list) else [] for key in keys}
    return {
        key: [" ".join(item.split()) for item in items if isinstance(item, str) and item.strip()]
        for key, items in lists.items()
    }
