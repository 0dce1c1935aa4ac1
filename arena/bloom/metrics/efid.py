"""Entity Fidelity: does the survey name the experts' methods, data sets and measures?"""

from __future__ import annotations

import re
from collections import Counter

from arena.bloom.base import Finding, Pair, pairs_schema, ratios, survey_metric
from arena.bloom.distributions import distribution_similarity
from arena.bloom.extraction import Found, extract
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
        human, generated = (counts[side][category] for side in ("human", "generated"))
        pairs = _pairs(pair, list(human), list(generated))
        shared += [(human[a], generated[b]) for a, b in pairs]
        rows += [(category, a, str(human[a]), b, str(generated[b])) for a, b in pairs]
        ours, theirs = {a for a, _ in pairs}, {b for _, b in pairs}
        rows += [(category, a, str(n), "", "") for a, n in human.items() if a not in ours]
        rows += [(category, "", "", b, str(n)) for b, n in generated.items() if b not in theirs]
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


def _pairs(pair: Pair, human: list[str], generated: list[str]) -> list[tuple[str, str]]:
    if pair.tools.official:
        judged = pair.judged_pairs(human, generated, "efid-match", _PAIRS)
        return [(human[i], generated[j]) for i, j in judged]
    by_case = {name.casefold(): name for name in generated}
    equal = [(a, by_case[a.casefold()]) for a in human if a.casefold() in by_case]
    ours = [a for a in human if a.casefold() not in by_case]
    taken = {b for _, b in equal}
    theirs = [b for b in generated if b not in taken]
    return equal + [(ours[i], theirs[j]) for i, j in pair.match(ours, theirs, "efid-match", _PAIRS)]
