"""Replay: recorded actions get the recorded answers, and any change is reported with its step."""

from __future__ import annotations

import contextlib
import json
import shutil
import types
from collections import OrderedDict, UserDict
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import pytest
from helpers import call, contents, make_env
from hypothesis import given
from hypothesis import strategies as st

import arena
import arena.cli
from arena.agents import Agent
from arena.errors import CorpusError, DataError
from arena.runs import verify
from arena.tools import json_action


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    SEARCH = "search"


LOOP: list[Any] = [1]
LOOP.append({"loop": LOOP})
DEEP: Any = []
for _ in range(5000):
    DEEP = [DEEP]

JUNK: list[Any] = [
    None, True, 7, 1e300, float("nan"), 10**6000, "", "no JSON", '{"tool": NaN}', b"\xff\x00",
    '{"tool": "search", "arguments": {"query": "membrane"}}', "\ud83d\ude00 \ud83d", "[" * 100_000,
    {1, 2, 3}, object(), np.int64(3), np.float64("nan"), np.bool_(False), np.arange(3),
    (1, "a"), [], {}, LOOP, DEEP, {None: 1, (1, (2,)): 4}, OrderedDict(b=1, a=2), UserDict(a=1),
    Level.HIGH, Word.SEARCH,
]  # fmt: skip


def wrapped(junk: Any) -> list[Any]:
    """The places where junk may stand."""
    found = [
        junk,
        {"tool": junk},
        {"tool": "search", "arguments": junk},
        {"tool": "search", "arguments": {"query": junk}},
        {"tool": "search", "arguments": {"query": "membrane", "k": junk}},
        {"tool": "submit", "arguments": {"paper_ids": [junk, "x"]}},
        {"tool": "organize", "arguments": {"mind_map": {"label": "a", "children": [junk]}}},
        {"tool": "search", "arguments": UserDict(query="membrane", k=junk)},
        {"tool": "finish", "arguments": {}, "$extra": junk},
    ]
    with contextlib.suppress(TypeError):  # not everything can be a key
        found.append({"tool": "search", "arguments": {junk: 1}})
    return found


@pytest.fixture(scope="module")
def answer(synthetic):
    """The observation of an action, in an episode of its own."""
    env = make_env(synthetic, "arena/Organization-v0", references="run", max_steps=5)

    def ask(action: object) -> tuple[str, Any]:
        env.reset(seed=1)
        observation, *rest = env.step(action)
        return json.dumps(observation), rest

    return ask


def read_back(action: object) -> Any:
    """The action that a replay reads where a run wrote `action`."""
    return json.loads(json.dumps(action, allow_nan=False))


@pytest.mark.parametrize("number", range(len(JUNK)))
def test_a_recorded_action_is_the_one_that_was_played(answer, number):
    for action in wrapped(JUNK[number]):
        played = json_action(action)
        assert repr(read_back(played)) == repr(played)
        assert json_action(played) == played
        before, now = answer(action), answer(played)
        if "error" not in json.loads(json.loads(before[0])["result"]):
            assert "error" not in json.loads(json.loads(now[0])["result"]), played


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=10,
)  # fmt: skip


@given(json_values)
def test_json_is_recorded_as_it_is(value):
    assert json.dumps(json_action(value)) == json.dumps(value)  # also the order of keys


def test_actions_and_their_records():
    for action, recorded in [
        ({"k": (1,)}, {"k": [1]}),
        ({1: 2}, {"1": 2}),
        ({"k": np.int64(3), "x": np.float64(0.5)}, {"k": 3, "x": 0.5}),
        ([np.bool_(True)], [True]),
        (Level.HIGH, 3),
        ("\ud83d\ude00", "\U0001f600"),
        (UserDict(a=types.MappingProxyType({"b": 1})), {"a": {"b": 1}}),
        (b'{"tool": "finish"}', '{"tool": "finish"}'),
        ([{1, 2}, 3], "(JSON cannot hold a set)"),
        ({"k": b"x"}, "(JSON cannot hold a bytes)"),
        (b"\xff\x00\xff", "(JSON cannot hold this action)"),
        (float("-inf"), "(JSON cannot hold this action)"),
        (LOOP, "(JSON cannot hold this action)"),
    ]:  # fmt: skip
        assert json_action(action) == recorded


