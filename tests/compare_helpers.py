"""Runs to compare: played by small agents, or forged from one with scores that a test chose."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from helpers import call

from arena.agents import Agent
from arena.metrics import METRICS

ANSWERED = {"map": "organization", "report": "report"}
"""Kind of metrics -> a task whose answers they score."""


class TwoSearches(Agent):
    """Two searches, references between them, two mistakes, and all hits submitted."""

    def __init__(self, seed=0, notes=None):
        super().__init__(seed)
        self.found: list[str] = []
        self.turn = 0
        self.told = notes or {}

    def act(self, observation):
        self.turn += 1
        hits = json.loads(observation["result"]).get("hits", ())
        self.found += [hit["id"] for hit in hits if hit["id"] not in self.found]
        if self.turn == 1:
            return call("search", query=observation["topic"], k=5)
        if self.turn == 2:
            return call("references", paper_id=self.found[0])
        if self.turn == 3:
            return call("search", query="overview " + observation["topic"], k=20, offset=2)
        if self.turn == 4:
            return call("read", paper_id="no such paper")
        if self.turn == 5:
            return call("search", query="no such engine", retriever="none")
        return call("submit", paper_ids=self.found)

    def notes(self):
        return self.told


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def forge(
    template: Path,
    target: Path,
    scores: Mapping[str, Mapping[str, float | None]] | None = None,
    change: Callable[[dict[str, Any]], None] = lambda manifest: None,
    rewrite: Callable[[dict[str, Any]], None] = lambda record: None,
    clusters: Mapping[str, str] | None = None,
) -> Path:
    """Copy a run, with other scores (metric -> topic -> value), manifest or episodes.

    With scores of its own every topic is its own cluster, unless `clusters` names that of each.
    The hashes of the files are computed again, as if the run had left them so.
    """
    shutil.copytree(template, target)
    manifest = json.loads((target / "manifest.json").read_text())
    change(manifest)
    metrics = json.loads((target / "metrics.json").read_text())
    if scores is not None:
        metrics["mean"], metrics["ceiling"] = {}, {}
        for topic, entry in metrics["per_topic"].items():
            entry["cluster"] = (clusters or {}).get(topic, "")
        for metric, values in scores.items():
            for topic, entry in metrics["per_topic"].items():
                entry[metric] = values[topic]
            known = [value for value in values.values() if value is not None]
            metrics["mean"][metric] = sum(known) / len(known) if known else None
            metrics["ceiling"][metric] = 1.0
        manifest["definition"]["metrics"] = list(scores)
        kinds = {METRICS.get(name).kind for name in scores if "." not in name}
        manifest["task"] = next(
            (ANSWERED[kind] for kind in kinds if kind in ANSWERED), manifest["task"]
        )
        manifest["metrics"] = {"names": [name for name in scores if "." not in name]}
        manifest["definition"]["headline"] = next(iter(scores))
        metrics["counts"]["scored"] = sum(
            any(values[topic] is not None for values in scores.values())
            for topic in metrics["per_topic"]
        )
    (target / "metrics.json").write_text(json.dumps(metrics, sort_keys=True))
    lines = []
    for line in (target / "trajectories.jsonl").read_text().splitlines():
        record = json.loads(line)
        record |= {key: manifest[key] for key in ("arena", "task", "sha256")}
        rewrite(record)
        lines.append(json.dumps(record, separators=(",", ":")) + "\n")
    (target / "trajectories.jsonl").write_text("".join(lines))
    if scores is not None:  # without labels of its own, by which its answers get other scores
        manifest.get("files", {}).pop("qrels.trec", None)
    if "files" in manifest:
        manifest["files"] = {name: sha256(target / name) for name in manifest["files"]}
    (target / "manifest.json").write_text(json.dumps(manifest))
    return target


def topics_of(run: Path) -> list[str]:
    return json.loads((run / "manifest.json").read_text())["topics"]
