"""``arena view`` and ``show``: what an agent saw and did, step by step."""

from __future__ import annotations

import math
import re
import sys
import time
import webbrowser
from json import dumps, loads
from pathlib import Path
from typing import Any

from arena.cli.app import print_table
from arena.cli.run import parse_topics
from arena.errors import DataError
from arena.kit.files import atomic_write, check_target, json_value
from arena.text.display import count, printable, result_lines

_LARGE = 20_000_000  # bytes
_CREDIT = ("gain", "marginal", "shapley", "headline_script", "headline_played")


def view(
    runs: list[str],
    *,
    corpus: str | None = None,
    tasks: str | None = None,
    topics: str | None = None,
    where: str | None = None,
    output: str = "view.html",
    answers: str | None = None,
    open: bool = False,
    watch: float | None = None,
    labels: bool = True,
) -> None:
    """Write runs as one page: compared, where papers were missed, every episode step by step.

    The page is one file that loads nothing. It shows the labels. `arena compare --html` writes the
    same page, and takes a baseline, metrics and tests.

    Args:
        runs (RUN): Directory of a run, finished or not, or NAME=DIR; or what an integration
            recorded, whose last five rollouts of each topic are played again.
        corpus (DIR): Corpus of the runs; without it the page has the comparison alone.
        topics (IDS|N): Topic ids with commas, or the first N that were played, whose episodes are
            on the page (default: as many as make 2,000 episodes).
        output (FILE): File to write, FILE.html.
        open: Open the page in a browser.
        watch (SECONDS): Write the page again so often, until all runs are finished; of what an
            integration records until Ctrl-C.
        labels: Leave out the labels and what depends on them: rewards, scores, missed papers.

    Example:
        arena view demo/runs/discovery-title-bm25 demo/runs/discovery-scout-bm25 \
            --corpus demo/synthetic --output view.html
    """
    from arena.corpus import Corpus
    from arena.results.comparison.opening import split_name
    from arena.results.viewing import as_page
    from arena.results.viewing.rollouts import is_recorded, runs_of
    from arena.runs.directory import OpenedRun
    from arena.session import ROLLOUTS
    from arena.tasks import TaskSet

    opened = None if corpus is None else Corpus.open(corpus, tasks=tasks)
    if watch is not None and watch <= 0:
        raise DataError(f"--watch {watch}: give seconds above 0.")
    check_target(output)
    seen, folders = None, [run for run in runs if is_recorded(run)]
    while True:
        recorded = [OpenedRun(split_name(run)[1]) for run in runs if run not in folders]
        files = [*(run.path for run in recorded), *(Path(each) / ROLLOUTS for each in folders)]
        sizes = [path.stat().st_size for path in files]
        if not any(sizes) and watch is None:
            raise DataError(f"{runs[0]}: no episode has ended yet. --watch 10 waits for one.")
        if sizes != seen and any(sizes) and (played := runs_of(runs, opened)):
            known = TaskSet(opened).topics if opened and topics else ()
            chosen = parse_topics(topics, known, where)
            made = as_page(played, opened, topics=chosen, answers=answers, labels=labels)
            atomic_write(output, made.html)
            size = Path(output).stat().st_size
            shown = f"{size / 1e6:.1f} MB" if size > 1e6 else f"{size / 1e3:.0f} kB"
            print(f"{output}: {count(made.episodes, 'episode')}, {shown}")
            if size > _LARGE:
                print("A page of this size opens slowly: --topics makes it of some topics.")
            if open and seen is None:
                if labels:
                    print("The page shows the labels: keep it from agents.", file=sys.stderr)
                webbrowser.open(Path(output).resolve().as_uri())
        seen = sizes
        if watch is None or not (folders or any(run.files is None for run in recorded)):
            return
        time.sleep(watch)


