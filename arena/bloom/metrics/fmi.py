"""Formatting Integrity: is each cited entry listed, and each listed entry cited?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from arena.bloom import released
from arena.bloom.article import is_listed
from arena.bloom.base import Finding, Pair, survey_metric


@survey_metric("fmi", tier="application")
def fmi(pair: Pair) -> Finding:
    """Formatting Integrity: agreement of what is cited with what is listed, in [0, 1].

    |C & R| / |C | R|, Bloom-Eval, equation 6: C are the keys that the statements of the generated
    survey cite, R the entries of its bibliography. An id of a paper in the corpus, as agents cite
    by, needs no entry. A survey that neither cites nor lists anything has 0; in the released code
    it has 1.
    """
    article = pair.generated
    cited: set[Any]
    listed: set[Any]
    if pair.tools.official:
        cited, listed = released.formatting(article)
    else:
        cited = {key for statement in article.report.statements for key in statement.citations}
        listed = {each.key for each in article.report.references if is_listed(each)}
    both, either = cited & listed, cited | listed
    score = len(both) / len(either) if either else float(pair.tools.official)
    rows = [
        (_shown(key), "not listed" if key in cited else "not cited")
        for key in sorted(either - both, key=_shown)
    ]
    return Finding({"": score}, rows, ("reference", "fault"))


def _shown(key: Hashable) -> str:
    return key if isinstance(key, str) else " ".join(map(str, _flat(key)))


def _flat(key: Any) -> tuple[Any, ...]:
    kind, name = key
    return (kind, *name) if isinstance(name, tuple) else (kind, name)
