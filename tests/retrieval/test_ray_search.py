"""Search in windows, and on a Ray cluster of two nodes: the bits of one index, whoever dies."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers import build_synthetic, contents
from hypothesis import given, settings
from hypothesis import strategies as st
from ray_cluster import ADDRESSES, Cluster, Driver, wait_for

import arena
from arena.errors import DataError, WorkerError
from arena.retrieval import Ranking, Request, Retriever, Scope
from arena.tasks import TaskSet
from arena_engines.cluster import versions
from arena_engines.retrievers.ray import DISTRIBUTIONS, Shard

WORDS = [
    "membrane", "selective", "erosion", "knots", "lattice", "seepage", "of", "a", "the", "zzzz"
]  # fmt: skip
ENGINES = ("bm25", "dense")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_synthetic(tmp_path_factory.mktemp("ray") / "corpus", 300, 4, engines=ENGINES)


@pytest.fixture(scope="module", params=[*ENGINES, "gpu(dense)"])
def engine(request: pytest.FixtureRequest, small: Path) -> Retriever:
    return arena.Corpus.open(small).retriever(request.param)


def parts(engine: Retriever, requests: list[Request], bounds: list[int]) -> list[Ranking]:
    """Return the best of every window together, sorted here by the rule of all rankings."""
    of_windows = [
        engine.search_batch(
            [
                Request(engine.prepared(q), k, Scope(s.end, s.excluded, window))
                for q, k, s in requests
            ]
        )
        for window in pairwise(bounds)
    ]
    merged = []
    for (_, k, _), rankings in zip(requests, zip(*of_windows, strict=True), strict=True):
        hits = [(-s, d) for r in rankings for d, s in zip(r.documents, r.scores, strict=True)]
        best = sorted(hits)[:k]
        merged.append(Ranking(np.array([d for _, d in best]), np.array([-s for s, _ in best])))
    return merged


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_windows_give_the_bits_of_the_whole(engine: Retriever, data: st.DataObject) -> None:
    assert engine.documents is not None
    number = st.integers(0, engine.documents)
    inner = data.draw(st.lists(number, max_size=5))
    papers = st.lists(st.sampled_from(searchable(engine)), max_size=4, unique=True)
    requests = [
        Request(" ".join(words), k, Scope(end, tuple(sorted(d for d in hidden if d < end))))
        for words, k, end, hidden in data.draw(
            st.lists(
                st.tuples(
                    st.lists(st.sampled_from(WORDS), max_size=4),
                    st.integers(0, 400),
                    number,
                    papers,
                ),
                min_size=1,
                max_size=9,
            )
        )
    ]
    bounds = [0, *sorted(inner), engine.documents]
    for one, whole in zip(
        parts(engine, requests, bounds), engine.search_batch(requests), strict=True
    ):
        assert one.documents.tolist() == whole.documents.tolist()
        assert one.scores.tobytes() == whole.scores.tobytes()


def searchable(engine: Retriever) -> list[int]:
    """Return the documents that an engine can find."""
    assert engine.documents is not None
    ranking = engine.search(" ".join(WORDS), engine.documents, Scope(engine.documents))
    return sorted(ranking.documents.tolist())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hybrid(bm25)", "it has one part; give at least two, as in hybrid(bm25,dense)"),
        ("ray(bm25,dense)", "it searches one engine"),
        ("ray(hybrid(bm25,dense))", "it searches one engine"),
        ("ray", "name it as ray(bm25)"),
    ],
)
def test_what_cannot_be_combined(small: Path, name: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        arena.Corpus.open(small).retriever(name)
    assert message in str(caught.value)


def test_without_a_cluster(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.2:1")
    view = arena.Corpus.open(small).at("2010", retriever="ray(bm25)")
    with pytest.raises(WorkerError, match="no Ray cluster answers at RAY_ADDRESS="):
        view.search("membrane")


def test_a_node_with_other_files_or_versions(small: Path) -> None:
    index = small / "index" / "bm25"
    for known, message in (
        ({"index": "0" * 64}, f"has index .* in '{index}', the machine that asks 000000000000"),
        ({"index": "", "numpy": "0.1"}, "has numpy .*, the machine that asks 0.1"),
    ):
        shard = Shard("bm25", str(index), {}, [], (0, 10), versions(*DISTRIBUTIONS) | known)
        with pytest.raises(WorkerError, match=message):
            shard.search([("membrane", 3, (10, ()))])


# On a cluster.

SEARCHES = """
import random
import arena
from arena.retrieval import Request, Scope
corpus = arena.Corpus.open({corpus!r})
draw = random.Random(3)
answer = {{}}
for name in {names}:
    one = corpus.retriever(name)
    found = [d for d in one.search({words!r}, 9**9, Scope(one.documents)).documents.tolist()]
    many = corpus.retriever(f"ray({{name}})", shards={shards})
    for _ in range({batches}):
        batch = []
        for _ in range(50):
            end = draw.randrange(one.documents + 1)
            hidden = [d for d in draw.sample(found, draw.randrange(4)) if d < end]
            query = " ".join(draw.choices({words!r}.split(), k=draw.randrange(5)))
            scope = Scope(end, tuple(sorted(hidden)))
            batch.append(Request(query, draw.choice((0, 1, 10, 500)), scope))
        for ours, theirs in zip(many.search_batch(batch), one.search_batch(batch)):
            same = all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs))
            answer[f"{{name}} {{same}}"] = answer.get(f"{{name}} {{same}}", 0) + 1
