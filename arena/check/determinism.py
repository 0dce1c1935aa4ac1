"""The check ``determinism``."""

from __future__ import annotations

import pickle
import subprocess
import sys

from arena.check._episodes import Trace, difference, replay
from arena.check._fresh import HASH_SEED, environment
from arena.check._subject import Subject
from arena.check.base import CHECKS, require

_PATIENCE = 300  # seconds


@CHECKS.register("determinism")
def check(subject: Subject) -> str:
    """The same seeds and actions give the same, here and in a process with other hashes."""
    env = subject.make()
    for trace in subject.traces:
        found = difference(trace, replay(env, trace))
        require(not found, f"a second environment differs: {found}")
    for trace, again in zip(subject.traces, _elsewhere(subject), strict=True):
        found = difference(trace, again)
        require(not found, f"a fresh process, PYTHONHASHSEED={HASH_SEED}, differs: {found}")
    return f"{subject.counted()}, in a second environment and in a fresh process"


def _elsewhere(subject: Subject) -> list[Trace]:
    """Play the recorded episodes in a process of its own."""
    # Over a pipe to a process that this one starts, as multiprocessing would send it.
    job = pickle.dumps((subject.env_id, subject.spec, subject.arguments(), subject.traces))
    done = subprocess.run(
        [sys.executable, "-m", "arena.check._fresh"],
        input=job,
        capture_output=True,
        timeout=_PATIENCE,
        env=environment(),
    )
    told = done.stderr.decode(errors="replace").strip().splitlines()
    require(done.returncode == 0, f"a fresh process cannot play it: {told[-1:]}")
    return [Trace(*trace) for trace in pickle.loads(done.stdout)]
