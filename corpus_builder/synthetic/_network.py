"""Who cites whom in a synthetic corpus whose citations are fitted to a network of real papers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus_builder.synthetic._config import SyntheticConfig
from corpus_builder.synthetic._timeline import MAX_REFERENCES, EarlierPapers, Timeline
from corpus_builder.synthetic.language import SubjectTree

_PURPOSE = 8
_BLOCK = 4096  # papers whose random numbers are drawn at once; part of what a seed means
_TRIES = 6  # draws for each reference: some find nothing, or what is cited already

# Fitted to the ACL Anthology Network to 2007: docs/results/ranker.md compares the two
_MEAN = 4.3  # references of a paper, distributed exponentially
_CLOSE = 0.78  # share found by a link of a paper that is cited already, which makes triangles
_OLDER = 0.35  # of these, the share found among its references; others cite it
_GROUPS = 0.7, 0.9, 0.95  # of the rest, in all from the own leaf, subject, a neighbouring subject
_KNOWN = 0.9  # of the rest, cited as often as papers of that group have done, which makes hubs
_RECENT, _RECENTLY = 3, 4  # papers and citations: 1 draws all years alike, 2 later ones more


def cite_measured(
    config: SyntheticConfig, tree: SubjectTree, timeline: Timeline
) -> NDArray[np.int32]:
    """Return the papers cited by each paper, as `cite` does; a row repeats no index."""
    rng, count = config.rng(_PURPOSE), config.papers
    cited = np.full((count, MAX_REFERENCES), -1, dtype=np.int32)
    first = tree.first[tree.survey_level]
    near = np.array([tree.neighbours(first + k) for k in range(tree.size[tree.survey_level])])
    columns = timeline.leaf, timeline.survey_subject, np.zeros(count, dtype=np.int64)
    earlier = [EarlierPapers(timeline, column) for column in columns]
    levels = 0, 1, 1, 2  # of the groups to draw from: leaf, subject, neighbouring subject, anywhere
    cited_by_group: list[dict[int, list[int]]] = [{}, {}, {}]  # every citation, in time
    lists: list[list[int]] = [[] for _ in range(count)]
    citing: list[list[int]] = [[] for _ in range(count)]

    def later(share: float, found: list[int], power: float) -> int:
        return found[int(share ** (1 / power) * len(found))] if found else -1

    def find(paper: int, own: list[int], groups: list[int], spans: list[list[int]]) -> int:
        """Return a paper to cite, -1 if there is none."""
        way, kind, which, place = next(draws)
        if own and way < _CLOSE:
            known = own[int(kind * len(own))]
            if which < _OLDER:
                return later(place, lists[known], 1)
            return later(place, citing[known], _RECENTLY)
        group = sum(kind >= share for share in _GROUPS)
        known_there = cited_by_group[levels[group]].get(groups[group])
        if known_there and which < _KNOWN:
            return later(place, known_there, _RECENTLY)
        low, high = spans[group]
        at = low + int(place ** (1 / _RECENT) * (high - low))
        return int(earlier[levels[group]].papers[at]) if high > low else -1

    order = np.argsort(timeline.day, kind="stable")
    order = order[timeline.leaf[order] >= 0]
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        days = timeline.day[block]
        wanted = np.minimum(rng.exponential(_MEAN, len(block)), MAX_REFERENCES).astype(int)
        draws = iter(rng.random((_TRIES * int(wanted.sum()), 4)).tolist())
        other = near[columns[1][block] - first, rng.integers(0, near.shape[1], len(block))]
        groups = np.stack([columns[0][block], columns[1][block], other, columns[2][block]])
        spans = np.stack(
            [earlier[k].spans(group, days).T for k, group in zip(levels, groups, strict=True)], 1
        ).tolist()
        for row, paper in enumerate(block.tolist()):
            own, of_paper = lists[paper], groups[:, row].tolist()
            for _ in range(_TRIES * wanted[row]):
                found = find(paper, own, of_paper, spans[row])
                is_earlier = timeline.citable[found] and timeline.resolved[found] < days[row]
                if len(own) < wanted[row] and found >= 0 and is_earlier and found not in own:
                    own.append(found)
            cited[paper, : len(own)] = own
            for found in own:
                citing[found].append(paper)
                for level in range(3):
                    group = of_paper[level if level < 2 else 3]
                    cited_by_group[level].setdefault(group, []).append(found)
    return cited