"""
RUN = """
import arena
arena.run({corpus!r}, "discovery", "scout", {output!r}, retriever={retriever!r})
answer = None
"""
BOTH = "hybrid(ray(bm25),ray(dense))"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shards", "names"), [(1, ENGINES), (2, ("gpu(dense)",)), (3, ENGINES), (8, ENGINES)]
)
def test_a_cluster_gives_the_bits_of_one_index(
    small: Path, driver: Driver, shards: int, names: tuple[str, ...]
) -> None:
    given_ = {"corpus": str(small), "words": " ".join(WORDS), "shards": shards, "names": names}
    code = SEARCHES.format(**given_, batches=10)
    assert driver.do(code) == {f"{name} True": 500 for name in names}


BREAKS = """
from arena import Researcher


class Breaks(Researcher):
    def discover(self, desk):
        desk.ranking = [hit.id for hit in (yield from desk.search(desk.topic))]
        if len(desk.topic) == {length}:
            raise ValueError("enough")
"""
PLAY = """
import arena
from arena.errors import ArenaError
try:
    arena.run({corpus!r}, "discovery", {agent!r}, {output!r}, executor={executor!r})
    answer = None
except ArenaError as error:
    answer = str(error)
"""


@pytest.mark.slow
def test_episodes_on_a_cluster(small: Path, driver: Driver, tmp_path: Path) -> None:
    topics = TaskSet(arena.Corpus.open(small)).topics
    (tmp_path / "breaks.py").write_text(BREAKS.format(length=len(topics[sorted(topics)[1]].text)))
    for agent, failure in (("scout", None), (f"{tmp_path}/breaks.py:Breaks", "enough")):
        said = []
        for executor in ("local", "ray"):
            output = tmp_path / executor / agent[-6:]
            code = {"corpus": str(small), "agent": agent, "output": str(output)}
            said.append(driver.do(PLAY.format(executor=executor, **code)))
        assert said[0] == said[1]
        assert failure is None or failure in said[0]
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")


@pytest.mark.slow
def test_a_run_ends_with_the_same_files_when_a_node_dies(
    small: Path, cluster: Cluster, driver: Driver, tmp_path: Path
) -> None:
    """The last: one node is left."""
    where = {name: str(tmp_path / name) for name in ("one", "two", "killed")}
    for name, retriever in (("one", "hybrid(bm25,dense)"), ("two", BOTH)):
        driver.do(RUN.format(corpus=str(small), output=where[name], retriever=retriever))
    one, two = (tmp_path / name / "run.trec" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    driver.begin(RUN.format(corpus=str(small), output=where["killed"], retriever=BOTH))
    wait_for((tmp_path / "killed" / "trajectories.jsonl").exists, "an episode was played")
    cluster.kill(ADDRESSES[1])
    driver.end()
    assert contents(tmp_path / "killed") == contents(tmp_path / "two")
