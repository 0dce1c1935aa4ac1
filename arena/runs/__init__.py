"""Let an agent play every survey of a corpus, and score what it, or any system, submits."""

from arena.runs.runner import run
from arena.runs.scoring import score

__all__ = ["run", "score"]
