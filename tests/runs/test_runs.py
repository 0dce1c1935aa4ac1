"""Runs: their files, the numbers in them, and the agents that play."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import RUN_FILES, contents, gold_of

import arena
import arena.cli
from arena.agents import AGENTS, Agent
from arena.errors import ArenaError, CorpusError
from arena.results.viewing import as_page
from arena.tasks import TaskSet


def test_the_files(synthetic, title_run):
    assert set(contents(title_run)) == RUN_FILES
    manifest = json.loads((title_run / "manifest.json").read_text())
    assert set(manifest["sha256"]) == {
        "corpus", "index", "tasks", "prompts", "environment", "code",
    }  # fmt: skip
    assert manifest["sha256"]["prompts"] is None  # this agent has none
    for name in ("corpus", "index", "tasks", "environment", "code"):
        assert re.fullmatch("[0-9a-f]{64}", manifest["sha256"][name])
    assert set(manifest["files"]) == RUN_FILES - {"machine.json", "manifest.json"}
    machine = json.loads((title_run / "machine.json").read_text())
    assert set(machine) == {"python", "platform", "numpy", "numba", "commit"}
    assert (machine["python"], machine["numpy"]) == (sys.version.split()[0], np.__version__)
    head = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True).stdout.strip()
    assert machine["commit"] == (commit or None)
    summary = json.loads((title_run / "metrics.json").read_text())
    topics = pq.read_table(synthetic / "tasks/topics.parquet").to_pylist()
    assert list(summary["per_topic"]) == sorted(s["id"] for s in topics)
    for line in (title_run / "trajectories.jsonl").read_text().splitlines():
        record = json.loads(line)
        query = record["steps"][0]["action"]["arguments"]["query"]
        assert query in {s["title"].lower() for s in topics}
        assert record["spent"] | {"characters": 0} == {
            "steps": 2, "searches": 1, "reads": 0, "characters": 0,
        }  # fmt: skip
        assert record["sha256"] == manifest["sha256"]
        # The answer alone pays; title submits all that it is shown.
        first, last = record["steps"]
        assert (first["reward"], last["gain"]) == (0, 0)
        assert first["gain"] == last["reward"] == record["metrics"]["recall@100"]
        assert last["reward_terms"] == {"final": last["reward"]}
        assert summary["per_topic"][record["topic_id"]]["return"] == last["reward"]


def test_the_means_by_hand(title_run):
    """Recall and precision from the two TREC files alone."""
    gold: dict[str, set[str]] = {}
    for line in (title_run / "qrels.trec").read_text().splitlines():
        topic, _, paper, gain = line.split()
        assert gain in "12"
        gold.setdefault(topic, set()).add(paper)
    ranked: dict[str, list[str]] = {topic: [] for topic in gold}
    for line in (title_run / "run.trec").read_text().splitlines():
        topic, _, paper, rank, _, tag = line.split()
        ranked[topic].append(paper)
        assert (len(ranked[topic]), tag) == (int(rank), "title")
    summary = json.loads((title_run / "metrics.json").read_text())
    for k in (10, 100):
        found = {s: len(gold[s] & set(ranked[s][:k])) for s in gold}
        recall = sum(found[s] / len(gold[s]) for s in gold) / len(gold)
        best = sum(min(k, len(gold[s])) / len(gold[s]) for s in gold) / len(gold)
        assert summary["mean"][f"recall@{k}"] == pytest.approx(recall)
        assert summary["ceiling"][f"recall@{k}"] == pytest.approx(best)
        assert summary["mean"][f"precision@{k}"] == pytest.approx(
            sum(found[s] / k for s in gold) / len(gold)
        )
    assert summary["counts"]["gold"] == sum(map(len, gold.values()))


def test_the_same_run_twice_gives_the_same_bytes(synthetic, title_run, tmp_path):
    arena.run(synthetic, "discovery", "title", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(title_run)
    before = contents(title_run)
    arena.run(synthetic, "discovery", "title", title_run)  # complete: nothing to do
    assert contents(title_run) == before


def test_only_a_timed_run_has_a_file_with_a_clock(synthetic, title_run, tmp_path):
    output = tmp_path / "timed"
    seconds = []
    for _ in range(2):
        arena.run(synthetic, "discovery", "title", output, timed=True)
        seconds.append(json.loads((output / "timing.json").read_text())["seconds"])
    assert 0 < seconds[0] < 60
    assert seconds[1] == seconds[0]  # there was nothing to play
    assert not (title_run / "timing.json").exists()
    page = as_page(arena.compare([output])).html
    assert f"{seconds[0]:.4f}" in page and "run that was timed" in page
    assert "run that was timed" not in as_page(arena.compare([title_run])).html
    (output / "timing.json").write_text('{"seconds": "NaN"}')
    with pytest.raises(CorpusError, match="has no number of seconds"):
        arena.compare([output])
    (output / "timing.json").unlink()
    assert contents(output) == contents(title_run)


def test_the_seed_and_the_place_of_an_episode_count(synthetic, tmp_path):
    arena.run(synthetic, "discovery", "random", tmp_path / "a", seed=1)
    arena.run(synthetic, "discovery", "random", tmp_path / "b", seed=1)
    arena.run(synthetic, "discovery", "random", tmp_path / "c", seed=2)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert (tmp_path / "a/run.trec").read_bytes() != (tmp_path / "c/run.trec").read_bytes()
    records = read_records(tmp_path / "a")
    assert len({record["seed"] for record in records}) == 8
    arena.run(
        synthetic, "discovery", "random", tmp_path / "d", seed=1, topics=[records[-1]["topic_id"]]
    )
    [alone] = read_records(tmp_path / "d")
    assert alone["seed"] == records[0]["seed"]  # the place alone: no topic can be told by it


def read_records(run):
    return [json.loads(line) for line in (run / "trajectories.jsonl").read_text().splitlines()]


def test_episodes_are_played_in_order_of_their_cutoffs(synthetic, tmp_path):
    arena.run(synthetic, "discovery", "title", tmp_path / "run")
    dates = {
        r["id"]: r["date"] for r in pq.read_table(synthetic / "tasks/topics.parquet").to_pylist()
    }
    played = [record["topic_id"] for record in read_records(tmp_path / "run")]
    assert played == sorted(dates, key=lambda topic: (dates[topic], topic)) != sorted(dates)
    assert json.loads((tmp_path / "run/manifest.json").read_text())["topics"] == played


def test_the_oracle_reaches_the_ceiling_and_random_does_not(synthetic, tmp_path):
    for task in ("discovery", "selection", "organization", "pipeline"):
        best = arena.run(synthetic, task, "oracle", tmp_path / f"{task}-oracle")
        assert best["mean"] == best["ceiling"]
        floor = arena.run(synthetic, task, "random", tmp_path / f"{task}-random")
        distances = {name for name in best["mean"] if "distance" in name}
        assert all(best["mean"][name] == 0 < floor["mean"][name] for name in distances)
        scores = best["mean"].keys() - distances
        assert all(floor["mean"][name] < 0.9 * best["mean"][name] for name in scores)


def test_an_agent_that_never_submits_scores_zero(synthetic, tmp_path, monkeypatch):
    monkeypatch.setattr(AGENTS.get("title"), "act", lambda self, observation: "no idea")
    summary = arena.run(synthetic, "discovery", "title", tmp_path / "run")
    assert set(summary["mean"].values()) == {0.0}
    assert all(entry["truncated"] for entry in summary["per_topic"].values())
    assert (tmp_path / "run/run.trec").read_bytes() == b""
    assert arena.score(synthetic, "discovery", tmp_path / "run/run.trec")["mean"] == summary["mean"]


def test_a_run_over_topics_without_gold(mini, tmp_path):
    unscored = [
        row["topic_id"]
        for row in pq.read_table(mini / "tasks/mind_maps.parquet").to_pylist()
        if not TaskSet(mini).gold(row["topic_id"]).gains
    ]
    summary = arena.run(mini, "discovery", "title", tmp_path / "run", topics=unscored)
    assert summary["counts"]["scored"] == 0
    assert summary["counts"]["not_scored"] == len(unscored) > 0
    assert set(summary["mean"].values()) == {None}
    assert (tmp_path / "run/qrels.trec").read_bytes() == b""


class Noted(Agent):
    """Submits at once, with notes."""

    told: Any = None

    def act(self, observation: Any) -> Any:
        return {"tool": "finish", "arguments": {}}

    def notes(self) -> Any:
        return self.told


def test_the_notes_of_an_agent(synthetic, tmp_path, monkeypatch):
    monkeypatch.setattr(Noted, "told", {"calls": 2, "tokens": {"out": 7, "in": 9}})
    arena.run(synthetic, "discovery", Noted, tmp_path / "run", topics=1)
    record = json.loads((tmp_path / "run/trajectories.jsonl").read_text())
    assert record["notes"] == {"calls": 2, "tokens": {"in": 9, "out": 7}}
    loop: list[Any] = []
    loop.append(loop)
    for told in (None, [1], {1, 2}, {"a": {1}}, {"a": float("nan")}, {"a": loop}, {(1,): 2}):
        monkeypatch.setattr(Noted, "told", told)
        with pytest.raises(ArenaError, match=r"'Noted' failed on .*notes\(\) .* not a JSON"):
            arena.run(synthetic, "discovery", Noted, tmp_path / "bad", topics=1)
        assert not (tmp_path / "bad/trajectories.jsonl").read_bytes()


def test_the_environment_of_a_run_on_the_command_line(synthetic, tmp_path, capsys):
    command = [
        "run", "--corpus", str(synthetic), "--task", "organization", "--agent", "oracle",
        "--topics", "2", "--output", str(tmp_path / "run"), "--env-option", "references=run",
        "--reward", "final+cost", "--reward-option", 'cost={"per_read": 1}', "--encoder", "minilm",
        "--env-option", "max_reads=3", "--env-option", "max_characters=1000",
    ]  # fmt: skip
    assert arena.cli.main(command) == 0
    assert "heading_soft_recall" in capsys.readouterr().out
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert manifest["environment"] == {
        "retriever": "bm25", "retriever_options": {}, "retrievers": [], "reward": "final+cost",
        "reward_options": {"cost": {"per_read": 1}}, "encoder": "minilm", "references": "run",
        "paper_text": "title_abstract", "tools": [],
    }  # fmt: skip
    assert manifest["budget"]["max_reads"] == 3
    assert manifest["budget"]["max_characters"] == 1000
    assert manifest["encoder"]["encoder"] == "minilm"
    assert arena.cli.main([*command, "--encoder", "static"]) == 2
    assert "differs in encoder" in capsys.readouterr().err


@pytest.mark.slow
def test_an_agent_typed_into_a_session(synthetic, tmp_path):
    """As in a notebook or `python -`: there is no file, so its bytecode names the code."""
    code = """
