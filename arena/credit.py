"""Credit: what each call of an episode was worth, which is known when the episode is over.

A function with ``@credit("name")`` computes it; docs/credit.md. It depends on labels: it is for
trainers and for people, and no agent receives it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from arena.plugins import Registry

if TYPE_CHECKING:
    from arena.envs import ResearchEnv
    from arena.tasks import TaskSet

CreditFunction = Callable[["ResearchEnv", "TaskSet", str, Sequence[Any]], list[float]]
"""Takes an environment, which it forks, its labels, the topic and the actions of an episode;
returns a number for each action."""

CREDITS: Registry[CreditFunction] = Registry("credit")
credit = CREDITS.register
"""Decorator of a `CreditFunction`: ``@credit("name")``."""
