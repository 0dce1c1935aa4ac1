"""``arena doctor``: what is installed, whether a corpus is whole, how fast this machine is."""

from __future__ import annotations

import importlib.util
import platform
import sys
import time
from contextlib import suppress
from importlib import metadata
from itertools import cycle
from typing import Any

from arena.cli.app import print_json, print_table
from arena.kit.lazy import EXTRAS
from arena.kit.process import cores
from arena.text.display import count

GIVES = {
    "build": "arena-corpus: building corpora, downloads",
    "library": "arena-corpus build library: BibTeX, RIS",
    "mindmap": "scores of mind-maps, agents that group papers",
    "static": "the engine dense with small vectors, no download",
    "dense": "encoders that are language models",
    "ivf": "inverted lists of dense, beyond a million papers",
    "lucene": "the engine lucene",
    "llm": "agents and judges that ask a language model",
    "serve": "arena serve: MCP and HTTP",
    "plots": "plots",
    "audit": "arena audit",
    "train": "arena train",
    "trl": "training a language model with TRL",
    "trackio": "arena export trackio",
    "inspect": "tasks of inspect_ai",
    "verifiers": "training with verifiers",
    "openenv": "the door to OpenEnv",
    "entities": "named entities in headings",
    "bertopic": "themes of references by BERTopic",
    "ray": "builds on several machines",
}
"""Extra -> what it is for; those without a line serve the project's own tests."""
_SECONDS = 2.0


def doctor(corpus: str | None = None, *, json: bool = False) -> None:
    """Say what is installed and what each extra gives; open a corpus, and time its searches.

    Args:
        corpus (DIR): A corpus to check: its files by their hashes, its indexes, its speed here.

    Example:
        arena doctor demo/world
    """
    modules: dict[str, list[str]] = {extra: [] for extra in GIVES}
    for module, extra in EXTRAS.items():
        modules.get(extra, []).append(module)
    for extra, needed in modules.items():
        needed += [] if needed else [extra]
    lacking = {
        extra: [name for name in needed if importlib.util.find_spec(name) is None]
        for extra, needed in modules.items()
    }
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in ("numpy", "numba", "pyarrow")},
        "cores": cores(),
        "extras": {extra: not absent for extra, absent in lacking.items()},
    }
    if corpus is not None:
        found["corpus"] = _check(corpus)
    if json:
        print_json(found)
        return
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    print(
        f"Python {found['python']} at {sys.prefix}; {versions}; {count(found['cores'], 'core')}\n"
    )
    rows = [
        (extra, GIVES[extra], "yes" if not absent else f"needs {', '.join(absent)}")
        for extra, absent in lacking.items()
    ]
    print_table(rows, ("extra", "what it gives", "installed"))
    print("\nTo install one: pip install 'researcharena[EXTRA]', or '.[EXTRA]' in a clone.")
    if corpus is None:
        print("Name a corpus to check it, for example `arena doctor demo/world`.")
        return
    report = found["corpus"]
    print(
        f"\n{corpus}: {count(report['papers'], 'paper')}, {count(report['surveys'], 'survey')}. "
        f"`arena-corpus verify {corpus}` reads every file again."
    )
    speeds = [(name, f"{n:,.0f}") for name, n in report["searches_per_second"].items()]
    print_table(speeds, ("index", "searches a second, one core"))


def _check(directory: str) -> dict[str, Any]:
    """Open a corpus, whose files are checked by their hashes, and search each of its indexes."""
    from arena.corpus import Corpus
    from arena.corpus.indexes import index_names
    from arena.errors import NoLabelsError
    from arena.tasks import TaskSet

    opened = Corpus.open(directory)
    surveys = []
    with suppress(NoLabelsError):
        surveys = list(TaskSet(opened).surveys.values())
    papers = len(opened.at("9999"))
    topics = [(survey.title, survey.date) for survey in surveys] or [("neural networks", "9999")]
    speeds = {}
    for name in index_names(opened.directory):
        opened.at(topics[0][1], retriever=name).search(topics[0][0], k=100)  # compiles, maps files
        views = {day: opened.at(day, retriever=name) for _, day in topics}
        began, searches = time.perf_counter(), 0
        for topic, day in cycle(topics):
            views[day].search(topic, k=100)
            searches += 1
            if time.perf_counter() - began > _SECONDS:
                break
        speeds[name] = searches / (time.perf_counter() - began)
    return {"papers": papers, "surveys": len(surveys), "searches_per_second": speeds}
