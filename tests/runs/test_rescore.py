"""Rescore: other metrics of the answers of a run, without playing it."""

from __future__ import annotations

import json
import math
import shutil

import pytest
from helpers import call, contents, gold_of

import arena
import arena.cli
from arena.agents import Agent
from arena.errors import CorpusError, DataError, UnknownNameError
from arena.mindmap import evaluate, read_mind_map
from arena.runs import rescore
from arena.tasks import TaskSet

MAP = {"label": "topic", "children": [{"label": "membranes"}, {"label": "erosion of knots"}]}


class Three(Agent):
    """Three papers, then the same in another order, then a mind-map."""

    def act(self, observation):
        hits = json.loads(observation["result"]).get("hits")
        if observation["stage"] == "organization":
            return call("organize", mind_map=MAP)
        if hits is None:
            return call("search", query=observation["topic"], k=3)
        ids = [hit["id"] for hit in hits]
        return call("submit", paper_ids=ids[::-1] if observation["stage"] == "selection" else ids)


@pytest.fixture(scope="module")
def three(synthetic, tmp_path_factory):
    output = tmp_path_factory.mktemp("three") / "run"
    arena.run(synthetic, "pipeline", Three, output, topics=3)
    return output


def test_without_metrics_it_is_the_score_of_the_run(synthetic, title_run, three):
    for run in (title_run, three):
        summary = json.loads((run / "metrics.json").read_text())
        before = contents(run)
        again = rescore(run, synthetic)
        for key in ("mean", "ceiling", "task", "agent"):
            assert again[key] == summary[key]
        assert {k: v for k, v in again["counts"].items() if k != "not_visible"} == summary["counts"]
        assert again["counts"]["not_visible"] == 0
        assert contents(run) == before


def test_other_metrics_by_hand(synthetic, title_run):
    again = rescore(title_run, synthetic, ["recall@50", "precision@7", "recall@50"])
    assert list(again["mean"]) == ["recall@50", "precision@7"]
    ranked: dict[str, list[str]] = {}
    for line in (title_run / "run.trec").read_text().splitlines():
        topic, _, paper, *_ = line.split()
        ranked.setdefault(topic, []).append(paper)
    assert len(ranked) == 8
    for topic, papers in ranked.items():
        gold = gold_of(synthetic, topic)
        entry = again["per_topic"][topic]
        assert entry["recall@50"] == len(gold & set(papers[:50])) / len(gold)
        assert entry["precision@7"] == len(gold & set(papers[:7])) / 7
        assert entry["submitted"] == {"discovery": len(papers)}
    best = [min(50, len(gold_of(synthetic, s))) / len(gold_of(synthetic, s)) for s in ranked]
    assert again["ceiling"]["recall@50"] == pytest.approx(math.fsum(best) / 8)
    assert again["encoder"] is None


def test_a_task_of_stages_names_the_stage(synthetic, three):
    names = ["precision@1", "heading_soft_recall"]
    again = rescore(three, synthetic, names)
    assert list(again["mean"]) == [
        "discovery.precision@1", "selection.precision@1", "organization.heading_soft_recall",
    ]  # fmt: skip
    for topic, entry in again["per_topic"].items():
        gold = gold_of(synthetic, topic)
        rankings = []
        for stage in ("discovery", "selection"):
            run = (three / f"run.{stage}.trec").read_text().splitlines()
            rankings.append([line.split()[2] for line in run if line.startswith(topic)])
            assert entry[f"{stage}.precision@1"] == float(rankings[-1][0] in gold)
        assert rankings[0] == rankings[1][::-1]
        assert entry["submitted"] == {"discovery": 3, "selection": 3, "organization": 2}
    assert again["ceiling"]["organization.heading_soft_recall"] == 1.0


def test_mind_maps_by_another_encoder(synthetic, three):
    names = ["node_soft_f1"]
    tasks = TaskSet(synthetic)
    tree = read_mind_map(MAP)[0]
    found = {}
    for encoder in ("static", "minilm"):
        again = rescore(three, synthetic, names, encoder)
        assert again["encoder"]["encoder"] == encoder
        for topic, entry in again["per_topic"].items():
            expected = evaluate(tree, tasks.mind_map(topic), names, encoder)
            assert entry["organization.node_soft_f1"] == expected[names[0]]
        found[encoder] = again["mean"]
    assert found["static"] != found["minilm"]
    assert rescore(three, synthetic, names)["mean"] == found["static"]  # that of the run


