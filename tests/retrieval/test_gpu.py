"""Dense search on a device: the bound holds for any sum of products, and the bits are the CPU's."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import build_synthetic
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dense_codes import fractions, kinds, rows_of, seeds

import arena
from arena.errors import DataError, WorkerError
from arena.kit.files import sha256_file
from arena.retrieval import Request, Scope
from arena.retrieval.dense import FlatSearch, RowRequest
from arena.retrieval.dense._codes import encode_rows
from arena_engines import device
from arena_engines.cluster import versions
from arena_engines.device import DeviceSearch, error_bound
from arena_engines.retrievers.ray import DISTRIBUTIONS, Shard

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")
gpu_bm25 = pytest.importorskip("benchmarks.gpu_bm25")


def truncated(value: Fraction, unit: Fraction) -> Fraction:
    return int(value / unit) * unit  # towards zero


def exponent(value: Fraction) -> Fraction:
    """Return the largest power of two that is at most |value|, which is not 0."""
    power = Fraction(2) ** (abs(value.numerator).bit_length() - value.denominator.bit_length())
    return power if power <= abs(value) else power / 2


def added(values: list[Fraction]) -> Fraction:
    """Add as a tensor core with 24 bits and no more: addends shifted to the largest, cut off."""
    largest = max(values, key=abs)
    if not largest:
        return largest
    total = sum(truncated(value, exponent(largest) / 2**23) for value in values)
    return truncated(total, exponent(total) / 2**23) if total else total


@settings(max_examples=60, deadline=None)
@given(kind=kinds, dimension=st.integers(1, 130), seed=seeds, width=st.integers(2, 33))
def test_no_sum_of_the_products_is_further_off_than_the_bound(kind, dimension, seed, width):
    """In blocks, in a chain, or in any tree, with the signs as they come and all alike."""
    rng = np.random.default_rng(seed)
    first, second = rows_of(kind, 2, dimension, rng)
    products = [a * b for a, b in zip(fractions(first), fractions(second), strict=True)]
    for terms in (products, [abs(each) for each in products]):
        chain = Fraction(0)
        for low in range(0, dimension, width - 1):
            chain = added([chain, *terms[low : low + width - 1]])
        tree = list(terms)
        while len(tree) > 1:
            size = int(rng.integers(2, width + 1))
            some = [tree.pop(int(rng.integers(len(tree)))) for _ in range(min(size, len(tree)))]
            tree.append(added(some))
        for total in (chain, *tree):
            assert abs(total - sum(terms)) < Fraction(error_bound(dimension))


def test_the_bound_is_not_loose_by_orders():
    """A chain of 1/2 and of addends so small that each is cut off."""
    dimension = 4096
    small = Fraction(2) ** -24 * Fraction(4095, 4096)
    total = Fraction(1, 2)
    for _ in range(dimension - 1):
        total = added([total, small])
    lost = Fraction(1, 2) + (dimension - 1) * small - total
    assert lost == (dimension - 1) * small > Fraction(error_bound(dimension)) / 8


def as_bad_as_allowed(self, queries, rows):
    """Return products that are off by nearly the bound, up or down at random."""
    exact = queries.double() @ rows.double().T
    off = 0.8 * self._error * 2.0**30 * torch.sign(torch.rand(exact.shape) - 0.5)
    return (exact + off).float()


@settings(max_examples=60, deadline=None)
@given(kind=kinds, dimension=st.sampled_from([1, 3, 64, 100]), seed=seeds, data=st.data())
def test_a_device_finds_what_the_processor_finds(kind, dimension, seed, data):
    """Bit for bit, with ties, for any batch, tile, share in memory, and number of threads."""
    rng = np.random.default_rng(seed)
    rows = data.draw(st.integers(1, 60) | st.integers(1000, 3000))
    vectors = rows_of(kind, rows, dimension, rng)
    if data.draw(st.booleans()):  # the best come last, so all are candidates
        vectors = vectors[np.argsort(vectors[:, 0])]
    flat = FlatSearch(vectors, encode_rows(vectors))
    requests = []
    for _ in range(data.draw(st.sampled_from([1, 2, 40]))):
        query = vectors[rng.integers(rows)]
        query = query if query.any() else np.eye(dimension, dtype=np.float16)[0]
        end = int(rng.integers(1, rows + 1))
        excluded = np.unique(rng.integers(0, end, rng.integers(0, 4)))[: end - 1]
        k = int(rng.choice([1, 10, end]))
        requests.append(RowRequest(query, min(k, end - len(excluded)), end, excluded))
    cells = data.draw(st.sampled_from([1, 3000, 10**6])) if rows < 61 else 10**4
    kept = data.draw(st.sampled_from([0, 2 * dimension * rows, 1e9]))  # bytes
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(device._CELLS, "cpu", cells)
        patch.setattr(device, "cores", lambda: data.draw(st.sampled_from([1, 3, 16])))
        patch.setattr(device, "_PIECE", data.draw(st.sampled_from([1, 7, 32])))
        patch.setattr(device, "_BLOCK", data.draw(st.sampled_from([1, 2, 64])))
        patch.setattr(device, "_HELD", data.draw(st.sampled_from([1, 500, 10**6])))
        patch.setattr(device, "_TOGETHER", data.draw(st.sampled_from([30, 2048])))
        patch.setattr(device, "_CPU_MEMORY", kept)
        if data.draw(st.booleans()):
            patch.setattr(DeviceSearch, "_product", as_bad_as_allowed)
        found = DeviceSearch(flat, vectors, "cpu").search(requests)
    for one, other in zip(found, flat.search(requests), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tobytes() == other.scores.tobytes()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    engines = ("bm25", "dense")
    return build_synthetic(tmp_path_factory.mktemp("gpu") / "corpus", 300, 4, engines=engines)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu(bm25)", "it searches one index of the engine dense"),
        ("gpu(hybrid(bm25,dense))", "it searches one index of the engine dense"),
        ("gpu(bm25,dense)", "it searches one index of the engine dense"),
        ("gpu", "name it as gpu(dense)"),
    ],
)
def test_what_cannot_be_searched_on_a_device(small, name, message):
    with pytest.raises(DataError) as caught:
        arena.Corpus.open(small).retriever(name)
    assert message in str(caught.value)


def test_a_device_that_is_none(small):
    with pytest.raises(DataError, match="give auto, cpu, cuda"):
        arena.Corpus.open(small).retriever("gpu(dense)", device="abacus")


def test_a_run_records_what_dense_records(small):
    corpus = arena.Corpus.open(small)
    engine = corpus.retriever("gpu(dense)", device="cpu")
    assert engine.config == {"dense": corpus.retriever("dense").config}
    names = [kind.__name__ for kind in engine.classes()]
    assert names == ["GpuRetriever", "DeviceSearch", "Dense", "Static"]


def test_a_shard_of_ray_searches_its_rows_on_a_device(small):
    corpus = arena.Corpus.open(small)
    directory, options = corpus.retriever("gpu(dense)", device="cpu", dense={"cache": 9}).opened
    assert options == {"device": "cpu", "dense": {"cache": 9}}
    known = versions(*DISTRIBUTIONS) | {"index": sha256_file(directory / "manifest.json")}
    shard = Shard("gpu", str(directory), options, [], (100, 200), known)
    (found,) = shard.search([("membrane", 5, (150, (120,)))])
    expected = corpus.retriever("dense").search("membrane", 5, Scope(150, (120,), (100, 200)))
    assert len(found.documents) == 5
    assert found.documents.tolist() == expected.documents.tolist()
    assert found.scores.tobytes() == expected.scores.tobytes()


def test_arithmetic_that_the_bound_does_not_cover_is_an_error(small, monkeypatch):
    def rounded(self, queries, rows):
        return (queries.float() @ rows.float().T).bfloat16().float()

    monkeypatch.setattr(DeviceSearch, "_product", rounded)
    view = arena.Corpus.open(small).at("2015", retriever="gpu(dense)")
    with pytest.raises(WorkerError, match="further off than it should"):
        for word in ("membrane", "selective erosion", "lattice of knots"):
            view.search(word, 50)


def test_a_device_that_fails_is_an_error(small, monkeypatch):
    def full(self, low, high):
        raise torch.OutOfMemoryError("out of memory. Tried to allocate 20 GiB.")

    monkeypatch.setattr(DeviceSearch, "_rows", full)
    view = arena.Corpus.open(small).at("2015", retriever="gpu(dense)")
    with pytest.raises(WorkerError, match="cannot search on cpu: 'out of memory"):
        view.search("membrane", 5)


def test_a_gpu_multiplies_float16_and_adds_float32():
    """On the device "meta", which has shapes and types alone."""
    queries, rows = (torch.empty((n, 8), dtype=torch.float16, device="meta") for n in (2, 3))
    gpu = SimpleNamespace(_is_cuda=True, _torch=torch)
    scores = DeviceSearch._product(gpu, queries, rows)
    assert scores.dtype == torch.float32
    assert scores.shape == (2, 3)


@pytest.mark.parametrize("cells", [1, 3000, 2**20])
def test_the_prototype_of_bm25_on_a_device_finds_what_the_engine_finds(small, monkeypatch, cells):
    monkeypatch.setattr(gpu_bm25, "_CELLS", cells)
    engine, words = arena.Corpus.open(small).retriever("bm25"), "membrane lattice of knots erosion"
    found = engine.search(words, 400, Scope(400)).documents.tolist()
    rng, asked = np.random.default_rng(cells), []
    for k in (0, 1, 3, 10, 100, 400) * 12:
        query = " ".join(rng.choice([*words.split(), "zzzz"], rng.integers(6)))
        end = int(rng.integers(400))
        hidden = sorted(int(d) for d in rng.choice(found, rng.integers(4), False) if d < end)
        asked.append(Request(query, k, Scope(end, tuple(hidden))))
    expected, kernel = engine.search_batch(asked), engine._kernel
    lists = gpu_bm25.DeviceLists(engine._docs, engine._codes, "cpu")
    replaced = SimpleNamespace(**{**vars(kernel), "search": lists.search})
    monkeypatch.setattr(engine, "_kernel", replaced)
    for one, other in zip(engine.search_batch(asked), expected, strict=True):
        assert one.documents.tolist() == other.documents.tolist()
        assert one.scores.tobytes() == other.scores.tobytes()
    assert sum(len(each.documents) for each in expected) > 200


@pytest.mark.slow
def test_the_script_for_a_device_compares_and_times_with_numpy_numba_and_torch_alone():
    root = Path(__file__).parents[2]
    words = "-I benchmarks/gpu_dense.py --device cpu --rows 11000 --seconds 0.01"
    ran = subprocess.run(
        [sys.executable, *words.split()], cwd=root, capture_output=True, text=True, timeout=500,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.count("\n0 of ") == 2, ran.stdout  # searches that differ from the CPU's
    assert ran.stdout.count("| False |") == 8  # batches of BM25, none of which differs
