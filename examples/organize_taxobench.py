"""Cluster the papers of real surveys and compare the mind-maps with those of experts.

    python examples/organize_taxobench.py data.jsonl --output DIR --encoders static,minilm
    python examples/organize_taxobench.py data.jsonl --output DIR --agent bottom-up \
        --agent-option model=NAME --agent-option base_url=URL

FILE has records of TaxoBench, one a line: ``survey_topic``, ``pdfs`` (title and abstract of each
paper) and ``gt``, the expert's tree. For every survey it writes each map as JSON, and a picture of
the flattened map of the agent, or else of the first encoder, beside the expert's. An agent is given
the papers and may read their abstracts, as in ``arena/Organization-v0``; it cannot search.

Besides the scores of the task the table has ``ami``, the adjusted mutual information of the two
ways in which papers are filed under headings: 1 if they agree, about 0 by chance. Labels do not
enter into it, nor do headings without papers.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.agents import AGENTS, Agent, Known
from arena.cli.app import parse_options, print_table
from arena.errors import ArenaError, DataError
from arena.mindmap import MindMap, beside, read_mind_map, score_pairs
from arena.runs.results import file_name
from baselines.clustering import MERGES, cluster
from baselines.random import random_tree

_SCORES = {
    "recall": "heading_soft_recall",
    "precision": "heading_soft_precision",
    "F1": "heading_soft_f1",
    "entities": "heading_entity_recall",
    "edits": "tree_edit_distance",
    "semantic": "tree_semantic_distance",
    "normalised": "normalised_tree_semantic_distance",
}


def read(path: Path) -> list[dict[str, Any]]:
    """Return topic, papers (their ids are their titles) and the expert's map of each survey."""
    surveys = []
    # Not splitlines(): a text in JSON may hold U+2028.
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise DataError(f"line {number} of {path.name!r} is no JSON object.")
        try:
            papers = [
                Known(pdf["title"], pdf["title"], abstract=pdf["abs"]) for pdf in record["pdfs"]
            ]
            topic, gold = record["survey_topic"], read_mind_map(record["gt"])[0]
        except (KeyError, TypeError) as error:
            raise DataError(
                f"line {number} of {path.name!r} is no TaxoBench record: {error!r}."
            ) from None
        surveys.append(
            {"id": str(record.get("id", number)), "topic": topic, "papers": papers, "gold": gold}
        )
    return surveys


def drawn_by(agent: Agent, papers: Sequence[Known], topic: str) -> MindMap:
    """Play an episode of organization without a corpus; return the map, a root alone for none."""
    known = {paper.id: paper for paper in papers}
    left = {"steps": len(known) + 1, "searches": 0, "reads": len(known), "characters": 10**9}
    listed = [{"id": paper.id, "title": paper.title[:500], "date": ""} for paper in known.values()]
    result: dict[str, Any] = {"references": listed}
    while left["steps"]:
        action = agent.act(
            {"topic": topic.lower(), "cutoff": "", "stage": "organization", "budget": dict(left),
             "result": json.dumps(result)}
        )  # fmt: skip
        assert isinstance(action, dict)
        if action["tool"] == "organize":
            return read_mind_map(action["arguments"]["mind_map"])[0]
        if action["tool"] != "read":
            break
        paper = known[action["arguments"]["paper_id"]]
        result = {"id": paper.id, "title": paper.title[:500], "date": "", "text": paper.abstract}
        left["steps"] -= 1
        left["reads"] -= 1
    return MindMap(topic)


def maps_of(
    survey: dict[str, Any],
    encoders: Sequence[str],
    seeds: int,
    agent: str | None = None,
    options: dict[str, Any] | None = None,
) -> dict[str, list[MindMap]]:
    """Return the maps to compare by name; of the random one as many as there are seeds."""
    papers, topic = survey["papers"], survey["topic"]
    made = {}
    if agent is not None:
        made[agent] = [drawn_by(AGENTS.get(agent)(**options or {}), papers, topic)]
    for encoder in encoders:
        for merge in MERGES:
            tree = cluster(papers, topic, encoder=encoder, merge=merge)
            made[f"clustering, {encoder}, {merge}"] = [tree]
    made["random"] = [
        read_mind_map(random_tree(papers, topic, random.Random(seed)))[0] for seed in range(seeds)
    ]
    made["expert"] = [survey["gold"]]
    return made


