"""Corpora that many tests read; each is built once per session and must not be changed."""

from __future__ import annotations

import atexit
import gzip
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# A file of plug-ins, which registers what it has when it is imported.
collect_ignore = ["every_kind.py"]

# A quick run tries fewer cases of each property; HYPOTHESIS_PROFILE=ci tries many.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# What the tests check is remembered in a folder of their own.
os.environ["ARENA_CACHE"] = tempfile.mkdtemp(prefix="arena-cache-")
atexit.register(shutil.rmtree, os.environ["ARENA_CACHE"], ignore_errors=True)

# Started in the background of a script, pytest ignores Ctrl-C, and so would all processes that the
# tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of Lucene first: other libraries start Java too, but without its classes."""
    items.sort(key=lambda item: not item.path.name.startswith("test_lucene"))


class Records(NamedTuple):
    """Raw records, as they stand in the lines of two files."""

    papers: list[dict[str, Any]]
    surveys: list[dict[str, Any]]

    def write(self, directory: Path) -> tuple[Path, Path]:
        """Write both files; return their paths."""
        papers, surveys = directory / "papers.jsonl", directory / "surveys.jsonl"
        for path, records in ((papers, self.papers), (surveys, self.surveys)):
            path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
        return papers, surveys


class RealData(NamedTuple):
    """The real papers and surveys outside the repository."""

    directory: Path
    papers: Path
    surveys: Path

    def read(self) -> Records:
        """Read both files without any code of the project."""
        with gzip.open(self.papers, "rt", encoding="utf-8") as file:
            papers = [json.loads(line) for line in file]
        with self.surveys.open(encoding="utf-8") as file:
            return Records(papers, [json.loads(line) for line in file])


