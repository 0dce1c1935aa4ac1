"""Gains: the gold papers that a step shows, or cites, for the first time."""

from __future__ import annotations

from arena.rewards.base import Progress, Reward, reward


@reward("gain")
class Gain(Reward):
    """Gold papers shown for the first time in this step, over all gold papers in reach.

    In [0, 1]; over an episode it adds up to the recall of all papers shown. A search, `read` and a
    list of references or citations show papers. Submitted papers do not count.
    """

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``gain``; 0 where there is no gold."""
        new = progress.found - progress.found_before
        return {"gain": new / progress.gold if new else 0.0}


@reward("citation_gain")
class CitationGain(Reward):
    """Gold papers cited for the first time in this step, over all gold papers in reach.

    In [0, 1]; over an episode it adds up to the recall of all papers that the draft or the
    submitted report has ever cited. 0 in tasks without a report.
    """

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return ``citation_gain``; 0 where there is no gold."""
        new = progress.cited - progress.cited_before
        return {"citation_gain": new / progress.gold if new else 0.0}
