"""``arena verify`` and ``board``: what others say that their runs have scored, checked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from arena.cli.app import print_json
from arena.cli.run import parse_topics
from arena.errors import DataError
from arena.text.display import count, printable

if TYPE_CHECKING:
    from arena.runs.submissions import Limits


def verify(
    run: str,
    *,
    corpus: str,
    tasks: str | None = None,
    max_minutes: float = 10.0,
    json: bool = False,
) -> None:
    """Play the actions of a run again, score it again, and say "Verified", or what differs first.

    The exit status is 1 if something differs. No model is asked. A run has at most 1 GB, unpacked,
    and an episode at most 10,000 steps.

    Args:
        run (RUN): Directory of a run, or an archive of one, FILE.tar.gz or FILE.zip.
        max_minutes: Most minutes to play it again.

    Example:
        arena verify runs/title --corpus demo/synthetic
    """
    from arena.runs import verify as verify_run

    found = verify_run(run, corpus, tasks=tasks, limits=_limits(max_minutes))
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


def board(
    submissions: list[str] | None = None,
    *,
    corpus: str,
    output: str,
    tasks: str | None = None,
    task: list[str] | None = None,
    topics: str | None = None,
    baselines: tuple[str, ...] | None = None,
    max_minutes: float = 10.0,
    json: bool = False,
) -> None:
    """Write a leaderboard as static pages: submissions that are verified, beside the baselines.

    Pages have no labels. Submissions that are damaged, edited or not comparable are listed apart,
    with the reason.

    Args:
        submissions (RUN): Directory of a run, or an archive of one, or NAME=PATH.
        output (DIR): Directory of the site: new, or that of an earlier board.
        tasks (TASKS): Directory of the task set that is played, if any.
        task (NAME): Task that is shown also without a submission (`arena list tasks`).
        topics (IDS|N|FILE): Topics that a submission must have played, or a file of
            `arena-corpus freeze` (default: all).
        baselines (NAMES): Agents with commas that are played beside the submissions (default: those
            of the package that ask no model).
        max_minutes: Most minutes to play a submission again.

    Example:
        arena board runs/title mine.tar.gz --corpus demo/synthetic --output site \
            --baselines random,title,scout
    """
    from arena.agents import AGENTS
    from arena.corpus import Corpus
    from arena.results.viewing.board import write_board
    from arena.tasks import TASKS, TaskSet

    agents = [*map(AGENTS.resolve, baselines or ())]
    for name in agents:
        AGENTS.get(name)  # refuses an unknown one at once
    opened = Corpus.open(corpus, tasks=tasks)
    results = write_board(
        submissions or [], opened, output, played=[*map(TASKS.resolve, task or ())],
        topics=parse_topics(topics, TaskSet(opened).topics), agents=agents,
        limits=_limits(max_minutes),
    )  # fmt: skip
    if json:
        print_json(results)
        return
    for track in results["tracks"].values():
        print(printable(track["verdict"]))
        for name, each in track["runs"].items():
            if each["flagged"]:
                print(printable(f"Flagged: {name}: {each['flagged']}", 400))
    for name, reason in results["apart"].items():
        print(printable(f"Apart: {name}: {reason}", 400))
    print(f"Open {output}/index.html.")


def _limits(max_minutes: float) -> Limits:
    from arena.runs.submissions import Limits

    if max_minutes <= 0:
        raise DataError(f"--max-minutes {max_minutes:g}: give minutes above 0.")
    return Limits(seconds=60 * max_minutes)
