"""Labels stay with the task and the scorer; data flows one way."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
from pathlib import Path

import gymnasium
import numpy as np
import pyarrow.parquet as pq
import pytest

import arena
from arena.agents import AGENTS, Agent
from arena.errors import CorpusError

ROOT = Path(arena.__file__).parent.parent


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports hide where a name comes from"
            found.add(node.module or "")
    return found


# What a baseline needs to think with; none of it opens a file or another module.
THINKING = {
    "__future__", "collections", "dataclasses", "functools", "heapq", "itertools", "json", "math",
    "operator", "random", "re", "statistics", "string", "textwrap", "typing",
}  # fmt: skip
DOORS = {"__import__", "__builtins__", "eval", "exec", "compile", "open", "getattr", "globals"}


@pytest.mark.parametrize("path", sorted((ROOT / "baselines").rglob("*.py")), ids=lambda p: p.stem)
def test_a_baseline_reaches_nothing_that_knows_labels(path):
    for name in imports(path):
        assert name in {"arena.agents", "arena.text"} or name.split(".")[0] in THINKING, name
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & (DOORS | {"arena"})
    dunders = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {name for name in dunders if name.startswith("__")} <= {"__init__"}


def test_data_flows_one_way():
    for package, later in (
        ("arena", ("corpus_builder", "baselines")),
        ("corpus_builder", ("baselines",)),
    ):
        for path in (ROOT / package).rglob("*.py"):
            for name in imports(path):
                assert name.split(".")[0] not in later, f"{path} imports {name}"


def test_retrieval_knows_nothing_of_episodes():
    for path in (ROOT / "arena" / "retrieval").rglob("*.py"):
        for name in imports(path):
            assert not name.startswith(("arena.envs", "arena.tasks", "arena.runs")), (path, name)


class Spy(Agent):
    """Keeps all that an agent ever gets."""

    given: list[object] = []  # noqa: RUF012 - the test looks at it

    def act(self, observation):
        self.given.append((observation, vars(self)))
        searches = observation["budget"]["searches"]
        if searches > 40:
            words = observation["topic"].split()
            return {"tool": "search", "arguments": {"query": words[searches % len(words)]}}
        return {"tool": "submit", "arguments": {"paper_ids": []}}


def test_an_agent_is_given_observations_only(world, tmp_path, monkeypatch):
    monkeypatch.setattr(Spy, "given", [])
    monkeypatch.setitem(AGENTS._items, "spy", Spy)
    summary = arena.run(world, "selection", "spy", tmp_path / "run")
    survey_ids = list(summary["per_survey"])
    for observation, own in Spy.given:
        assert set(observation) == {"topic", "cutoff", "result", "budget"}
        assert set(own) == {"seed"}
        text = json.dumps(observation)
        assert not any(survey_id in text for survey_id in survey_ids)


def test_gold_does_not_change_what_an_agent_sees(world, tmp_path):
    """Two corpora that differ in the labels alone give the same observations, byte for byte."""
    other = tmp_path / "other"
    shutil.copytree(world, other)
    gold = pq.read_table(other / "tasks/gold.parquet").to_pylist()
    rng = np.random.default_rng(0)
    shuffled = [dict(row, influential=bool(rng.integers(2))) for row in gold]
    keep = [row for row in shuffled if rng.integers(2)]
    import pyarrow as pa

    schema = pq.read_schema(other / "tasks/gold.parquet")
    pq.write_table(pa.Table.from_pylist(keep, schema=schema), other / "tasks/gold.parquet")
    manifest = json.loads((other / "manifest.json").read_text())
    data = (other / "tasks/gold.parquet").read_bytes()
    manifest["files"]["tasks/gold.parquet"] = {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    (other / "manifest.json").write_text(json.dumps(manifest))
    surveys = pq.read_table(world / "tasks/surveys.parquet")["id"].to_pylist()
    seen = []
    for corpus in (world, other):
        env = gymnasium.make("arena/Discovery-v0", corpus=corpus)
        for survey in surveys:
            observation, info = env.reset(seed=1, options={"survey": survey})
            seen.append((observation, info))
            for query in (observation["topic"], "membrane", "nothingmatches"):
                step = env.step({"tool": "search", "arguments": {"query": query, "k": 50}})
                seen.append(step)
                hits = json.loads(step[0]["result"])["hits"]
                for hit in hits[:3]:
                    seen.append(env.step({"tool": "read", "arguments": {"paper_id": hit["id"]}}))
    half = len(seen) // 2
    assert seen[:half] == seen[half:]


def test_public_attributes_of_an_environment_hold_no_label(world):
    env = gymnasium.make("arena/Selection-v0", corpus=world).unwrapped
    env.reset(seed=1)
    public = {name: value for name, value in vars(env).items() if not name.startswith("_")}
    assert set(public) <= {
        "action_space", "observation_space", "render_mode", "spec",
    }  # fmt: skip


def test_labels_that_were_changed_do_not_open(world, tmp_path):
    """A file of the same size with other labels would give other numbers under the same hash."""
    other = tmp_path / "other"
    shutil.copytree(world, other)
    path = other / "tasks/gold.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorpusError, match="is not as it was built"):
        arena.run(other, "discovery", "title", tmp_path / "run")
