"""Any metric as a reward: ``reward="ari"``, ``reward="gain+ndcg@10"``."""

from __future__ import annotations

from arena.rewards.base import Progress, Reward
from arena.tasks.scoring import lower_is_better, metric_function


class MetricReward(Reward):
    """A metric of the submitted answer with the step that ends the episode, else 0.

    A distance is paid as its negative, so that more is better. 0 for a survey whose labels have
    nothing that the metric counts.

    Args:
        metric: Name of a metric of rankings, such as ``"recall@100"``, or of mind-maps.
    """

    def __init__(self, metric: str) -> None:
        self.metric, self.function = metric, metric_function(metric)
        self._is_distance = lower_is_better(metric)

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return the metric under its name."""
        value = progress.metrics.get(self.metric, 0.0)
        return {self.metric: 0.0 - value if self._is_distance else value}
