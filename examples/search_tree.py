"""Best-of-n and beam search over tool calls, with saved states and the ranker as value.

Each node of the tree is a saved episode. Its moves are searches for titles of papers that it has
shown, and lists of references and citations. Its value is what the reward `ranker` would pay if the
episode ended there: a guess from what was shown, without labels. Calls that are tried and not kept
cost time, and nothing of the episode's budget.

    python examples/search_tree.py --corpus demo/synthetic --output tree.json
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

import arena  # noqa: F401 - registers the environments

FINISH = {"tool": "finish", "arguments": {}}
NEAR = 20  # papers, the first shown, that moves are made of


class Node(NamedTuple):
    """An episode so far: its state, its value, the recall of all papers shown, and what it did."""

    state: dict[str, Any]
    value: float
    recall: float
    papers: dict[str, str]  # id -> title, in the order of their first list
    done: frozenset[str]


def grown(env: Any, node: Node | None, state: Any, action: dict[str, Any], use: str) -> Node:
    """Return the node after an action; `use` says what its value is: ranker, gain or none."""
    env.restore(state)
    observation, _, _, _, info = env.step(action)
    result = json.loads(observation["result"])
    papers = dict(node.papers if node else {})
    for name in ("hits", "references", "citations"):
        for paper in result.get(name) or ():
            papers.setdefault(paper["id"], paper["title"])
    recall, after = (node.recall if node else 0.0) + info["gain"], env.save()
    value = recall if use == "gain" else 0.0
    if use == "ranker":
        value = env.step(FINISH)[4]["reward_terms"]["ranker"]
    done = (node.done if node else frozenset()) | {json.dumps(action)}
    return Node(after, value, recall, papers, done)


def moves(node: Node, draw: random.Random, n: int) -> list[dict[str, Any]]:
    """Return n new calls about the first papers that were shown."""
    near = list(node.papers.items())[:NEAR]
    calls: list[dict[str, Any]] = [
        {"tool": "search", "arguments": {"query": title, "k": 50}} for _, title in near
    ]
    calls += [
        {"tool": tool, "arguments": {"paper_id": paper}}
        for tool in ("references", "citations")
        for paper, _ in near
    ]
    new = [call for call in calls if json.dumps(call) not in node.done]
    return draw.sample(new, min(n, len(new)))


def search(env: Any, topic: str, n: int, width: int, depth: int, use: str, seed: int) -> Any:
    """Return the best node after `depth` calls besides the first search, and the calls tried."""
    observation, _ = env.reset(seed=seed, options={"topic_id": topic})
    draw, env = random.Random(f"{seed} {topic}"), env.unwrapped
    first = {"tool": "search", "arguments": {"query": observation["topic"], "k": 50}}
    beam, tried = [grown(env, None, env.save(), first, use)], 1
    for _ in range(depth):
        after = [
            grown(env, node, node.state, call, use)
            for node in beam
            for call in moves(node, draw, n)
        ]
        tried += len(after)
        beam = sorted(after, key=lambda node: -node.value)[:width] or beam
    return beam[0], tried


def main() -> None:
    """Print and write the recall of all papers shown, and the calls tried, of every search."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--tasks")
    parser.add_argument("--ranker", default="learned")
    parser.add_argument("--topics", type=int, default=30)
    parser.add_argument("--output", required=True)
    parser.add_argument("--quick", action="store_true", help="only check that everything runs")
    given = parser.parse_args()
    topics, depth = (2, 2) if given.quick else (given.topics, 8)
    env: Any = gymnasium.make(
        "arena/Discovery-v0", corpus=given.corpus, tasks=given.tasks, topics=topics,
        reward="ranker", reward_options={"ranker": {"file": given.ranker}},
    )  # fmt: skip
    systems = {
        "any call": (1, 1, "none"), "best of 4": (4, 1, "ranker"), "best of 8": (8, 1, "ranker"),
        "beam of 3, 4 calls each": (4, 3, "ranker"), "best of 8 by the labels": (8, 1, "gain"),
    }  # fmt: skip
    rows = {}
    for name, (n, width, use) in systems.items():
        begun, found = time.process_time(), []
        for topic in env.unwrapped.topics:
            found.append(search(env, topic, n, width, depth, use, 0))
        recall = sum(node.recall for node, _ in found) / len(found)
        tried = sum(tried for _, tried in found) / len(found)
        rows[name] = {"recall": round(recall, 4), "tried": tried}
        seconds = (time.process_time() - begun) / len(found)
        print(f"{name:<26} recall {recall:.3f}  tried {tried:6.1f}  {seconds:.2f} s an episode")
    Path(given.output).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
