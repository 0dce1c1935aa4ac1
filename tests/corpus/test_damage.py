"""A damaged corpus: a clear error where files are checked; never the future, never a crash."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from helpers import Memory

import arena
from arena.cli import main
from arena.corpus import layout
from arena.errors import CorpusError
from arena.tasks import TaskSet
from corpus_builder.build import build
from corpus_builder.index import build_index
from corpus_builder.sources.synthetic import SyntheticSource
from corpus_builder.synthetic import SyntheticConfig


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with every kind of file but Lucene's, whose files Java reads."""
    directory = tmp_path_factory.mktemp("damage") / "corpus"
    build(SyntheticSource(SyntheticConfig(seed=3, papers=300, surveys=4)), directory)
    build_index(directory, "ivf", options={"lists": 4, "training": 40}, fields=["title"])
    time.sleep(0.1)  # files that were just written are not remembered
    return directory


def files_of(corpus: Path) -> dict[str, str | None]:
    """Return name -> the index that it belongs to, of all files but the manifest and the card."""
    names: dict[str, str | None] = {}
    for path in sorted(corpus.rglob("*")):
        name = path.relative_to(corpus)
        if path.is_file() and name.name != layout.MANIFEST:
            names[name.as_posix()] = name.parts[1] if name.parts[0] == "index" else None
    return names


@contextmanager
def flipped(path: Path, place: int, bit: int = 0) -> Iterator[None]:
    """Flip one bit of a file for a while."""
    before = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([before[place] ^ (1 << bit)]))
    try:
        yield
    finally:
        path.write_bytes(before)


def test_every_damaged_file_is_named(corpus: Path) -> None:
    for name, index in files_of(corpus).items():
        path = corpus / name
        with flipped(path, path.stat().st_size // 2):
            with pytest.raises(CorpusError) as caught:
                opened = arena.Corpus.open(corpus)
                opened.retriever(index or "bm25")
            assert repr(str(path)) in str(caught.value), name
            assert "is damaged" in str(caught.value)
    arena.Corpus.open(corpus).retriever("ivf")


@pytest.mark.parametrize("name", ["manifest.json", "index/bm25/manifest.json"])
def test_a_damaged_manifest_is_named(corpus: Path, name: str) -> None:
    text = (corpus / name).read_bytes()
    with flipped(corpus / name, text.index(b'"sha256": "') + 11):  # one digit of a hash
        with pytest.raises(CorpusError, match=r"manifest\.json' is damaged"):
            arena.Corpus.open(corpus).retriever("bm25")
        if name == "manifest.json":
            with pytest.raises(CorpusError, match="is damaged"):
                arena.Corpus.open(corpus, check=False)


@pytest.mark.parametrize("name", layout.DECIDE_DATES)
def test_the_arrays_that_decide_dates_are_checked_always(corpus: Path, name: str) -> None:
    arena.Corpus.open(corpus)
    path = corpus / name
    middle = 128 + (path.stat().st_size - 128) // 8 * 4  # the entry in the middle
    stat = path.stat()
    with flipped(path, middle + 1):
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        for check in (True, False):
            with pytest.raises(CorpusError, match="is damaged"):
                arena.Corpus.open(corpus, check=check)


def test_a_checked_file_is_not_read_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    read: list[str] = []
    original = arena.corpus.integrity.sha256_file

    def counted(path: Path) -> str:
        read.append(path.relative_to(corpus).as_posix())
        return original(path)

    monkeypatch.setattr(arena.corpus.integrity, "sha256_file", counted)
    time.sleep(0.1)  # files that a test before this one put back are not remembered at once
    arena.Corpus.open(corpus)
    assert set(read) == {name for name, index in files_of(corpus).items() if index is None}
    read.clear()
    arena.Corpus.open(corpus)
    assert sorted(read) == sorted(layout.DECIDE_DATES)
    # Another time, size or inode: it is read again.
    (corpus / layout.PAPERS).touch()
    read.clear()
    arena.Corpus.open(corpus)
    assert sorted(read) == sorted([*layout.DECIDE_DATES, layout.PAPERS])


PLAY = """
import json, sys
import arena
from arena.errors import ArenaError

def use(directory, index, dates):
    corpus = arena.Corpus.open(directory, check=False)
    for cutoff in ("2008-06-15", "2012-01-01", "2030-01-01"):
        engine = corpus.retriever(index, **({"probes": 4} if index == "ivf" else {}))
        view = corpus.at(cutoff, retriever=engine)
        queries = ("the membrane of lattice", "graph model", "erosion analysis of data")
        hits = [hit for query in queries for k in (5, 200) for hit in view.search(query, k)]
        assert all(hit.date < cutoff for hit in hits), "a hit of the future"
        for id_ in list(dates)[::9] + [hit.id for hit in hits[:9]]:
            try:
                paper = view.paper(id_)
            except arena.errors.UnknownPaperError:
                continue
            assert paper.date < cutoff and dates.get(id_, "") < cutoff, "a paper of the future"
            view.sections(id_)
            for other in view.references(id_) + view.citations(id_):
                assert dates.get(other, "") < cutoff, "a link to the future"

directory, dates, log = sys.argv[1], json.load(open(sys.argv[2])), open(sys.argv[3], "w")
answered = refused = 0
for line in sys.stdin:
    name, place, bit, index = json.loads(line)
    print("flip", name, place, bit, file=log, flush=True)
    path = directory + "/" + name
    before = open(path, "rb").read()
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(bytes([before[place] ^ (1 << bit)]))
    try:
        use(directory, index, dates)
        answered += 1
    except ArenaError as error:
        refused += 1
    finally:
        open(path, "r+b").write(before)
print(json.dumps([answered, refused]))
"""


def play(corpus: Path, tmp_path: Path, flips: list[tuple[str, int, int, str]]) -> list[int]:
    rows = pq.read_table(corpus / layout.PAPERS, columns=["id", "date"]).to_pylist()
    dates = {row["id"]: str(row["date"]) for row in rows if row["date"]}
    (tmp_path / "dates.json").write_text(json.dumps(dates))
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", PLAY, str(corpus), str(tmp_path / "dates.json"), str(log)],
        input="".join(json.dumps(flip) + "\n" for flip in flips),
        capture_output=True, text=True,
    )  # fmt: skip
    last = log.read_text().splitlines()[-1:]
    assert done.returncode == 0, f"{last}: exit {done.returncode}\n{done.stderr[-2000:]}"
    return json.loads(done.stdout)


