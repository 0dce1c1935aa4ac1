"""Scores that were edited, hash and all, are refused by everything that prints them."""

from __future__ import annotations

import json
import shutil

import pytest

import arena
from arena.cli import main
from arena.corpus import Corpus
from arena.errors import CorpusError
from arena.kit.files import sha256_file
from arena.results import comparison
from arena.results.viewing import as_page
from arena.runs.checking import Misstatement, misstated
from arena.runs.directory import OpenedRun

TASKS = ("discovery", "organization", "question", "report", "pipeline")


@pytest.fixture(scope="module")
def runs(synthetic, tmp_path_factory):
    """Task -> a run of a baseline on two topics."""
    place = tmp_path_factory.mktemp("honest")
    for task in TASKS:
        arena.run(synthetic, task, "random", place / task, topics=2)
    arena.run(synthetic, "discovery", "title", place / "twice", topics=2, repeats=2)
    return place


def forge(run, edit, name="metrics.json"):
    """Edit a file of a run, and its hash in the manifest."""
    path, manifest = run / name, json.loads((run / "manifest.json").read_text())
    content = json.loads(path.read_text()) if name.endswith(".json") else path.read_text()
    edited = edit(content)  # in place, or the new text
    path.write_text(edited if isinstance(edited, str) else json.dumps(content))
    manifest["files"][name] = sha256_file(path)
    (run / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def forged(runs, tmp_path):
    """Copy a run and give its first topic another score; return the run, topic and true value."""

    def make(task, metric, stated):
        run = tmp_path / f"{task}-forged"
        shutil.copytree(runs / task, run)
        true = {}

        def edit(content):
            topic = min(content["per_topic"])
            true[topic] = content["per_topic"][topic][metric]
            content["per_topic"][topic][metric] = stated

        forge(run, edit)
        return run, *next(iter(true.items()))

    return make


@pytest.mark.parametrize("task", [*TASKS, "twice"])
def test_a_run_states_what_its_answers_get(runs, synthetic, task):
    run = OpenedRun(runs / task)
    stated = json.loads((run.directory / "metrics.json").read_text())
    assert misstated(run, stated, Corpus.resolve(synthetic)) == []
    assert misstated(run, stated) == (None if task in ("organization", "report") else [])


HEADLINES = {
    "discovery": "recall@100", "organization": "paper_filing_agreement", "question": "f1",
    "report": "reference_f1", "pipeline": "pipeline_score",
}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_an_edited_score_is_refused_with_both_values(forged, runs, synthetic, task, capsys):
    run, topic, true = forged(task, HEADLINES[task], 0.9271)
    command = ["compare", str(run), f"honest={runs / task}", "--corpus", str(synthetic)]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert f"for topic {topic!r} it states {HEADLINES[task]} 0.9271" in error
    assert f"answers get {true}" in error
    assert main(["view", str(run), "--corpus", str(synthetic), "--output", "x.html"]) == 2
    assert f"topic {topic!r} it states" in capsys.readouterr().err
    alone = main(command[:-2])
    assert alone == (2 if task in ("discovery", "question") else 0)
    with pytest.raises(SystemExit, match="1"):
        main(["verify", str(run), "--corpus", str(synthetic)])
    error = capsys.readouterr().err
    assert f"topic {topic!r} it states {HEADLINES[task]} 0.9271" in error


def test_means_and_texts_in_the_place_of_scores(runs, synthetic, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(runs / "discovery", run)
    true = json.loads((run / "metrics.json").read_text())["mean"]["recall@10"]
    forge(run, lambda content: content["mean"].update({"recall@10": "high"}))
    stated = json.loads((run / "metrics.json").read_text())
    assert misstated(OpenedRun(run), stated) == [Misstatement("", "recall@10", "high", true)]
    with pytest.raises(CorpusError, match=r"for the mean it states recall@10 'high'"):
        arena.compare([run])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda m: m["per_topic"].update(s99={"recall@100": 0.5}), "'s99' it states recall@100 "),
        (lambda m: m["per_topic"].pop(min(m["per_topic"])), "it states recall@100 'None'"),
        (lambda m: m["per_topic"].update({min(m["per_topic"]): [1]}), r"recall@100 '\[1\]'"),
        (lambda m: m.update(per_topic=[]), r"was edited: per_topic=\[\]"),
        (lambda m: m.pop("mean"), "was edited: mean is missing"),
        (lambda m: m["mean"].update({"recall@100": float("nan")}), "states recall@100 nan"),
    ],
)  # fmt: skip
def test_topics_that_nobody_played_and_files_without_scores(runs, tmp_path, edit, message):
    run = tmp_path / "run"
    shutil.copytree(runs / "discovery", run)
    forge(run, edit)
    with pytest.raises(CorpusError, match=message):
        arena.compare([run])


def test_topics_that_were_given_clusters_of_their_own_are_refused(runs, synthetic, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(runs / "discovery", run)
    topic = min(json.loads((run / "metrics.json").read_text())["per_topic"])
    forge(run, lambda content: content["per_topic"][topic].update(cluster="alone"))
    arena.compare([run])
    with pytest.raises(CorpusError, match=f"for topic '{topic}' it states .*alone.*, and the co"):
        arena.compare([run], corpus=synthetic)


def test_edited_labels_are_found_with_the_corpus_alone(runs, synthetic, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(runs / "discovery", run)
    records = map(json.loads, (run / "trajectories.jsonl").read_text().splitlines())
    first = {record["topic_id"]: record["answers"]["discovery"] for record in records}
    stated = json.loads((run / "metrics.json").read_text())
    topic = min(stated["per_topic"])
    paper = first[topic][0]  # the only label left
    forge(
        run,
        lambda text: (
            "".join(line for line in text.splitlines(keepends=True) if line.split()[0] != topic)
            + f"{topic} 0 {paper} 1\n"
        ),
        "qrels.trec",
    )

    def edit(content):
        row, other = (content["per_topic"][s] for s in sorted(content["per_topic"]))
        for name, value in {"recall@10": 1, "recall@100": 1, "precision@10": 0.1,
                            "precision@100": 0.01}.items():  # fmt: skip
            row[name] = value
            content["mean"][name] = (value + other[name]) / 2

    forge(run, edit)
    assert main(["compare", str(run), f"other={runs / 'discovery'}"]) == 0
    assert "labels not checked: give --corpus" in capsys.readouterr().out
    assert (
        main(["compare", str(run), f"other={runs / 'discovery'}", "--corpus", str(synthetic)]) == 2
    )
    assert f"for topic {topic!r} it states recall@100 1" in capsys.readouterr().err


def test_a_checked_comparison_says_nothing_of_labels(runs, synthetic):
    alone, checked = (
        arena.compare([runs / "pipeline"]),
        arena.compare([runs / "pipeline"], corpus=synthetic),
    )
    assert "labels not checked: give --corpus." in comparison.as_text(alone)
    assert "labels not checked" not in comparison.as_text(checked)
    assert as_page([runs / "pipeline"], synthetic).episodes == 2
