"""Labels stay with the task and the scorer; data flows one way."""

from __future__ import annotations

import ast
import importlib
import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import arena
import arena.llm
from arena.agents import AGENTS, Agent
from arena.errors import CorpusError
from arena.tools import Episode

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
    "__future__", "annotated_types", "collections", "copy", "dataclasses", "functools", "heapq",
    "itertools", "json", "math", "operator", "random", "re", "statistics", "string",
    "textwrap", "typing",
}  # fmt: skip
# Arithmetic. These could open files that they are told the path of, which no observation tells.
ARITHMETIC = {
    "numpy", "numpy.typing", "scipy.cluster.hierarchy", "sklearn.feature_extraction.text",
    "arena.kit.process",
}  # fmt: skip
# Of `arena` what knows texts and vectors: an encoder opens its own model by its name, and
# `arena.mindmap.tree` is the type of a mind-map alone (`arena.mindmap` reads files);
# `arena.kit.options` checks numbers and names.
KNOWS_NO_LABEL = {
    "arena.kit.options", "arena.agents", "arena.encoders", "arena.errors", "arena.llm",
    "arena.mindmap.tree", "arena.ranker", "arena.report.listing", "arena.report.sentences",
    "arena.text", "arena.text.display",
}  # fmt: skip
BUILT_IN = {"__import__", "eval", "exec", "open"}


@pytest.mark.parametrize("path", sorted((ROOT / "baselines").rglob("*.py")), ids=lambda p: p.stem)
def test_a_baseline_reaches_nothing_that_knows_labels(path):
    for name in imports(path):
        known = name in KNOWS_NO_LABEL | ARITHMETIC or name.startswith("baselines.")
        assert known or name.split(".")[0] in THINKING, name
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.Name) and node.id in BUILT_IN), node.id
        if isinstance(node, ast.ImportFrom) and node.module == "arena.llm":
            # Its modules open files; the public names open templates, prices and answers alone.
            assert {alias.name for alias in node.names} <= set(arena.llm.__all__)
        if isinstance(node, ast.ImportFrom) and node.module in KNOWS_NO_LABEL:
            home = importlib.import_module(node.module)  # its names, not modules in it
            for alias in node.names:
                assert not isinstance(getattr(home, alias.name), ModuleType), alias.name


def test_what_a_baseline_may_import_knows_no_label():
    """Followed through all that it imports, also inside functions: no task, corpus or view."""
    waiting = sorted(KNOWS_NO_LABEL)
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        path = (ROOT / "plugins" if name.startswith("arena_") else ROOT) / name.replace(".", "/")
        found = imports(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
        waiting += [other for other in found if other.split(".")[0] in ("arena", "arena_engines")]
        if path.is_dir():  # a registry imports every public module of its package
            waiting += [f"{name}.{file.stem}" for file in path.glob("*.py") if file.stem[0] != "_"]
    assert {"arena.encoders.static", "arena.plugins"} <= reached
    for name in reached:
        assert name.split(".")[1:2] not in (
            ["tasks"], ["envs"], ["runs"], ["corpus"], ["view"], ["oracle"], ["layout"], ["trec"],
            ["_store"], ["tools"], ["cli"],
        ), name  # fmt: skip


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


def test_an_agent_is_given_observations_only(synthetic, tmp_path, monkeypatch):
    monkeypatch.setattr(Spy, "given", [])
    monkeypatch.setitem(AGENTS._items, "spy", Spy)
    summary = arena.run(synthetic, "selection", "spy", tmp_path / "run")
    topic_ids = list(summary["per_topic"])
    for observation, own in Spy.given:
        assert set(observation) == {"topic", "cutoff", "stage", "result", "budget"}
        assert set(own) == {"seed", "tools"}
        text = json.dumps([observation, own["tools"]])
        assert not any(topic_id in text for topic_id in topic_ids)


def test_tools_and_rewards_are_given_no_label():
    """An episode's state and what a reward may know have no place for one."""
    assert set(Episode.__dataclass_fields__) == {
        "view", "view_of", "stages", "tools", "instructions", "budget", "selected", "answers",
        "over", "spent", "_at",
        "draft", "cited",  # what the agent wrote
        "given", "digests", "digested",  # the first observation lists the papers given
    }  # fmt: skip
    for path in (ROOT / "arena" / "tools").rglob("*.py"):
        for imported in imports(path):
            assert not imported.startswith(("arena.tasks", "arena.envs", "arena.rewards")), path


def test_labels_that_were_changed_do_not_open(synthetic, tmp_path):
    """A file of the same size with other labels would give other numbers under the same hash."""
    other = tmp_path / "other"
    shutil.copytree(synthetic, other)
    path = other / "tasks/gold.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorpusError, match="its content is not what was built"):
        arena.run(other, "discovery", "title", tmp_path / "run")
