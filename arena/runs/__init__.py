"""Let an agent play every survey of a corpus, score it, replay it, and score it again."""

from arena.runs._actions import record_action
from arena.runs._replaying import Difference, Replay, replay
from arena.runs._rescoring import rescore
from arena.runs._restoring import restore_action
from arena.runs.runner import run
from arena.runs.scoring import score

__all__ = [
    "Difference",
    "Replay",
    "record_action",
    "replay",
    "rescore",
    "restore_action",
    "run",
    "score",
]
