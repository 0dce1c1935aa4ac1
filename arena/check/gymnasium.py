"""The check ``gymnasium``."""

from __future__ import annotations

import warnings

from gymnasium.utils.env_checker import check_env

from arena.check._subject import Subject
from arena.check.base import CHECKS


@CHECKS.register("gymnasium")
def check(subject: Subject) -> str:
    """Gymnasium's own `check_env` passes, and warns of nothing."""
    env = subject.make().unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)
    return "check_env, warnings as errors"