def agreement(tree: MindMap, gold: MindMap) -> float | None:
    """Return the adjusted mutual information of where both file the papers that both file.

    Of several headings of a paper the last one counts. None if there is no such paper.
    """
    from sklearn.metrics import adjusted_mutual_info_score

    ours, theirs = (
        {paper: number for number, node in enumerate(one.nodes()) for paper in node.papers}
        for one in (tree, gold)
    )
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        return None  # scikit-learn gives 1
    return float(adjusted_mutual_info_score([theirs[p] for p in shared], [ours[p] for p in shared]))


def compare(
    maps: Sequence[MindMap], gold: MindMap, model: str, extractor: str | None
) -> dict[str, Any]:
    """Return the mean scores of some maps; None where there is nothing to be compared."""
    found = score_pairs([(tree, gold) for tree in maps], model, extractor)
    means: dict[str, Any] = {
        "headings": statistics.fmean(tree.size for tree in maps),
        "levels": statistics.fmean(tree.depth for tree in maps),
    }
    for short, name in _SCORES.items():
        values = [scores[name] for scores in found]
        means[short] = None if None in values else statistics.fmean(values)
    known = [value for tree in maps if (value := agreement(tree, gold)) is not None]
    means["ami"] = statistics.fmean(known) if known else None
    return means


def main(argv: Sequence[str] | None = None) -> int:
    """Make the maps, write them, print the scores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="records of TaxoBench, one a line")
    parser.add_argument(
        "--output", type=Path, required=True, help="directory for maps and pictures"
    )
    parser.add_argument(
        "--encoders", default="static", help="of the papers, with commas (default: static)"
    )
    parser.add_argument("--agent", metavar="NAME", help="an agent that draws a map, too")
    parser.add_argument(
        "--agent-option", action="append", metavar="NAME=VALUE", help="an option of the agent"
    )
    parser.add_argument("--model", default="static", help="encoder of headings (default: static)")
    parser.add_argument("--extractor", default="spacy", help="extractor, or none (default: spacy)")
    parser.add_argument(
        "--seeds", type=int, default=20, help="random maps, whose scores are averaged (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args(argv)
    extractor = None if arguments.extractor == "none" else arguments.extractor
    results = []
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
        options = parse_options("--agent-option", arguments.agent_option)
        encoders = arguments.encoders.split(",")
        for survey in read(arguments.file):
            maps = maps_of(survey, encoders, arguments.seeds, arguments.agent, options)
            scores = {
                name: compare(made, survey["gold"], arguments.model, extractor)
                for name, made in maps.items()
            }
            results.append(
                {
                    "survey": survey["id"],
                    "topic": survey["topic"],
                    "papers": len(survey["papers"]),
                    "scores": scores,
                }
            )
            first = {name: made[0].to_json() for name, made in maps.items()}
            stem = file_name(survey["id"])
            (arguments.output / f"{stem}.json").write_text(
                json.dumps(first, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
            )
            name = next(iter(maps))
            picture = beside(maps[name][0], survey["gold"], captions=(name, "expert"))
            assert isinstance(picture, str)
            (arguments.output / f"{stem}.svg").write_text(picture, encoding="utf-8")
    except (ArenaError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(
            json.dumps(
                {"model": arguments.model, "extractor": extractor, "surveys": results}, indent=1
            )
        )
        return 0
    for result in results:
        rows = [(name, *scores.values()) for name, scores in result["scores"].items()]
        columns = list(result["scores"]["expert"])
        print_table(rows, (f"{result['topic'][:40]} ({result['papers']} papers)", *columns))
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