# Whole runs.


class Junk(Agent):
    """Sends junk in all places, then submits."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.actions = iter([action for junk in JUNK for action in wrapped(junk)])

    def act(self, observation):
        if observation["budget"]["steps"] == 1:
            return {"tool": "finish", "arguments": {}}
        return next(self.actions, {"tool": "finish", "arguments": {}})

    def notes(self):
        return {"calls": 3, "tokens": {"in": 10, "out": 5}}


@pytest.mark.parametrize("task", ["discovery", "selection", "organization", "pipeline"])
@pytest.mark.parametrize("agent", ["title", "random", "clustering", "oracle"])
def test_every_baseline_replays(synthetic, tmp_path, task, agent):
    summary = arena.run(synthetic, task, agent, tmp_path / "run", topics=3)
    report = verify(tmp_path / "run", synthetic)
    steps = sum(entry["steps"] for entry in summary["per_topic"].values())
    assert report[:5] == (3, steps, None, [], [])
    before = contents(tmp_path / "run")
    assert verify(tmp_path / "run", synthetic) == report  # twice in a row
    assert contents(tmp_path / "run") == before


def test_junk_replays(synthetic, tmp_path):
    options = {"topics": 1, "max_steps": 300, "max_searches": 200}
    for name in "ab":
        arena.run(synthetic, "pipeline", Junk, tmp_path / name, **options)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    report = verify(tmp_path / "a", synthetic)
    assert report.difference is None
    assert report.steps >= 100
    [line] = (tmp_path / "a/trajectories.jsonl").read_bytes().splitlines()
    assert json.loads(line)["notes"] == {"calls": 3, "tokens": {"in": 10, "out": 5}}


@pytest.fixture(scope="module")
def finished(synthetic, tmp_path_factory):
    """A finished run of two episodes of several steps."""
    output = tmp_path_factory.mktemp("finished") / "run"
    arena.run(synthetic, "discovery", "random", output, topics=2)
    return output


def changed(finished, tmp_path, change):
    """A copy of the run whose second episode `change` has changed."""
    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / "trajectories.jsonl"
    first, second = path.read_text().splitlines()
    record = json.loads(second)
    change(record)
    path.write_text(f"{first}\n{json.dumps(record)}\n")
    return tmp_path / "run", record["topic_id"]


def another_query(record):
    record["steps"][2]["action"]["arguments"]["query"] = "zirconium"


def one_paper_less(record):
    record["steps"][-1]["action"]["arguments"]["paper_ids"].pop()


def another_error(record):
    record["steps"][3]["error"] = "k=0: give a number from 1 to 100."


CHANGES: dict[str, tuple[Any, int, str]] = {
    "seed": (lambda r: r.update(seed=r["seed"] + 1), 0, "the seed"),
    "error": (another_error, 4, "the error"),
    "action": (another_query, 3, "the observation"),
    "last action": (one_paper_less, 11, "the observation"),
    "first observation": (
        lambda r: r.update(observation_sha256="0" * 64), 0, "the observation",
    ),
    "observation": (
        lambda r: r["steps"][4].update(observation_sha256="0" * 64), 5, "the observation",
    ),
    "reward": (lambda r: r["steps"][6].update(reward=0.123), 7, "the reward"),
    "terms": (lambda r: r["steps"][0]["reward_terms"].update(extra=0.0), 1, "the reward terms"),
    "end": (lambda r: r["steps"].pop(), 10, "terminated"),
    "how it ended": (lambda r: r.update(truncated=True), 11, "terminated"),
    "spent": (lambda r: r["spent"].update(searches=0), 11, "what was spent"),
    "metrics": (lambda r: r["metrics"].update({"recall@10": 1.0}), 11, "metrics"),
    "answers": (lambda r: r["answers"]["discovery"].reverse(), 11, "answers"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_line_is_reported_with_its_step(synthetic, finished, tmp_path, name):
    change, step, what = CHANGES[name]
    run, topic = changed(finished, tmp_path, change)
    report = verify(run, synthetic)
    assert report.difference is not None
    assert (report.difference.topic_id, report.difference.step) == (topic, step)
    assert report.difference.what == what
    assert report.episodes == 2


def test_the_command(synthetic, finished, tmp_path, capsys):
    options = ["--corpus", str(synthetic)]
    assert arena.cli.main(["verify", str(finished), *options]) == 0
    assert capsys.readouterr() == (
        "Verified: 2 episodes, 22 steps.\n"
        "Claims, not checked: agent random, model -, model_cutoff -, openness -.\n",
        "",
    )
    assert arena.cli.main(["verify", str(finished), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "verified": True, "episodes": 2, "steps": 22, "difference": None, "reasons": [],
        "remarks": [], "unseen": 0.0,
        "claims": {"agent": "random", "model": None, "model_cutoff": None, "openness": None},
    }  # fmt: skip
    run, topic = changed(finished, tmp_path, another_query)
    with pytest.raises(SystemExit, match=r"^1$"):
        arena.cli.main(["verify", str(run), *options])
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert error.startswith("arena verify: topic")
    assert f"topic '{topic}', step 3" in error
    assert '"query": "zirconium"' in error
    assert "the observation differs" in error
    with pytest.raises(SystemExit, match=r"^1$"):
        arena.cli.main(["verify", str(run), *options, "--json"])
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert (report["verified"], report["difference"]["step"]) == (False, 3)
    assert printed.err == error


def edited(finished, tmp_path, **changes):
    """A copy of the run with another manifest."""
    shutil.copytree(finished, tmp_path / "run")
    manifest = json.loads((finished / "manifest.json").read_text())
    for key, value in changes.items():
        manifest[key] = manifest[key] | value if isinstance(value, dict) else value
    (tmp_path / "run/manifest.json").write_text(json.dumps(manifest))
    lines = (finished / "trajectories.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        record |= {key: manifest[key] for key in ("arena", "task", "sha256")}
    text = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "run/trajectories.jsonl").write_text(text)
    return tmp_path / "run"


@pytest.mark.parametrize("name", ["corpus", "tasks", "index"])
def test_another_corpus_index_or_task_set_is_refused(synthetic, finished, tmp_path, name):
    run = edited(finished, tmp_path, sha256={name: "0" * 64})
    what = {"tasks": "task set"}.get(name, name)
    with pytest.raises(CorpusError, match=f"was run with another {what}"):
        verify(run, synthetic)


def test_changed_code_is_a_remark_and_not_a_difference(synthetic, finished, tmp_path):
    run = edited(finished, tmp_path, sha256={"environment": "0" * 64}, arena="0.0.1")
    report = verify(run, synthetic)
    assert report.difference is None
    told = " ".join(report.remarks)
    assert "by release 0.0.1" in told
    assert "The code of the environment has changed since the run." in told


@pytest.mark.parametrize("cut", [-1, -40, 0])
def test_a_last_line_that_was_cut_off(synthetic, finished, tmp_path, cut):
    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / "trajectories.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[: cut or 30])
    report = verify(tmp_path / "run", synthetic)
    assert (report.episodes, report.difference, report.verified) == (1, None, False)
    assert report.reasons == [
        "The last line is incomplete and was skipped.",
        "The run has 1 of its 2 episodes.",
    ]
    arena.run(synthetic, "discovery", "random", tmp_path / "run", topics=2)  # recovers it
    assert contents(tmp_path / "run") == contents(finished)


def test_directories_without_a_run_are_refused(synthetic, mini, finished, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match=r"file' cannot be unpacked: .* as \.tar\.gz or \.zip"):
        verify(tmp_path / "file", synthetic)
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "absent", mini):
        with pytest.raises(CorpusError, match="contains no run"):
            verify(path, synthetic)
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    path = run / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for content, error, message in (
        (b"", CorpusError, "contains no episode"),
        (lines[0][:40], CorpusError, "contains no complete episode"),
        (lines[0] + b"{]\n" + lines[1], DataError, "line 2 is not an episode of version 2"),
        (lines[0] + lines[0], DataError, "line 2 is not of this run"),
        (lines[0].replace(b'"version":2', b'"version":1'), DataError, "line 1 is not an episode"),
        (lines[0].replace(b'"task":"discovery"', b'"task":"selection"'), DataError, "in task"),
    ):
        path.write_bytes(content)
        with pytest.raises(error, match=message):
            verify(run, synthetic)
    path.unlink()
    with pytest.raises(CorpusError, match="contains no episode"):
        verify(run, synthetic)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"version": 1}))
    with pytest.raises(CorpusError, match="has version 1, this release reads 3"):
        verify(run, synthetic)


def test_a_run_with_everything_set_replays(synthetic, tmp_path):
    """Reward and its options, engines, budgets, the engine's options: all from the manifest."""
    shutil.copytree(synthetic, tmp_path / "corpus")
    from corpus_builder.index import build_index

    build_index(tmp_path / "corpus", "bm25", name="titles", fields=["title"])
    output = tmp_path / "run"
    arena.run(
        tmp_path / "corpus", "discovery", Asks, output, topics=2,
        retriever="hybrid(bm25, titles)", retriever_options={"bm25": {"statistics": "corpus"}},
        retrievers=["titles"], reward="shaped+cost",
        reward_options={"cost": {"per_search": 0.5}, "shaped": {"discount": 0.9}},
        max_searches=3, max_characters=20_000,
    )  # fmt: skip
    assert verify(output, tmp_path / "corpus").difference is None
    manifest = json.loads((output / "manifest.json").read_text())
    corpus = arena.Corpus.open(tmp_path / "corpus")
    assert manifest["sha256"]["index"] == corpus.index_sha256("hybrid(bm25,titles)")
    assert manifest["sha256"]["retrievers"] == {"titles": corpus.index_sha256("titles")}
    record = json.loads((output / "trajectories.jsonl").read_text().splitlines()[0])
    assert [step["reward_terms"]["cost.searches"] for step in record["steps"]] == [-0.5, -0.5, 0]
    # The same names, another index: found before anything is played.
    build_index(tmp_path / "corpus", "bm25", name="titles", fields=["abstract"], overwrite=True)
    with pytest.raises(CorpusError, match="was run with another index"):
        verify(output, tmp_path / "corpus")


