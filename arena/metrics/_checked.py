"""The checks that all metrics share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral

from arena.errors import DataError, clip


def checked(
    ranking: Sequence[str], gains: Mapping[str, int], k: int | None
) -> tuple[Sequence[str], dict[str, int]]:
    """Return the first `k` ids of `ranking`, and the entries of `gains` that are relevant.

    Relevant is a gain of at least 1, as in trec_eval and ranx.

    Raises:
        DataError: `ranking` holds an id twice (a repeated hit would count twice) or something
            that is no string; `gains` holds no relevant id (no metric is defined then: the
            caller decides whether to leave the query out) or a gain that is no integer; `k` is
            no positive integer.
    """
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
        raise DataError(f"cutoff {clip(k)}: expected an integer of at least 1, or None.")
    if isinstance(ranking, str):
        raise DataError(f"ranking {clip(ranking)}: expected a sequence of ids, not one string.")
    for document in ranking:
        if not isinstance(document, str):
            raise DataError(f"ranking holds {clip(document)}: expected ids that are strings.")
    if len(set(ranking)) != len(ranking):
        document, times = Counter(ranking).most_common(1)[0]
        raise DataError(f"ranking holds {clip(document)} {times} times: expected distinct ids.")
    for document, gain in gains.items():
        if not isinstance(gain, Integral):
            raise DataError(f"gain {clip(gain)} of {clip(document)}: expected an integer.")
    relevant = {document: gain for document, gain in gains.items() if gain >= 1}
    if not relevant:
        raise DataError(
            "no gold: a query needs an id of gain 1 or more to be scored; leave this one out."
        )
    return ranking[:k], relevant
