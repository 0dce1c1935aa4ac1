"""The hash of code: it changes with what can change a result, and with nothing else."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import arena
import arena.cli
from arena.kit.code import code_sha256, imported_files

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
    return loaded(copy / "arena/kit/code.py", "copied_code").code_sha256


RUN = ("arena.runs", "baselines.title", "arena.metrics.ndcg", "arena.retrieval.bm25")
PLUGGED = (  # what registries found, which this run did not resolve
    "arena/metrics/", "arena/mindmap/metrics/", "arena/report/metrics/", "arena/suites.py",
    "arena/executors.py", "arena/rewards/", "arena/answers/", "arena/tasks/", "arena/encoders/",
    "arena/retrieval/",
)  # fmt: skip
ADDED = ("from __future__", "ADDED = 1\nfrom __future__")


@pytest.mark.parametrize(
    ("file", "before", "after", "same"),
    [
        ("arena/metrics/ndcg.py", "from __future__", "# A comment.\n\n\nfrom __future__", True),
        ("arena/metrics/ndcg.py", '"""', '"""Another docstring. ', True),
        ("arena/metrics/ndcg.py", *ADDED, False),
        ("arena/metrics/mrr.py", *ADDED, True),  # another metric
        ("arena/tools/search.py", "from __future__", "# A comment.\nfrom __future__", True),
        ("arena/tools/search.py", '"""', '"""Another docstring. ', False),  # it describes a tool
        ("arena/retrieval/bm25/_kernel.py", *ADDED, False),
        ("arena/runs/scoring.py", *ADDED, False),
        ("baselines/title.py", "100", "99", False),
        ("arena/cli/run.py", *ADDED, True),
        ("arena/serving/mcp.py", *ADDED, True),
        ("arena/session.py", *ADDED, True),
        ("arena/results/comparison/report.py", *ADDED, True),
        ("arena/configs/synthetic.yaml", "seed: 7", "seed: 7  # A comment", True),
    ],
)
def test_what_changes_the_hash_of_a_run(copy, hash_of, file, before, after, same):
    path = copy / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    try:
        path.write_text(text.replace(before, after, 1), encoding="utf-8")
        assert (hash_of(*RUN) == code_sha256(*RUN)) is same
    finally:
        path.write_text(text, encoding="utf-8")


def test_all_that_a_run_imports_counts(synthetic, tmp_path):
    """The modules of a process that plays; of the suites only metrics are looked for."""
    code = (
        "import sys, arena; arena.run(sys.argv[1], 'discovery', 'title', sys.argv[2], topics=1); "
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'arena'))"
    )
    command = [sys.executable, "-c", code, str(synthetic), str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    root = Path(arena.__file__).parents[1]
    played = {Path(name).relative_to(root).as_posix() for name in done.stdout.split()}
    assert "arena/retrieval/bm25/_kernel.py" in played
    missing = played - imported_files(*RUN, "arena.tools").keys()
    assert {file for file in missing if not file.startswith(PLUGGED)} == set()


def test_a_new_module_of_a_registry_orphans_no_run(copy, hash_of):
    path = copy / "arena/metrics/new.py"
    path.write_text("ADDED = 1\n")
    try:
        assert hash_of(*RUN) == code_sha256(*RUN)
    finally:
        path.unlink()


def test_a_comment_does_not_stop_a_run_from_being_continued(synthetic, tmp_path, capsys):
    agent, output = tmp_path / "mine.py", tmp_path / "run"
    command = ["run", "--corpus", str(synthetic), "--task", "discovery", "--topics", "2"]
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