class Asks(Agent):
    """Search with both engines, submit what the second found."""

    def act(self, observation):
        left = observation["budget"]["searches"]
        if left > 1:
            engine = [None, "titles"][left == 2]
            return call("search", query=observation["topic"], k=20, retriever=engine)
        hits = json.loads(observation["result"])["hits"]
        return call("submit", paper_ids=[hit["id"] for hit in hits])


def test_a_run_keeps_its_starting_papers(synthetic, tmp_path):
    arena.run(synthetic, "discovery", "title", tmp_path / "title", topics=3)
    output = tmp_path / "run"
    options = {"references": "run", "start_from": str(tmp_path / "title")}
    arena.run(synthetic, "organization", "oracle", output, topics=2, **options)
    manifest = (output / "manifest.json").read_text()
    assert str(tmp_path) not in manifest
    again = {"references": "run", "start_from": tmp_path / "title" / "run.trec"}
    arena.run(synthetic, "organization", "oracle", tmp_path / "b", topics=2, **again)
    assert contents(tmp_path / "b") == contents(output)
    found = json.loads((output / "start_from.json").read_text())
    lines = [line.split() for line in (tmp_path / "title/run.trec").read_text().splitlines()]
    assert found == {s: [line[2] for line in lines if line[0] == s] for s in found}
    assert len(found) == 2
    shutil.rmtree(tmp_path / "title")
    assert verify(output, synthetic).difference is None
    next(iter(found.values())).pop()
    (output / "start_from.json").write_text(json.dumps(found))
    with pytest.raises(CorpusError, match=r"start_from.json' is not as the run left it"):
        verify(output, synthetic)
