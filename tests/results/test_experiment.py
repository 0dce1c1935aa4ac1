"""Experiments: figures of the tables, runs that resume, replays, failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llm_server import LLMServer, Trouble

import arena
from arena.agents import AGENTS, Agent
from arena.cli import main
from arena.errors import ArenaError, CorpusError, DataError
from arena.llm.agent import shared_client
from arena.metrics import METRICS, Metric
from arena.results.experiments import preview
from arena.tasks import TaskSet

pytestmark = pytest.mark.usefixtures("alone")

CONFIG: dict[str, Any] = {
    "name": "grid",
    "title": "A grid | for *tests*",
    "surveys": 4,
    "retrievers": {
        "BM25": "bm25",
        "Whole": {"retriever": "bm25", "options": {"statistics": "corpus"}},
    },
    "tables": {
        "1": {
            "title": "Discovery",
            "task": "discovery",
            "metrics": {"R@10": "recall@10", "P@100": "precision@100"},
            "rows": {"Title": "title"},
            "more": {"Random": {"agent": "random", "retriever": "BM25"}, "Ceiling": "oracle"},
            "paper": {
                "source": "a page",
                "header": ["Baseline", "R@10, BM25"],
                "rows": [["Title", 0.0424], ["STORM", 0.05], ["Other", None]],
            },
        },
        "2": {
            "task": "discovery",
            "metrics": ["ndcg@10"],
            "rows": {"Title": "title"},
        },
        "3": {
            "task": "organization",
            "columns": "metrics",
            "group": "Oracle",
            "metrics": {"Soft": "heading_soft_recall", "Distance": "tree_semantic_distance"},
            "rows": {
                "Clustering": {"group": "Yes", "agent": "clustering"},
                "Found": {"group": "No", "agent": "clustering", "found": "Title"},
            },
        },
    },
}


def tree(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def read(directory: Path) -> Any:
    return json.loads((directory / "metrics.json").read_text())


@pytest.fixture(scope="module")
def grid(world, tmp_path_factory):
    """The whole grid, played once."""
    output = tmp_path_factory.mktemp("experiment") / "out"
    return output, arena.run_experiment(CONFIG, world, output)


def test_the_figures_by_hand(grid):
    """Recall and precision counted from the TREC files, whose format is not ours."""
    output, found = grid
    recall, precision = [], []
    for column in ("bm25", "whole"):
        run = output / "runs/discovery/title" / column
        gold: dict[str, set[str]] = {}
        for line in (run / "qrels.trec").read_text().splitlines():
            survey, _, paper, _ = line.split()
            gold.setdefault(survey, set()).add(paper)
        ranked: dict[str, list[str]] = {}
        for line in (run / "run.trec").read_text().splitlines():
            survey, _, paper, rank, _, _ = line.split()
            ranked.setdefault(survey, []).append(paper)
            assert int(rank) == len(ranked[survey])
        assert len(gold) == 4
        recall.append(sum(len(gold[s] & set(ranked[s][:10])) / len(gold[s]) for s in gold) / 4)
        precision.append(sum(len(gold[s] & set(ranked[s][:100])) / 100 for s in gold) / 4)
        mean = found["runs"][f"runs/discovery/title/{column}"]["mean"]
        assert mean["recall@10"] == pytest.approx(recall[-1], abs=1e-15)
        assert mean["precision@100"] == pytest.approx(precision[-1], abs=1e-15)
    block = found["tables"]["1"]["blocks"][0]
    columns = ["R@10, BM25", "R@10, Whole", "P@100, BM25", "P@100, Whole"]
    assert block["header"] == ["Agent", *columns]
    assert block["rows"] == [["Title", *(f"{value:.4f}" for value in recall + precision)]]


def test_a_table_with_one_column_for_each_metric(grid):
    output, found = grid
    block = found["tables"]["3"]["blocks"][0]
    assert block["header"] == ["Oracle", "Agent", "Soft", "Distance"]
    rows = []
    for group, label in (("Yes", "Clustering"), ("No", "Found")):
        mean = read(output / f"runs/organization/{label.lower()}/bm25")["mean"]
        distance = f"{mean['tree_semantic_distance']:.2f}"
        rows.append([group, label, f"{mean['heading_soft_recall']:.4f}", distance])
    assert block["rows"] == rows


def test_the_second_table_scores_the_runs_of_the_first(grid, world):
    output, found = grid
    runs = sorted(path.parent.relative_to(output).as_posix() for path in
                  output.rglob("trajectories.jsonl"))  # fmt: skip
    assert runs == sorted(found["runs"]) == [
        "runs/discovery/ceiling/bm25", "runs/discovery/ceiling/whole",
        "runs/discovery/random/bm25", "runs/discovery/title/bm25", "runs/discovery/title/whole",
        "runs/organization/clustering/bm25", "runs/organization/found/bm25",
    ]  # fmt: skip
    again = arena.rescore(output / "runs/discovery/title/whole", world, ["ndcg@10"])
    row = found["tables"]["2"]["blocks"][0]["rows"][0]
    assert row[2] == f"{again['mean']['ndcg@10']:.4f}"


def test_what_is_not_of_the_paper_stands_apart(grid):
    output, found = grid
    main_block, more, paper = found["tables"]["1"]["blocks"]
    assert [row[0] for row in main_block["rows"]] == ["Title"]
    assert [row[0] for row in more["rows"]] == ["Random", "Ceiling"]
    assert more["rows"][0][2] is None  # Random plays with one retriever
    ceiling = read(output / "runs/discovery/ceiling/bm25")["ceiling"]["recall@10"]
    assert more["rows"][1][1] == f"{ceiling:.4f}"
    assert paper["rows"] == [["Title", "0.0424"], ["STORM", "0.0500"], ["Other", None]]
    assert "not to be compared" in paper["title"]
    markdown = (output / "tables.md").read_text()
    assert markdown.startswith("# A grid \\| for \\*tests\\*\n")
    assert markdown.index("Further agents") < markdown.index("The paper, on its own corpus")
    latex = (output / "tables.tex").read_text()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 5
    assert r"\label{tab:grid-1-paper}" in latex
    notes = found["tables"]["1"]["notes"]
    assert notes[0] == "Task discovery, mean over 4 of 4 surveys."
    assert notes[1].startswith("BM25: bm25 over title, abstract")


def test_the_same_again_plays_nothing_and_writes_the_same(grid, world, tmp_path, monkeypatch):
    output, found = grid
    before = tree(output)
    monkeypatch.setattr(AGENTS.get("title"), "act", lambda *_: 1 / 0)
    assert arena.run_experiment(CONFIG, world, output) == found
    assert tree(output) == before
    told = json.dumps(found) + (output / "experiment.json").read_text()
    assert str(output) not in told
    assert str(world) not in told
    assert {p.state for p in preview(CONFIG, world, output)} == {"done"}
    assert {p.state for p in preview(CONFIG, world, tmp_path / "new")} == {"to do"}
    assert not (tmp_path / "new").exists()


def test_its_runs_are_compared_and_replayed_as_others(grid, world, capsys):
    """Agent and retriever are the same in two columns: the folders' names tell the runs apart."""
    runs = sorted(map(str, grid[0].glob("runs/discovery/*/*")))
    assert main(["compare", *runs, "--metric", "recall@100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = ["ceiling, bm25", "ceiling, whole", "random, bm25", "title, bm25", "title, whole"]
    assert list(found["runs"]) == names
    assert main(["replay", runs[2], "--corpus", str(world)]) == 0
    for words in (["compare", str(grid[0])], ["replay", str(grid[0]), "--corpus", str(world)]):
        capsys.readouterr()
        assert main(words) == 2
        assert "or a folder in the runs/ of an experiment" in capsys.readouterr().err


def test_a_part_first_and_the_rest_later(grid, world, tmp_path):
    output = tmp_path / "out"
    found = arena.run_experiment(CONFIG, world, output, tables=["3"], agents=["Found"])
    assert sorted(found["runs"]) == ["runs/organization/found/bm25"]
    assert (output / "runs/discovery/title/bm25/metrics.json").is_file()  # what it begins with
    arena.run_experiment(CONFIG, world, output)
    assert tree(output) == tree(grid[0])


def test_other_experiments_and_other_files_are_left_alone(grid, world, mini, tmp_path):
    output = tmp_path / "out"
    config = CONFIG | {"tables": {"2": CONFIG["tables"]["2"]}}
    arena.run_experiment(config, world, output)
    before = tree(output)
    with pytest.raises(CorpusError, match="contains the experiment 'grid', this is 'other'"):
        arena.run_experiment(config | {"name": "other"}, world, output)
    with pytest.raises(CorpusError, match=r"title/bm25: .* differs in .*sha256 of corpus"):
        arena.run_experiment(config | {"surveys": 1}, mini, output)
    assert tree(output) == before
    with pytest.raises(CorpusError, match=r"title/bm25: .* contains another run"):
        arena.run_experiment(config, world, output, changes={"seed": 5})
    assert tree(output) == before
    arena.run_experiment(config, world, output, changes={"seed": 5}, overwrite=True)
    assert read(output / "runs/discovery/title/bm25")["seed"] == 5
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    with pytest.raises(CorpusError, match="contains other files and no experiment"):
        arena.run_experiment(config, world, tmp_path / "thesis")
    assert set(tree(tmp_path / "thesis")) == {"thesis.tex"}


def test_options_of_the_extractor_are_recorded_and_shape_scores(world, tmp_path):
    file = tmp_path / "same.py"
    file.write_text(
        "class Same:\n"
        "    config = {}\n"
        "    def __init__(self, entity: str = ''):\n"
        "        self.entity = entity\n"
        "    def entities(self, labels):\n"
        "        return [{self.entity or label} for label in labels]\n"
    )
    table = CONFIG["tables"]["3"] | {"metrics": ["heading_entity_recall"]}
    table |= {"rows": {"Clustering": table["rows"]["Clustering"]}}
    config = CONFIG | {"tables": {"3": table}, "extractor": f"{file}:Same"}
    with pytest.raises(DataError, match=r"extractor_options.*has no option 'entitty'"):
        arena.run_experiment(config | {"extractor_options": {"entitty": "x"}}, world, tmp_path)
    output = tmp_path / "out"
    changes = {"extractor_options.entity": "x"}  # as --set extractor_options.entity=x
    found = arena.run_experiment(config, world, output, changes=changes)
    assert found["tables"]["3"]["blocks"][0]["rows"][0][-1] == "1.0000"  # x alone
    manifest = json.loads((output / "experiment.json").read_text())
    assert manifest["config"]["extractor_options"] == {"entity": "x"}


def test_a_metric_that_scores_some_surveys_says_how_many(world, tmp_path, monkeypatch):
    def odd(predicted, gold, context):
        return None if gold.size % 2 else 1.0

    tasks = TaskSet(world)
    wanted = sum(tasks.mind_map(survey).size % 2 == 0 for survey in tasks.surveys)
    assert 0 < wanted < len(tasks.surveys) == 8
    METRICS.names()
    monkeypatch.setitem(METRICS._items, "odd", Metric("odd", "map", False, frozenset(), odd))
    table = CONFIG["tables"]["3"] | {"metrics": ["odd"]}
    rows = {"Clustering": table["rows"]["Clustering"]}
    config = CONFIG | {"surveys": "all", "tables": {"3": table | {"rows": rows}}}
    found = arena.run_experiment(config, world, tmp_path / "out")
    run = found["runs"]["runs/organization/clustering/bm25"]
    assert (run["mean"], run["counts"]["scored_by"]) == ({"odd": 1.0}, {"odd": wanted})
    note = f"odd: over the {wanted} of them that have what it counts."
    assert note in found["tables"]["3"]["notes"]


def test_a_distance_of_nothing_is_told(world, tmp_path):
    """An empty map is not far from a small one, so that a distance alone would hide it."""
    table = CONFIG["tables"]["3"] | {"rows": {"Nothing": "title", "Something": "random"}}
    table = {key: value for key, value in table.items() if key != "group"}
    found = arena.run_experiment(CONFIG | {"tables": {"3": table}}, world, tmp_path / "out")
    assert [found["runs"][f"runs/organization/{name}/bm25"]["nothing"]
            for name in ("nothing", "something")] == [4, 0]  # fmt: skip
    told = [note for note in found["tables"]["3"]["notes"] if "they count" in note]
    assert told == ["Nothing (BM25): 4 episodes with nothing submitted; they count."]


class Failing(Agent):
    """Fails at its first step."""

    def act(self, observation):
        raise ValueError("no more")


FAILING = CONFIG | {
    "tables": {
        "1": {
            "task": "discovery",
            "metrics": ["recall@10"],
            "rows": {"Failing": Failing, "Title": "title"},
        },
        "3": {
            "task": "organization",
            "metrics": ["heading_soft_recall"],
            "columns": "metrics",
            "rows": {"Found": {"agent": "clustering", "found": "Failing"}},
        },
    }
}


def test_a_run_that_fails(world, tmp_path):
    output = tmp_path / "out"
    with pytest.raises(ArenaError, match=r"runs/discovery/failing/bm25: .*ValueError: 'no more'"):
        arena.run_experiment(FAILING, world, output)
    assert not (output / "tables.json").exists()
    with pytest.raises(ArenaError, match="3 of 5 runs failed, and the tables are without them"):
        arena.run_experiment(FAILING, world, output, keep_going=True)
    found = json.loads((output / "tables.json").read_text())
    assert sorted(found["runs"]) == ["runs/discovery/title/bm25", "runs/discovery/title/whole"]
    failing, title = found["tables"]["1"]["blocks"][0]["rows"]
    assert failing == ["Failing", None, None]
    assert None not in title
    gone = "Not finished, and so without figures: "
    assert found["tables"]["1"]["notes"][-1] == f"{gone}Failing (BM25), Failing (Whole)."
    assert found["tables"]["3"]["notes"][-1] == f"{gone}Found (BM25)."


MODEL = """\
name: model
surveys: 3
retrievers: {BM25: bm25}
llm: {model: scripted}
tables:
  1:
    task: discovery
    metrics: [recall@100]
    rows: {Zero-Shot: zero-shot, Title: title}
"""


def query(body):
    return "<Queries>\n- " + body["messages"][-1]["content"].split()[-1] + " model\n</Queries>"


@pytest.fixture
def model(tmp_path):
    (tmp_path / "model.yaml").write_text(MODEL)
    return ["experiment", "model.yaml"]


def test_a_replay_twice_gives_the_same_files_without_a_server(
    world, tmp_path, model, monkeypatch, capsys
):
    command = [*model, "--corpus", str(world)]
    with LLMServer(query) as server:
        url = f"base_url={server.url}"
        assert main([*command, "--output", "live", "--llm-option", url]) == 0
        assert len(server.requests) == 3
    shown = capsys.readouterr().out
    assert "Zero-Shot" in shown
    shared_client.cache_clear()
    monkeypatch.setenv("ARENA_LLM_MODE", "replay")
    for name in ("a", "b"):
        assert main([*command, "--output", name]) == 0
    trees = [tree(tmp_path / name) for name in ("live", "a", "b")]
    assert trees[0] == trees[1] == trees[2]
    assert len(trees[0]) == 4 + 2 * 6
    for content in trees[0].values():
        for secret in (b"127.0.0.1", str(tmp_path).encode(), str(world).encode()):
            assert secret not in content
    found = json.loads(trees[0]["tables.json"])
    run = found["runs"]["runs/discovery/zero-shot/bm25"]
    assert run["agent_options"] == {"model": "scripted"}
    assert run["effort"]["calls"] == 3
    assert run["effort"]["dollars"] is None  # nobody knows what this model costs
    assert run["effort"]["prompt_tokens"] > 0
    assert run["sha256"]["prompts"] is not None
    assert found["runs"]["runs/discovery/title/bm25"]["effort"]["calls"] is None
    assert "Model scripted: Zero-Shot." in found["tables"]["1"]["notes"]
    assert main([*command, "--output", "c", "--llm-option", "model=other"]) == 2
    assert "replay: no answer is kept" in capsys.readouterr().err


def test_a_dry_run_says_what_the_agents_would_ask(world, tmp_path, model, capsys):
    command = [*model, "--corpus", str(world), "--output", "out", "--llm-option"]
    with LLMServer(query) as server:
        url = f"base_url={server.url}"
        assert main([*command, url, "--dry-run", "--json"]) == 0
        (asked,) = json.loads(capsys.readouterr().out)["requests"]
        assert (asked["model"], asked["calls"], asked["dollars"]) == ("scripted", 3, None)
        assert asked["prompt_tokens"] > 3 * 20
        assert not server.requests and not (tmp_path / "out").exists()
        assert main([*command, url]) == 0
        assert len(server.requests) == 3
        capsys.readouterr()
        assert main([*command, url, "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines()[-2].split()[:2] == ["none", "0"]


def test_a_model_that_cannot_be_reached_costs_nothing_that_was_done(world, tmp_path, model, capsys):
    command = [*model, "--corpus", str(world), "--output", "out"]
    with LLMServer(lambda body: Trouble(401)) as server:
        url = f"base_url={server.url}"
        assert main([*command, "--llm-option", url]) == 2
    error = capsys.readouterr().err
    assert error.startswith("arena: error: runs/discovery/zero-shot/bm25: ")
    assert error.count("\n") == 1
    assert (tmp_path / "out/runs/discovery/title/bm25/metrics.json").exists()  # it needs no model
    with LLMServer(query) as server:
        url = f"base_url={server.url}"
        assert main([*command, "--llm-option", url]) == 0


def test_the_command_shows_what_it_would_do(world, tmp_path, capsys):
    (tmp_path / "grid.json").write_text(json.dumps(CONFIG))  # JSON is YAML
    command = ["experiment", "grid.json", "--corpus", str(world), "--output", "out"]
    assert main([*command, "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert "7 runs, 28 episodes to play." in output
    assert not (tmp_path / "out").exists()
    assert main([*command, "--dry-run", "--json", "--tables", "2", "--surveys", "2"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["requests"] == []  # no agent of it asks
    assert planned["runs"][0] == {
        "run": "runs/discovery/title/bm25", "agent": "title", "retriever": "bm25",
        "episodes": 2, "done": 0, "state": "to do",
    }  # fmt: skip
    assert main([*command, "--set", "retrievers.BM25"]) == 2
    assert "write KEY=VALUE" in capsys.readouterr().err
