"""Search once for the topic, then follow the links of the best papers, in rounds."""

from __future__ import annotations

from collections.abc import Callable

from arena.agents import Desk, Steps
from arena.ranker.pool import Pool
from arena.ranker.trees import Ranker

_PAPERS, _ROUNDS = 48, 3
"""Most papers to look at, two reads each, a share of them in each round."""
_UNLINKED = 3  # papers without links, after which no further links are listed


def explore(
    desk: Desk,
    ranker: Ranker | None,
    on_round: Callable[[Pool], None] = lambda pool: None,
) -> Steps[Pool]:
    """Return the pool after a search with each engine, and the links of the best papers.

    Args:
        desk: The desk of a `Researcher`.
        ranker: What says which papers are the best; None for votes.
        on_round: Is called with the pool before each round, and at the end.
    """
    pool = Pool(desk.topic, desk.cutoff)
    for engine in desk.retrievers or (None,):
        pool.hits((yield from desk.search(desk.topic, retriever=engine)))
    for turn in range(_ROUNDS):
        on_round(pool)
        seen = {pool.ids[number] for number in pool.looked}
        due = _PAPERS * (turn + 1) // _ROUNDS - len(seen)
        best = [paper_id for paper_id in pool.ranking(ranker) if paper_id not in seen]
        for paper_id in best[:due]:
            if desk.lists_left < 2 or (len(pool.looked) == _UNLINKED and not pool.linked):
                break
            references = yield from desk.references(paper_id)
            cites = int(desk.result.get("total", 0))
            citations = yield from desk.citations(paper_id)
            received = int(desk.result.get("total", 0))
            pool.links(paper_id, references, citations, cites, received)
    on_round(pool)
    return pool
