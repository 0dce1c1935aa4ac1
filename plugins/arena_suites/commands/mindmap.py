"""``arena mindmap``: show and score mind-maps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from arena.cli.app import print_json, print_table
from arena.cli.commands import command
from arena.errors import DataError
from arena.text.display import count, printable


@command("mindmap.show")
def show(
    file: str,
    *,
    format: str | None = None,
    output: str | None = None,
    record: str | None = None,
    depth: int | None = None,
    json: bool = False,
) -> None:
    """Print or draw a mind-map.

    Args:
        file (FILE): Mind-map: JSON, Markdown, or JSON lines of many.
        format (NAME): Text, json, markdown, mermaid, svg (default: that of the suffix of --output,
            or text).
        output (PATH): File to write (default: print it).
        record (ID): Which one, of a file that contains many.
        depth: Show N levels below the root (default: all).

    Example:
        arena mindmap show map.json --output map.svg
    """
    from arena.kit.files import atomic_write
    from arena.mindmap import cut
    from arena_suites.maps.files import read_mind_map_file
    from arena_suites.maps.formats import FORMATS, format_of, render

    if json and format:
        raise DataError("--json takes no --format: it describes the mind-map.")
    name = format or (format_of(output) if output else "text")
    FORMATS.find(name)  # refuses a wrong name before anything is read
    tree, repairs = read_mind_map_file(file, record, option="--record")
    if depth is not None:
        size, tree = tree.size, cut(tree, depth)
        if tree.size < size:
            left_out = count(size - tree.size, "heading")
            repairs = [*repairs, f"{left_out} below level {depth} left out."]
    for sentence in repairs:
        print(printable(f"{file}: {sentence}", 400), file=sys.stderr)
    shown = "" if json and not output else render(tree, name)
    if output:
        if Path(output).exists() and Path(output).samefile(file):
            raise DataError(
                f"{output!r} is the file that was read, and not all of it is in the "
                "mind-map. Name another --output."
            )
        atomic_write(output, shown)
    if json:
        counts = {"nodes": tree.size, "depth": tree.depth, "papers": len(tree.all_papers())}
        print_json(counts | {"repairs": repairs, "mind_map": tree.to_json()})
    elif output:
        print(f"{output}: {name}, {tree.size:,} headings")
    else:
        print(shown, end="")


@command("mindmap.score")
def score(
    *,
    gold: str,
    predicted: str,
    gold_record: str | None = None,
    predicted_record: str | None = None,
    model: str = "static",
    extractor: str | None = None,
    extractor_option: dict[str, Any] | None = None,
    json: bool = False,
) -> None:
    """Score a mind-map against a survey's own.

    Args:
        gold (PATH): File with the survey's own map.
        predicted (PATH): File with the map to score.
        gold_record (ID): Map of a file that contains several, by its id or its number from 1.
        predicted_record (ID): Map of a file that contains several, by its id or its number from 1.
        model (NAME): Encoder that compares headings.
        extractor (NAME): Extractor of entities: spacy, flair (default: spacy, if it is installed).
        extractor_option: Option of the extractor, such as model=ner.pt.

    Example:
        arena mindmap score --gold gold.json --predicted mine.md --json
    """
    from arena.encoders import ENCODERS
    from arena.mindmap import floors
    from arena_suites.maps.files import read_mind_map_file, read_others
    from arena_suites.maps.scoring import score_pairs

    made, absent = _extractor(extractor, extractor_option or {})
    options: dict[str, Any] = {"encoder": ENCODERS.resolve(model), "extractor": made}
    sides = (("gold", gold, gold_record), ("predicted", predicted, predicted_record))
    (gold_map, repaired), (predicted_map, repairs) = (
        read_mind_map_file(path, record, option=f"--{side}-record") for side, path, record in sides
    )
    pairs = [(predicted_map, gold_map)]
    repairs += filter(None, [predicted_map.unfiled(gold_map)])
    (scores,) = score_pairs(pairs, **options)
    scores["floors"] = floors(pairs, **options, others=read_others(gold, gold_map, 3))
    scores["repairs"] = {"gold": repaired, "predicted": repairs}
    if absent:
        print(f"arena: heading_entity_recall is left out: {absent}", file=sys.stderr)
    if json:
        print_json(scores)
    else:
        _print_scores(scores)


def _extractor(name: str | None, options: dict[str, Any]) -> tuple[Any, str]:
    """Return the extractor: a name, or with options an object; None and why if it is absent."""
    from arena.mindmap.extractors import EXTRACTORS, make_extractor

    if name is None and options:
        raise DataError("--extractor-option: name the extractor with --extractor.")
    if name is None:
        try:
            make_extractor("spacy", {})
        except DataError as error:
            return None, str(error)
        return "spacy", ""
    name = EXTRACTORS.resolve(name)
    return (make_extractor(name, options) if options else name), ""


def _print_scores(scores: dict[str, Any]) -> None:
    from arena.metrics import METRICS
    from arena.mindmap import FLOORS_NOTE

    columns = [scores, scores["floors"]["other_topics"], scores["floors"]["random"]]
    names = [name for name in scores if name in METRICS.names()]
    rows = [(name, *(_cell(column.get(name)) for column in columns)) for name in names]
    print_table(rows, ["", "score", "other topics", "random map"])
    print(FLOORS_NOTE)
    nodes = scores["nodes"]
    print(
        f"{nodes['gold']} gold and {count(nodes['predicted'], 'predicted heading')}; "
        f"model {scores['model']}, extractor {scores['extractor'] or 'none'}"
    )
    for side, number in scores["merged"].items():
        if number:
            print(
                f"{count(number, 'heading')} of the {side} map merged with a sibling of the same "
                "label, or left out as blank."
            )
    for side, repairs in scores["repairs"].items():
        for repair in repairs:
            print(f"{side}: {repair}")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
