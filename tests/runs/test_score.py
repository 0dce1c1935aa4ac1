"""Scoring: the means of a run by another implementation, and runs of other systems."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from helpers import call

import arena
import arena.cli
from arena.agents import Agent
from arena.cli.run import print_summary
from arena.errors import DataError


def test_a_run_over_some_topics_is_scored_over_those(synthetic, tmp_path):
    summary = arena.run(synthetic, "discovery", "title", tmp_path / "run", topics=2)
    assert arena.score(synthetic, "discovery", tmp_path / "run/run.trec")["mean"] == summary["mean"]
    # The same file elsewhere is anybody's: what it leaves out scores 0.
    (tmp_path / "other.trec").write_bytes((tmp_path / "run" / "run.trec").read_bytes())
    alone = arena.score(synthetic, "discovery", tmp_path / "other.trec")
    assert alone["counts"]["missing"] == 6
    assert alone["mean"]["recall@100"] == pytest.approx(summary["mean"]["recall@100"] * 2 / 8)


def test_score_of_a_foreign_run(mini, tmp_path):
    """Worked out by hand on the mini corpus, see conftest.py for its documents."""
    gold = {
        row["reference"]: 2 if row["influential"] else 1
        for row in pq.read_table(mini / "tasks/gold.parquet").to_pylist()
        if row["topic_id"] == "sv:1" and row["status"] == "gold"
    }
    assert gold, "sv:1 has gold"
    first = min(gold)
    run = tmp_path / "run.trec"
    # The rank column lies, scores decide; 'future' is unknown and has rank 1.
    run.write_text(f"sv:1 Q0 {first} 1 0.5 other\nsv:1 Q0 future:1 2 0.9 other\n", encoding="utf-8")
    scored = arena.score(mini, "selection", run)
    assert scored["per_topic"]["sv:1"]["mrr"] == 0.5
    assert scored["counts"]["not_visible"] == 1
    others = [s for s, entry in scored["per_topic"].items() if s != "sv:1" and entry["gold"]]
    assert scored["counts"]["missing"] == len(others)
    assert all(scored["per_topic"][s]["mrr"] == 0.0 for s in others)
    assert scored["mean"]["mrr"] == pytest.approx(0.5 / (1 + len(others)))


def test_ties_are_broken_by_document_order(synthetic, tmp_path):
    corpus = arena.Corpus.open(synthetic)
    topic = sorted(pq.read_table(synthetic / "tasks/topics.parquet")["id"].to_pylist())[0]
    papers = pq.read_table(synthetic / "papers.parquet", columns=["id", "searchable"]).to_pylist()
    ids = [p["id"] for p in papers if p["searchable"]][:50]
    summaries = []
    for order in (ids, ids[::-1]):
        run = tmp_path / "run.trec"
        run.write_text("".join(f"{topic} Q0 {i} {n} 1.0 x\n" for n, i in enumerate(order, 1)))
        summaries.append(arena.score(corpus, "selection", run, [topic]))
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("nope Q0 a 1 1.0 t\n", "topic 'nope', which this corpus does not have"),
        ("a b c\n", "run.trec:1"),
        ("s Q0 a 1 nan t\n", "run.trec:1"),
    ],
)
def test_bad_run_files(synthetic, tmp_path, text, message):
    (tmp_path / "run.trec").write_text(text)
    with pytest.raises(DataError, match=message):
        arena.score(synthetic, "discovery", tmp_path / "run.trec")
    with pytest.raises(DataError, match="no such file"):
        arena.score(synthetic, "discovery", tmp_path / "missing.trec")


def test_ranks_below_one_thousand_do_not_count(synthetic, tmp_path):
    topic = min(pq.read_table(synthetic / "tasks/topics.parquet")["id"].to_pylist())
    gold = next(
        row["reference"]
        for row in pq.read_table(synthetic / "tasks/gold.parquet").to_pylist()
        if row["topic_id"] == topic and row["status"] == "gold"
    )
    for place, expected in ((1000, 1 / 1000), (1001, 0.0)):
        lines = [f"{topic} Q0 x{n} 0 {-n} t" for n in range(1, place)]
        lines.append(f"{topic} Q0 {gold} 0 {-place} t")
        (tmp_path / "run.trec").write_text("\n".join(lines))
        scored = arena.score(synthetic, "selection", tmp_path / "run.trec", [topic, topic])
        assert scored["per_topic"][topic]["mrr"] == expected
        assert scored["counts"]["not_visible"] == place - 1 - (place > 1000) + (place > 1000)


@pytest.mark.parametrize("task", ["organization", "pipeline"])
def test_a_task_that_is_no_ranking_names_the_other_command(synthetic, title_run, task):
    with pytest.raises(DataError, match=r"`arena rescore` scores the answers of a run"):
        arena.score(synthetic, task, title_run / "run.trec")


class Idle(Agent):
    """Searches until the budget ends the episode."""

    def act(self, observation):
        return call("search", query=observation["topic"])


def test_an_agent_that_submits_nothing_is_reported_beside_the_zeros(
    synthetic, title_run, tmp_path, capsys
):
    command = ["rescore", str(tmp_path / "run"), "--corpus", str(synthetic)]
    arena.run(synthetic, "discovery", Idle, tmp_path / "run", topics=3, max_steps=2)
    assert arena.cli.main(command) == 0
    assert "Warning: the agent submitted nothing in 3 of 3 episodes" in capsys.readouterr().out
    assert arena.cli.main(["rescore", str(title_run), "--corpus", str(synthetic)]) == 0
    assert "Warning" not in capsys.readouterr().out


def test_counts_of_references_are_written_alike(capsys):
    counts = {"topics": 1, "scored": 1, "not_scored": 0, "gold": 1173, "references": 5174,
              "references_total": 6251, "unknown": 1001}  # fmt: skip
    scores = {
        "mean": {"mrr": 1.0},
        "ceiling": {"mrr": 1.0},
        "per_topic": {"s1": {"submitted": {"discovery": 1}}},
    }
    print_summary({"task": "discovery", "counts": counts, **scores}, "title")
    assert (
        "In reach: 1,173 of 6,251 references (5,174 listed, of these 1,001 not in the corpus and "
        "3,000 undated, surveys or too late)." in capsys.readouterr().out
    )
