"""How well an agent searched, and what it discarded of what it found: ScholarGym's figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum
from pathlib import Path

from arena.corpus import Corpus
from arena.results.comparison.comparing import compare
from arena.tasks import TaskSet


def search_figures(
    gold: Iterable[str], found: Mapping[str, int], submitted: Iterable[str]
) -> dict[str, float | None]:
    """Return ScholarGym's figures of one question that need no model (arXiv:2601.21654, section 3).

    `found` is every paper that a search returned -> its best rank over all searches, from 1.
    ``discard_rate`` is the share of the gold found that was not submitted, None if none was found
    (the released code divides by all that was discarded); ``distance`` the mean over the gold of
    max(1 - rank / 100, 0), 0 for a paper that was not found.

    >>> search_figures({"a", "b"}, {"a": 20, "x": 1}, ["x"])["distance"]
    0.4
    """
    gold = set(gold)
    hits = gold & found.keys()
    return {
        "retrieval_recall": len(hits) / len(gold),
        "retrieval_precision": len(hits) / len(found) if found else 0.0,
        "retrieval_f1": 2 * len(hits) / (len(gold) + len(found)),
        "discard_rate": len(hits.difference(submitted)) / len(hits) if hits else None,
        "distance": fsum(max(1 - found[paper] / 100, 0) for paper in hits) / len(gold),
    }


def figures_of_run(run: str | Path, corpus: Corpus) -> dict[str, dict[str, float | None]]:
    """Return the `search_figures` of each question of a run with gold in reach.

    Its searches are made again in `corpus`, by engines with their default options.
    """
    tasks, figures = TaskSet(corpus), {}
    for survey, episode in compare([run]).runs[0].episodes.items():
        if gains := tasks.gold(survey).gains:
            best = dict[str, int]()
            for query in (query for query in episode.queries if query.error is None):
                view = corpus.at(tasks.survey(survey).date, [survey], query.engine)
                hits = view.search(query.text, query.offset + query.k)
                for rank, hit in enumerate(hits[query.offset :], query.offset + 1):
                    best[hit.id] = min(rank, best.get(hit.id, rank))
            submitted = [paper for answer in episode.answers.values() for paper in answer]
            figures[survey] = search_figures(gains, best, submitted)
    return figures
