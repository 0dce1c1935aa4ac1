"""Progress bars: on a terminal only, and only for what takes longer than two seconds."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any


def progress(iterable: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return a `tqdm.tqdm` bar on standard error with the project's settings.

    Options are tqdm's: ``desc``, ``total``, ``unit``. It shows the rate and the time left.
    """
    from tqdm import tqdm

    if not hasattr(tqdm, "_lock"):
        # tqdm's own lock leaves a semaphore behind, with a warning, in a process that is ended.
        tqdm.set_lock(threading.RLock())
    return tqdm(iterable, delay=2, disable=None, dynamic_ncols=True, leave=False, **options)
