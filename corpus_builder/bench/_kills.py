"""A build that is killed again and again, and goes on each time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from corpus_builder.bench._build import Built, Command, Stage, finish, start

_ALONE_EVERY = 4  # every fourth kill is of the first process alone


class Moment(NamedTuple):
    """When to kill: so many seconds after the beginning of the stage after `done` others."""

    done: int
    seconds: float


class Killed(NamedTuple):
    """A kill.

    Attributes:
        moment: when it was meant to be.
        alone: only the first process was killed.
        ran: seconds that the build ran before it.
        stage: name of the last stage that was done by then, or ``start``.
        waited: seconds until no process was left.
        processes: how many there were.
    """

    moment: Moment
    alone: bool
    ran: float
    stage: str
    waited: float
    processes: int


def moments(stages: Sequence[Stage], count: int, seed: int) -> list[Moment]:
    """Draw moments evenly over the duration of a build that nothing broke off, in order.

    Args:
        stages: of that build.
        count: how many.
        seed: of the draw.
    """
    draw = random.Random(seed)
    total = stages[-1].end if stages else 0.0
    times = sorted(draw.uniform(0, total) for _ in range(count))
    found = []
    for at in times:
        done = sum(stage.end <= at for stage in stages)
        found.append(Moment(done, at - (stages[done - 1].end if done else 0.0)))
    return found


def build_killed(
    command: Command,
    when: Sequence[Moment],
    tell: Callable[[Killed], None] = lambda killed: None,
) -> tuple[Built, list[Killed]]:
    """Build from nothing, killed at each moment and started again.

    A moment is so far into a stage, counted from when this run reaches it: a stage that was broken
    off goes on where it stopped, so a kill may come later in it than its number says, or at its
    end, never sooner.

    Args:
        command: what to build; its output and stages are removed first.
        when: in order.
        tell: called with each kill.

    Returns:
        The last run, which nothing broke off, and the kills; fewer than `when` if the build came to
        its end before the last of them.

    Raises:
        RuntimeError: if a child outlived the first process by 30 seconds.
    """
    command.clear()
    kills: list[Killed] = []
    for number, moment in enumerate(when):
        watched, progress = start(command)
        reached: float | None = None
        while watched.running():
            done = len(progress.stages)
            if reached is None and done >= moment.done:
                reached = progress.stages[moment.done - 1].end if moment.done else 0.0
            if reached is not None and (
                done > moment.done or watched.seconds - reached >= moment.seconds
            ):
                break
            time.sleep(0.002)
        if not watched.running():
            return finish(command, watched, progress), kills
        alone = number % _ALONE_EVERY == _ALONE_EVERY - 1
        ran, processes = watched.seconds, len(watched.processes())
        stage = progress.stages[-1].name if progress.stages else "start"
        waited = watched.kill(alone)
        kills.append(Killed(moment, alone, ran, stage, waited, processes))
        tell(kills[-1])
    return finish(command, *start(command)), kills
