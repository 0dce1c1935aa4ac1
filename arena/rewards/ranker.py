"""Ranker: how relevant a learned ranker takes the papers to be that were shown."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from arena.papers import Hit
from arena.rewards.base import Progress, Reward, reward

_COUNTED = 100


@reward("ranker")
class RankerReward(Reward):
    """The guess of a learned ranker of the papers shown, without labels; not a metric.

    Paid with the step that ends the episode, else 0: over the best 100 papers shown the sum of
    1 / (1 + exp(-score)), divided by 100, in [0, 1]. It reads what the agent has seen alone. Ranks
    are those of the first page of searches for the topic: any query and page has a best hit.

    Args:
        file: File of ``arena train ranker``, or ``learned``.
    """

    reads_results: ClassVar[bool] = True

    def __init__(self, file: str = "learned") -> None:
        from arena.ranker import open_ranker

        self._ranker = open_ranker(file)
        self.sha256 = self._ranker.sha256

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``ranker``."""
        import numpy as np

        pool = _pool(progress) if progress.over else None
        if pool is None or not pool.ids:
            return {"ranker": 0.0}
        best = np.sort(self._ranker.scores(pool.features()))[-_COUNTED:]
        return {"ranker": round(float((1 / (1 + np.exp(-best))).sum()) / _COUNTED, 6)}


def _pool(progress: Progress) -> Any:
    """Return the `Pool` of the papers that an episode has shown."""
    from arena.ranker import Pool

    pool, topic = Pool(progress.topic, progress.cutoff), progress.topic.split()
    others: list[Hit] = []
    links: dict[str, dict[str, tuple[list[Hit], int]]] = {}
    for tool, arguments, text in progress.seen:
        result = json.loads(text)
        of_topic = str(arguments.get("query")).split() == topic and not arguments.get("offset")
        for part in result.get("lists", [result]):
            found = _hits(part.get("hits"))
            pool.hits(found) if of_topic else others.extend(found)
        others += _hits([result] if "text" in result else ())  # read
        if tool in ("references", "citations") and tool in result:
            links.setdefault(result["id"], {})[tool] = _hits(result[tool]), result["total"]
    pool.papers(others)
    for paper_id, listed in links.items():
        if paper_id in pool.ids:
            (cites, total), (citing, received) = (
                listed.get(name, ([], 0)) for name in ("references", "citations")
            )
            pool.links(paper_id, cites, citing, total, received)
    return pool


def _hits(entries: Any) -> list[Hit]:
    dated = (entry for entry in entries or () if entry["date"])  # experts' papers may have none
    return [Hit(e["id"], e["title"], e["date"], float(e.get("score", 0.0))) for e in dated]
