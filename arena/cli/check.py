"""``arena check``."""

from __future__ import annotations

import sys
from typing import Any

from arena.cli.app import print_json, print_table, printable
from arena.errors import DataError, NoLabelsError


def check(
    environments: list[str] | None = None,
    *,
    corpus: str,
    env_option: dict[str, Any] | None = None,
    checks: tuple[str, ...] | None = None,
    episodes: int = 5,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Check environments: spaces, seeds, pickling, vectors, rewards, budgets, no gold.

    The exit status is 1 if a check fails.

    Args:
        environments (ENV_ID): Ids, those of another distribution as module:id (default: all of
            this project).
        env_option: Argument of the environments, such as retriever=dense.
        checks (NAMES): Names of checks with commas (default: all).
        episodes: Recorded episodes.
        seed: Seed of the episodes.

    Example:
        arena check arena/Discovery-v0 --corpus demo/world
    """
    from arena.tasks import environment_ids
    from arena.testing import check_environment

    results, left_out = [], {}
    for env_id in dict.fromkeys(environments or environment_ids()):
        try:
            results += check_environment(
                env_id, corpus, options=env_option, episodes=episodes, seed=seed, checks=checks
            )
        except NoLabelsError as error:
            if environments:
                raise
            left_out[env_id] = str(error)  # not asked for, and this corpus has nothing to play
    if not results:
        raise DataError(
            "nothing was checked: name a check with --checks, or a corpus that can be scored."
        )
    if json:
        print_json({"results": [result._asdict() for result in results], "left_out": left_out})
    else:
        rows = [
            (r.environment, r.check, "ok" if r.passed else "FAILED", printable(r.detail, 120))
            for r in results
        ]
        print_table(rows, ("environment", "check", "", "detail"))
        for env_id, why in left_out.items():
            print(f"{env_id} was left out: {why}")
        print(f"{sum(r.passed for r in results)} of {len(results)} checks passed.")
    failures = [result for result in results if not result.passed]
    for result in failures:
        line = f"{result.environment}: {result.check} FAILED: {result.detail}"
        print(f"arena check: {line}", file=sys.stderr)
    if failures:
        sys.exit(1)
