"""The check ``replay``."""

from __future__ import annotations

import json

from arena._internal.files import sha256_json
from arena.check._episodes import difference, plain, replay
from arena.check._subject import Subject
from arena.check.base import CHECKS, require


@CHECKS.register("replay")
def check(subject: Subject) -> str:
    """Actions written down as JSON and played again, in another order, give the same digests."""
    env = subject.make()
    for trace in reversed(subject.traces):  # so that no episode may lean on the one before it
        lines = [json.dumps(action, ensure_ascii=False) for action in trace.actions]
        written = trace._replace(actions=[json.loads(line) for line in lines])
        again = replay(env, written)
        same = _digests(trace.start, trace.steps) == _digests(again.start, again.steps)
        found = difference(trace, again)
        require(same and not found, f"played again after other episodes: {found}")
    return f"{subject.counted()}, in reverse order"


def _digests(start: object, steps: list[list[object]]) -> list[str]:
    return [sha256_json(plain(item)) for item in (start, *steps)]
