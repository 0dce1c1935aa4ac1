"""A kind of answer in one file, with its tool, metric, task and agents: every command takes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import forgotten
from test_compare_page import rebuilt, unpacked

import arena
from arena import plugins
from arena.cli import main
from arena.corpus import Corpus
from arena.errors import CorpusError
from arena.results.viewing import as_page
from arena.tasks import TaskSet
from arena_suites.experiments import run_experiment

FILE = Path(__file__).parent.parent / "data" / "table.py"


@pytest.fixture
def command(capsys):
    """Return what a command prints; the file is loaded for it alone."""

    def command(*words, status=0):
        with forgotten():
            code = main([*map(str, words), "--plugin", str(FILE)])
        printed = capsys.readouterr()
        assert code == status, printed.err
        return printed.out if status == 0 else printed.err

    return command


@pytest.fixture
def runs(world, tmp_path, command):
    for agent in ("long", "short", "oracle"):
        command(
            "run", "--corpus", world, "--task", "tabulation", "--agent", agent, "--surveys", 3,
            "--metric", "recall@20", "--output", tmp_path / agent,
        )  # fmt: skip
    return [tmp_path / agent for agent in ("long", "short", "oracle")]


def test_every_command_takes_it(world, tmp_path, runs, command):
    long, short, _ = runs
    found = json.loads(command("compare", long, short, "--json"))
    assert found["verdict"].startswith("long, bm25 has a better mean row_gaps (lower is better)")
    assert found["headline"] == "row_gaps"
    assert "row_gaps (lower is better)" in command("compare", *runs)
    assert "row\\_gaps" in command("compare", *runs, "--format", "latex")
    assert "tabulation,oracle,mean,0.0," in command("compare", *runs, "--format", "csv").replace(
        '"oracle, bm25"', "oracle"
    )
    page = tmp_path / "compared.html"
    command("compare", *runs, "--html", page, "--corpus", world)
    assert 'id="episodes"' in page.read_text("utf-8")
    view = tmp_path / "view.html"
    assert "9 episodes" in command("view", *runs, "--corpus", world, "--output", view)
    assert "tabulate(rows=" in command("show", long, "--corpus", world)
    assert "All equal: 3 episodes" in command("replay", long, "--corpus", world)
    assert "recall@20" in command("rescore", long, "--corpus", world, "--metric", "recall@20")
    messages = tmp_path / "messages.jsonl"
    command("export", "messages", long, "--corpus", world, "--output", messages)
    assert len(messages.read_text("utf-8").splitlines()) == 3
    refused = command("score", long, "--corpus", world, "--task", "tabulation", status=2)
    assert "is not answered by one ranking" in refused


def test_pages_show_an_answer_as_json(world, runs):
    with forgotten():
        plugins.load([FILE])
        html = as_page(arena.compare(runs[:2]), world).html
        packed = as_page(runs[:1], world).html
    assert "<b>found</b>" not in html
    for page, runs_there in ((html, {"0", "1"}), (packed, {"0"})):
        read = unpacked(page)
        texts = [text for name, block in read.items() if name[0] == "t" for text in block]
        for _, own in read["e0"]:
            assert set(own) == runs_there
            ((stage, noun, parts),) = own["0"]["answers"]
            assert (stage, noun) == ("tabulation", "table")
            panel = json.loads(rebuilt(parts, texts))
            assert panel["form"] == "json" and "<b>found</b>" in str(panel["value"])


def test_metrics_of_rankings_score_the_order_of_its_papers(world, runs):
    """The oracle tabulates all references in reach: the first 20 of `gold` of them are found."""
    scores = json.loads((runs[2] / "metrics.json").read_text("utf-8"))["per_survey"]
    tasks = TaskSet(Corpus.open(world))
    for survey, row in scores.items():
        assert row["recall@20"] == pytest.approx(min(20 / len(tasks.gold(survey).gains), 1))


@pytest.fixture
def file(tmp_path):
    """A metric of rankings, which is a reward, too."""
    path = tmp_path / "worth.py"
    path.write_text(
        "from arena.metrics import metric\n\n\n"
        '@metric("worth", "ranking")\n'
        "def worth(ranking, gains, context):\n"
        '    """Return 7, whatever is submitted."""\n'
        "    return 7.0\n"
    )
    return path


def test_functions_load_files(world, runs, file, title_run, tmp_path):
    """Each in turn has nothing but what its own `plugins` name."""
    long, short, _ = runs
    with forgotten():
        assert arena.replay(long, world, plugins=[FILE]).difference is None
    with forgotten():
        assert arena.rescore(long, world, plugins=[FILE])["task"] == "tabulation"
    with forgotten():
        assert arena.compare([long, short], plugins=[FILE]).task == "tabulation"
    with forgotten():
        run = title_run / "run.trec"
        scores = arena.score(world, "discovery", run, metrics=["worth"], plugins=[file])
        assert scores["mean"] == {"worth": 7.0}
    config = {
        "name": "worthy",
        "tables": {"T": {"task": "discovery", "metrics": {"W": "worth"}, "rows": {"a": "title"}}},
        "retrievers": {"bm25": "bm25"},
        "surveys": 1,
    }
    with forgotten():
        content = run_experiment(config, world, tmp_path / "experiment", plugins=[file])
    assert "7.0" in json.dumps(content)
    with forgotten(), pytest.raises(CorpusError, match=r"--plugin table\.py"):
        arena.replay(long, world)