def flips_of(corpus: Path, count: int, seed: int) -> list[tuple[str, int, int, str]]:
    """Return flips, as many in headers and offsets as in the data."""
    rng, flips = random.Random(seed), []
    names = {name: index for name, index in files_of(corpus).items() if "tasks" not in name}
    for _ in range(count):
        name = rng.choice(sorted(names))
        size = (corpus / name).stat().st_size
        place = rng.randrange(min(size, 192)) if rng.random() < 0.3 else rng.randrange(size)
        kind = names[name] or "bm25"
        flips.append((name, place, rng.randrange(8), kind))
    return flips


def test_unchecked_files_neither_crash_nor_show_the_future(corpus: Path, tmp_path: Path) -> None:
    answered, refused = play(corpus, tmp_path, flips_of(corpus, 60, seed=1))
    assert answered > 5 and refused > 5


def rebuilt(directory: Path, *engines: str) -> arena.Corpus:
    """Open a corpus and engines, read nothing, and put another corpus in its place."""
    for year in (2020, 2031):
        date = str(year + 4)
        small = {"id": "s", "title": "The survey", "date": date, "references": ["p0"]}
        papers = [
            {"id": f"p{n}", "title": f"Paper of {year}", "abstract": f"{year}", "date": str(year)}
            for n in range(9)
        ]
        build(Memory(papers, [small]), directory, overwrite=True)
        if year == 2020:
            corpus = arena.Corpus.open(directory)
            for engine in engines:
                corpus.retriever(engine)
    return corpus


def test_a_forked_worker_keeps_to_the_corpus_that_was_opened(tmp_path: Path) -> None:
    corpus = rebuilt(tmp_path / "corpus")
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        paper = corpus.at("2024").paper("p3")
        os.write(writer, f"{paper.title}, {paper.abstract}, {paper.date}".encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 1000) == b"Paper of 2020, 2020, 2020-12-31"


def test_a_pickle_does_not_open_another_corpus(tmp_path: Path) -> None:
    corpus = rebuilt(tmp_path / "corpus")
    with pytest.raises(CorpusError, match="was built again since it was opened"):
        pickle.loads(pickle.dumps(corpus))
    again = arena.Corpus.open(tmp_path / "corpus")
    assert pickle.loads(pickle.dumps(again)).sha256 == again.sha256 != corpus.sha256


def test_a_pickle_does_not_open_another_index(tmp_path: Path) -> None:
    rebuilt(tmp_path / "corpus")
    corpus = arena.Corpus.open(tmp_path / "corpus")
    corpus.retriever("bm25")
    pickled = pickle.dumps(corpus)
    assert pickle.loads(pickled).at("2035").search("paper")
    build_index(tmp_path / "corpus", "bm25", fields=["title"], overwrite=True)
    with pytest.raises(CorpusError, match="was rebuilt since it was opened"):
        pickle.loads(pickled).at("2035").search("paper")


def test_the_topics_of_another_corpus_are_not_played(tmp_path: Path) -> None:
    corpus = rebuilt(tmp_path / "corpus", "bm25")
    for use in (
        lambda: TaskSet(corpus).topics,
        lambda: TaskSet(corpus).gold("s"),
        lambda: arena.envs.ResearchEnv(corpus).reset(),
        lambda: arena.run(corpus, "discovery", "title", tmp_path / "run"),
    ):
        with pytest.raises(CorpusError, match="built again since it was"):
            use()
    assert TaskSet(tmp_path / "corpus").topic("s").date == "2035-12-31"


def test_an_engine_of_another_corpus_is_refused(tmp_path: Path) -> None:
    corpus = rebuilt(tmp_path / "corpus")
    with pytest.raises(CorpusError, match=r"was built for corpus \w+, this is"):
        corpus.at("2024").search("paper")


def test_the_command_line_skips_the_check(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = corpus / layout.SECTIONS
    line = ["search", "--corpus", str(corpus), "--query", "graph", "--before", "2012"]
    with flipped(path, path.stat().st_size // 2):
        assert main(line) == 2
        assert f"{str(path)!r} is damaged" in capsys.readouterr().err
        assert main([*line, "--no-check"]) == 0