def show(
    run: str, *, corpus: str, topic: str | None = None, steps: str | None = None,
    instead: str | None = None, tasks: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Show an episode of a run step by step, from its actions carried out again.

    Args:
        run (RUN): Directory of a run.
        topic (ID): Topic of the episode (default: the first; the others are listed).
        steps (N-M): Steps to print, such as 3-9, 3- or 3; 0 is the reset (default: all).
        instead (ACTION): JSON of an action to play in place of the one of --steps; those after it
            are the run's. The last table has the metrics with and without it.
        json: Print JSON instead of text, one line for each step.

    Example:
        arena show runs/title --topic w0-0b8e6bd0a5 --corpus demo/synthetic
    """
    from arena.runs import replay_steps
    from arena.runs.credit import read_credit
    from arena.runs.directory import OpenedRun

    first, *others = [record["topic_id"] for record in OpenedRun(run).episodes()]
    if topic is None:
        topic = first
        if others and not json:
            listed = ", ".join([*others[:10], *["..."] * (len(others) > 10)])
            print(f"The first of {count(len(others) + 1, 'episode')}. The others: {listed}")
    first_step, last_step = _range(steps)
    before, other = [], None
    if instead is not None:
        if not 0 < first_step == last_step or not isinstance(action := json_value(instead), dict):
            raise DataError(
                f"--instead {instead!r}: give an action as JSON, and its step, such as --steps 3."
            )
        before, other = [*replay_steps(run, topic, corpus, tasks)], {first_step: action}
    shown, credit = 0.0, read_credit(OpenedRun(run)).get((topic, 0), ()) if not instead else ()
    for number, step in enumerate(replay_steps(run, topic, corpus, tasks, other)):
        shown += step.info.get("gain", 0.0)
        if not first_step <= number <= last_step:
            continue
        seen = step.observation
        result = loads(seen["result"])
        if json:
            print(dumps({"step": number, "action": step.action, **seen, "result": result}))
            continue
        if number == 0:
            print(f"{topic}: {printable(seen['topic'], 200)} (before {seen['cutoff']})")
        else:
            print(f"\n{number}. {_call(step.action)}   reward {step.reward:.4f}")
            for row in credit[number - 1 : number]:
                parts = [f"{name} {row[name]:.4f}" for name in _CREDIT if row.get(name) is not None]
                print(f"   credit: {', '.join(parts)}")
        for line in result_lines(result, 200):
            print(f"   {line}")
    if first_step > number:
        raise DataError(f"--steps {steps}: the episode has {count(number, 'step')}.")
    if not json:
        end = "cut off by the budget" if step.truncated else "submitted"
        print(f"\nThe episode was {end} after {count(number, 'step')}.")
        rows: list[tuple[Any, ...]] = list(step.info["metrics"].items())
        if before:
            was = before[-1].info["metrics"]
            rows = [("gain", sum(each.info.get("gain", 0.0) for each in before), shown)]
            rows += [(name, was.get(name), value) for name, value in step.info["metrics"].items()]
        print_table(rows, ("metric", "as played", "instead") if before else ("metric", "value"))


def _range(text: str | None) -> tuple[int, float]:
    """Return the first and the last step that ``3-9``, ``3-`` or ``3`` means."""
    match = re.fullmatch(r"(\d+)(-?)(\d*)", text or "0-", re.ASCII)
    if match is None or (match[3] and int(match[3]) < int(match[1])):
        raise DataError(f"--steps {text!r}: write 3-9, 3- or 3.")
    end = match[3] or (math.inf if match[2] else match[1])
    return int(match[1]), float(end)


def _call(action: Any) -> str:
    """Return an action as one line, such as ``search(query="graphs", k=10)``."""
    if not isinstance(action, dict) or not isinstance(action.get("arguments"), dict):
        return printable(dumps(action), 200)
    values = [f"{name}={dumps(value)}" for name, value in action["arguments"].items()]
    return printable(f"{action.get('tool')}({', '.join(values)})", 200)
