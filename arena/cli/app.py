"""Parts of the commands ``arena`` and ``arena-corpus``: options from signatures, errors, output.

A command is a function. Its parameters are the options (``retriever_option`` is
``--retriever-option``), its annotations their types, its docstring the help: the first line, an
``Args`` section with ``name (METAVAR): text``, and an ``Example`` section. Parameters before the
``*`` are words without an option's name. A ``list`` may be repeated, a ``dict`` is a repeated
``NAME=VALUE``, a ``tuple`` takes names with commas. An option that many commands share is described
once, in `SHARED`. The environment variable ``ARENA_CORPUS`` is the default of ``--corpus``.

Not cyclopts: sources add options of their own to an argparse parser, some of which exclude each
other, and all missing options are named at once.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import io
import json
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

from arena import plugins
from arena.errors import ArenaError, CorpusError, DataError, did_you_mean
from arena.failures import plug_in_frames
from arena.kit.lazy import missing
from arena.kit.options import Option, check_described, options_of, read_docstring
from arena.kit.terminal import Table
from arena.plugins import kinds, load

Command = Callable[..., Any]

SHARED = """
Args:
    baseline (NAME): System that the others are compared with (default: the first).
    answers (FILE): Answers of the run's language model (the store of its agent), for the text that
        it wrote.
    before (DATE): First day out of reach: YYYY-MM-DD, YYYY-MM (its first day) or YYYY
        (1 January).
    corpus (DIR): Corpus that arena-corpus built.
    dry_run: Say how much models would be asked, and what that costs; ask and write nothing.
    env_option: Setting of the environment, such as max_steps=20; all are listed below.
    host (ADDRESS): Address to listen at. One that other machines reach needs a token in the
        environment variable ARENA_TOKEN.
    json: Print JSON instead of text.
    llm_option: Option of the model's client: model=NAME (required), base_url=URL, store=FILE
        and so on (docs/llm.md).
    no_check: Skip the hashes of files that were not opened on this machine before.
    page (FILE): Write the scores of all systems, and what made them, as a page, too.
    port: Port; 0 takes a free one.
    record (FOLDER): Folder for the actions of every episode that ends; `arena view FOLDER` shows
        them.
    retriever (NAME): Index of the corpus, or a combination such as 'hybrid(bm25,dense)'.
    retriever_option: Option of the engine, such as statistics=corpus, or of a part of a
        combination, such as 'bm25={"statistics": "corpus"}'.
    reward (NAME): Reward of the task, such as gain+final (`arena list rewards`).
    system (NAME=PATH): What one of several systems made, under the name of the system; all are
        compared in one table.
    task (NAME): Task to play (`arena list tasks`).
    tasks (TASKS): Directory of the task set that the run played, if any.
    where (COMPARISONS): Only topics of a difficulty, by what `arena profile` measured, such as
        'title>=.2, title<=.6, links>.3'.
