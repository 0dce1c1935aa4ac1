"""What the commands ``arena`` and ``arena-corpus`` share: one-line errors, ``--json``, tables."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from arena.errors import ArenaError, DataError, did_you_mean


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and name the nearest choice."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse an unknown option before argparse misses the one that was meant."""
        given = sys.argv[1:] if args is None else list(args)
        is_leaf = self._subparsers is None
        for word in given if is_leaf else ():
            name = word.partition("=")[0]
            if re.fullmatch("--[a-z][a-z-]*", name) and name not in self._option_string_actions:
                self.error(
                    f"unknown option {name!r}.{did_you_mean(name, self._option_string_actions)}"
                )
        found, extra = super().parse_known_args(given, namespace)
        if extra and is_leaf:
            self.error(f"too many words: {' '.join(extra)!r}. Put a text with spaces in quotes.")
        return found, extra

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        number = re.search(r"argument (\S+): invalid (?:int|float) value: (.*)", message)
        if choice:
            known = [name.strip(" '") for name in choice[2].split(",")]
            message = f"unknown {choice[1]!r}.{did_you_mean(choice[1], known)}"
        elif number:
            message = f"{number[1]}: {number[2]} is no number of the kind it takes."
        end = "" if message.endswith(("?", ".")) else "."
        self.exit(2, f"{self.prog}: error: {message}{end} See `{self.prog} --help`.\n")


def command_line(prog: str, description: str, example: str = "") -> tuple[Parser, Any]:
    """Return a parser and its subparsers, to be filled with `add_command`."""
    from arena import __version__

    parser = Parser(
        prog=prog,
        description=description,
        epilog=f"example:\n  {example}" if example else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    return parser, add_group(parser, "COMMAND")


def add_group(parser: argparse.ArgumentParser, metavar: str) -> Any:
    """Return subparsers of `parser`, one of which must be chosen."""
    return parser.add_subparsers(metavar=metavar, required=True, parser_class=Parser)


def add_command(commands: Any, name: str, command: Any) -> None:
    """Add a command as `name` to subparsers, with its example in the help text.

    Args:
        commands: made by `add_group` or `command_line`.
        name: as it is typed.
        command: in practice a module, with ``SUMMARY``, ``EXAMPLE``, ``add_arguments(parser)`` and
            ``execute(arguments)``.
    """
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

    Status 0: done. 1: a check failed, a leak or a difference was found, or a bug. 2: bad input.
    130: interrupted.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # a locale that lacks a letter
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
    except KeyboardInterrupt as stop:
        print(f"{parser.prog}: interrupted.{' '.join(['', *map(str, stop.args)])}", file=sys.stderr)
        return 130
    except Exception as error:
        return _fail(parser, error, 1)


def _fail(parser: argparse.ArgumentParser, error: Exception, status: int) -> int:
    if os.environ.get("ARENA_DEBUG"):
        raise error
    message = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{str(error.filename)!r}: {error.strerror}. Name another path, or mend this one."
    if status == 1:
        message = f"{type(error).__name__}: {message} (a bug; ARENA_DEBUG=1 shows where)"
    print(f"{parser.prog}: error: {' '.join(message.split())}", file=sys.stderr)
    return status


def print_json(value: Any) -> None:
    """Print `value` as indented JSON, ASCII, keys in the order given."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> None:
    """Print a plain table: floats with four decimals, numbers to the right, text as it is."""
    from arena._internal import tables

    print(tables.text(headers, rows, missing=""))


def printable(text: str, width: int) -> str:
    """Return `text` on one line without control characters, cut to `width`.

    Text of papers is data: an escape sequence in a title must not reach the terminal.
    """
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= width else line[: width - 1] + "…"


def parse_options(option: str, items: Sequence[str] | None) -> dict[str, Any]:
    """Return the ``NAME=VALUE`` items of a repeated option; a value is JSON or else a string.

    Raises:
        DataError: if an item has no ``=``.
    """
    options = {}
    for item in items or ():
        name, equals, value = item.partition("=")
        if not equals:
            raise DataError(f"{option} {item!r}: write NAME=VALUE.")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def parse_size(option: str, text: str) -> int:
    """Return the bytes that a text such as ``4GB``, ``512MiB`` or ``1.5 TB`` means.

    Raises:
        DataError: if it means none.

    >>> parse_size("--memory", "1.5GB"), parse_size("--memory", "2GiB")
    (1500000000, 2147483648)
    """
    match = re.fullmatch(
        r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip(), re.ASCII | re.IGNORECASE
    )
    if match is None:
        raise DataError(f"{option} {text!r}: write a number and a unit, such as 4GB or 512MiB.")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * base ** " kmgt".index(match[2].lower() or " "))


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """Return the names in a text with commas; None stays None."""
    if text is None:
        return None
    return tuple(name.strip() for name in text.split(",") if name.strip())


def retriever_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the engine options given as ``--retriever-option NAME=VALUE``."""
    return parse_options("--retriever-option", arguments.retriever_option)


def add_retriever_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--retriever`` and ``--retriever-option``."""
    parser.add_argument(
        "--retriever",
        default="bm25",
        metavar="NAME",
        help="an index of the corpus, or a combination such as 'hybrid(bm25,dense)' "
        "(default: bm25)",
    )
    parser.add_argument(
        "--retriever-option",
        action="append",
        metavar="NAME=VALUE",
        help="an option of the engine, such as statistics=corpus, or of a part of a combination, "
        'such as \'bm25={"statistics": "corpus"}\'; may be repeated',
    )


def add_corpus_argument(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add ``--corpus``."""
    parser.add_argument(
        "--corpus", required=required, metavar="DIR", help="a corpus that arena-corpus built"
    )
