"""Helpers of several test files; corpora that they only read are fixtures in conftest.py."""

from __future__ import annotations

import calendar
import datetime
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pyarrow.parquet as pq

import arena
from arena.kit.arrays import StringTable
from corpus_builder.build import build
from corpus_builder.sources import LocatedRecord
from corpus_builder.sources.synthetic import SyntheticSource
from corpus_builder.synthetic import SyntheticConfig

# Corpora of a few records.


class Memory:
    """A source that has its records in memory."""

    example = ""

    def __init__(self, papers: list[Any], topics: list[Any]) -> None:
        self._papers, self._surveys = papers, topics

    def papers(self) -> Iterator[LocatedRecord]:
        return (LocatedRecord(p, "papers", n) for n, p in enumerate(self._papers, 1))

    def surveys(self) -> Iterator[LocatedRecord]:
        return (LocatedRecord(s, "topics", n) for n, s in enumerate(self._surveys, 1))

    def describe(self) -> dict[str, Any]:
        return {"source": "memory"}


SURVEY = {"id": "s", "title": "The survey of graphs", "date": "2020-06", "references": ["a"]}
SMALL = Memory([{"id": "a", "title": "Alpha", "date": "2019", "abstract": "beta"}], [SURVEY])


# Texts to index without a corpus.


class Papers:
    """An index input made of texts; None is a paper that is not searchable."""

    def __init__(self, papers: Sequence[str | None]) -> None:
        self.papers = papers
        searchable = [paper is not None for paper in papers]
        self.searchable_before = np.concatenate([[0], np.cumsum(searchable)]).astype(np.int64)

    def texts(self, fields: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        for number, paper in enumerate(self.papers):
            if paper is not None:
                yield number, paper


# What files and directories contain.


def table(path: Path) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]


def strings(path: Path) -> list[str]:
    found = StringTable(path)
    return [found[i] for i in range(len(found))]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


RUN_FILES = {
    "run.trec", "qrels.trec", "metrics.json", "trajectories.jsonl", "manifest.json", "machine.json",
}  # fmt: skip


# Building in a process of its own.

MAIN = "import sys; from corpus_builder.cli import main; sys.exit(main())"
SYNTHETIC = ["synthetic", "--seed", "7", "--papers", "400", "--surveys", "4"]


def command(*arguments: object, code: str = MAIN) -> list[str]:
    return [sys.executable, "-c", code, "build", *map(str, arguments)]


# Environments.


def make_env(synthetic: Path, name: str = "arena/Discovery-v0", **options: Any) -> gymnasium.Env:
    return gymnasium.make(name, corpus=synthetic, **options)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def result(step: tuple[Any, ...]) -> dict[str, Any]:
    return json.loads(step[0]["result"])


def act(env: gymnasium.Env, tool: str, **arguments: Any) -> dict[str, Any]:
    """Make a step; return the result."""
    return result(env.step(call(tool, **arguments)))


def playing(
    directory: Path, topic: str, name: str = "arena/Discovery-v0", **options: Any
) -> gymnasium.Env:
    """An environment in which the episode of one topic has begun."""
    env = make_env(directory, name, **options)
    env.reset(seed=0, options={"topic_id": topic})
    return env


def arena_topics(synthetic: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in pq.read_table(synthetic / "tasks/topics.parquet").to_pylist()}


def within_reach(synthetic: Path, topic: str) -> list[str]:
    """The papers that exist in an episode, in document order, from the Parquet files alone."""
    papers = pq.read_table(synthetic / "papers.parquet").to_pylist()
    date = arena_topics(synthetic)[topic]["date"]
    return [p["id"] for p in papers if p["date"] and p["date"] < date and not p["is_survey"]]


def links(synthetic: Path) -> list[tuple[str, str]]:
    """All (citing, cited) pairs of ids, from the Parquet files alone."""
    ids = pq.read_table(synthetic / "papers.parquet")["id"].to_pylist()
    rows = pq.read_table(synthetic / "references.parquet").to_pylist()
    return [(ids[row["document"]], ids[row["cited"]]) for row in rows]


def gold_of(synthetic: Path, topic: str) -> set[str]:
    """The reachable references, from the Parquet files alone."""
    rows = pq.read_table(synthetic / "tasks/gold.parquet").to_pylist()
    listed = {r["reference"] for r in rows if r["topic_id"] == topic}
    return listed & set(within_reach(synthetic, topic))


# Synthetic corpora, and their records.


def build_synthetic(directory: Path, papers: int, surveys: int, **options: Any) -> Path:
    """Build a synthetic corpus of the seed 7; `options` are those of a build."""
    config = SyntheticConfig(seed=7, papers=papers, surveys=surveys)
    build(SyntheticSource(config), directory, **options)
    return directory


NEVER = datetime.date.max


def resolve(date: str | None) -> datetime.date:
    """The last day a date can mean; far in the future when it is missing."""
    if date is None:
        return NEVER
    parts = [int(part) for part in date.split("-")]
    year, month = parts[0], parts[1] if len(parts) > 1 else 12
    day = parts[2] if len(parts) > 2 else calendar.monthrange(year, month)[1]
    return datetime.date(year, month, day)


def full_text(paper):
    sections = [f"{section['heading']} {section['text']}" for section in paper["sections"]]
    return " ".join([paper["title"], paper["abstract"], *sections])


# An encoder.


class Axes(dict):
    """Texts with chosen cosines: each is a vector of two numbers, by its first letter."""

    def labels(self, texts):
        return np.array([self[text[0]] for text in texts], np.float32)

    queries = labels


AXES = Axes(a=(1, 0), b=(0, 1), c=(0.6, 0.8), d=(-1, 0))


# Episodes.


def played(
    env: gymnasium.Env[Any, Any], agent: Any, topic: str | None = None, tools: bool = True
) -> tuple[list[Any], dict[str, Any], bool]:
    """Play an episode; return its actions, the last info and whether it was cut off."""
    if tools:
        agent.tools = arena.tool_schemas(env)
    observation, _ = env.reset(seed=3, options={"topic_id": topic} if topic else None)
    actions = []
    while True:
        actions.append(agent.act(observation))
        observation, _, terminated, truncated, info = env.step(actions[-1])
        if terminated or truncated:
            return actions, info, truncated


def reseal(corpus: Path) -> None:
    """Write the hashes of edited manifests, as if the corpus had been built with them."""
    from arena.kit.files import sha256_file, sha256_json, write_json

    path = corpus / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["indexes"] = {
        name: sha256_file(corpus / "index" / name / "manifest.json") for name in manifest["indexes"]
    }
    manifest.pop("manifest_sha256")
    write_json(path, manifest | {"manifest_sha256": sha256_json(manifest)})
