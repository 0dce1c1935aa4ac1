"""Runs that play each topic several times: seeds, means, the best, pass@k, resuming."""

from __future__ import annotations

import itertools
import json

import pytest
from helpers import contents

import arena
from arena.errors import CorpusError, DataError
from arena.runs.repeats import pass_at
from arena.tasks import open_task


@pytest.fixture(scope="module")
def run(synthetic, tmp_path_factory):
    output = tmp_path_factory.mktemp("repeats") / "run"
    summary = arena.run(
        synthetic, "discovery", "random", output, topics=3, repeats=4, success="recall@100>=.2"
    )
    return output, summary


def records(output):
    lines = (output / "trajectories.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_metrics_by_hand(run):
    output, summary = run
    played = records(output)
    assert [r["repeat"] for r in played] == [0, 1, 2, 3] * 3
    assert len({r["seed"] for r in played}) == 12
    for topic, row in summary["per_topic"].items():
        scores = [r["metrics"]["recall@100"] for r in played if r["topic_id"] == topic]
        assert row["recall@100"] == pytest.approx(sum(scores) / 4)
        assert row["best@4.recall@100"] == max(scores)
        assert row["successes"] == sum(score >= 0.2 for score in scores)
        assert row["pass@1"] == row["successes"] / 4
        assert row["pass@4"] == float(row["successes"] > 0)
        assert len(row["submitted_each"]) == 4
        assert row["submitted_each"][0] == row["submitted"]
        assert (
            row["steps"] == sum(r["spent"]["steps"] for r in played if r["topic_id"] == topic) / 4
        )
    found = [row["successes"] for row in summary["per_topic"].values()]
    assert summary["profile"] == {
        "success": "recall@100>=0.2",
        "never": found.count(0),
        "sometimes": sum(0 < c < 4 for c in found),
        "always": found.count(4),
    }
    assert summary["mean"]["pass@4"] == sum(c > 0 for c in found) / 3
    assert summary["counts"]["repeats"] == 4


def test_what_was_submitted_is_counted_in_every_episode():
    rows = [{"submitted": {"discovery": n}} for n in (0, 5)]
    rows[0]["submitted_each"] = [{"discovery": n} for n in (0, 3, 0)]
    (line,) = open_task("discovery").nothing_submitted(rows)
    assert line.startswith("nothing in 2 of 4 episodes;")


@pytest.mark.parametrize("n", [1, 4, 7])
def test_pass_at_is_the_share_of_draws_with_a_success(n):
    for c, j in itertools.product(range(n + 1), range(1, n + 1)):
        draws = list(itertools.combinations([True] * c + [False] * (n - c), j))
        assert pass_at(j, n, c) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_a_seed_is_that_of_topic_and_repeat(run, synthetic, tmp_path):
    output, _ = run
    (topic,) = {r["topic_id"] for r in records(output)[4:8]}
    arena.run(synthetic, "discovery", "random", tmp_path, topics=[topic], repeats=2)
    assert [r["seed"] for r in records(tmp_path)] == [r["seed"] for r in records(output)[4:6]]


def test_a_run_resumes_within_a_topic(run, synthetic, tmp_path):
    output, summary = run
    again = {"topics": 3, "repeats": 4}
    arena.run(synthetic, "discovery", "random", tmp_path, **again)
    lines = (output / "trajectories.jsonl").read_bytes().splitlines(keepends=True)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest.pop("files")
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "trajectories.jsonl").write_bytes(b"".join(lines[:6]) + lines[6][:50])
    resumed = arena.run(
        synthetic, "discovery", "random", tmp_path, **again, jobs=2, success="recall@100>=.2"
    )
    assert resumed == summary
    both = [contents(each) for each in (output, tmp_path)]
    assert both[0].pop("machine.json") and both[1].pop("machine.json")
    assert both[0] == both[1]
    with pytest.raises(CorpusError, match="it differs in repeats"):
        arena.run(synthetic, "discovery", "random", tmp_path, topics=3)


def test_it_is_replayed_rescored_and_compared(run, synthetic, title_run, tmp_path):
    output, summary = run
    report = arena.verify(output, synthetic)
    assert (report.verified, report.episodes) == (True, 12)
    assert arena.rescore(output, synthetic)["mean"] == summary["mean"]
    title = tmp_path / "title"
    arena.run(synthetic, "discovery", "title", title, topics=3)
    comparison = arena.compare([title, output])
    assert [each.metric for each in comparison.metrics][:2] == ["recall@10", "recall@100"]
    assert not any("@4" in each.metric for each in comparison.metrics)
    assert comparison.runs[1].effort.episodes == 12
    (only,) = arena.compare([output], metrics=["best@4.recall@100"]).metrics
    assert next(iter(only.means.values())).mean == summary["mean"]["best@4.recall@100"]
    assert arena.compare([output], metrics=["pass@4"]).metrics[0].lower_is_better is False


@pytest.mark.parametrize(
    ("success", "message"),
    [
        ("recall@100", "give a metric and its bound"),
        ("recal@100>=.3", "no metric 'recal@100'. Did you mean 'recall@100'"),
        ("recall@100>=1.2.3", "give a metric and its bound"),
        ("recall@100>=3", "recall@100 is at most 1"),
    ],
    ids=range(4),
)
def test_a_bad_success_is_refused(synthetic, tmp_path, success, message):
    with pytest.raises(DataError, match=message):
        arena.run(synthetic, "discovery", "title", tmp_path, repeats=2, success=success)
