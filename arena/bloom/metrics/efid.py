"""Entity Fidelity: does the survey name the experts' methods, data sets and measures?"""

from __future__ import annotations

import re
from collections import Counter

from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.extraction import Found, extract
from arena.bloom.matching import distribution_similarity, pairs_schema, ratios, side_by_side
from arena.llm import Fields

CATEGORIES = ("methods_models", "datasets", "evaluation_metrics")
_PAIRS = pairs_schema("matched_pairs", "expert_main_name", "llm_main_name")


@survey_metric(
    "efid",
    tier="memory",
    needs=("judge", "matcher"),
    columns=("f1", "precision", "recall", "ds"),
    prompts={"efid": Fields(("text",)), "efid-match": Fields(("human", "generated"))},
)
def efid(pair: Pair) -> Finding:
    """Entity Fidelity: the entities of both surveys, and how often each names them, in [0, 1].

    Bloom-Eval, B.1 and A.1: a judge lists methods and models, data sets, and evaluation metrics.
    Names that differ in case alone are equal; the matcher pairs the others of a category
    one-to-one. ``ds`` is the distributional similarity of the frequencies of what is shared, None
    if nothing is. A name counts as often as the sentences have it, in a spelling of the judge's
    list and not within a longer name; a name that they do not have is left out.

    With `Tools.official` the judge's own list says how often, and all its pairs count, repeated
    ones too. The released code also lets the model merge the names of an entity beforehand.
    """
    found = extract(pair, "efid", CATEGORIES)
    counts = {side: _count(each, pair.tools.official) for side, each in found.items()}
    rows: list[tuple[str, ...]] = []
    shared: list[tuple[int, int]] = []
    for category in CATEGORIES:
        human, generated = ([*counts[side][category].items()] for side in pair.sides)
        pairs = _pairs(pair, [name for name, _ in human], [name for name, _ in generated])
        shared += [(human[i][1], generated[j][1]) for i, j in pairs]
        cells = ([(name, str(times)) for name, times in side] for side in (human, generated))
        rows += [(category, *row) for row in side_by_side(pairs, *cells)]
    if any(each.unread for each in found.values()):
        rows.append(("", found["human"].unread, "", found["generated"].unread, ""))
    totals = [sum(map(len, each.values())) for each in counts.values()]
    scores = ratios(len(shared), *totals)
    scores["ds"] = distribution_similarity(*zip(*shared, strict=True)) if shared else None
    reason = "" if shared else "the surveys share no entity." if totals[0] else "no entity."
    return Finding(scores, rows, ("category", "experts", "times", "generated", "times"), reason)


def _count(found: Found, official: bool) -> dict[str, dict[str, int]]:
    """Return category -> distinct name, as first written -> how often it occurs."""
    listed = {key: Counter(names) for key, names in found.items.items()}
    if not official:
        names = sorted({name for each in listed.values() for name in each}, key=len, reverse=True)
        any_name = "|".join(map(re.escape, names)) or r"\Z\A."
        text = " ".join(found.text.split())
        times = Counter(re.findall(rf"(?<!\w)(?:{any_name})(?!\w)", text))
        listed = {
            key: Counter({name: times[name] for name in each}) for key, each in listed.items()
        }
    counts: dict[str, dict[str, int]] = {}
    for key, spellings in listed.items():
        first: dict[str, str] = {}
        counts[key] = {}
        for name, number in spellings.items():
            if number:
                name = first.setdefault(name.casefold(), name)
                counts[key][name] = counts[key].get(name, 0) + number
    return counts


def _pairs(pair: Pair, human: list[str], generated: list[str]) -> list[tuple[int, int]]:
    """Return the places of the names that mean the same."""
    if pair.tools.official:
        return pair.judged_pairs(human, generated, "efid-match", _PAIRS)
    by_case = {name.casefold(): j for j, name in enumerate(generated)}
    equal = {i: by_case[a.casefold()] for i, a in enumerate(human) if a.casefold() in by_case}
    ours = [i for i in range(len(human)) if i not in equal]
    theirs = [j for j in range(len(generated)) if j not in equal.values()]
    names = [human[i] for i in ours], [generated[j] for j in theirs]
    others = pair.match(*names, "efid-match", _PAIRS)
    return [*equal.items(), *((ours[i], theirs[j]) for i, j in others)]
