"""``arena bench env``."""

from __future__ import annotations

import argparse
from typing import Any

from arena import command_line

SUMMARY = "Time steps of environments: scalar, Gymnasium's vectors, ours, and the search alone."
EXAMPLE = "arena bench env --corpus demo/world --num-envs 64"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    command_line.add_corpus_argument(parser)
    parser.add_argument(
        "--retriever", default="bm25", metavar="NAME", help="search engine (default: bm25)"
    )
    for name, default, text in (
        ("num-envs", 64, "environments in the largest vector (default: 64)"),
        ("steps", 8192, "steps of each kind in a round (default: 8192)"),
        ("rounds", 5, "times that all are timed, in turn; medians count (default: 5)"),
        ("k", 0, "hits of a search (default: what makes about 2000 characters)"),
        ("seed", 0, "of queries and surveys (default: 0)"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=text)


def execute(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    from arena.bench.env import Settings, measure

    settings = Settings(**{name: getattr(arguments, name) for name in Settings._fields})
    found = measure(arguments.corpus, settings)
    if arguments.json:
        command_line.print_json(found)
    else:
        _print(found)


def _print(found: dict[str, Any]) -> None:
    summary, settings, machine = found["summary"], found["settings"], found["machine"]
    rates, alone = summary["steps_per_second"], summary["search_us"]
    arms = [arm for arm in found["arms"] if "skipped" not in arm]
    steps = [
        (
            arm["name"],
            arm["batch"],
            arm["processes"],
            f"{rates[arm['name']]:,.0f}",
            f"{1e6 / rates[arm['name']]:.1f}",
            _figure(summary["cpu_us"], arm["name"]),
            _figure(summary["overhead_us"], arm["name"]),
            _figure(summary["ratio"], arm["name"]),
        )
        for arm in arms
        if arm["name"] in rates
    ]
    command_line.print_table(
        steps,
        ("steps", "envs", "processes", "steps/s", "us", "CPU us", "of these no search", "ratio"),
    )
    print()
    searches = [
        (name, f"{1e6 / took:,.0f}", f"{took:.1f}", _figure(summary["cpu_us"], name))
        for name, took in alone.items()
    ]
    command_line.print_table(searches, ("in batches of", "searches/s", "us", "CPU us"))
    print()
    for arm in found["arms"]:
        if "skipped" in arm:
            print(f"{arm['name']} was skipped: {arm['skipped']}")
    print(
        f"{found['environment']}, {settings['retriever']}, k={settings['k']}: observations of "
        f"{summary['characters']:,.0f} characters on average; medians of {settings['rounds']} "
        f"rounds of {settings['steps']} steps."
    )
    if summary["async"]:
        print(f"Ratio: to the steps a second of {summary['async']!r}.")
    if aim := summary["aim"]:
        said = "met" if aim["met"] else "not met"
        print(f"Aim: a ratio of {aim['ratio']:.2f} for {aim['arm']!r}. It is {said}.")
    print(f"{machine['cpu']}, {machine['cores']} cores; Python {machine['python']}")
    hashes = [f"{name} {found['hashes'][name][:12]}" for name in ("corpus", "index", "code")]
    print(", ".join(hashes))


def _figure(figures: dict[str, float], name: str) -> str:
    return f"{figures[name]:.2f}" if name in figures else ""
