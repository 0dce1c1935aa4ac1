"""An exception while one answer is scored is that episode's, and never ends a run."""

from __future__ import annotations

import json

import arena


def _failing(text, *rest):
    raise IndexError("no such place")


WHERE = "IndexError: 'no such place' (test_failed_scores.py line 11)"


def test_a_run_goes_past_answers_that_cannot_be_scored(world, tmp_path, monkeypatch, capsys):
    output = tmp_path / "run"
    command = ["run", "--corpus", str(world), "--task", "report", "--agent", "title"]
    with monkeypatch.context() as patched:
        patched.setattr("arena.report.read_report", _failing)
        assert arena.cli.main([*command, "--output", str(output), "--surveys", "2"]) == 0
    assert f"2 answers failed to be scored, left out of every mean. The first: {WHERE}." in (
        capsys.readouterr().out
    )
    summary = json.loads((output / "metrics.json").read_bytes())
    assert [entry["failed"] for entry in summary["per_survey"].values()] == [WHERE] * 2
    assert set(summary["mean"].values()) == {None}
    assert (summary["counts"]["failed"], summary["counts"]["not_scored"]) == (2, 0)
    lines = (output / "trajectories.jsonl").read_text().splitlines()
    assert [(record["metrics"], record["failed"]) for record in map(json.loads, lines)] == [
        ({}, WHERE)
    ] * 2
    scored = arena.rescore(output, world)
    assert scored["mean"]["reference_recall"] > 0
    assert "failed" not in scored["counts"]


def test_a_run_continues_after_a_failed_episode(world, tmp_path, monkeypatch):
    output = tmp_path / "run"
    path, manifest = output / "trajectories.jsonl", output / "manifest.json"
    with monkeypatch.context() as patched:
        patched.setattr("arena.report.read_report", _failing)
        arena.run(world, "report", "title", output, surveys=2)
    # As a kill would leave it.
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    begun = json.loads(manifest.read_bytes())
    del begun["files"]
    manifest.write_text(json.dumps(begun))
    summary = arena.run(world, "report", "title", output, surveys=2)
    assert sorted("failed" in entry for entry in summary["per_survey"].values()) == [False, True]
    assert (summary["counts"]["scored"], summary["counts"]["failed"]) == (1, 1)
