"""Trees of any system compared with the experts', by our metrics or the released scorer's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arena.errors import DataError, clip
from arena.kit.code import code_sha256
from arena.kit.files import sha256_file
from arena.kit.terminal import progress
from arena.metrics import METRICS, mean
from arena.mindmap import MindMap, evaluate, identity, read_mind_map
from arena.suites import Evaluation, OutputPath, chosen, json_lines, suite
from arena.tasks import TaskSet
from arena.text.display import count
from arena_suites.taxobench.released import (
    THRESHOLD,
    PrintedScores,
    ReleasedScores,
    normalised,
    printed_scores,
    released_scores,
)
from arena_suites.taxobench.rubrics import taxobench

if TYPE_CHECKING:
    from arena_suites.judging import Judgements

NAMES = (
    "leaf_recall", "leaf_precision", "ari", "homogeneity", "completeness", "v_measure",
    "normalised_ted", "node_soft_recall", "node_soft_precision", "node_soft_f1", "sem_path",
)  # fmt: skip
_FILES_NONE = "files no paper, which scores of labels do not see"
_ITEM = re.compile(r"^([ \t]*(?:[-*+]|\d+[.)])[ \t]+)(.*\S)", re.M)  # of a list in Markdown
_LEAST_WORDS = 5  # of a title that is one paper with a longer title


BIBTEX = """\
@misc{zhang2026taxobench,
  title = {Can Deep Research Agents Find and Organize?
           Evaluating the Synthesis Gap with Expert Taxonomies},
  author = {Zhang, Ming and Zhuang, Jiabao and Jing, Wenqing and Kong, Ziyu and Deng, Jingyi and
            Shen, Yujiong and Tan, Kexin and Zhao, Yuhang and Luo, Ning and Zheng, Renzhe and
            Lin, Jiahui and Wu, Mingqi and Ma, Long and Zou, Yi and Dou, Shihan and Gui, Tao and
            Zhang, Qi and Huang, Xuanjing},
  year = {2026},
  eprint = {2601.12369}, archivePrefix = {arXiv},
  url = {https://arxiv.org/abs/2601.12369}
}
"""


@suite("taxobench", bibtex=BIBTEX)
def score_predictions(
    *,
    data: str,
    predictions: OutputPath,
    only: tuple[str, ...] | None = None,
    official: bool | Literal["released", "paper"] = False,
    encoder: str | None = None,
    llm_option: dict[str, Any] | None = None,
    corpus: str | None = None,
) -> Evaluation:
    """Score trees that any system made against TaxoBench's expert trees.

    A prediction is a JSON object on a line: ``id`` and the tree under ``hierarchy_tree`` or
    ``tree``, or in the object itself. Nodes have ``name``, ``subtopics`` and ``papers``, which are
    titles, or objects with a title. A survey without a readable prediction scores 0 and counts in
    the means; with `official` it is left out, as the released scorer does.

    Args:
        data (FILE): TaxoBench's data.jsonl.
        predictions (FILE): One JSON object a line; or the directory of a run, with its corpus.
        only (IDS): Surveys to score (default: all).
        official: Print the numbers of the released scorer, version 0.2.0; or, with ``paper``, TED,
            NSR, NSP and Soft F1 as the scripts compute them that made the paper's.
        encoder (NAME): Encoder of labels (default: static, with --official paper minilm).
        llm_option: Option of a language model, such as model=NAME; with any, the model judges the
            trees, too (docs/judging.md).
        corpus (DIR): Corpus of a run, for the titles of the papers that its mind-maps file.

    Example:
        arena evaluate taxobench --data data.jsonl --predictions predictions.jsonl --json
    """
    of_paper = official == "paper"
    encoder = encoder or ("minilm" if of_paper else "static")
    every = _read_data(data)
    gold = chosen(every, only)
    titles = None
    if Path(predictions).is_dir():
        if corpus is None:
            raise DataError(f"{predictions!r} is a run, whose maps file ids: name the --corpus.")
        predictions = str(Path(predictions) / "mind_maps.jsonl")
        titles = {paper.id: paper.title for paper in TaskSet(corpus).paper_names()}
    trees, listed, problems = _read_predictions(predictions, every, bool(official), titles)
    surveys = {
        name: _official_row(
            trees.get(name), gold[name], listed.get(name), encoder if of_paper else None
        )
        if official
        else _row(trees.get(name), gold[name], encoder)
        for name in progress(gold, desc="score", unit="survey")
    }
    left_out = {name for name, row in surveys.items() if official and row.get("reason")}
    rows = [row for name, row in surveys.items() if name not in left_out]
    if left_out:
        problems.append(
            f"The released code leaves {count(len(left_out), 'survey')} out of its means."
        )
    if bare := sum(_FILES_NONE in row.get("remark", "") for row in rows):
        problems.append(
            f"{count(bare, 'tree files', 'trees file')} no paper: scores of labels do not see it."
        )
    names = PrintedScores if of_paper else ReleasedScores
    means = {
        name: mean(row[name] for row in rows) for name in (names._fields if official else NAMES)
    }
    micro = {}
    if of_paper and rows:  # as its script, the F1 of a system's means
        recall, precision = (means[name] or 0.0 for name in PrintedScores._fields[1:3])
        micro = {"node_soft_f1": 2 * recall * precision / ((recall + precision) or 1)}
    settings: dict[str, Any] = {
        "data": sha256_file(data), "predictions": sha256_file(predictions), "official": official,
        **({} if official and not of_paper else identity(encoder)),
    }  # fmt: skip
    if llm_option:
        judged = _judge(trees, gold, llm_option)
        for name, row in judged.items.items():
            scores = row.get("scores") or dict.fromkeys(judged.dimensions)
            surveys[name] |= {**scores, "average": mean(scores.values())}
            surveys[name] |= {key: row[key] for key in ("reasons", "failed") if key in row}
        means |= judged.mean
        settings["judge"] = {**judged.judge, **judged.counts}
        if missing := judged.counts["missing"]:
            problems.append(f"The judge gave no readable answer for {count(missing, 'survey')}.")
    settings["code"] = code_sha256(__name__, *(METRICS.get(name).score for name in NAMES))
    return Evaluation(
        means, surveys, [name for name in gold if name not in trees], problems, settings,
        lower_is_better={n: METRICS.get(n).lower_is_better for n in NAMES if n in means},
        left_out=left_out, micro=micro,
        needs={} if llm_option else dict.fromkeys(taxobench.dimensions, "a judge"),
    )  # fmt: skip


def _read_data(path: str) -> dict[str, dict[str, Any]]:
    gold = {}
    for number, _, record in json_lines(path):
        if record is None or not isinstance(record.get("gt"), dict) or "id" not in record:
            raise DataError(f"{path!r} line {number} is not a record of TaxoBench's data.jsonl.")
        gold[str(record["id"])] = record["gt"]
    if not gold:
        raise DataError(f"{path!r} has no survey.")
    return gold


def _read_predictions(
    path: str, gold: Mapping[str, Any], official: bool, titles: Mapping[str, str] | None
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return trees and ``retrieved_papers`` by survey, and a sentence for each unused line.

    With the `titles` of papers the file is that of a run.
    """
    trees, listed = dict[str, Any](), dict[str, Any]()
    problems = []
    for number, text, record in json_lines(path):
        if record and titles is not None:
            tree = _with_titles(read_mind_map(record["mind_map"])[0], titles)
            record = {"id": record["topic_id"].removeprefix("taxobench:"), "tree": tree}
        if record is None or "id" not in record:
            problem = f"{clip(text)} is not a JSON object with an id."
        elif (name := str(record["id"])) not in gold:
            problem = f"no survey has the id {clip(name)}."
        elif name in trees and not official:
            problem = f"a second prediction for {clip(name)}; the first counts."
        else:
            tree = record.get("hierarchy_tree", record.get("tree", record))
            # As the released scorer: the last line of an id, and of two trees one not empty.
            trees[name] = (tree or record.get("tree") or None) if official else tree
            listed[name] = record.get("retrieved_papers")
            continue
        problems.append(f"line {number}: {problem}")
    return trees, listed, problems


def _with_titles(tree: MindMap, titles: Mapping[str, str]) -> dict[str, Any]:
    below = [_with_titles(child, titles) for child in tree.children]
    papers = [titles.get(paper, paper) for paper in tree.papers]
    return {"name": tree.label, "subtopics": below, "papers": papers}


def _judge(
    trees: Mapping[str, Any], gold: Mapping[str, dict[str, Any]], options: dict[str, Any]
) -> Judgements:
    from arena.llm import Client
    from arena_suites.judging import judge_pairs

    pairs: dict[str, tuple[MindMap, MindMap | None]] = {}
    for name, expert in gold.items():
        own, made = read_mind_map(expert)[0], None
        with suppress(DataError):
            made = _read_tree(trees.get(name), own)[0]
        pairs[name] = own, made
    return judge_pairs("taxobench", pairs, Client.from_options(options, "--llm-option"))


def _row(tree: Any, gold: dict[str, Any], encoder: str) -> dict[str, Any]:
    expert = read_mind_map(gold)[0]
    try:
        predicted, notes = _read_tree(tree, expert)
    except DataError as error:
        worst = {name: float(METRICS.get(name).lower_is_better is True) for name in NAMES}
        return {**worst, "reason": str(error)}  # all lie in [0, 1]
    predicted, expert, counts = named_alike(predicted, expert)
    scores = evaluate(predicted, expert, NAMES, encoder)
    above = [name for name in NAMES if (scores[name] or 0) > 1 + 1e-9]
    remarks = [_FILES_NONE] * (not predicted.all_papers())
    remarks += [f"{', '.join(above)} above 1: labels that are alike count as one"] * bool(above)
    return {**scores, **counts, "repairs": notes, "remark": "; ".join(remarks)}


def _read_tree(tree: Any, expert: MindMap) -> tuple[MindMap, list[str]]:
    """Return a prediction as a map whose papers are titles, and the notes of its reader.

    Objects in lists of papers are their titles. List items of Markdown, and the lowest headings of
    any tree, that are titles of the expert's papers are papers.
    """
    if tree is None:
        raise DataError("no prediction")
    titles, names = expert.all_papers(), dict[str, str]()
    if isinstance(tree, str):  # before it is read: a label is shorter than many titles
        items = [item[2] for item in _ITEM.finditer(tree)]
        found = {items[p]: n for n, p in enumerate(alignment(titles, items)) if p is not None}
        names = {f"Paper {n} of the expert": titles[n] for n in found.values()}
        short = dict(zip(found, names, strict=True))
        tree = _ITEM.sub(lambda item: item[1] + short.get(item[2], item[2]), tree)
    waiting = [tree]
    for value in waiting:
        if isinstance(value, dict):
            if isinstance(papers := value.get("papers"), list):
                value["papers"] = [_title(paper) for paper in papers]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    predicted, notes = read_mind_map(tree)
    nodes = (node for node in predicted.nodes() if not (node.children or node.papers))
    labels = list(dict.fromkeys(node.label for node in nodes))
    places = alignment(titles, labels)
    names |= {labels[place]: labels[place] for place in places if place is not None}
    return _filed(predicted, names), notes


def _title(paper: Any) -> Any:
    names = [paper.get(key) for key in ("title", "name", "id")] if isinstance(paper, dict) else ()
    return next((name for name in names if isinstance(name, str)), paper)


def _filed(tree: MindMap, titles: Mapping[str, str]) -> MindMap:
    """Return a map whose lowest headings that have `titles` are papers of the headings above."""
    lowest = [c for c in tree.children if c.label in titles and not (c.children or c.papers)]
    papers = dict.fromkeys([*tree.papers, *(titles[child.label] for child in lowest)])
    children = tuple(_filed(child, titles) for child in tree.children if child not in lowest)
    return MindMap(titles.get(tree.label, tree.label), children, tuple(papers))


def _official_row(
    tree: Any, gold: dict[str, Any], listed: Any, encoder: str | None
) -> dict[str, Any]:
    """Return the numbers of the released scorer; with an encoder those of the paper's scripts."""
    if isinstance(tree, dict) and encoder is not None:
        return printed_scores(tree, gold, encoder)._asdict()
    if isinstance(tree, dict):
        titles = list(map(str, listed)) if isinstance(listed, list) else None
        return released_scores(tree, gold, titles)._asdict()
    reason = "no prediction" if tree is None else "the root is not an object"
    nothing = PrintedScores() if encoder is not None else ReleasedScores()
    return {**nothing._asdict(), "reason": reason}


def named_alike(predicted: MindMap, gold: MindMap) -> tuple[MindMap, MindMap, dict[str, int]]:
    """Return both maps with numbers in place of titles, and counts of how papers are filed.

    Titles of one paper get one number; see `alignment`.

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


def alignment(references: Sequence[str], titles: Sequence[str]) -> list[int | None]:
    """Return the place in `titles` of each reference: equal titles first, then the most similar.

    Titles are compared in their normalised form. First every reference takes the first free title
    that equals its own; then the most similar of the remaining pairs, down to a ratio of 0.92, are
    joined, ties in the order of the references and of the titles. At last a title of five words or
    more is that of the one title which contains it, if it is in no other. A shorter one is another
    paper ("Attention" and "Attention is all you need").
    """
    keys = [normalised(title) for title in references]
    others = [normalised(title) for title in titles]
    places: list[int | None] = []
    free: dict[str, list[int]] = {}
    for place, other in enumerate(others):
        free.setdefault(other, []).append(place)
    for key in keys:
        places.append(free[key].pop(0) if key and free.get(key) else None)
    left = sorted(place for group in free.values() for place in group if others[place])
    pairs = []
    for number, key in enumerate(keys):
        if places[number] is not None or not key:
            continue
        matcher = SequenceMatcher(None, autojunk=False)
        matcher.set_seq2(key)
        for place in left:
            matcher.set_seq1(others[place])
            if matcher.real_quick_ratio() >= THRESHOLD and matcher.quick_ratio() >= THRESHOLD:
                pairs.append((-matcher.ratio(), number, place))
    taken: set[int] = set()
    for ratio, number, place in sorted(pairs):
        if -ratio >= THRESHOLD and places[number] is None and place not in taken:
            places[number] = place
            taken.add(place)
    within = [
        (number, place)
        for number, key in enumerate(keys)
        for place in left
        if places[number] is None and place not in taken and _within(key, others[place])
    ]
    of_reference, of_title = (Counter(pair[side] for pair in within) for side in (0, 1))
    for number, place in within:
        if of_reference[number] == of_title[place] == 1:
            places[number] = place
    return places


def _within(one: str, other: str) -> bool:
    """Return whether the shorter of two normalised titles has five words and is in the other."""
    short, long = sorted((one, other), key=len)
    return len(short.split()) >= _LEAST_WORDS and f" {short} " in f" {long} "