"""
"""The options that a command need not describe in its docstring."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and name the nearest choice.

    Attributes:
        sections: Heading -> names of commands, which the help lists under it.
    """

    sections: Mapping[str, Sequence[str]] | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for kind in (int, float):
            self.register("type", kind, functools.partial(_number, kind))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse an unknown option before argparse misses the intended one."""
        words = sys.argv[1:] if args is None else list(args)
        is_leaf = self._subparsers is None
        for word in words if is_leaf else ():
            name = word.partition("=")[0]
            if re.fullmatch("--[a-z][a-z-]*", name) and name not in self._option_string_actions:
                self.error(
                    f"unknown option {name!r}.{did_you_mean(name, self._option_string_actions)}"
                )
        parsed, extra = super().parse_known_args(words, namespace)
        if extra and is_leaf:
            self.error(f"too many words: {' '.join(extra)!r}. Put a text with spaces in quotes.")
        return parsed, extra

    def format_help(self) -> str:
        """Return the help, with the settings of the environment where they are an option."""
        text = _with_pages(super().format_help())
        if self.sections and self._subparsers:
            begin, end = text.index("positional arguments:"), text.index("options:")
            return text[:begin] + self._listed() + text[end:]
        if "--env-option" not in self._option_string_actions:
            return text
        from arena.envs.config import describe_settings

        rows = "".join(f"{_row(*each, 23)}\n" for each in describe_settings().items())
        return f"{text}\nsettings of the environment (--env-option NAME=VALUE):\n{rows}"

    def _listed(self) -> str:
        """Return the commands by section."""
        assert self.sections is not None and self._subparsers is not None
        commands: Any = self._subparsers._group_actions[0]
        helps = {each.dest: each.help or "" for each in commands._get_subactions()}
        width = max(map(len, helps)) + 2
        named = {name for names in self.sections.values() for name in names}
        others = [name for name in helps if name not in named]
        lines = []
        for heading, names in {**self.sections, "commands of plug-ins": others}.items():
            present = [name for name in names if name in helps]
            lines += [f"{heading}:"] if present else []
            lines += [_row(name, helps[name], width) for name in present]
            lines += [""] if present else []
        return "\n".join(lines) + "\n"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            self.error(f"unknown {value!r}.{did_you_mean(value, list(action.choices))}")

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        end = "" if message.endswith(("?", ".")) else "."
        self.exit(2, f"{self.prog}: error: {message}{end} See `{self.prog} --help`.\n")


class _Pairs(argparse.Action):
    """Collects ``NAME=VALUE`` items in a mapping; a value is JSON or else a string."""

    def __call__(self, parser: Any, namespace: Any, item: Any, option: str | None = None) -> None:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise DataError(f"{option} {item!r}: write {self.metavar}.")
        if name in getattr(namespace, self.dest):
            raise DataError(f"{option} {name!r} is given twice. Give each name once.")
        with suppress(ValueError):
            value = json.loads(value)
        setattr(namespace, self.dest, getattr(namespace, self.dest) | {name: value})


def _row(name: str, text: str, width: int) -> str:
    first = f"  {name:{width}}"
    return textwrap.fill(text, 100, initial_indent=first, subsequent_indent=" " * len(first))


def _number(kind: Callable[[str], Any], text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        what = "an integer" if kind is int else "a number"
        raise argparse.ArgumentTypeError(f"{text!r}: give {what}.") from None


def command_line(prog: str, description: str, example: str) -> tuple[Parser, Any]:
    """Return a parser and its commands, to fill with `add_command` and `add_group`."""
    from arena.version import __version__

    parser = Parser(prog=prog, description=description, **_texts(example))
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    parser.add_argument(
        "--plugin",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="load a file of plug-ins, with any command; may be repeated",
    )
    return parser, parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)


def add_group(commands: Any, name: str, summary: str, metavar: str, example: str = "") -> Any:
    """Add a command that has commands of its own; return them, to fill with `add_command`."""
    parser = commands.add_parser(name, help=summary, description=summary, **_texts(example))
    return parser.add_subparsers(metavar=metavar, required=True, parser_class=Parser)


def add_command(
    commands: Any,
    name: str,
    function: Command,
    *,
    summary: str | None = None,
    example: str | None = None,
    more: Callable[[argparse.ArgumentParser], None] | None = None,
    computed: Mapping[str, Callable[[argparse.Namespace], Any]] | None = None,
) -> None:
    """Add a function as the command `name`.

    Args:
        commands: Commands of `command_line` or `add_group`.
        name: Name of the command.
        function: The command; see the module's docstring.
        summary: Summary in place of the first line of its docstring.
        example: Example in place of the one in its docstring.
        more: Function that adds further options to the parser.
        computed: Functions that compute parameters that are no options from the parsed arguments.
    """
    computed = computed or {}
    documented, shared = read_docstring(function), read_docstring(SHARED).arguments
    text = summary or documented.summary
    parser = commands.add_parser(
        name, help=text, description=text, **_texts(example or documented.example)
    )
    if more is not None:
        more(parser)
    options = [each for each in options_of(function, shared) if each.name not in computed]
    check_described(name, options)
    for option in options:
        add_argument(parser, option)

    def execute(arguments: argparse.Namespace) -> None:
        values = {each.name: getattr(arguments, each.name) for each in options}
        values |= {name: compute(arguments) for name, compute in computed.items()}
        # Some commands have another --dry-run.
        dry = values.get("dry_run") and "dry_run" not in documented.arguments
        _count_requests(function, values) if dry else function(**values)

    parser.set_defaults(execute=execute)


