"""The hash of code: it changes with what can change a result, and with nothing else."""

from __future__ import annotations

import ast
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

import arena
import arena.cli
from arena._internal.files import ELSEWHERE, code_sha256

MINE = '''
import arena

class Mine(arena.Agent):
    """Submit nothing."""

    def act(self, observation):
        return {"tool": "submit", "arguments": {"paper_ids": []}}
'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the packages whose code is hashed."""
    folder = tmp_path_factory.mktemp("copy")
    source = Path(arena.__file__).parents[1]
    for package in ("arena", "baselines"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / package, folder / package, ignore=ignored)
    return folder


def loaded(path: Path, name: str) -> ModuleType:
    """Execute a file as a module of another name."""
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hash_of(copy):
    """The function that computes the hash of the copy."""
    return loaded(copy / "arena/_internal/files.py", "copied_code").code_sha256


@pytest.mark.parametrize(
    ("file", "before", "after", "same"),
    [
        ("arena/metrics/ndcg.py", "from __future__", "# A comment.\n\n\nfrom __future__", True),
        ("arena/metrics/ndcg.py", '"""', '"""Another docstring. ', True),
        ("arena/metrics/ndcg.py", "from __future__", "ADDED = 1\nfrom __future__", False),
        ("arena/tools/search.py", "from __future__", "# A comment.\nfrom __future__", True),
        ("arena/tools/search.py", '"""', '"""Another docstring. ', False),  # it describes a tool
        ("baselines/title.py", "100", "99", False),
        ("arena/cli/run.py", "from __future__", "ADDED = 1\nfrom __future__", True),
        ("baselines/prompts/zero-shot/query.txt", "$topic", "$topic ", False),
    ],
)
def test_what_changes_the_hash(copy, hash_of, file, before, after, same):
    path = copy / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    try:
        path.write_text(text.replace(before, after, 1), encoding="utf-8")
        assert (hash_of() == code_sha256()) is same
    finally:
        path.write_text(text, encoding="utf-8")


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_no_run_replay_or_score_imports_the_rooms_that_the_hash_leaves_out():
    """Followed through everything that is imported, also inside functions."""
    root = Path(arena.__file__).parent
    waiting = [root / "runs/runner.py", root / "runs/replaying.py", root / "runs/scoring.py"]
    waiting += sorted((root.parent / "baselines").rglob("*.py"))
    reached: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in reached or path == root / "__init__.py":
            continue
        reached.add(path)
        for name in imports(path):
            parts = name.split(".")
            for end in range(2, len(parts) + 1):
                place = root.parent.joinpath(*parts[:end])
                files = [place.with_suffix(".py")]
                if place.is_dir():  # a registry imports every module of its package
                    files = sorted(place.rglob("*.py"))
                waiting += [file for file in files if file.is_file() and root in file.parents]
    assert root / "metrics/ndcg.py" in reached
    assert root / "envs/core.py" in reached
    for path in reached - set((root.parent / "baselines").rglob("*.py")):
        assert path.relative_to(root).parts[0] not in ELSEWHERE, path


def test_the_code_of_a_room_counts_where_it_makes_the_result(copy, hash_of):
    """The hash of an audit covers the audit; that of a run does not."""
    path = copy / "arena/testing/exposure.py"
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(f"{text}\nADDED = 1\n", encoding="utf-8")
        assert hash_of() == code_sha256()
        assert hash_of(rooms=("testing",)) != code_sha256(rooms=("testing",))
    finally:
        path.write_text(text, encoding="utf-8")
    assert hash_of(rooms=("testing",)) == code_sha256(rooms=("testing",)) != code_sha256()


def test_a_new_file_changes_the_hash(copy, hash_of):
    path = copy / "baselines/new.py"
    path.write_text("")
    try:
        assert hash_of() != code_sha256()
    finally:
        path.unlink()
    assert hash_of() == code_sha256()


def test_a_draft_that_is_not_valid_python_counts_byte_by_byte(copy, hash_of):
    path = copy / "baselines/_draft.py"
    hashes = set()
    try:
        for text in ("def (", "def ((", "x = '\\0"):
            path.write_text(text)
            hashes.add(hash_of())
    finally:
        path.unlink()
    assert len(hashes) == 3


def test_the_hash_covers_an_agent_from_elsewhere(tmp_path):
    path = tmp_path / "mine.py"
    hashes = []
    for text in ("class Mine: pass\n", "class Mine: pass  # here\n", "class Mine: x = 1\n"):
        path.write_text(text)
        hashes.append(code_sha256(loaded(path, "mine").Mine))
    assert hashes[0] == hashes[1]
    assert len({*hashes, code_sha256()}) == 3


def test_a_comment_does_not_stop_a_run_from_being_continued(world, tmp_path, capsys):
    agent, output = tmp_path / "mine.py", tmp_path / "run"
    command = ["run", "--corpus", str(world), "--task", "discovery", "--surveys", "2"]
    command += ["--agent", f"{agent}:Mine", "--output", str(output)]
    agent.write_text(MINE)
    assert arena.cli.main(command) == 0
    manifest = (output / "manifest.json").read_bytes()
    agent.write_text(
        MINE.replace("        return", "        # Nothing is good enough.\n        return")
    )
    assert arena.cli.main(command) == 0
    assert (output / "manifest.json").read_bytes() == manifest
    agent.write_text(MINE.replace('"submit"', '"finish"'))
    capsys.readouterr()
    assert arena.cli.main(command) == 2
    error = capsys.readouterr().err
    assert (
        "it differs in sha256 of code: code of arena, baselines or the agent has changed" in error
    )
