"""The engine lucene in threads, forks, spawned processes and vector environments.

Each test is a program of its own, and must end in time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from lucene_helpers import build

from corpus_builder.build import build as build_corpus
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig

pytestmark = pytest.mark.slow  # Java

HEAD = """
import multiprocessing, os, signal, sys, threading, time
from pathlib import Path
from arena.errors import ArenaError
from arena.retrieval import Scope
from arena.retrieval.lucene import LuceneRetriever

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


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    directory = tmp_path_factory.mktemp("world") / "corpus"
    source = WorldSource(WorldConfig(seed=7, papers=300, surveys=4))
    build_corpus(source, directory, engines=("bm25", "lucene"))
    return directory


def program(tmp_path: Path, argument: Path, body: str, head: str = HEAD, **variables: str) -> str:
    """Run a program to its end; return what it prints. It may not complain."""
    file = tmp_path / "program.py"
    file.write_text(head + textwrap.indent(textwrap.dedent(body), "    "), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, file, argument], capture_output=True, text=True, timeout=120,
        env={**os.environ, **variables},
    )  # fmt: skip
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


ENVIRONMENTS = """
import sys
import gymnasium
import arena

SEARCH = {"tool": "search", "arguments": {"query": "membrane erosion", "k": 5}}

def make(directory):
    return lambda: gymnasium.make("arena/Discovery-v0", corpus=directory, retriever="lucene")

def play(env, size):
    env.reset(seed=3)
    observations, *_ = env.step([SEARCH] * size)
    env.close()
    return list(observations["result"])

if __name__ == "__main__":
    factories = [make(sys.argv[1])] * 3
"""


def test_vector_environments(tmp_path, corpus):
    out = program(
        tmp_path, corpus,
        """
        from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
        options = {"shared_memory": False}
        forked = play(AsyncVectorEnv(factories, context="fork", **options), 3)
        synchronous = play(SyncVectorEnv(factories), 3)
        spawned = play(AsyncVectorEnv(factories, context="spawn", **options), 3)
        again = play(AsyncVectorEnv(factories, context="fork", **options), 3)
        print(forked == synchronous == spawned == again)
        print(all('"hits":[{' in text for text in forked))
        """,
        ENVIRONMENTS,
    )  # fmt: skip
    assert out == "True\nTrue\n"
