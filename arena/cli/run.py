"""``arena run``."""

from __future__ import annotations

import argparse
import time
from typing import Any

from arena import command_line
from arena.errors import DataError, clip
from arena.runs.players import load_agent
from arena.tasks import DEFAULT_BUDGET, ENCODER, stages_of

SUMMARY = "Let an agent play every survey of a corpus; the same command goes on after a break."
EXAMPLE = "arena run --corpus demo/world --task discovery --agent title --output runs/title"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    command_line.add_corpus_argument(parser)
    parser.add_argument(
        "--task", required=True, metavar="NAME", help="what is played (`arena list tasks`)"
    )
    parser.add_argument(
        "--agent",
        required=True,
        metavar="NAME",
        help="an agent (`arena list agents`), oracle, or your own as FILE.py:CLASS",
    )
    parser.add_argument("--output", required=True, metavar="RUN", help="directory for the run")
    parser.add_argument(
        "--surveys", metavar="IDS|N", help="survey ids with commas, or the first N (default: all)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    parser.add_argument(
        "--agent-option",
        action="append",
        metavar="NAME=VALUE",
        help="an option of the agent; may be repeated",
    )
    parser.add_argument(
        "--reward",
        metavar="NAME",
        help="a reward, or a sum such as gain+cost (`arena list rewards`; default: the task's)",
    )
    parser.add_argument(
        "--reward-option",
        action="append",
        metavar="NAME={...}",
        help="the options of a reward, such as 'cost={\"per_search\": 0.1}'; may be repeated",
    )
    parser.add_argument(
        "--retrievers",
        action="append",
        metavar="NAME",
        help="a further engine that a search may name; may be repeated",
    )
    parser.add_argument(
        "--encoder",
        default=ENCODER,
        metavar="NAME",
        help=f"compares headings of mind-maps (default: {ENCODER})",
    )
    parser.add_argument(
        "--env-option",
        action="append",
        metavar="NAME=VALUE",
        help="a further argument of the environment, such as references=found; may be repeated",
    )
    parser.add_argument(
        "--references",
        choices=("oracle", "found"),
        help="organization: the papers to begin with are the survey's own, or those found "
        "(default: oracle)",
    )
    parser.add_argument(
        "--found",
        metavar="RUN",
        help="organization: the run (run.trec or its directory) that found them; implies "
        "--references found (default: none, the agent searches)",
    )
    for name, default in DEFAULT_BUDGET.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=int, metavar="N", help=f"default: {default}"
        )
    parser.add_argument("--overwrite", action="store_true", help="replace a run in RUN")
    command_line.add_retriever_arguments(parser)


def parse_surveys(text: str | None, known: Any) -> list[str] | int | None:
    """Return ids, a number, or None, from the option's text."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and text not in known:
        return int(text)
    return [part.strip() for part in text.split(",") if part.strip()]


def execute(arguments: argparse.Namespace) -> None:
    """Run and print the summary."""
    from arena.corpus import Corpus
    from arena.runs import run
    from arena.tasks import TaskSet

    started = time.monotonic()
    corpus = Corpus.open(arguments.corpus)
    try:
        summary = run(
            corpus,
            arguments.task,
            load_agent(arguments.agent),
            arguments.output,
            retriever=arguments.retriever,
            retriever_options=command_line.retriever_options(arguments),
            retrievers=arguments.retrievers or (),
            reward=arguments.reward,
            reward_options=command_line.parse_options("--reward-option", arguments.reward_option),
            encoder=arguments.encoder,
            env_options=_env_options(arguments),
            agent_options=command_line.parse_options("--agent-option", arguments.agent_option),
            budget={
                name: value
                for name in DEFAULT_BUDGET
                if (value := getattr(arguments, name)) is not None
            },
            surveys=parse_surveys(arguments.surveys, TaskSet(corpus.directory).surveys),
            seed=arguments.seed,
            overwrite=arguments.overwrite,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("The same command goes on from here.") from None
    if arguments.json:
        command_line.print_json(summary)
        return
    print_summary(summary, summary["agent"])
    print(f"{time.monotonic() - started:.1f} s; files in {arguments.output}")


def _env_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the further arguments of the environment; two of them have options of their own."""
    options = command_line.parse_options("--env-option", arguments.env_option)
    for name in ("references", "found"):
        value = getattr(arguments, name)
        if value is not None and options.setdefault(name, value) != value:
            raise DataError(
                f"--{name} {clip(value)} and --env-option {name}={clip(options[name])} contradict "
                "each other: give one."
            )
    if arguments.found is not None:
        options.setdefault("references", "found")
    return options


def print_summary(summary: dict[str, Any], name: str) -> None:
    """Print mean and ceiling of every metric, and what they are the mean of."""
    command_line.print_table(
        [(metric, value, summary["ceiling"][metric]) for metric, value in summary["mean"].items()],
        (summary["task"], name, "ceiling"),
    )
    counts = summary["counts"]
    print(
        f"Mean over {counts['scored']} of {counts['surveys']} surveys "
        f"({counts['not_scored']} without {_missing(summary['task'])}). "
        f"In reach: {counts['gold']} of {counts['references_total']} references."
    )
    for metric, number in counts.get("scored_by", {}).items():
        if number < counts["scored"]:
            print(
                f"{metric}: over {number} of them; the labels of the others have nothing that it "
                "counts."
            )
    cut_off = sum(entry.get("truncated", False) for entry in summary["per_survey"].values())
    if cut_off:
        print(
            f"{cut_off} episodes were cut off by the budget before the last hand-in; "
            "trajectories.jsonl holds every action and its error."
        )
    if not counts["scored"]:
        print(
            f"No survey can be scored: none has {_missing(summary['task'])}. See "
            "`arena-corpus info`."
        )
    if counts.get("missing"):
        print(f"The run leaves out {counts['missing']} surveys; they score 0.")
    if counts.get("not_visible"):
        print(f"{counts['not_visible']} ranked papers are not visible at their survey's cutoff.")


def _missing(task: str) -> str:
    """Return what a survey that is not scored lacks."""
    kinds = {stage.answer for _, stage in stages_of(task)}
    wanted = {"ranking": "a reference in reach", "mind_map": "a mind-map"}
    return " or ".join(text for kind, text in wanted.items() if kind in kinds)
