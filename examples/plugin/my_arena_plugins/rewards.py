"""A reward for searches in other words than the topic's."""

from arena.rewards import Progress, Reward, reward


@reward("new_words")
class NewWords(Reward):
    """Pays for each search the share of its words that are not in the topic."""

    reads_results = True

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = weight

    def terms(self, progress: Progress) -> dict[str, float]:
        """Return the share of the last query, weighted."""
        if not progress.searches or progress.seen[-1].tool != "search":
            return {"new_words": 0.0}
        words = str(progress.seen[-1].arguments.get("query", "")).lower().split()
        new = [word for word in words if word not in progress.topic.lower().split()]
        return {"new_words": self.weight * len(new) / max(1, len(words))}
