"""Let an agent play every survey of a corpus, score it, replay it, and score it again."""

from arena.runs.replaying import Difference, Replay, replay
from arena.runs.rescoring import rescore
from arena.runs.runner import run
from arena.runs.scoring import score

__all__ = ["Difference", "Replay", "replay", "rescore", "run", "score"]
