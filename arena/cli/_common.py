"""What every command shares: one-line errors, ``--json``, tables."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from arena.errors import ArenaError, did_you_mean


class Command(Protocol):
    """A command: in practice a module with these names."""

    SUMMARY: str
    EXAMPLE: str

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        ...

    @staticmethod
    def execute(arguments: argparse.Namespace) -> None:
        """Do it."""
        ...


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and name the nearest choice."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if choice:
            known = [name.strip(" '") for name in choice[2].split(",")]
            message = f"unknown {choice[1]!r}.{did_you_mean(choice[1], known)}"
        self.exit(2, f"{self.prog}: error: {message} See `{self.prog} --help`.\n")


def command_line(prog: str, description: str) -> tuple[Parser, Any]:
    """Return a parser and its subparsers, to be filled with `add_command`."""
    from arena import __version__

    parser = Parser(prog=prog, description=description, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    return parser, add_group(parser, "COMMAND")


def add_group(parser: argparse.ArgumentParser, metavar: str) -> Any:
    """Return subparsers of `parser`, one of which must be chosen."""
    return parser.add_subparsers(metavar=metavar, required=True, parser_class=Parser)


def add_command(commands: Any, name: str, command: Any) -> None:
    """Add a `Command` as `name` to subparsers, with its example in the help text."""
    parser = commands.add_parser(
        name,
        help=command.SUMMARY,
        description=command.SUMMARY,
        epilog=f"example:\n  {command.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(execute=command.execute)


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Parse, execute, and turn every failure into one line and an exit status.

    Status 0: done. 1: a bug. 2: bad input. 130: interrupted.
    """
    arguments = parser.parse_args(argv)
    execute: Callable[[argparse.Namespace], None] = arguments.execute
    try:
        execute(arguments)
        sys.stdout.flush()
        return 0
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ArenaError, OSError) as error:
        return _fail(parser, error, 2)
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted.", file=sys.stderr)
        return 130
    except Exception as error:
        return _fail(parser, error, 1)


def _fail(parser: argparse.ArgumentParser, error: Exception, status: int) -> int:
    if os.environ.get("ARENA_DEBUG"):
        raise error
    message = str(error)
    if status == 1:
        message = f"{type(error).__name__}: {message} (a bug; ARENA_DEBUG=1 shows where)"
    print(f"{parser.prog}: error: {' '.join(message.split())}", file=sys.stderr)
    return status


def print_json(value: Any) -> None:
    """Print `value` as indented JSON, ASCII, keys in the order given."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> None:
    """Print a plain table; numbers are right-aligned."""
    from tabulate import tabulate

    print(tabulate(rows, headers=headers, floatfmt=".4f", disable_numparse=False))


def printable(text: str, width: int) -> str:
    """Return `text` on one line without control characters, cut to `width`.

    Text of papers is data: an escape sequence in a title must not reach the terminal.
    """
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= width else line[: width - 1] + "…"


def retriever_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the engine options given as ``--retriever-option NAME=VALUE``."""
    options = {}
    for item in arguments.retriever_option or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise ArenaError(f"--retriever-option {item!r}: write NAME=VALUE.")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def add_retriever_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--retriever`` and ``--retriever-option``."""
    parser.add_argument(
        "--retriever", default="bm25", metavar="NAME", help="search engine (default: bm25)"
    )
    parser.add_argument(
        "--retriever-option",
        action="append",
        metavar="NAME=VALUE",
        help="an option of the engine, such as statistics=corpus; may be repeated",
    )


def add_corpus_argument(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add ``--corpus``."""
    parser.add_argument(
        "--corpus", required=required, metavar="DIR", help="a corpus that arena-corpus built"
    )