def _count_requests(function: Command, values: dict[str, Any]) -> None:
    """Print what a command would ask models; it writes nothing, and may return more for JSON."""
    from arena.llm.estimate import count_requests

    more: dict[str, Any] = {}
    found = count_requests(lambda: more.update(function(**values) or {}))
    if values["json"]:
        print_json({**more, "requests": found})
        return
    names = "model", "requests", "prompt tokens", "answers, at most", "dollars"
    print_table([[*row.values()] for row in found] or [("none", 0, 0, 0, 0.0)], names)
    print(
        "Estimates; dollars are of prompts, and of answers of max_tokens where that is set. Not "
        "counted: what the store has, and requests that build on answers which it lacks."
    )


def _texts(example: str | None = None) -> dict[str, Any]:
    return {
        "epilog": f"example:\n  {example}" if example else None,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }


def add_argument(parser: argparse.ArgumentParser, described: Option) -> None:
    """Add the option, or the word, that a parameter stands for."""
    parameter, metavar, text = described
    kind, default = _kind(parameter), parameter.default
    is_option = parameter.kind is parameter.KEYWORD_ONLY
    if parameter.name == "corpus" and is_option and os.environ.get("ARENA_CORPUS"):
        default = os.environ["ARENA_CORPUS"]
    required = default is parameter.empty
    option = f"--{parameter.name.replace('_', '-')}"
    text = text.replace("``", "").replace("%", "%%").rstrip(".")
    if kind is bool:
        action = "store_false" if default else "store_true"
        option = option.replace("--", "--no-") if default else option
        values = [each for each in get_args(parameter.annotation) if get_origin(each) is Literal]
        if values:  # a flag that may have a value
            choices = get_args(values[0])
            parser.add_argument(
                option, nargs="?", const=choices[0], default=default, choices=choices, help=text
            )
            return
        parser.add_argument(option, dest=parameter.name, action=action, help=text)
        return
    usual = {int: "N", float: "N", tuple: "NAMES", dict: "NAME=VALUE"}.get(kind)
    if Path in (parameter.annotation, *get_args(parameter.annotation)):
        usual = "PATH"
    settings: dict[str, Any] = {"metavar": metavar or usual, "help": text}
    if get_origin(kind) is Literal:
        settings["choices"] = get_args(kind)
    elif kind in (int, float):
        settings["type"] = kind
    elif kind is tuple:
        settings["type"] = _names
    if not is_option:
        many = "+" if required else "*"
        settings["nargs"] = many if kind is list else None if required else "?"
        parser.add_argument(parameter.name, **settings)
        return
    if kind is list:
        settings |= {"action": "append", "help": f"{text}; may be repeated"}
        if list[Path] in (parameter.annotation, *get_args(parameter.annotation)):
            # Shells make lists of files.
            settings |= {"action": "extend", "nargs": "+"}
    elif kind is dict:
        settings |= {"action": _Pairs, "default": {}, "help": f"{text}; may be repeated"}
    elif not required and default not in (None, ""):
        shown = ",".join(default) if kind is tuple else default
        settings |= {"default": default, "help": f"{text} (default: {shown})"}
    parser.add_argument(option, required=required, **settings)


