"""``arena search``."""

from __future__ import annotations

import argparse

from arena import command_line

SUMMARY = "Search a corpus as it was before a date."
EXAMPLE = 'arena search --corpus demo/world --query "membrane erosion" --before 2015-01-01 --k 5'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    command_line.add_corpus_argument(parser)
    parser.add_argument("--query", required=True, metavar="TEXT", help="what to search for")
    parser.add_argument(
        "--before",
        required=True,
        metavar="DATE",
        help="the first day out of reach: YYYY-MM-DD, YYYY-MM (its last day) or YYYY (31 December)",
    )
    parser.add_argument("--k", type=int, default=10, metavar="N", help="hits at most (default: 10)")
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="ID", help="a paper to leave out"
    )
    command_line.add_retriever_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Print the hits, best first."""
    from arena.corpus import Corpus

    corpus = Corpus.open(arguments.corpus)
    retriever = corpus.retriever(arguments.retriever, **command_line.retriever_options(arguments))
    view = corpus.at(arguments.before, exclude=arguments.exclude, retriever=retriever)
    hits = view.search(arguments.query, arguments.k)
    if arguments.json:
        command_line.print_json([hit._asdict() for hit in hits])
    elif hits:
        command_line.print_table(
            [
                (rank, hit.score, hit.date, hit.id, command_line.printable(hit.title, 80))
                for rank, hit in enumerate(hits, 1)
            ],
            ("rank", "score", "date", "id", "title"),
        )
    else:
        print(f"Nothing matches among {len(view)} papers before {view.cutoff}.")
