"""``arena bench retrieval``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from arena import command_line
from arena.errors import DataError, clip

SUMMARY = "Time search engines side by side; each is compared with an oracle first."
EXAMPLE = "arena bench retrieval --docs 100000,1000000 --output bench"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "--docs", metavar="NUMBERS", help="sizes, with commas (default: 100000; a corpus: all)"
    )
    parser.add_argument("--corpus", metavar="DIR", help="take a built corpus, not made-up papers")
    parser.add_argument("--output", required=True, metavar="DIR", help="directory for the results")
    parser.add_argument("--engines", metavar="NAMES", help="with commas (default: all)")
    for name, default, text in (
        ("queries", 128, "queries"),
        ("k", 100, "hits of a search"),
        ("repeats", 5, "times that every engine is started and timed"),
        ("batch", 128, "queries in a batch"),
        ("seed", 0, "of the made-up papers and of what is sampled"),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help=f"{text} (default: {default})"
        )
    parser.add_argument(
        "--cutoffs",
        default="1,10,50,100",
        metavar="PERCENTS",
        help="of the documents before the cutoff, with commas (default: 1,10,50,100)",
    )
    parser.add_argument(
        "--threads", type=int, metavar="N", help="threads of a batch (default: all cores)"
    )
    parser.add_argument(
        "--warm",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="search this long, at least, before the clock starts (default: 1)",
    )
    parser.add_argument("--overwrite", action="store_true", help="begin anew in DIR")


def execute(arguments: argparse.Namespace) -> None:
    """Measure and print the tables."""
    from arena._internal.cores import cores
    from arena.bench import _sources, _tables
    from arena.bench.engines.base import ordered_names
    from arena.bench.retrieval import run
    from arena.bench.settings import Settings

    corpus = arguments.corpus
    if arguments.docs is not None:
        documents = _numbers("--docs", arguments.docs, int)
    else:
        documents = (_sources.searchable(Path(corpus)) if corpus else 100_000,)
    engines = arguments.engines
    settings = Settings(
        documents,
        tuple(ordered_names())
        if engines is None
        else tuple(name.strip() for name in engines.split(",") if name.strip()),
        **{
            key: getattr(arguments, key)
            for key in ("queries", "k", "repeats", "batch", "seed", "warm")
        },
        cutoffs=_numbers("--cutoffs", arguments.cutoffs, float),
        threads=cores() if arguments.threads is None else arguments.threads,
        corpus=corpus,
    )
    output = Path(arguments.output)
    try:
        results = run(settings, output, overwrite=arguments.overwrite, tell=_tell)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("The same command goes on from here.") from None
    if arguments.json:
        command_line.print_json(results)
    else:
        print(_tables.page(results))
        print(f"Files in {output}")


def _numbers(option: str, text: str, kind: type[Any]) -> tuple[Any, ...]:
    found = []
    for part in text.split(","):
        try:
            found.append(kind(part.strip().replace("_", "")))
        except ValueError:
            raise DataError(
                f"{option} {clip(text)}: {clip(part.strip())} is no number of the kind it takes. "
                "Write numbers with commas."
            ) from None
    return tuple(found)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
