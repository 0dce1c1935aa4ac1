"""Runs: what is written, interrupted and resumed, scored again from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import arena
from arena.agents import AGENTS, Agent
from arena.errors import ArenaError, CorpusError, DataError, UnknownNameError
from arena.runs.trajectories import Trajectories
from arena.tasks import TaskSet

FILES = {"run.trec", "qrels.trec", "metrics.json", "trajectories.jsonl", "manifest.json"}


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.fixture(scope="module")
def title(world, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("runs") / "title"
    arena.run(world, "discovery", "title", output)
    return output


def test_the_files(world, title):
    assert set(contents(title)) == FILES
    manifest = json.loads((title / "manifest.json").read_text())
    assert set(manifest["sha256"]) == {"corpus", "index", "tasks", "prompts", "code"}
    assert manifest["sha256"]["prompts"] is None  # this agent has none
    for name in ("corpus", "index", "tasks", "code"):
        assert re.fullmatch("[0-9a-f]{64}", manifest["sha256"][name])
    assert set(manifest["files"]) == FILES - {"manifest.json"}
    summary = json.loads((title / "metrics.json").read_text())
    surveys = pq.read_table(world / "tasks/surveys.parquet").to_pylist()
    assert list(summary["per_survey"]) == sorted(s["id"] for s in surveys)
    for line in (title / "trajectories.jsonl").read_text().splitlines():
        record = json.loads(line)
        query = record["steps"][0]["action"]["arguments"]["query"]
        assert query in {s["title"].lower() for s in surveys}
        assert record["searches"] == 1
        assert record["metrics"]["recall@100"] == record["steps"][-1]["reward"]


def test_the_means_by_hand(title):
    """Recall and precision from the two TREC files alone."""
    gold: dict[str, set[str]] = {}
    for line in (title / "qrels.trec").read_text().splitlines():
        survey, _, paper, gain = line.split()
        assert gain in "12"
        gold.setdefault(survey, set()).add(paper)
    ranked: dict[str, list[str]] = {survey: [] for survey in gold}
    for line in (title / "run.trec").read_text().splitlines():
        survey, _, paper, rank, _, tag = line.split()
        ranked[survey].append(paper)
        assert (len(ranked[survey]), tag) == (int(rank), "title")
    summary = json.loads((title / "metrics.json").read_text())
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


def test_ranx_reads_the_files_to_the_same_means(world, tmp_path):
    ranx = pytest.importorskip("ranx")
    summary = arena.run(world, "selection", "title", tmp_path / "run")
    qrels = ranx.Qrels.from_file(str(tmp_path / "run" / "qrels.trec"), kind="trec")
    run = ranx.Run.from_file(str(tmp_path / "run" / "run.trec"), kind="trec")
    names = list(summary["mean"])
    other = ranx.evaluate(qrels, run, names, make_comparable=True)
    for name in names:
        assert summary["mean"][name] == pytest.approx(other[name], abs=1e-9)


def test_the_same_run_twice_gives_the_same_bytes(world, title, tmp_path):
    arena.run(world, "discovery", "title", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(title)
    before = contents(title)
    arena.run(world, "discovery", "title", title)  # complete: nothing to do
    assert contents(title) == before


def test_the_seed_counts_and_order_does_not(world, tmp_path):
    arena.run(world, "discovery", "random", tmp_path / "a", seed=1)
    arena.run(world, "discovery", "random", tmp_path / "b", seed=1)
    arena.run(world, "discovery", "random", tmp_path / "c", seed=2)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert (tmp_path / "a/run.trec").read_bytes() != (tmp_path / "c/run.trec").read_bytes()
    # A survey's episode does not depend on which others are played.
    lines = (tmp_path / "a" / "trajectories.jsonl").read_text().splitlines()
    last = json.loads(lines[-1])["survey"]
    arena.run(world, "discovery", "random", tmp_path / "d", seed=1, surveys=[last])
    assert (tmp_path / "d" / "trajectories.jsonl").read_text().splitlines() == lines[-1:]


def test_the_oracle_reaches_the_ceiling_and_random_does_not(world, tmp_path):
    for task in ("discovery", "selection"):
        best = arena.run(world, task, "oracle", tmp_path / f"{task}-oracle")
        assert best["mean"] == best["ceiling"]
        floor = arena.run(world, task, "random", tmp_path / f"{task}-random")
        assert all(floor["mean"][name] < best["mean"][name] / 2 for name in best["mean"])


@pytest.mark.parametrize(
    "cut", [0, 1, -1, -40, "half a line", "junk", "a field is missing", "an id stands twice"]
)
def test_a_run_cut_off_anywhere_goes_on_to_the_same_files(world, title, tmp_path, cut):
    """What a kill leaves: a manifest, some lines, perhaps part of one, no result files."""
    output = tmp_path / "run"
    arena.run(world, "discovery", "title", output)
    path = output / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[:3])
    path.write_bytes(
        {
            "half a line": kept + lines[3][:50],
            "junk": kept + b"{]\n",
            "a field is missing": kept + lines[3].replace(b'"submitted"', b'"sbmtd"'),
            "an id stands twice": kept
            + lines[3].replace(b'"submitted":[', b'"submitted":["x","x",'),
        }.get(str(cut), path.read_bytes()[: cut if isinstance(cut, int) else 0])
    )
    for name in ("run.trec", "qrels.trec", "metrics.json"):
        (output / name).unlink()
    manifest = json.loads((output / "manifest.json").read_text())
    del manifest["files"]
    (output / "manifest.json").write_text(json.dumps(manifest))
    arena.run(world, "discovery", "title", output)
    assert contents(output) == contents(title)


SLOW = """
import sys, time
import arena
from arena.agents import AGENTS
Title = AGENTS.get("title")
act = Title.act
def slowly(self, observation):
    time.sleep(0.1)
    return act(self, observation)
