"""Metrics of rankings that benchmarks define: shares of the gold, and what a screening saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.errors import DataError
from arena.metrics import ScoreContext, checked, metric


@metric("iou", "ranking")
def iou(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Intersection of the first `k` ids and the gold, over their union, in [0, 1].

    Source: AutoResearchBench (arXiv:2604.25256), wide questions. A topic without gold, for which
    the released code gives an empty answer 1, has no metric of rankings here.

    Two of three ids are gold, and the gold has four: 2 / (3 + 4 - 2).

    >>> iou(["a", "x", "b"], {"a": 2, "b": 1, "c": 1, "d": 1})
    0.4
    """
    top, gold = checked(ranking, gains, context)
    hits = len(gold.keys() & top)
    return hits / (len(top) + len(gold) - hits)


@metric("precision_returned", "ranking")
def precision_returned(
    ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
) -> float:
    """Share of gold among the first `k` ids, or among all if there are fewer, in [0, 1].

    Unlike `precision` it does not count a place left empty as a miss; an empty ranking scores 0.

    Source: ScholarQuest (arXiv:2606.20235), P@50 of its leaderboard.

    >>> precision_returned(["a", "x"], {"a": 1, "b": 1}, k=50)
    0.5
    """
    top, gold = checked(ranking, gains, context)
    return len(gold.keys() & top) / len(top) if top else 0.0


@metric("weighted_recall", "ranking")
def weighted_recall(
    ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
) -> float:
    """Gain of the gold papers among the first `k`, over the gain of all gold papers, in [0, 1].

    Source: SAGE (arXiv:2602.05975), open-ended questions, whose paper has "decreasing weights" for
    ``most_relevant`` and ``relevant`` papers; 2 and 1, as here, are those of AI2's evaluation.

    One paper of gain 2, out of 2 + 1 + 1.

    >>> weighted_recall(["a", "x"], {"a": 2, "b": 1, "c": 1})
    0.5
    """
    top, gold = checked(ranking, gains, context)
    return sum(gold.get(paper, 0) for paper in top) / sum(gold.values())


# Screening: how early in a list of all candidates the wanted ones are read


def read_at(
    name: str, ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
) -> tuple[list[int], int, int]:
    """Return the ranks of the gold papers in a ranking, the number of gold papers, and N.

    N are the papers in reach of the topic, all of which a screening would read. What a ranking
    leaves out is read after all that it has, the gold last.
    """
    if context.k is not None:
        raise DataError(f"{name} takes no cutoff. Write {name!r}.")
    if context.tasks is None:
        raise DataError(f"{name} counts the papers in reach of a topic: score on a corpus.")
    ranking, gold = checked(ranking, gains, context)
    ranks = [rank for rank, paper in enumerate(ranking, 1) if paper in gold]
    return ranks, len(gold), context.tasks.in_reach(context.topic_id)


@metric("wss95", "ranking", needs=["corpus"])
def wss95(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Work saved over sampling at a recall of 95 %: (N - n95) / N - .05, at most .95.

    N are the papers in reach, and n95 the rank at which 95 % of the gold, rounded up, are read. A
    ranking that never has so many saves nothing: all N have to be read, and it scores -.05.

    Source: Cohen et al. 2006 (J Am Med Inform Assoc 13:206), section 3.
    """
    ranks, gold, papers = read_at("wss95", ranking, gains, context)
    needed = -(-95 * gold // 100)
    last = ranks[needed - 1] if len(ranks) >= needed else papers
    return (papers - last) / papers - 0.05


@metric("recall_tenth", "ranking", needs=["corpus"])
def recall_tenth(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Share of the gold among the first tenth of the papers in reach, at least one, in [0, 1].

    A tenth is rounded down. Source: relevant references found at 10 %, "RRF@10", of ASReview
    (Ferdinands et al. 2023, Systematic Reviews 12:100).
    """
    ranks, gold, papers = read_at("recall_tenth", ranking, gains, context)
    return sum(rank <= max(1, papers // 10) for rank in ranks) / gold


@metric("atd", "ranking", lower_is_better=True, needs=["corpus"])
def atd(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Average time to discovery: the mean rank of the gold over the papers in reach, in (0, 1].

    Gold papers that the ranking leaves out have the last ranks of all. Source: Ferdinands et al.
    2023, there in papers; here divided by N.
    """
    ranks, gold, papers = read_at("atd", ranking, gains, context)
    ranks += range(papers - (gold - len(ranks)) + 1, papers + 1)
    return sum(ranks) / gold / papers
