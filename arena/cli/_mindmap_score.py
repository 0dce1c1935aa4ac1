"""``arena mindmap score``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from arena import command_line
from arena.errors import DataError, clip

SUMMARY = "Score a mind-map against a survey's own, or a folder of them."
EXAMPLE = "arena mindmap score --gold gold.json --predicted mine.md --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    for name, text in (("gold", "the survey's own map"), ("predicted", "the map that was made")):
        parser.add_argument(f"--{name}", required=True, metavar="PATH", help=f"file with {text}")
        parser.add_argument(
            f"--{name}-record",
            metavar="ID",
            help="which map of a file that holds several, by its id or its number from 1",
        )
    parser.add_argument(
        "--directory",
        action="store_true",
        help="--gold and --predicted are folders; files match by name, suffixes may differ",
    )
    parser.add_argument(
        "--model",
        default="static",
        metavar="NAME",
        help="encoder that compares headings (default: static)",
    )
    parser.add_argument(
        "--extractor",
        metavar="NAME",
        help="what finds entities: spacy, noun_chunks, flair (default: spacy, if it is installed)",
    )
    parser.add_argument(
        "--extractor-option",
        action="append",
        metavar="NAME=VALUE",
        help="an option of the extractor, such as model=ner.pt; may be repeated",
    )
    parser.add_argument(
        "--denominator",
        choices=("gold", "paper"),
        default="gold",
        help="of heading soft recall: the gold map's cardinality, or the predicted map's, as the "
        "paper prints it (default: gold)",
    )
    parser.add_argument(
        "--no-clip",
        dest="clip",
        action="store_false",
        help="keep negative cosines in the soft metrics, instead of taking them for 0",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Score and print."""
    from arena.mindmap import read_mind_map_file, score_directories, score_pairs

    extractor, absent = _extractor(arguments)
    options: dict[str, Any] = {
        "encoder": arguments.model,
        "extractor": extractor,
        "denominator": arguments.denominator,
        "clip": arguments.clip,
    }
    if arguments.directory:
        for name in ("gold_record", "predicted_record"):
            if getattr(arguments, name) is not None:
                raise DataError(f"--{name.replace('_', '-')} and --directory: leave one out.")
        found = score_directories(arguments.predicted, arguments.gold, **options)
        if found["without_gold"]:
            files = found["without_gold"]
            more = f" and {len(files) - 5} more" if len(files) > 5 else ""
            print(
                f"arena: {len(files)} of the predicted maps have no gold map and are left out: "
                f"{', '.join(files[:5])}{more}",
                file=sys.stderr,
            )
    else:
        for name in ("gold", "predicted"):
            if Path(getattr(arguments, name)).is_dir():
                raise DataError(
                    f"--{name} {clip(getattr(arguments, name))} is a folder: to score "
                    "two folders, add --directory."
                )
        gold, told = read_mind_map_file(arguments.gold, arguments.gold_record)
        predicted, also = read_mind_map_file(arguments.predicted, arguments.predicted_record)
        (found,) = score_pairs([(predicted, gold)], **options)
        found["repairs"] = {"gold": told, "predicted": also}
    if absent:
        print(f"arena: heading_entity_recall is left out: {absent}", file=sys.stderr)
    if arguments.json:
        command_line.print_json(found)
    elif arguments.directory:
        _print_mean(found)
    else:
        _print_scores(found)


def _extractor(arguments: argparse.Namespace) -> tuple[Any, str]:
    """Return the extractor: a name, or with options an object; None and why if it is absent."""
    from arena.mindmap.extractors import make_extractor

    options = command_line.parse_options("--extractor-option", arguments.extractor_option)
    name = arguments.extractor
    if name is None and options:
        raise DataError("--extractor-option: name the extractor with --extractor.")
    if name is None:
        try:
            make_extractor("spacy", {})
        except DataError as error:
            return None, str(error)
        return "spacy", ""
    return (make_extractor(name, options) if options else name), ""


def _print_scores(found: dict[str, Any]) -> None:
    from arena.mindmap import MIND_MAP_METRICS

    rows = [(name, found[name]) for name in found if name in MIND_MAP_METRICS.names()]
    rows += [(f"nodes, {which}", number) for which, number in found["nodes"].items()]
    rows += [(key, found[key]) for key in ("model", "extractor")]
    command_line.print_table([(name, _cell(value)) for name, value in rows], ("", "score"))
    for which, repairs in found["repairs"].items():
        for repair in repairs:
            print(f"{which}: {repair}")


def _print_mean(found: dict[str, Any]) -> None:
    counts = found["counts"]
    rows = [(name, _cell(found["mean"][name]), counts["scored"][name]) for name in found["mean"]]
    command_line.print_table(rows, ("", "mean", "maps"))
    first = found["maps"][0]
    print(
        f"{counts['maps']} maps, {counts['predicted_missing']} of them without a predicted one; "
        f"model {first['model']}, extractor {first['extractor'] or 'none'}"
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
