"""``arena verify``: what others say that their runs have scored, checked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from arena.cli.app import parse_size, print_json
from arena.errors import DataError
from arena.text.display import count, printable

if TYPE_CHECKING:
    from arena.runs.submissions import Limits


def verify(
    run: str,
    *,
    corpus: str,
    tasks: str | None = None,
    max_size: str = "1GB",
    max_minutes: float = 10.0,
    json: bool = False,
) -> None:
    """Play the actions of a run again, score it again, and say "Verified", or what differs first.

    The exit status is 1 if something differs. No model is asked. An episode has at most 10,000
    steps.

    Args:
        run (RUN): Directory of a run, or an archive of one, FILE.tar.gz or FILE.zip.
        max_size (SIZE): Most bytes of its files, unpacked.
        max_minutes: Most minutes to play it again.

    Example:
        arena verify runs/title --corpus demo/synthetic
    """
    from arena.runs import verify as verify_run

    found = verify_run(run, corpus, tasks=tasks, limits=_limits(max_size, max_minutes))
    if json:
        print_json(found.to_json())
    else:
        for remark in found.remarks:
            print(remark)
    if not found.verified:
        rest = "" if found.difference is None else " Nothing after it was played."
        print(" ".join(f"arena verify: {found.reason}{rest}".split()), file=sys.stderr)
        raise SystemExit(1)
    if not json:
        print(f"Verified: {count(found.episodes, 'episode')}, {count(found.steps, 'step')}.")
        claims = (f"{name} {value or '-'}" for name, value in found.claims.items())
        print(f"Claims, not checked: {printable(', '.join(claims), 400)}.")
        if found.flagged:
            print(f"Flagged: {found.flagged}")


def _limits(max_size: str, max_minutes: float) -> Limits:
    from arena.runs.submissions import Limits

    if max_minutes <= 0:
        raise DataError(f"--max-minutes {max_minutes:g}: give minutes above 0.")
    return Limits(size=parse_size("--max-size", max_size), seconds=60 * max_minutes)