Title.act = slowly
arena.run(sys.argv[1], "discovery", "title", sys.argv[2])
"""


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_process(world, title, tmp_path, kind):
    output = tmp_path / "run"
    command = [sys.executable, "-c", SLOW, str(world), str(output)]
    for _ in range(2):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 60
            path = output / "trajectories.jsonl"
            size = path.stat().st_size if path.exists() else 0
            while not (path.exists() and path.stat().st_size > size):
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(kind)
    assert 1 <= len(path.read_bytes().splitlines()) < 8
    assert not (output / "metrics.json").exists()
    arena.run(world, "discovery", "title", output)
    assert contents(output) == contents(title)


def test_another_run_is_not_overwritten(world, title, tmp_path):
    output = tmp_path / "run"
    arena.run(world, "discovery", "title", output, surveys=2)
    before = contents(output)
    with pytest.raises(CorpusError, match=r"differs in agent"):
        arena.run(world, "discovery", "random", output, surveys=2)
    with pytest.raises(CorpusError, match="differs in surveys"):
        arena.run(world, "discovery", "title", output)
    assert contents(output) == before
    arena.run(world, "discovery", "title", output, overwrite=True)
    assert contents(output) == contents(title)


def test_a_directory_of_something_else_is_left_alone(world, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CorpusError, match="holds other files"):
        arena.run(world, "discovery", "title", tmp_path, overwrite=True)
    with pytest.raises(CorpusError, match="is a file"):
        arena.run(world, "discovery", "title", tmp_path / "thesis.tex")
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


def test_what_a_kill_inside_a_write_leaves_is_cleared(world, title, tmp_path):
    from arena._files import TEMPORARY_SUFFIX

    output = tmp_path / "run"
    output.mkdir()
    (output / f".0123{TEMPORARY_SUFFIX}").write_text("half a manif")
    (output / ".lock").write_text("")
    arena.run(world, "discovery", "title", output)
    assert contents(output) == contents(title)
    # --overwrite, killed after the results are gone and before the manifest is
    for name in FILES - {"manifest.json"}:
        (output / name).unlink()
    (output / f".4567{TEMPORARY_SUFFIX}").write_text("half a line")
    arena.run(world, "discovery", "title", output)
    assert contents(output) == contents(title)


def test_two_processes_do_not_write_one_run(world, tmp_path):
    from arena._lock import only_writer

    output = tmp_path / "run"
    output.mkdir()
    with (
        only_writer(output / ".lock", output),
        pytest.raises(ArenaError, match="another process is writing"),
    ):
        arena.run(world, "discovery", "title", output)
    arena.run(world, "discovery", "title", output, surveys=1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"task": "discovry"}, UnknownNameError, "Did you mean 'discovery'"),
        ({"agent": "titel"}, UnknownNameError, "Did you mean 'title'"),
        ({"retriever": "bm52"}, UnknownNameError, "Did you mean 'bm25'"),
        ({"surveys": ["nope"]}, UnknownNameError, "no survey 'nope'"),
        ({"surveys": 0}, DataError, "the corpus has 8 surveys"),
        ({"surveys": 99}, DataError, "the corpus has 8 surveys"),
        ({"surveys": []}, DataError, "no survey is named"),
        ({"seed": -1}, DataError, "seed=-1"),
        ({"seed": "x"}, DataError, "seed='x'"),
    ],
)
def test_bad_arguments(world, tmp_path, options, error, message):
    arguments = {"corpus": world, "task": "discovery", "agent": "title"} | options
    with pytest.raises(error, match=message):
        arena.run(**arguments, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_failing_agent_keeps_the_episodes_before(world, title, tmp_path, monkeypatch):
    title_class = AGENTS.get("title")
    act, played = title_class.act, []

    def fails(self: Agent, observation: Any) -> Any:
        played.append(observation["topic"])
        if len(played) == 6:
            raise ZeroDivisionError("oops")
        return act(self, observation)

    monkeypatch.setattr(title_class, "act", fails)
    with pytest.raises(
        ArenaError, match=r"'title' failed on survey '.*': ZeroDivisionError: 'oops'"
    ):
        arena.run(world, "discovery", "title", tmp_path / "run")
    monkeypatch.undo()
    assert len((tmp_path / "run/trajectories.jsonl").read_bytes().splitlines()) == 2
    arena.run(world, "discovery", "title", tmp_path / "run")
    assert contents(tmp_path / "run") == contents(title)


def test_an_agent_that_never_submits_scores_zero(world, tmp_path, monkeypatch):
    monkeypatch.setattr(AGENTS.get("title"), "act", lambda self, observation: "no idea")
    summary = arena.run(world, "discovery", "title", tmp_path / "run")
    assert set(summary["mean"].values()) == {0.0}
    assert all(entry["truncated"] for entry in summary["per_survey"].values())
    assert (tmp_path / "run/run.trec").read_bytes() == b""
    assert arena.score(world, "discovery", tmp_path / "run")["mean"] == summary["mean"]


def test_a_run_over_surveys_without_gold(mini, tmp_path):
    unscored = [
        row["survey"]
        for row in pq.read_table(mini / "tasks/mind_maps.parquet").to_pylist()
        if not TaskSet(mini).gold(row["survey"]).gains
    ]
    summary = arena.run(mini, "discovery", "title", tmp_path / "run", surveys=unscored)
    assert summary["counts"]["scored"] == 0
    assert summary["counts"]["not_scored"] == len(unscored) > 0
    assert set(summary["mean"].values()) == {None}
    assert (tmp_path / "run/qrels.trec").read_bytes() == b""


def test_actions_that_json_cannot_hold_are_described(world, tmp_path, monkeypatch):
    loop: list[Any] = []
    loop.append(loop)
    actions = iter([loop, {1, 2}, {"tool": float("nan")}, object()])
    submit = {"tool": "submit", "arguments": {"paper_ids": []}}
    monkeypatch.setattr(AGENTS.get("title"), "act", lambda self, _: next(actions, submit))
    arena.run(world, "discovery", "title", tmp_path / "run", surveys=1)
    text = (tmp_path / "run/trajectories.jsonl").read_text()
    record = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    kinds = [step["action"].split()[1] for step in record["steps"][:-1]]
    assert kinds == ["list", "set", "dict", "object"]


class Deep(Agent):
    """Title with an option."""

    def __init__(self, seed: int = 0, depth: int = 100) -> None:
        super().__init__(seed)
        self.depth = depth

    def act(self, observation: Any) -> Any:
        hits = json.loads(observation["result"]).get("hits")
        if hits is None:
            query = {"query": observation["topic"], "k": self.depth}
            return {"tool": "search", "arguments": query}
        return {"tool": "submit", "arguments": {"paper_ids": [hit["id"] for hit in hits]}}


def test_an_agent_of_ones_own(world, title, tmp_path):
    mine = arena.run(world, "discovery", Deep, tmp_path / "mine")
    assert mine["mean"] == json.loads((title / "metrics.json").read_text())["mean"]
    shallow = arena.run(world, "discovery", Deep, tmp_path / "7", agent_options={"depth": 7})
    assert {entry["submitted"] for entry in shallow["per_survey"].values()} == {7}
    manifests = [json.loads((tmp_path / n / "manifest.json").read_text()) for n in ("mine", "7")]
    assert [m["agent_options"] for m in manifests] == [{}, {"depth": 7}]
    assert manifests[0]["agent"] == "Deep"
    with pytest.raises(DataError, match=r"'Deep' does not take the options {'width': 1}"):
        arena.run(world, "discovery", Deep, tmp_path / "x", agent_options={"width": 1})
    for nonsense in (int, 7, Deep(0)):
        with pytest.raises(DataError, match="a registered name or a subclass of Agent"):
            arena.run(world, "discovery", nonsense, tmp_path / "x")
    with pytest.raises(DataError, match="the oracle takes no options"):
        arena.run(world, "discovery", "oracle", tmp_path / "x", agent_options={"a": 1})
    assert not (tmp_path / "x").exists()


def test_the_budget_of_a_run(world, tmp_path):
    summary = arena.run(world, "discovery", "title", tmp_path / "run", budget={"max_searches": 0})
    assert all(entry["truncated"] for entry in summary["per_survey"].values())
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert manifest["budget"] == {"max_steps": 100, "max_searches": 0, "max_k": 100}
    with pytest.raises(CorpusError, match="differs in budget"):
        arena.run(world, "discovery", "title", tmp_path / "run")
    with pytest.raises(DataError, match="max_steps=0"):
        arena.run(world, "discovery", "title", tmp_path / "x", budget={"max_steps": 0})
    with pytest.raises(DataError, match=r"no limit 'max_step'. Did you mean 'max_steps'"):
        arena.run(world, "discovery", "title", tmp_path / "x", budget={"max_step": 1})


def test_a_run_over_some_surveys_is_scored_over_those(world, tmp_path):
    summary = arena.run(world, "discovery", "title", tmp_path / "run", surveys=2)
    assert arena.score(world, "discovery", tmp_path / "run")["mean"] == summary["mean"]


def test_score_equals_run(world, title):
    summary = json.loads((title / "metrics.json").read_text())
    for path in (title, title / "run.trec"):
        scored = arena.score(world, "discovery", path)
        assert scored["mean"] == summary["mean"]
        assert scored["ceiling"] == summary["ceiling"]
        assert (scored["counts"]["missing"], scored["counts"]["not_visible"]) == (0, 0)


def test_score_of_a_foreign_run(mini, tmp_path):
    """Worked out by hand on the mini corpus, see conftest.py for its documents."""
    gold = {
        row["reference"]: 2 if row["influential"] else 1
        for row in pq.read_table(mini / "tasks/gold.parquet").to_pylist()
        if row["survey"] == "sv:1" and row["status"] == "gold"
    }
    assert gold, "sv:1 has gold"
    first = min(gold)
    run = tmp_path / "run.trec"
    # The rank column lies, scores decide; 'future' is unknown and holds rank 1.
    run.write_text(f"sv:1 Q0 {first} 1 0.5 other\nsv:1 Q0 future:1 2 0.9 other\n", encoding="utf-8")
    scored = arena.score(mini, "selection", run)
    assert scored["per_survey"]["sv:1"]["mrr"] == 0.5
    assert scored["counts"]["not_visible"] == 1
    others = [s for s, entry in scored["per_survey"].items() if s != "sv:1" and entry["gold"]]
    assert scored["counts"]["missing"] == len(scored["per_survey"]) - 1
    assert all(scored["per_survey"][s]["mrr"] == 0.0 for s in others)
    assert scored["mean"]["mrr"] == pytest.approx(0.5 / (1 + len(others)))


def test_ties_are_broken_by_document_order(world, tmp_path):
    corpus = arena.Corpus.open(world)
    survey = sorted(pq.read_table(world / "tasks/surveys.parquet")["id"].to_pylist())[0]
    papers = pq.read_table(world / "papers.parquet", columns=["id", "searchable"]).to_pylist()
    ids = [p["id"] for p in papers if p["searchable"]][:50]
    summaries = []
    for order in (ids, ids[::-1]):
        run = tmp_path / "run.trec"
        run.write_text("".join(f"{survey} Q0 {i} {n} 1.0 x\n" for n, i in enumerate(order, 1)))
        summaries.append(arena.score(corpus, "selection", run, [survey]))
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("nope Q0 a 1 1.0 t\n", "survey 'nope', which this corpus does not have"),
        ("a b c\n", "run.trec:1"),
        ("s Q0 a 1 nan t\n", "run.trec:1"),
    ],
)
def test_bad_run_files(world, tmp_path, text, message):
    (tmp_path / "run.trec").write_text(text)
    with pytest.raises(DataError, match=message):
        arena.score(world, "discovery", tmp_path / "run.trec")
    with pytest.raises(DataError, match="no such file"):
        arena.score(world, "discovery", tmp_path / "missing.trec")


def test_trajectories_of_other_surveys_are_cut_off(tmp_path):
    path = tmp_path / "trajectories.jsonl"
    trajectories = Trajectories(path)
    record = {"steps": [], "searches": 0, "submitted": [], "truncated": False}
    with trajectories:
        for survey in "abc":
            trajectories.append({"survey": survey, **record})
    first = path.read_text().splitlines(keepends=True)[0]
    again = Trajectories(path)
    again.keep(["a", "x", "c"])
    assert again.done == {"a"}
    assert path.read_text() == first


def test_score_refuses_a_run_over_another_corpus(world, mini, title):
    with pytest.raises(CorpusError, match="is a run over corpus"):
        arena.score(mini, "discovery", title)


def test_what_lies_below_the_thousandth_place_does_not_count(world, tmp_path):
    survey = min(pq.read_table(world / "tasks/surveys.parquet")["id"].to_pylist())
    gold = next(
        row["reference"]
        for row in pq.read_table(world / "tasks/gold.parquet").to_pylist()
        if row["survey"] == survey and row["status"] == "gold"
    )
    for place, expected in ((1000, 1 / 1000), (1001, 0.0)):
        lines = [f"{survey} Q0 x{n} 0 {-n} t" for n in range(1, place)]
        lines.append(f"{survey} Q0 {gold} 0 {-place} t")
        (tmp_path / "run.trec").write_text("\n".join(lines))
        scored = arena.score(world, "selection", tmp_path / "run.trec", [survey, survey])
        assert scored["per_survey"][survey]["mrr"] == expected
        assert scored["counts"]["not_visible"] == place - 1 - (place > 1000) + (place > 1000)


def test_the_oracle_submits_no_more_than_counts():
    from arena.oracle import Oracle
    from arena.tasks import Gold

    gold = Gold({f"p{n}": 1 + (n == 1500) for n in range(2000)}, 2000, 2000)
    submitted = Oracle(gold).act({})["arguments"]["paper_ids"]
    assert len(submitted) == 1000
    assert submitted[:2] == ["p1500", "p0"]


def test_code_that_cannot_be_found_is_refused(world, tmp_path):
    """As in `python -`: the run could not name the code that made it."""
    code = """
import sys, arena
class Mine(arena.Agent):
    def act(self, observation): return {}
try:
    arena.run(sys.argv[1], "discovery", Mine, sys.argv[2])
except arena.errors.DataError as error:
    print(error)
"""
    command = [sys.executable, "-", str(world), str(tmp_path / "run")]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=True)
    assert "the code of Mine cannot be found" in done.stdout


def test_the_code_hash_sees_a_users_own_agent(tmp_path):
    from arena._code import code_sha256

    module = tmp_path / "mine.py"
    hashes = []
    for text in ("class Mine: pass\n", "class Mine: x = 1\n"):
        module.write_text(text)
        code = (
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import mine; "
            "from arena._code import code_sha256; print(code_sha256(mine.Mine))"
        )
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        hashes.append(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True,
                env=environment,
            ).stdout
        )  # fmt: skip
    assert len({*hashes, code_sha256()}) == 3
