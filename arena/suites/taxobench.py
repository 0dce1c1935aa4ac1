"""TaxoBench: can an agent find a survey's papers and organize them as its author did?

"Can Deep Research Agents Find and Organize? Evaluating the Synthesis Gap with Expert Taxonomies";
sections 2 and 3. docs/taxobench.md names every difference from the released scorer.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from arena._internal.files import code_sha256, sha256_file
from arena._internal.tables import progress
from arena.errors import DataError, clip
from arena.mindmap import MindMap, evaluate, identity, read_mind_map
from arena.suites.base import SUITES, Evaluation, Suite, json_lines, mean
from arena.suites.taxobench_released import alignment, released_scores

if TYPE_CHECKING:
    from arena.judging import Judgements

METRICS = (
    "leaf_recall", "leaf_precision", "ari", "homogeneity", "completeness", "v_measure",
    "normalised_ted", "node_soft_recall", "node_soft_precision", "node_soft_f1", "sem_path",
)  # fmt: skip
WORST = dict.fromkeys(METRICS, 0.0) | {"normalised_ted": 1.0}
RELEASED = (
    "ari", "v_measure", "homogeneity", "completeness", "sem_path", "recall", "precision"
)  # fmt: skip


def score_predictions(
    *,
    data: str,
    predictions: str,
    official: bool = False,
    encoder: str = "static",
    llm_option: dict[str, Any] | None = None,
) -> Evaluation:
    """Score trees that any system made against TaxoBench's expert trees.

    A prediction is a JSON object on a line: ``id`` and the tree under ``hierarchy_tree`` or
    ``tree``, or beside ``id`` itself. Nodes have ``name``, ``subtopics`` and ``papers``, which are
    titles. A survey without a readable prediction scores 0 and counts in the means; with
    `official` it is left out, as the released scorer does.

    Args:
        data (FILE): TaxoBench's data.jsonl.
        predictions (FILE): One JSON object a line.
        official: Print the numbers of the released scorer, version 0.2.0.
        encoder (NAME): Encoder that compares labels.
        llm_option: Option of a language model, such as model=NAME; with any, the model judges the
            trees, too (docs/judging.md).

    Raises:
        DataError: if a file cannot be read or `data` is not TaxoBench's.
        LLMError: if the model cannot be asked.

    Example:
        arena evaluate taxobench --data data.jsonl --predictions predictions.jsonl --json
    """
    gold = {}
    for number, _, record in json_lines(data):
        if record is None or not isinstance(record.get("gt"), dict) or "id" not in record:
            raise DataError(f"{data!r} line {number} is no record of TaxoBench's data.jsonl.")
        gold[str(record["id"])] = record["gt"]
    if not gold:
        raise DataError(f"{data!r} holds no survey.")
    problems: list[str] = []
    trees: dict[str, Any] = {}
    for number, text, record in json_lines(predictions):
        if record is None or "id" not in record:
            problems.append(f"line {number}: {clip(text)} is no JSON object with an id.")
        elif (name := str(record["id"])) not in gold:
            problems.append(f"line {number}: no survey has the id {clip(name)}.")
        elif name in trees:
            problems.append(
                f"line {number}: a second prediction for {clip(name)}; the first counts."
            )
        else:
            trees[name] = record.get("hierarchy_tree", record.get("tree", record))
    score = _released_row if official else _row
    surveys = {
        name: score(trees.get(name), gold[name], encoder)
        for name in progress(gold, desc="score", unit="survey")
    }
    rows = [row for row in surveys.values() if not (official and row.get("reason"))]
    if out := len(surveys) - len(rows):
        problems.append(f"The released scorer leaves {out} surveys out of its means.")
    means = {name: mean(row[name] for row in rows) for name in (RELEASED if official else METRICS)}
    settings: dict[str, Any] = {
        "data": sha256_file(data), "predictions": sha256_file(predictions), "official": official,
        **({} if official else identity(encoder)),
    }  # fmt: skip
    if llm_option:
        judged = _judge(trees, gold, llm_option)
        for name, row in judged.items.items():
            surveys[name] |= row.get("scores") or dict.fromkeys(judged.dimensions)
            surveys[name] |= {key: row[key] for key in ("reasons", "failed") if key in row}
        means |= {name: judged.mean[name] for name in judged.dimensions}
        settings["judge"] = {**judged.judge, **judged.counts}
        if missing := judged.counts["missing"]:
            problems.append(f"The judge gave no readable answer for {missing} surveys.")
    settings["code"] = code_sha256(rooms=("judging", "suites"))
    return Evaluation(
        means, surveys, [name for name in gold if name not in trees], problems, settings
    )


def _judge(
    trees: Mapping[str, Any], gold: Mapping[str, dict[str, Any]], options: dict[str, Any]
) -> Judgements:
    from arena.judging import judge_pairs
    from arena.llm import Client

    pairs: dict[str, tuple[MindMap, MindMap | None]] = {}
    for name, expert in gold.items():
        made = None
        with suppress(DataError):
            made = read_mind_map(trees[name])[0] if trees.get(name) is not None else None
        pairs[name] = read_mind_map(expert)[0], made
    return judge_pairs("taxobench", pairs, Client.from_options(options, "--llm-option"))


def _row(tree: Any, gold: dict[str, Any], encoder: str) -> dict[str, Any]:
    expert, _ = read_mind_map(gold)
    if tree is None:
        return {**WORST, "reason": "no prediction"}
    try:
        predicted, notes = read_mind_map(tree)
    except DataError as error:
        return {**WORST, "reason": str(error)}
    predicted, expert, counts = named_alike(predicted, expert)
    scores = evaluate(predicted, expert, METRICS, encoder)
    return {**scores, **counts, "repairs": notes}


def _released_row(tree: Any, gold: dict[str, Any], encoder: str) -> dict[str, Any]:
    if isinstance(tree, dict):
        return dict(released_scores(tree, gold))
    reason = "no prediction" if tree is None else "the root is no object"
    return {**dict.fromkeys(RELEASED, 0.0), "reason": reason}


def named_alike(predicted: MindMap, gold: MindMap) -> tuple[MindMap, MindMap, dict[str, int]]:
    """Return both maps with numbers in place of titles, and counts of how papers are filed.

    Titles of one paper get one number; see `arena.suites.taxobench_released.alignment`.

    Returns:
        The predicted map, the gold map, and ``papers``, the number in the gold map; ``unfiled``,
        how many of these the predicted map leaves out; ``unknown``, titles that the gold map does
        not have; ``filed_twice``; ``under_inner_nodes``.
    """
    theirs, ours = gold.all_papers(), predicted.all_papers()
    places = alignment(theirs, ours)
    numbers = {ours[place]: str(number) for number, place in enumerate(places) if place is not None}
    unknown = [title for title in ours if title not in numbers]
    numbers |= {title: f"unknown {number}" for number, title in enumerate(unknown)}
    filed = [paper for node in predicted.nodes() for paper in node.papers]
    counts = {
        "papers": len(theirs),
        "unfiled": places.count(None),
        "unknown": len(unknown),
        "filed_twice": len(filed) - len(ours),
        "under_inner_nodes": sum(len(n.papers) for n in predicted.nodes() if n.children),
    }
    gold_numbers = {title: str(number) for number, title in enumerate(theirs)}
    return _renamed(predicted, numbers), _renamed(gold, gold_numbers), counts


def _renamed(tree: MindMap, names: Mapping[str, str]) -> MindMap:
    children = tuple(_renamed(child, names) for child in tree.children)
    return MindMap(tree.label, children, tuple(names[paper] for paper in tree.papers))


SUITES.register("taxobench")(
    Suite(
        title="expert taxonomies of surveys: find the papers, file them as the author did",
        paper="Can Deep Research Agents Find and Organize?, sections 2 and 3",
        source="taxobench",
        modes={
            "bottom-up": ("arena/Organization-v0", {"references": "oracle"}),
            "deep-research": ("arena/Organization-v0", {"references": "found"}),
        },
        metrics=METRICS,
        experiment="taxobench",
        evaluate=score_predictions,
    )
)
