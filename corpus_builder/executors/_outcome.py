"""A task performed where it is: what it returned or raised, in a form that can travel."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

from arena.errors import WorkerError, clip

_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
}


class Outcome(NamedTuple):
    """What became of a task.

    Attributes:
        value: what it returned.
        error: what it raised, if it did.
    """

    value: Any
    error: BaseException | None = None

    def get(self) -> Any:
        """Return or raise it."""
        if self.error is not None:
            raise self.error
        return self.value


def one_thread() -> None:
    """Keep libraries that this process loads from now on from starting threads of their own.

    There is a process for every processor already.
    """
    os.environ.update(_THREADS)


def perform(function: Callable[[Any], Any], task: Any) -> Outcome:
    """Call `function`; an error that cannot be pickled becomes a `WorkerError` that names it."""
    try:
        return Outcome(function(task))
    except Exception as error:
        try:
            if type(pickle.loads(pickle.dumps(error))) is type(error):
                return Outcome(None, error)
        except Exception:  # of which there are as many as kinds of errors
            pass
        return Outcome(None, WorkerError(f"{type(error).__name__}: {clip(str(error), 300)}"))
