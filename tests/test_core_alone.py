"""The core without plugins/: a wheel of the rest plays, serves MCP and builds a library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
NO_INDEX = ["--no-deps", "--no-index", "--no-build-isolation"]
BIB = """@article{lee, title={Neural Ranking of Passages}, author={Lee, Ann}, date={2019-03-05},
  abstract={We rank passages.}}
@article{wu, title={Sparse Retrieval Revisited}, author={Wu, Bo}, date={2018-01-02}}"""
ASK = """
import sys
import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

async def ask():
    command = ["-m", "arena", "serve", "mcp", "--corpus", sys.argv[1], "--before", "2019-01-01"]
    server = StdioServerParameters(command=sys.executable, args=command)
    async with Client(server) as client:
        return await client.call_tool("search", {"query": "retrieval"})

print(anyio.run(ask).content[0].text)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with this wheel and what the tests' one has installed."""
    place = tmp_path_factory.mktemp("alone")
    left_out = shutil.ignore_patterns(
        ".git", ".venv*", "demo", "site", "build", "tests", "plugins", "*.egg-info"
    )
    source = shutil.copytree(ROOT, place / "source", ignore=left_out)
    wheel = [*BUILD, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", place, source]
    subprocess.run(wheel, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    (site,) = (place / "venv").glob("lib/python*/site-packages")
    install = [*BUILD, "install", *NO_INDEX, "--target", site, *place.glob("*.whl")]
    subprocess.run(install, check=True)
    # A line of a .pth file adds a folder and none of the .pth files in it: no editable install.
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    return place / "venv" / "bin" / "python"


def run(python: Path, folder: Path, *words: object) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, *map(str, words)], cwd=folder, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_plays_the_demo(python, tmp_path):
    assert "arena_suites" not in run(python, tmp_path, "-m", "arena", "plugins")
    assert run(python, tmp_path, "-m", "arena", "list", "suites").count("\n") < 3
    printed = run(python, tmp_path, ROOT / "examples" / "demo.py", "--output", "demo")
    assert "organization" in printed and "oracle" in printed


def test_it_builds_a_library_and_serves_it(python, tmp_path):
    (tmp_path / "mine.bib").write_text(BIB)
    corpus = [python, tmp_path, "-m", "corpus_builder.cli"]
    run(*corpus, "build", "library", "--papers", "mine.bib", "--output", "mine")
    found = run(python, tmp_path, "-m", "arena", "search", "--query", "retrieval", "--corpus",
                "mine", "--before", "2019-01-01", "--json")  # fmt: skip
    assert "Sparse Retrieval Revisited" in json.dumps(json.loads(found))
    answer = run(python, tmp_path, "-c", ASK, "mine")
    assert "Sparse Retrieval Revisited" in answer and "Neural Ranking" not in answer