import sys, json, arena
class Mine(arena.Agent):
    def act(self, observation):
        return {"tool": "submit", "arguments": {"paper_ids": []}} if %s else "x"
summary = arena.run(sys.argv[1], "discovery", Mine, sys.argv[2], topics=1)
print(summary["sha256"]["code"])
"""
    hashes = []
    for number, condition in enumerate(("True", "True", "observation['topic'] in {'a', 'b', 'c'}")):
        command = [sys.executable, "-", str(synthetic), str(tmp_path / str(number))]
        done = subprocess.run(
            command, input=code % condition, capture_output=True, text=True, check=True
        )
        hashes.append(done.stdout)
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_run_of_reports(synthetic, tmp_path):
    """Files, scores from the record alone, a replay, a comparison, and the same bytes twice."""
    runs = []
    for name in ("one", "two"):
        arena.run(synthetic, "report", "title", tmp_path / name, topics=2, metrics=["recall@100"])
        runs.append(contents(tmp_path / name))
    assert runs[0] == runs[1]
    first = tmp_path / "one"
    records, rows = (
        [json.loads(line) for line in (first / name).read_text().splitlines()]
        for name in ("trajectories.jsonl", "reports.jsonl")
    )
    summary = json.loads((first / "metrics.json").read_text())
    assert {row["topic_id"]: row["report"] for row in rows} == {
        record["topic_id"]: record["answers"]["report"] for record in records
    }
    for record in records:
        topic, report = record["topic_id"], record["answers"]["report"]
        assert (first / f"reports/{topic}.md").read_text(encoding="utf-8") == report
        cited = re.findall(r"\[@([\w-]+)\]", report)
        lines = (first / "run.trec").read_text().splitlines()
        assert [line.split()[2] for line in lines if topic in line] == cited
        assert sorted(cited) == record["seen"]
        of_topic = summary["per_topic"][topic]
        gold = gold_of(synthetic, topic)
        assert of_topic["submitted"] == {"report": len(cited)}
        assert of_topic["unseen_rate"] == 0
        assert of_topic["reference_recall"] == of_topic["recall@100"]
        assert of_topic["recall@100"] == len(gold & set(cited)) / len(gold)
        assert of_topic["written"] == len(report)
    assert "max_written" in json.loads((first / "manifest.json").read_text())["budget"]
    assert arena.verify(first, synthetic).difference is None
    assert arena.rescore(first, synthetic)["mean"]["unseen_rate"] == 0
    scored = arena.score(synthetic, "discovery", first / "run.trec", metrics=["recall@100"])
    assert scored["mean"]["recall@100"] == summary["mean"]["recall@100"]
    arena.run(synthetic, "report", "oracle", tmp_path / "oracle", topics=2, metrics=["recall@100"])
    page = as_page(arena.compare([first, tmp_path / "oracle"])).html
    assert "oracle" in page
