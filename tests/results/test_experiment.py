"""Experiments: figures of the tables, runs that resume, replays, failures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import contents
from llm_server import LLMServer

from arena.agents import AGENTS, Agent
from arena.cli import main
from arena.errors import ArenaError, CorpusError, DataError
from arena.llm.agent import shared_client
from arena.results.comparison.opening import ComparedRun, Effort
from arena.results.comparison.papers import grid
from arena_suites.experiments import preview, read_experiment, run_experiment
from arena_suites.experiments.scores import compare_rows

pytestmark = pytest.mark.usefixtures("alone")

CONFIG: dict[str, Any] = {
    "name": "grid",
    "title": "A grid | for *tests*",
    "topics": 4,
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
            "noted": {"As written": "heading_soft_recall_paper"},
            "rows": {
                "Clustering": {
                    "group": "Yes",
                    "agent": "clustering",
                    "options": {"encoder": "static"},
                },
                "Found": {"group": "No", "agent": "clustering", "start_from": "Title"},
            },
            "paper": {
                "source": "a page",
                "used": {"encoder": {"minilm": "Sentence-BERT"}, "vectors": {"static": "GloVe"}},
                "header": ["Baseline", "Soft"],
                "rows": [["Clustering", 0.5]],
            },
        },
    },
}


def read(directory: Path) -> Any:
    return json.loads((directory / "metrics.json").read_text())


@pytest.fixture(scope="module")
def grid_of_four(synthetic, tmp_path_factory):
    """The whole grid, played once."""
    output = tmp_path_factory.mktemp("experiment") / "out"
    return output, run_experiment(CONFIG, synthetic, output)


def test_the_figures_by_hand(grid_of_four):
    """Recall and precision counted from the TREC files, whose format is not ours."""
    output, found = grid_of_four
    recall, precision = [], []
    for column in ("bm25", "whole"):
        run = output / "runs/discovery/title" / column
        gold: dict[str, set[str]] = {}
        for line in (run / "qrels.trec").read_text().splitlines():
            topic, _, paper, _ = line.split()
            gold.setdefault(topic, set()).add(paper)
        ranked: dict[str, list[str]] = {}
        for line in (run / "run.trec").read_text().splitlines():
            topic, _, paper, rank, _, _ = line.split()
            ranked.setdefault(topic, []).append(paper)
            assert int(rank) == len(ranked[topic])
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


def test_what_is_not_of_the_paper_stands_apart(grid_of_four):
    output, found = grid_of_four
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
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 6
    assert r"\label{tab:grid-1-paper}" in latex
    notes = found["tables"]["1"]["notes"]
    assert notes[0] == "Task discovery, mean over 4 of 4 topics."
    assert notes[1].startswith("BM25: bm25 over title, abstract")


def test_every_metric_is_compared_with_the_baseline_of_the_same_engine():
    """Eight topics: Scout is .25 better with BM25 alone, in a distance that is 20 less."""
    rows = {"Title": "title", "Scout": "scout", "Ceiling": "oracle"}
    table = {"task": "discovery", "metrics": {"R": "recall@10", "D": "tree_edit_distance"},
             "rows": rows}  # fmt: skip
    engines = {"BM25": "bm25", "Whole": "bm25"}
    config = {"name": "e", "retrievers": engines, "tables": {"1": table}}
    experiment = read_experiment(config, topics=8)
    spec, none = experiment.tables["1"], Effort(0, 0, 0, 0, 0, 0, 0)
    runs = {}
    for label, row, column, key in experiment.runs_of(spec):
        better = label != "Title" and column == "BM25"
        per_topic = {
            f"t{n}": {"recall@10": n / 16 + better / 4, "tree_edit_distance": 30 + n - 20 * better}
            for n in range(8)
        }
        metrics = {"per_topic": per_topic, "ceiling": {}, "counts": {"scored": 8}}
        runs[key] = ComparedRun(label, {"agent": row.agent}, metrics, {}, none, None)
    reported = {"R": "recall@10", "D": "tree_edit_distance"}
    found, places = compare_rows(experiment, spec, reported, runs)
    pairs = [("Scout (BM25)", "Title (BM25)"), ("Scout (Whole)", "Title (Whole)")]
    assert [(d.run, d.against) for d in found.metrics[0].differences] == pairs
    assert [d.corrected for d in found.metrics[0].differences] == [2 * 2 / 2**8, 1.0]
    shown = grid(found, places)
    assert shown.header == ["Agent", "R, BM25", "R, Whole", "D, BM25", "D, Whole"]
    assert shown.rows == [
        ["Title", "0.2188", "0.2188", "33.50", "33.50"],
        ["Scout", "0.4688*", "0.2188", "13.50*", "33.50"],
        ["Ceiling", "0.4688", "0.2188", "13.50", "33.50"],
    ]
    assert shown.bold == {(1, 1), (1, 3)}  # with Whole both are equal
    named = read_experiment(config, changes={"tables.1.baseline": "Scout"})
    found, _ = compare_rows(named, named.tables["1"], reported, runs)
    assert found.baseline == "Scout by the same retriever"
    assert {d.run for d in found.metrics[0].differences} == {"Title (BM25)", "Title (Whole)"}
    for row in runs["runs/discovery/scout/bm25"].metrics["per_topic"].values():
        row["recall@10"] = None  # the others keep all their topics
    found, places = compare_rows(experiment, spec, reported, runs)
    assert [d.run for d in found.metrics[0].differences] == ["Scout (Whole)"]
    shown = grid(found, places)
    assert [row[1] for row in shown.rows] == ["0.2188", None, "0.4688"]
    with pytest.raises(DataError, match=r"baseline: no row has the label 'Skout'. Did you mean"):
        read_experiment(config, changes={"tables.1.baseline": "Skout"})


def test_files_for_a_paper(grid_of_four):
    output, found = grid_of_four
    assert {p.name for p in output.iterdir()} == {
        "appendix.tex", "experiment.json", "runs", "tables.json", "tables.md", "tables.tex",
        *(f"figure-{name}.{kind}" for name in "123" for kind in ("pdf", "svg")),
    }  # fmt: skip
    latex = (output / "tables.tex").read_text()
    assert r"\caption{Discovery; in small 95 \% intervals; bold the best.}" in latex
    assert latex.count(r"\scriptsize") > 4 and r"\textbf{" in latex
    svg = (output / "figure-1.svg").read_text()
    assert all(f">{word}<" in svg for word in ("Title", "Random", "BM25", "Whole", "R@10", "P@100"))
    appendix = (output / "appendix.tex").read_text()
    assert appendix.count(r"\item \texttt{arena run") == len(found["runs"])
    assert r"statistics" in appendix and r"\item licence of the corpus: none is stated" in appendix
    assert found["tables"]["1"]["comparison"]["correction"] == "holm"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex: texlive-latex-base")
def test_the_paper_of_the_documentation_compiles(grid_of_four, tmp_path):
    folder = shutil.copytree(grid_of_four[0], tmp_path / "out")
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    (folder / "main.tex").write_text(re.search("```latex\n(.*?)```", page, re.DOTALL)[1])
    for _ in range(2):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout[-2000:]
    log = (folder / "main.log").read_text()
    assert not re.search("multiply defined|Overfull|Undefined|Missing character", log)


def test_the_same_again_plays_nothing_and_writes_the_same(
    grid_of_four, synthetic, tmp_path, monkeypatch
):
    output, found = grid_of_four
    before = contents(output)
    monkeypatch.setattr(AGENTS.get("title"), "act", lambda *_: 1 / 0)
    assert run_experiment(CONFIG, synthetic, output) == found
    assert contents(output) == before
    told = json.dumps(found) + (output / "experiment.json").read_text()
    assert str(output) not in told
    assert str(synthetic) not in told
    assert {p.state for p in preview(CONFIG, synthetic, output)} == {"done"}
    assert {p.state for p in preview(CONFIG, synthetic, tmp_path / "new")} == {"to do"}
    assert not (tmp_path / "new").exists()


def test_a_part_first_and_the_rest_later(grid_of_four, synthetic, tmp_path):
    output = tmp_path / "out"
    found = run_experiment(CONFIG, synthetic, output, tables=["3"], agents=["Found"])
    assert sorted(found["runs"]) == ["runs/organization/found/bm25"]
    assert (output / "runs/discovery/title/bm25/metrics.json").is_file()  # what it begins with
    run_experiment(CONFIG, synthetic, output)
    assert contents(output) == contents(grid_of_four[0])


def test_other_experiments_and_other_files_are_left_alone(grid_of_four, synthetic, mini, tmp_path):
    output = tmp_path / "out"
    config = CONFIG | {"tables": {"2": CONFIG["tables"]["2"]}}
    run_experiment(config, synthetic, output)
    before = contents(output)
    with pytest.raises(CorpusError, match="contains the experiment 'grid', this is 'other'"):
        run_experiment(config | {"name": "other"}, synthetic, output)
    with pytest.raises(CorpusError, match=r"title/bm25: .* differs in .*sha256 of corpus"):
        run_experiment(config | {"topics": 1}, mini, output)
    assert contents(output) == before
    with pytest.raises(CorpusError, match=r"title/bm25: .* contains another run"):
        run_experiment(config, synthetic, output, changes={"seed": 5})
    assert contents(output) == before
    run_experiment(config, synthetic, output, changes={"seed": 5}, overwrite=True)
    assert read(output / "runs/discovery/title/bm25")["seed"] == 5
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    with pytest.raises(CorpusError, match="contains other files and no experiment"):
        run_experiment(config, synthetic, tmp_path / "thesis")
    assert set(contents(tmp_path / "thesis")) == {"thesis.tex"}


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
        }
    }
}


def test_a_run_that_fails(synthetic, tmp_path):
    output = tmp_path / "out"
    with pytest.raises(ArenaError, match=r"runs/discovery/failing/bm25: .*ValueError: 'no more'"):
        run_experiment(FAILING, synthetic, output)
    assert not (output / "tables.json").exists()


MODEL = """\
name: model
topics: 3
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
    synthetic, tmp_path, model, monkeypatch, capsys
):
    command = [*model, "--corpus", str(synthetic)]
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
    trees = [contents(tmp_path / name) for name in ("live", "a", "b")]
    assert trees[0] == trees[1] == trees[2]
    assert len(trees[0]) == 4 + 3 + 2 * 6  # an appendix, and a figure twice
    for content in trees[0].values():
        for secret in (b"127.0.0.1", str(tmp_path).encode(), str(synthetic).encode()):
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


def test_a_dry_run_says_what_the_agents_would_ask(synthetic, tmp_path, model, capsys):
    command = [*model, "--corpus", str(synthetic), "--output", "out", "--llm-option"]
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


def test_the_command_shows_what_it_would_do(synthetic, tmp_path, capsys):
    (tmp_path / "grid.json").write_text(json.dumps(CONFIG))  # JSON is YAML
    command = ["experiment", "grid.json", "--corpus", str(synthetic), "--output", "out"]
    assert main([*command, "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert "7 runs, 28 episodes to play." in output
    assert not (tmp_path / "out").exists()
    assert main([*command, "--dry-run", "--json", "--tables", "2", "--topics", "2"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["requests"] == []  # no agent of it asks
    assert planned["runs"][0] == {
        "run": "runs/discovery/title/bm25", "agent": "title", "retriever": "bm25",
        "episodes": 2, "done": 0, "state": "to do",
    }  # fmt: skip
    assert main([*command, "--set", "retrievers.BM25"]) == 2
    assert "write KEY=VALUE" in capsys.readouterr().err
