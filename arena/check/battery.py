"""Running checks on an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena._internal.progress import progress
from arena.check._subject import Subject
from arena.check.base import CHECKS, CheckError, Result

_LONGEST = 400  # characters of a detail


def check_environment(
    env_id: str,
    corpus: str | Path,
    *,
    options: Mapping[str, Any] | None = None,
    episodes: int = 5,
    seed: int = 0,
    checks: Sequence[str] | None = None,
) -> list[Result]:
    """Run the checks on one environment.

    Args:
        env_id: as `gymnasium.make` takes it; ``module:id`` imports the module first.
        corpus: the directory of a built corpus.
        options: further arguments of the environment.
        episodes: recorded with random actions and played again by the checks, >= 1.
        seed: of the first episode; the others follow, >= 0.
        checks: names from `CHECKS`; by default all.

    Returns:
        One result a check, in the order of their names. A check that crashes has failed.

    Raises:
        UnknownNameError: if the id or a check does not exist.
        DataError: if an argument is out of range, or the environment does not take `options`.
        CorpusError: if the corpus or an index of it is unusable.
    """
    names = CHECKS.names() if checks is None else list(dict.fromkeys(checks))
    found = {name: CHECKS.get(name) for name in names}
    subject = Subject(env_id, corpus, options or {}, episodes, seed)
    results = []
    for name, check in progress(found.items(), desc=env_id, unit="check"):
        passed = False
        try:
            detail, passed = check(subject), True
        except CheckError as error:
            detail = str(error)
        except Exception as error:  # what a broken environment raises is what is wrong with it
            detail = f"{type(error).__name__}: {error}"
        results.append(Result(env_id, name, passed, _line(detail)))
    return results


def _line(text: str) -> str:
    line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