def test_a_stage_without_an_answer_scores_zero(synthetic, tmp_path):
    summary = arena.run(synthetic, "pipeline", "title", tmp_path / "run", topics=2, max_steps=2)
    assert all(entry["truncated"] for entry in summary["per_topic"].values())
    assert (tmp_path / "run/run.selection.trec").read_bytes() == b""
    assert (tmp_path / "run/mind_maps.jsonl").read_bytes() == b""
    assert (tmp_path / "run/run.discovery.trec").read_bytes()
    again = rescore(tmp_path / "run", synthetic, ["recall@100", "heading_soft_recall"])
    assert again["mean"]["discovery.recall@100"] == summary["mean"]["recall@100"] > 0
    assert again["mean"]["selection.recall@100"] == 0
    assert again["mean"]["organization.heading_soft_recall"] == 0
    entry = next(iter(again["per_topic"].values()))
    assert entry["submitted"].keys() == {"discovery"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metrics": ["ndgc@20"]}, UnknownNameError, "Did you mean 'ndcg'"),
        ({"metrics": ["ndcg@0"]}, DataError, "from 1 to"),
        ({"metrics": ["heading_soft_recall"]}, DataError, "'discovery' has none"),
        ({"metrics": []}, DataError, "give a list"),
        ({"encoder": "statik"}, UnknownNameError, "Did you mean 'static'"),
    ],
)  # fmt: skip
def test_bad_arguments(synthetic, title_run, arguments, error, message):
    with pytest.raises(error, match=message):
        rescore(title_run, synthetic, **arguments)


def test_another_corpus_is_refused(mini, title_run):
    with pytest.raises(CorpusError, match="was run with another corpus"):
        rescore(title_run, mini)


def unfinished(run):
    """Make a finished run one that was killed before its results were written."""
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest["files"]
    (run / "manifest.json").write_text(json.dumps(manifest))


def test_a_paper_out_of_reach_is_not_relevant(mini, tmp_path):
    """A later paper keeps its place in the ranking and gains nothing."""
    arena.run(mini, "discovery", "title", tmp_path / "run", topics=["sv:1"])
    unfinished(tmp_path / "run")
    path = tmp_path / "run/trajectories.jsonl"
    record = json.loads(path.read_text())
    record["answers"]["discovery"] = ["p:same", "p:nodate", "p:leap"]
    path.write_text(json.dumps(record) + "\n")
    again = rescore(tmp_path / "run", mini, ["mrr"])
    assert again["mean"] == {"mrr": 1 / 3}
    assert again["counts"]["not_visible"] == 2
    assert again["remarks"] == []


def test_the_index_need_not_be_there(synthetic, title_run, tmp_path):
    shutil.copytree(synthetic, tmp_path / "corpus")
    shutil.rmtree(tmp_path / "corpus" / "index" / "bm25")
    names = ["recall@5"]
    assert rescore(title_run, tmp_path / "corpus", names) == rescore(title_run, synthetic, names)


def test_the_command(synthetic, title_run, three, capsys):
    options = ["--corpus", str(synthetic), "--metric", "ndcg@20", "--metric", "recall@50"]
    assert arena.cli.main(["rescore", str(title_run), *options]) == 0
    out = capsys.readouterr().out
    assert "ndcg@20" in out
    assert "Mean over 8 of 8 topics" in out
    assert arena.cli.main(["rescore", str(title_run), *options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["mean"] == rescore(title_run, synthetic, ["ndcg@20", "recall@50"])["mean"]
    assert arena.cli.main(["rescore", str(three), "--corpus", str(synthetic), "--metric", "x"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    for wrong in (str(synthetic), "absent", str(title_run / "run.trec")):
        assert arena.cli.main(["rescore", wrong, "--corpus", str(synthetic)]) == 2
        assert "contains no run" in capsys.readouterr().err


def test_the_command_reports_topics_that_a_mean_leaves_out(mini_records, tmp_path, capsys):
    """Of two maps one has an entity."""
    from corpus_builder.build import build
    from corpus_builder.sources.jsonl import JsonLines

    sparse = next(topic for topic in mini_records.surveys if topic["id"] == "sv:2")
    sparse["taxonomy"] = {"name": "Sparse", "subtopics": ["Rhenium in Paris"]}
    build(JsonLines(*mini_records.write(tmp_path)), tmp_path / "corpus")
    arena.run(tmp_path / "corpus", "organization", "oracle", tmp_path / "run")
    command = ["rescore", str(tmp_path / "run"), "--corpus", str(tmp_path / "corpus")]
    names = [f"heading_{name}_recall" for name in ("entity", "soft")]
    for name in names:
        command += ["--metric", name]
    assert arena.cli.main(command) == 0
    out = capsys.readouterr().out
    assert "Mean over 2 of 2 topics" in out
    assert [line for line in out.splitlines() if " of them;" in line] == [
        f"{names[0]}: over 1 of them; the labels of the others have nothing that it counts."
    ]
    assert arena.cli.main(command[:-4]) == 0
    assert "heading" not in capsys.readouterr().out.partition("Mean over")[2]
