"""An exception while one answer is scored is that episode's, and never ends a run."""

from __future__ import annotations

import json

import gymnasium

import arena
from arena import Agent, counted
from arena.mindmap import reading


def _failing(text, *rest):
    raise IndexError("no such place")


WHERE = (
    "IndexError: 'no such place' "
    f"(test_failed_scores.py line {_failing.__code__.co_firstlineno + 1})"
)


def test_a_run_goes_past_answers_that_cannot_be_scored(synthetic, tmp_path, monkeypatch, capsys):
    output = tmp_path / "run"
    command = ["run", "--corpus", str(synthetic), "--task", "report", "--agent", "title"]
    with monkeypatch.context() as patched:
        patched.setattr("arena.report.read_report", _failing)
        assert arena.cli.main([*command, "--output", str(output), "--topics", "2"]) == 0
    assert f"2 answers failed to be scored, left out of every mean. The first: {WHERE}." in (
        capsys.readouterr().out
    )
    summary = json.loads((output / "metrics.json").read_bytes())
    assert [entry["failed"] for entry in summary["per_topic"].values()] == [WHERE] * 2
    assert set(summary["mean"].values()) == {None}
    assert (summary["counts"]["failed"], summary["counts"]["not_scored"]) == (2, 0)
    lines = (output / "trajectories.jsonl").read_text().splitlines()
    assert [(record["metrics"], record["failed"]) for record in map(json.loads, lines)] == [
        ({}, WHERE)
    ] * 2
    scored = arena.rescore(output, synthetic)
    assert scored["mean"]["reference_recall"] > 0
    assert "failed" not in scored["counts"]


def test_an_exception_while_an_action_is_read_is_an_observation_and_recorded(
    synthetic, tmp_path, monkeypatch, capsys
):
    class Once(Agent):
        """Submits a map; then one again."""

        def act(self, observation):
            return {"tool": "organize", "arguments": {"mind_map": {"A": ["B"]}}}

    failed = iter([True, True])
    plain = reading.read_value

    def failing(value, tree):
        if value == {"A": ["B"]} and next(failed, False):
            raise IndexError("no such place")
        return plain(value, tree)

    monkeypatch.setattr(reading, "read_value", failing)
    summary = arena.run(synthetic, "organization", Once, tmp_path / "run", topics=1)
    (record,) = map(json.loads, (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines())
    where = record["steps"][0]["defect"]
    assert where.startswith("a defect of the reader: IndexError: 'no such place' (test_failed_")
    assert [step.get("error") for step in record["steps"]] == [where, where, None]
    (row,) = summary["per_topic"].values()
    assert row["remark"] == f"the map files no paper; 2 actions could not be read, by {where}"
    assert (summary["counts"]["scored"], row["steps"]) == (1, 3)


def test_a_report_that_is_too_complex_is_an_observation_and_costs_nothing(synthetic, monkeypatch):
    env = gymnasium.make("arena/Report-v0", corpus=synthetic)
    first, _ = env.reset(seed=1)
    monkeypatch.setattr(counted, "STEPS", 0)
    monkeypatch.setattr(counted, "_FREE", 100)
    text = "Bees dance. " * 100
    observation, _, over, _, _ = env.step({"tool": "submit_report", "arguments": {"text": text}})
    error = "the text is too complex to read: write it more plainly."
    assert (json.loads(observation["result"]), over) == ({"error": error}, False)
    assert observation["budget"]["written"] == first["budget"]["written"]
    monkeypatch.undo()
    assert env.step({"tool": "submit_report", "arguments": {"text": text}})[2]