# Document order, by day and then by the bytes of the id:
#   0 p:old       1969-12-31
#   1 s:flag      2019-12-31  survey by its flag
#   2 p:leap      2020-02-29
#   3 p:day       2020-03-05
#   4 Z:tie       2020-03-31
#   5 p:month     2020-03-31
#   6 é:tie       2020-03-31
#   7 p:year      2020-12-31
#   8 12345       2021-01-01
#   9 p:twin      2021-05-01  survey by the title of sv:2
#  10 sv:1        2021-12-31  survey by its id
#  11 p:last      2022-06-14
#  12 p:same      2022-06-15
#  13 p:later     2023-01-31
#  14 p:nodate    undated
#  15 p:null      undated
#  16 s:undated   undated, survey by its flag
MINI = Records(
    papers=[
        {
            "id": "p:later",
            "title": "Later Work on Dense Retrieval",
            "date": "2023-01",
            "references": ["p:same", "p:later", "nowhere:1", "p:same"],
        },
        {
            "id": "p:day",
            "title": "Dense  Retrieval\twith Encoders",
            "abstract": "We train encoders for passages.",
            "date": "2020-03-05",
            "venue": "Journal of Search",
            "authors": ["Ada Meyer", {"name": "Bo Lind"}],
            "fields": ["Computer Science"],
            "sections": [
                {"heading": "1  Introduction", "text": "Passages matter."},
                {"heading": None, "text": ""},
                {"heading": "2 Method", "text": "Two towers.\nOne loss."},
            ],
            "references": [{"id": "p:leap", "influential": True}, "p:old", "p:leap"],
            "unknown_key": {"anything": [1, 2]},
        },
        {"id": "p:null", "title": "An Undated Draft", "date": None, "references": ["p:day"]},
        {"id": "p:nodate", "title": "Another Undated Draft", "abstract": "Tantalum."},
        {"id": "p:year", "title": "Sparse Models in Practice", "date": "2020"},
        {"id": "p:month", "title": "Passage Ranking", "date": "2020-03"},
        {"id": "p:leap", "title": "Encoders in a Leap Year", "date": "2020-02", "abstract": None},
        {"id": "p:old", "title": "Early Indexing", "date": "1969-12-31"},
        {"id": "é:tie", "title": "Étude des index", "date": "2020-03-31"},
        {"id": "Z:tie", "title": "Index Compression", "date": "2020-03-31", "is_survey": False},
        {
            "id": 12345,
            "title": "A Paper with a Number",
            "date": "2021-01-01",
            "references": ["p:day", "s:flag", "sv:1", "p:null", "nowhere:2"],
        },
        {
            "id": "s:flag",
            "title": "Indexing, Reviewed",
            "abstract": "Zirconium abstract of a survey.",
            "date": "2019",
            "is_survey": True,
            "sections": [{"heading": "Zirconium", "text": "Zirconium text of a survey."}],
            "references": ["p:old"],
        },
        {
            "id": "s:undated",
            "title": "Undated Overview",
            "abstract": "Zirconium again.",
            "is_survey_title": True,
        },
        {
            "id": "p:twin",
            "title": "SPARSE models—a review!",
            "abstract": "Hafnium abstract of a preprint.",
            "date": "2021-05-01",
            "is_survey": False,
            "references": ["p:year"],
        },
        {
            "id": "sv:1",
            "title": "Dense Retrieval Surveyed (Preprint)",
            "abstract": "Niobium abstract of a task.",
            "date": "2021",
            "sections": [{"heading": "Niobium", "text": "Niobium text of a task."}],
        },
        {"id": "p:last", "title": "The Day Before", "date": "2022-06-14"},
        {"id": "p:same", "title": "The Same Day", "date": "2022-06-15", "references": [12345]},
    ],
    surveys=[
        {
            "id": "sv:2",
            "title": "Sparse Models: A Review",
            "abstract": "Rhenium abstract of a task.",
            "date": "2021",
            "references": [{"id": "p:year", "influential": True}, {"id": "p:month"}, 12345],
            "taxonomy": {"name": "Sparse", "subtopics": ["Rhenium topic"]},
        },
        {
            "id": "sv:1",
            "title": "Dense Retrieval: A Survey",
            "date": "2022-06-15",
            "references": [
                "p:day",
                "p:leap",
                "p:day",
                "p:last",
                "p:same",
                "p:later",
                "p:null",
                "s:flag",
                "s:undated",
                "p:twin",
                "sv:1",
                "nowhere:3",
                "12345",
            ],
            "influential": ["p:leap", "nowhere:3", "p:year"],
            "n_references_total": 40,
            "mind_map": {"name": "Dense", "subtopics": [{"name": "Rhenium", "papers": ["p:day"]}]},
        },
        {"id": "sv:3", "title": "Nothing before 1960", "date": "1960", "references": ["p:old"]},
    ],
)


@pytest.fixture(autouse=True)
def plugins_forgotten() -> Iterator[None]:
    """Plug-ins that a test loads or registers are gone after it."""
    from arena import plugins

    registries = plugins._kinds.values()
    before = {registry: dict(registry._items) for registry in registries}
    files, folders, path = dict(plugins._files), [*plugins._folders], [*sys.path]
    installed = plugins._installed
    yield
    for registry in registries:
        kept = {n: each for n, each in registry._items.items() if plugins._is_own(each)}
        registry._items = kept | before.get(registry, {})
    for module in (each.module for file, each in plugins._files.items() if file not in files):
        sys.modules.pop(module.__name__, None)
    plugins._files.clear()
    plugins._files.update(files)
    plugins._folders[:], plugins._installed, sys.path[:] = folders, installed, path
    plugins.entry_points.cache_clear()