def _kind(parameter: inspect.Parameter) -> Any:
    """Return the type of a parameter: without None, and ``list`` for ``list[str]``."""
    kind = parameter.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin = get_origin(kind)
    return kind if origin in (None, Literal) else origin


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@contextmanager
def resumable() -> Iterator[None]:
    """Say after Ctrl-C that the same command continues."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("The same command continues from here.") from None


def main_command(
    prog: str,
    make_parser: Callable[[list[str]], argparse.ArgumentParser],
    argv: Sequence[str] | None,
    named_by: Mapping[str, str],
) -> int:
    """Load the plug-ins, make the parser for the words, and run the command.

    ``--plugin FILE`` may stand anywhere and more than once; it is loaded before the parser is made,
    since a plug-in may add commands and names. `named_by` has the commands whose own commands are
    plug-ins, with the kind: there ``FILE.py:NAME`` loads FILE, too.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    early = Parser(prog=prog, add_help=False, allow_abbrev=False)
    early.add_argument("--plugin", action="append", default=[], metavar="FILE")
    early.sections = {}
    named, rest = argparse.ArgumentParser.parse_known_args(early, words)
    try:
        with warnings.catch_warnings(record=True) as caught:
            plugins.listing = rest[:1] == ["plugins"]
            load(named.plugin)
        for warning in caught:
            print(f"{prog}: warning: {warning.message}", file=sys.stderr)
        if len(rest) > 1 and rest[0] in named_by and ".py" in rest[1]:
            rest[1] = kinds()[named_by[rest[0]]].resolve(rest[1])
        parser = make_parser(rest)
    except (ArenaError, OSError) as error:
        return _fail(early, error, 2)
    return run_command(parser, rest)


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Parse, execute, and turn every failure into one line and an exit status.

    Status 0 is success; 1 a failed check, a leak, a difference or a bug; 2 bad input, also a
    failure of a plug-in named as ``FILE.py:NAME``; 130 Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale that lacks a letter: ?
    try:
        arguments = parser.parse_args(argv)
        arguments.execute(arguments)
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
        if isinstance(error, ModuleNotFoundError) and (named := missing("this command", error)):
            return _fail(parser, named, 2)
        own = plug_in_frames(error)
        if not own or os.environ.get("ARENA_DEBUG"):
            return _fail(parser, error, 1)
        where = f"{own[-1].filename!r} line {own[-1].lineno}"
        return _fail(parser, ArenaError(f"{where}: {type(error).__name__}: {error}"), 2)


def _fail(parser: argparse.ArgumentParser, error: Exception, status: int) -> int:
    if os.environ.get("ARENA_DEBUG"):
        raise error
    message = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{str(error.filename)!r}: {error.strerror}. Name another path, or fix this one."
    if isinstance(error, CorpusError) and error.parts:
        from arena.cli.repair import build_command

        commands = dict.fromkeys(f"`{build_command(part)}`" for part in error.parts)
        message += f" Use {', '.join(commands)}."
    if status == 1:
        message = f"{type(error).__name__}: {message} (a bug; ARENA_DEBUG=1 shows where)"
    line = _with_pages(" ".join(message.split()))
    print(f"{parser.prog}: error: {line}", file=sys.stderr)
    return status


def _with_pages(text: str) -> str:
    """Return a text that names pages of the documentation where an installed wheel has them."""
    with suppress(metadata.PackageNotFoundError):
        for file in (metadata.files("researcharena") or ()) if "docs/" in text else ():
            if file.match("share/doc/researcharena/*.md"):
                text = text.replace(f"docs/{file.name}", str(Path(str(file.locate())).resolve()))
    return text


def print_json(value: Any) -> None:
    """Print `value` as indented JSON, ASCII, keys in the order given."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> None:
    """Print a plain table: floats with four decimals, numbers to the right, text as it is.

    On a terminal it is as wide as that.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(Table(headers, rows).text(missing="", width=width))


def parse_size(option: str, text: str) -> int:
    """Return the bytes that a text such as ``4GB``, ``512MiB`` or ``1.5 TB`` means.

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
