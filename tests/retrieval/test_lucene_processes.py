"""The engine lucene in threads and forks, and without its process.

Each test is a program of its own, and must end in time.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from lucene_helpers import build

pytestmark = pytest.mark.slow  # Java

HEAD = """
import os, sys, threading
from pathlib import Path
from arena.errors import ArenaError
from arena.retrieval import Scope
from arena_engines.retrievers.lucene import LuceneRetriever

def search(engine):
    return engine.search("graph", 3, Scope(9)).documents.tolist()

def attempt(engine):
    try:
        return search(engine)
    except ArenaError as error:
        return str(error)

if __name__ == "__main__":
    engine = LuceneRetriever.open(Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    directory = tmp_path_factory.mktemp("index")
    build(["graph net"] * 9, directory)
    return directory


def program(tmp_path: Path, argument: Path, body: str) -> str:
    """Run a program to its end; return what it prints. It may not complain."""
    file = tmp_path / "program.py"
    file.write_text(HEAD + textwrap.indent(textwrap.dedent(body), "    "), encoding="utf-8")
    command = [sys.executable, file, argument]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_fork_while_threads_search(tmp_path, index):
    out = program(
        tmp_path, index,
        """
        search(engine)
        stop = threading.Event()
        def work():
            while not stop.is_set():
                search(engine)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(5):
            child = os.fork()
            if child == 0:
                found = search(engine)
                del engine
                sys.exit(0 if found == [0, 1, 2] else 1)
            print(os.waitpid(child, 0)[1], end=" ")
        stop.set()
        for thread in threads:
            thread.join()
        print(search(engine))
        """,
    )  # fmt: skip
    assert out == "0 " * 5 + "[0, 1, 2]\n"


def test_a_process_that_is_killed_is_replaced(tmp_path, index):
    out = program(
        tmp_path, index,
        """
        search(engine)
        (java,) = engine._processes.values()
        java._process.kill()
        print(attempt(engine))
        print(search(engine))
        """,
    )  # fmt: skip
    assert "cannot be searched: its process ended with SIGKILL" in out
    assert out.endswith("[0, 1, 2]\n")