@pytest.fixture
def mini_records() -> Records:
    """A copy of the records behind `mini`, to be changed at will."""
    copy = json.loads(json.dumps(MINI))
    return Records(*copy)


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of 17 papers and 3 surveys with every kind of date, reference and survey.

    `MINI` above lists the document order; tests/test_build_content.py holds all that follows
    from it.
    """
    from corpus_builder.build import build
    from corpus_builder.sources.jsonl import JsonLines

    directory = tmp_path_factory.mktemp("mini")
    build(JsonLines(*MINI.write(directory)), directory / "corpus")
    return directory / "corpus"


@pytest.fixture
def copy(mini: Path, tmp_path: Path) -> Path:
    """A copy of `mini` to be written to."""
    return Path(shutil.copytree(mini, tmp_path / "corpus"))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example: nine papers, and surveys s1 with 3 references in reach and s2 with none.

    Of s1's the agent `title` finds 2.
    """
    from corpus_builder.build import build
    from corpus_builder.sources.example import Example

    directory = tmp_path_factory.mktemp("tiny") / "corpus"
    build(Example(), directory)
    return directory


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic corpus: seed 7, 600 papers, 8 surveys."""
    from helpers import build_synthetic

    return build_synthetic(tmp_path_factory.mktemp("synthetic") / "corpus", 600, 8)


@lru_cache
def once(make: type, *arguments: Any) -> Any:
    """Make a thing of the first call with these arguments, and return it again."""
    return make(*arguments)


@pytest.fixture
def read_once(synthetic: Path, mini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files and tables that audits derive from `synthetic` and `mini`, made once."""
    from arena.testing.exposure import Exposure
    from arena.testing.reference import Bm25
    from arena.testing.stored import StoredCorpus

    def stored(directory: str | Path, tasks: str | Path | None = None) -> StoredCorpus:
        unchanged = tasks is None and Path(directory) in (synthetic, mini)
        return once(StoredCorpus, str(directory)) if unchanged else StoredCorpus(directory, tasks)

    monkeypatch.setattr("arena.testing.auditor.StoredCorpus", stored)
    monkeypatch.setattr("arena.testing.auditor.Bm25", lambda *of: once(Bm25, *of))
    monkeypatch.setattr("arena.testing.auditor.Exposure", lambda of: once(Exposure, of))


@pytest.fixture(scope="session")
def title_run(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the agent "title" on discovery in `synthetic`."""
    import arena

    output = tmp_path_factory.mktemp("runs") / "title"
    arena.run(synthetic, "discovery", "title", output)
    return output


@pytest.fixture(scope="session")
def real_data() -> RealData:
    """The real papers and surveys; skips where they are absent.

    They lie in ``../shared/data`` beside the repository, or in the directory that the
    environment variable ARENA_SHARED names.
    """
    directory = Path(os.environ.get("ARENA_SHARED") or ROOT.parent / "shared" / "data")
    data = RealData(directory, directory / "papers.jsonl.gz", directory / "surveys.jsonl")
    for path in (data.papers, data.surveys):
        if not path.is_file():
            pytest.skip(f"the real data is not here: {str(path)!r} is missing")
    return data


@pytest.fixture(scope="session")
def real_corpus(real_data: RealData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of `real_data`, which takes a few seconds to build."""
    from corpus_builder.build import build
    from corpus_builder.sources.jsonl import JsonLines

    directory = tmp_path_factory.mktemp("real") / "corpus"
    build(JsonLines(real_data.papers, real_data.surveys), directory)
    return directory


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A process of its own for a test, as far as clients and answers go."""
    from arena.llm.agent import shared_client

    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ARENA_LLM_MODE", "ARENA_LLM_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    shared_client.cache_clear()
    yield
    shared_client.cache_clear()


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients ask again at once."""
    monkeypatch.setattr(
        "openai.OpenAI._calculate_retry_timeout", lambda self, left, options, headers=None: 0.0
    )


@pytest.fixture
def make_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> Callable[..., Any]:
    """Make clients of a server, or of its address, that do not really wait between attempts."""
    from llm_server import KEY

    from arena.llm import Client

    for name in ("OPENAI_BASE_URL", "ARENA_LLM_MODE", "ARENA_LLM_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def client(server: Any, **options: Any) -> Client:
        url = getattr(server, "url", server)
        given = {"store": tmp_path / "answers.db"}
        return Client("scripted", **({"base_url": url} | given | options))

    return client


@pytest.fixture(scope="module")
def cluster():
    """A Ray cluster of two nodes on this machine."""
    from ray_cluster import Cluster

    started = Cluster()
    yield started
    started.close()


@pytest.fixture(scope="module")
def driver(cluster):
    """A process that is connected to the cluster."""
    from ray_cluster import Driver

    started = Driver(cluster)
    yield started
    started.close()
