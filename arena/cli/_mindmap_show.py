"""``arena mindmap show``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena import command_line
from arena.errors import DataError

if TYPE_CHECKING:
    from arena.mindmap import MindMap

SUMMARY = "Print or draw a mind-map, alone or beside another one."
EXAMPLE = "arena mindmap show map.json --beside survey.md --output both.svg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "file", metavar="FILE", help="a mind-map: JSON, Markdown, or JSON lines of many"
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="text, json, markdown, mermaid, svg, png (default: what the suffix of --output says, "
        "or text)",
    )
    parser.add_argument("--output", metavar="PATH", help="a file to write (default: print it)")
    parser.add_argument("--record", metavar="ID", help="which one, of a file that holds many")
    parser.add_argument(
        "--beside", metavar="FILE", help="another mind-map, shown to the right: text, svg, png"
    )
    parser.add_argument("--beside-record", metavar="ID", help="which one of that file")
    parser.add_argument(
        "--depth", type=int, metavar="N", help="show N levels below the root (default: all)"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Read, and print or write."""
    from arena._internal.files import atomic_write
    from arena.mindmap import beside, render

    if arguments.json and (arguments.format or arguments.beside):
        raise DataError("--json takes neither --format nor --beside: it describes one mind-map.")
    if arguments.beside_record is not None and arguments.beside is None:
        raise DataError("--beside-record needs --beside FILE.")
    name = _format(arguments)
    tree, repairs = _read(arguments.file, arguments.record, arguments.depth)
    sizes = f"{tree.size:,}"
    if arguments.beside is None:
        shown = None if arguments.json and not arguments.output else render(tree, name)
    else:
        other, _ = _read(arguments.beside, arguments.beside_record, arguments.depth)
        sizes += f" and {other.size:,}"
        files = (arguments.file, arguments.beside)
        records = (arguments.record, arguments.beside_record)
        shown = beside(tree, other, _captions(files, records), name)
    if arguments.output:
        assert shown is not None
        for read in filter(None, (arguments.file, arguments.beside)):
            if Path(arguments.output).exists() and Path(arguments.output).samefile(read):
                raise DataError(
                    f"{arguments.output!r} is the file that was read, and not all of it is in the "
                    "mind-map. Name another --output."
                )
        atomic_write(arguments.output, shown)
    if arguments.json:
        command_line.print_json(
            {
                "nodes": tree.size,
                "depth": tree.depth,
                "papers": len(tree.all_papers()),
                "repairs": repairs,
                "mind_map": tree.to_json(),
            }
        )
    elif arguments.output:
        print(f"{arguments.output}: {name}, {sizes} headings")
    elif shown is not None:
        _print(shown)


def _format(arguments: argparse.Namespace) -> str:
    from arena.mindmap import FORMATS, format_of

    name: str = arguments.format or (format_of(arguments.output) if arguments.output else "text")
    FORMATS.get(name)  # a wrong name is told before anything is read
    if name == "png" and not arguments.output and sys.stdout.isatty():
        raise DataError("a PNG is no text for a terminal: name a file with --output, or pipe it.")
    return name


def _read(file: str, record: str | None, depth: int | None) -> tuple[MindMap, list[str]]:
    """Return the mind-map of a file and what was repaired, which is told on standard error too."""
    from arena.mindmap import cut, read_mind_map_file

    tree, repairs = read_mind_map_file(Path(file), record)
    if depth is not None:
        whole, tree = tree, cut(tree, depth)
        if tree.size < whole.size:
            told = f"{whole.size - tree.size:,} headings below level {depth} left out."
            repairs = [*repairs, told]
    for sentence in repairs:
        print(command_line.printable(f"{file}: {sentence}", 400), file=sys.stderr)
    return tree, repairs


def _captions(files: Sequence[str], records: Sequence[str | None]) -> tuple[str, str]:
    """Return the names of the files; with their folders or records if they are the same."""
    names = [Path(file).name for file in files]
    if names[0] == names[1]:
        names = [str(Path(*Path(file).parts[-2:])) for file in files]
    left, right = (
        f"{name}, {record}" if record is not None else name
        for name, record in zip(names, records, strict=True)
    )
    return left, right


def _print(shown: str | bytes) -> None:
    # Files of pictures are UTF-8 whatever the locale is.
    data = shown.encode("utf-8") if isinstance(shown, str) else shown
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        print(data.decode("utf-8", "replace"), end="")
        return
    sys.stdout.flush()
    binary.write(data)
    binary.flush()
