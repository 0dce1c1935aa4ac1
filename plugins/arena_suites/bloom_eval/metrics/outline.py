"""Outlines: which headings the surveys share, their shape, clarity and distance as trees."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import DataError
from arena.llm import Fields, ParseError, as_json
from arena.mindmap import MindMap
from arena_suites.bloom_eval.article import Article, Heading
from arena_suites.bloom_eval.base import Finding, SurveyPair, survey_metric
from arena_suites.bloom_eval.matching import ratios, side_by_side

_FIGURES = r"\d{1,2}(?:\.\d{1,2}){0,5}"
# "3.1", "3.", "2)", "(b)", "A.", "B.2", "IV.", "II-A", "IX", "Appendix B:"; not "3D", "A" or "V".
_NUMBER = re.compile(
    rf"\A\s*(?:(?i:chapter|section|part|appendix)\s+(?:{_FIGURES}|[IVX]{{1,6}}|[A-Z])[:.)]?"
    rf"|\(?(?:{_FIGURES}|[IVX]{{1,6}}|[ivx]{{1,6}}|[A-Za-z])[.):]"
    rf"|{_FIGURES}|[IVX]{{2,6}}|[IVX]{{1,6}}-[A-Z]\d{{0,2}}|[A-Z](?:\.\d{{1,2}}){{1,4}})(?!\S)"
)
_LEAST_COSINE = 0.9
_HEADERS = ("heading", "below", "heading that means the same", "below")


@survey_metric(
    "otc",
    tier="comprehension",
    needs=("matcher",),
    columns=("f1", "precision", "recall"),
    prompts={"otc": Fields(("human", "generated"))},
)
def otc(pair: SurveyPair) -> Finding:
    """Outline Topic Coverage: F1 of the headings that mean the same, in [0, 1].

    None for experts without an outline, 0 for a generated survey without one.

    Paper: B.2, F1 over the headings that a model matches.
    Released: the title counts, and a heading may be in several pairs: precision is the share of
        the generated headings with a partner, recall that of the experts'.
    Here: one-to-one, 2 x pairs / (experts' headings + generated ones), without title and section
        numbers; by embedding, or with ``--matcher judge`` by a model.
    """
    official = pair.comparison.official
    human, generated = (
        [heading.text for heading in headings(article, official) if heading.text]
        for article in pair.sides.values()
    )
    if not human:
        return Finding(ratios(0, 0, 0), reason="the experts' survey has no outline.")
    matched = pair.match(human, generated, "otc", several=official)
    rows = side_by_side(matched, [(text,) for text in human], [(text,) for text in generated])
    partners = len({generated[j] for _, j in matched})
    scores = (
        ratios(len({human[i] for i, _ in matched}), len(human), len(generated), partners)
        if official
        else ratios(len(matched), len(human), len(generated))
    )
    return Finding(scores, rows, ("experts' heading", "generated heading"))


@survey_metric("scons", tier="analysis")
def scons(pair: SurveyPair) -> Finding:
    """Shape Consistency: likeness of depth and of size of the outlines, in [0, 1].

    sqrt(DC x BC): DC is the smaller depth divided by the larger, BC the smaller number of headings
    divided by the larger. None for experts without an outline, 0 for a generated survey without
    one.

    Paper: equations 9 and 10.
    Released: the title counts as a heading; a heading whose level above is missing stands at
        the top.
    Here: the depth is the number of levels from the title to the deepest heading; the title is no
        heading.
    """
    shapes = {
        side: _shape(article, pair.comparison.official) for side, article in pair.sides.items()
    }
    rows = [(side, str(depth), str(count)) for side, (depth, count) in shapes.items()]
    headers = ("survey", "levels", "headings")
    human, generated = shapes["human"], shapes["generated"]
    if not human[1]:
        return Finding({"": None}, rows, headers, "the experts' survey has no outline.")
    if not generated[1]:
        return Finding({"": 0.0}, rows, headers)
    depths, counts = zip(human, generated, strict=True)
    likeness = min(depths) / max(depths) * min(counts) / max(counts)
    return Finding({"": math.sqrt(likeness)}, rows, headers)


def _shape(article: Article, official: bool) -> tuple[int, int]:
    outline = headings(article, official)
    if not official:
        return max((heading.level for heading in outline), default=0) + 1, len(outline)
    depths: list[int] = []
    for above in parents(outline, official):
        depths.append(1 if above is None or above < 0 else depths[above] + 1)
    return max(depths, default=0), len(outline)


@survey_metric("scs", tier="analysis", needs=("matcher",), prompts={"scs": Fields(("outline",))})
def scs(pair: SurveyPair) -> Finding:
    """Structural Clarity: 1 - pairs of headings that repeat each other / headings, at most 1.

    1 - N_redundant / N_total: pairs of generated headings that mean the same and do not share an
    immediate parent; below 0 where there are more pairs than headings. 0 for a survey without an
    outline.

    Paper: equation 11; a model names the pairs.
    Released: pairs as the model names them, repeated ones too; the title is one of N_total; a
        heading has the last one of the level above as its parent, and without one is in no pair.
    Here: each pair once, without title and section numbers. With ``--matcher judge`` a model names
        the pairs; by embedding, which is ours, they have a cosine of at least 0.9, since headings
        of other meaning share many words.
    """
    official = pair.comparison.official
    outline = headings(pair.generated, official)
    total = len(outline) if official else sum(bool(heading.text) for heading in outline)
    if not total:
        return Finding({"": 0.0}, headers=_HEADERS)
    above = parents(outline, official)
    groups = (
        _by_judge(pair, outline) if pair.comparison.matcher == "judge" else _alike(pair, outline)
    )
    apart = [
        [(i, j) for i, j in group if above[i] != above[j] and None not in (above[i], above[j])]
        for group in groups
    ]
    unique = sorted({(min(each), max(each)) for group in apart for each in group})
    redundant = sum(map(bool, apart)) if official else len(unique)
    title = pair.generated.title
    shown = [
        (each.text, title if k is None or k < 0 else outline[k].text)
        for each, k in zip(outline, above, strict=True)
    ]
    rows = [(*shown[i], *shown[j]) for i, j in unique]
    return Finding({"": 1 - redundant / total}, rows, _HEADERS)


def _alike(pair: SurveyPair, outline: Sequence[Heading]) -> list[list[tuple[int, int]]]:
    texts = [heading.text for heading in outline]
    pairs = np.argwhere(np.triu(pair.cosines(texts, texts) >= _LEAST_COSINE, 1)).tolist()
    return [[(i, j)] for i, j in pairs]


def _by_judge(pair: SurveyPair, outline: Sequence[Heading]) -> list[list[tuple[int, int]]]:
    """Return for each pair that the judge names the places that it may mean."""
    lines = [f"{'  ' * (each.level - 1)}- {each.text}" for each in outline if each.text]
    values = {"outline": "\n".join(lines)}
    answer = pair.ask_one("scs", values, _read, "the judge named no pairs")
    places: dict[str, list[int]] = {}
    for place, heading in enumerate(outline):
        if heading.text:
            places.setdefault(heading.text.casefold(), []).append(place)
    named = [[places.get(unnumbered(text).casefold(), []) for text in each] for each in answer]
    return [[(i, j) for i in ours for j in theirs if i != j] for ours, theirs in named]


def _read(text: str) -> list[tuple[str, str]]:
    answer = as_json(text)
    pairs: Any = answer.get("redundant_pairs") if isinstance(answer, dict) else answer
    try:
        return [(str(each["heading_1"]), str(each["heading_2"])) for each in pairs]
    except (KeyError, TypeError):
        raise ParseError("There is no list of redundant_pairs in it.") from None


@survey_metric("sts", tier="analysis", needs=("embeddings",))
def sts(pair: SurveyPair) -> Finding:
    """Semantic Tree Similarity: 1 - edit distance of the outlines / number of headings, in [0, 1].

    1 - TED(A, B) / (|A| + |B|): ordered trees, to insert or to delete a heading costs 1, to put one
    for another 1 - cosine, and 0 if they are equal. None for experts without an outline, 0 for a
    generated survey without one.

    Paper: equation 8, with nomic-embed-text-v1.
    Released: the title counts as a heading; a heading whose level above is missing stands at the
        top; headings are embedded with their case.
    Here: both trees have a neutral root in place of the title, which is not counted; without
        section numbers, in lower case; the encoder is that of ``--encoder``.
    """
    from arena.mindmap.metrics.tree_distance import edit_distance

    official = pair.comparison.official
    human, generated = (_tree(article, official) for article in pair.sides.values())
    if not human.size:
        return Finding({"": None}, reason="the experts' survey has no outline.")
    ours, theirs = human.labels(), generated.labels()
    cosines = pair.cosines(ours, theirs, cased=official)
    different = np.not_equal.outer(np.array(ours, object), np.array(theirs, object))
    # Vectors are rounded: so that a heading is as near to itself as can be.
    costs: NDArray[np.float64] = different * (1 - cosines.round(6))
    try:
        distance = edit_distance(human, generated, lambda: costs)
    except DataError as error:
        return Finding({"": None}, reason=str(error))
    nearest = costs.argmin(axis=1) if theirs else []
    rows = [
        (text, theirs[j], f"{costs[i, j]:.2f}")
        for i, (text, j) in enumerate(zip(ours, nearest, strict=bool(theirs)))
    ]
    headers = ("experts' heading", "nearest generated heading", "cost to put it instead")
    return Finding({"": 1 - distance / (human.size + generated.size)}, rows, headers)


def _tree(article: Article, official: bool) -> MindMap:
    outline = headings(article, official)
    below: dict[int, list[MindMap]] = {}
    for place, above in reversed([*enumerate(parents(outline, official))]):
        node = MindMap(outline[place].text, tuple(reversed(below.get(place, []))))
        below.setdefault(-1 if above is None else above, []).append(node)
    return MindMap("", tuple(reversed(below.get(-1, []))))


def unnumbered(heading: str) -> str:
    """Return a heading without its section number.

    >>> [unnumbered(text) for text in ("3.1 Foo", "IV. Foo", "b) Foo", "II-A Foo", "3D vision")]
    ['Foo', 'Foo', 'Foo', 'Foo', '3D vision']
    """
    return _NUMBER.sub("", heading).strip()


def headings(article: Article, official: bool = False) -> list[Heading]:
    """Return the headings without the title and without their numbers; some may be blank.

    As in the released code, if `official`: with the title, and without numbers such as ``3.1``.
    """
    if official:
        number = re.compile(r"^\d+(?:\.\d+)*\s*")
        return [Heading(each.level, number.sub("", each.text)) for each in article.outline]
    return [Heading(each.level, unnumbered(each.text)) for each in article.outline if each.level]


def parents(outline: Sequence[Heading], official: bool = False) -> list[int | None]:
    """Return the place of what each heading belongs to, -1 for the title.

    That is the nearest one above with a smaller level, so that an outline may skip levels. If
    `official`, the last one so far of the level above; None where there is none: there the released
    trees begin again at the top.

    >>> outline = [Heading(2, "a"), Heading(1, "b"), Heading(3, "c"), Heading(2, "d")]
    >>> parents(outline), parents(outline, official=True)
    ([-1, -1, 1, 1], [None, None, 0, 1])
    """
    last, found = {-1: -1}, list[int | None]()  # level -> its last heading so far
    for place, (level, _) in enumerate(outline):
        nearest = max(place for above, place in last.items() if above < level)
        found.append(last.get(level - 1) if official else nearest)
        last[level] = place
    return found
