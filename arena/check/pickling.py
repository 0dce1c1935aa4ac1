"""The check ``pickling``."""

from __future__ import annotations

import pickle

from arena.check._episodes import difference, replay
from arena.check._subject import Subject
from arena.check.base import CHECKS, require


@CHECKS.register("pickling")
def check(subject: Subject) -> str:
    """A pickled copy plays the same, made before the first reset and in an episode."""
    env = subject.make()
    sizes = []
    trace = subject.traces[0]
    for when in ("before a reset", "in an episode"):
        data = pickle.dumps(env)
        sizes.append(len(data))
        copy = pickle.loads(data)
        found = difference(trace, replay(copy, trace))
        require(not found, f"a copy pickled {when} differs: {found}")
        env.reset(seed=trace.seed)
    for name, space in (("action", env.action_space), ("observation", env.observation_space)):
        copy = pickle.loads(pickle.dumps(space))
        require(copy == space, f"a pickled copy of the {name} space is not equal to it")
    return f"{max(sizes):,} bytes, before a reset and in an episode"
