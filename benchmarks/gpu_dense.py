"""Time exact dated search on a GPU beside torch's matmul and topk, and compare it with the CPU's.

Rows are made up, around 4,096 centres, one in ten equal to another; so are the lists of BM25, whose
prototype is timed beside the engine's kernel. Needs numpy, numba and torch alone:

    OMP_NUM_THREADS=1 python -I benchmarks/gpu_dense.py [--device cpu --rows 20000]
"""

import argparse
import importlib
import os
import resource
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.benchmark import Timer

ROOT, DIMENSION, K = Path(__file__).parent.parent, 384, 100
ENGINES = ("arena_engines", "arena.retrieval", "arena.retrieval.dense", "arena.retrieval.bm25")
for name in ("arena", "arena.kit", *ENGINES, "benchmarks"):
    sys.modules[name] = package = types.ModuleType(name)  # so that nothing else is imported
    package.__path__ = [str(ROOT / folder / name.replace(".", "/")) for folder in ("", "plugins")]
sys.modules["arena.retrieval.dense._vectors"] = files = types.ModuleType("files")
files.load_matrix = None
sys.modules["arena.kit.process"] = process = types.ModuleType("process")
process.cores, process.one_thread = os.cpu_count, lambda **_: nullcontext()
dense: Any = importlib.import_module("arena.retrieval.dense._flat")
coding: Any = importlib.import_module("arena.retrieval.dense._codes")
engines: Any = importlib.import_module("arena_engines.device")
lexical: Any = importlib.import_module("benchmarks.gpu_bm25")

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--device", default="cuda")
parser.add_argument("--rows", type=int, default=12_000_000)
parser.add_argument("--seconds", type=float, default=1.0, help="that each number takes at least")
given = parser.parse_args()


def request(end: int) -> Any:
    """Return a search for some row, among those before `end` without another one."""
    query, excluded = np.random.randint(0, given.rows), np.random.randint(0, end, 1)
    return dense.RowRequest(vectors[query], min(K, end - 1), end, excluded)


def by_torch(many: list[Any]) -> None:
    """Search by a product of matrices, 512 at a time."""
    for low in range(0, len(many), 512):
        some = many[low : low + 512]
        queries = torch.from_numpy(np.stack([each.query for each in some])).to(given.device)
        ends = torch.tensor([each.end for each in some], device=given.device)
        scores = queries @ plain[: int(ends.max())].T
        if ends.min() < ends.max():
            rows = torch.arange(scores.shape[1], device=given.device)
            scores.masked_fill_(rows >= ends[:, None], -torch.inf)
        scores.topk(some[0].k).indices.cpu()


def timed(act: Any, many: list[Any]) -> str:
    """Return how many searches a second, in the median."""
    timer = Timer("act(many)", globals={"act": act, "many": many})
    return f"{len(many) / timer.blocked_autorange(min_run_time=given.seconds).median:,.0f}"


where = torch.cuda.get_device_name() if given.device != "cpu" else "CPU"
print(f"{where}, {os.cpu_count()} processors, torch {torch.__version__}, {time.strftime('%F')}")
torch.manual_seed(0)
np.random.seed(0)
centres = torch.randn((4096, DIMENSION), device=given.device)
vectors = np.empty((given.rows, DIMENSION), np.float16)
for low in range(0, given.rows, 2**18):
    size = min(2**18, given.rows - low)
    some = 1.5 * torch.randn((size, DIMENSION), device=given.device)
    some += centres[torch.randint(4096, (size,), device=given.device)]
    some[: size // 10] = some[-(size // 10) :]
    vectors[low : low + size] = torch.nn.functional.normalize(some).half().cpu().numpy()
blocks = [slice(low, low + 4096) for low in range(0, given.rows, 4096)]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    parts = list(pool.map(lambda block: coding.encode_rows(vectors[block]), blocks))
codes, bounds = (np.concatenate(each) for each in zip(*parts, strict=True))
for rows, groups in ((300_000, min(1563, given.rows // 640)), (given.rows, 16)):
    some = vectors[:rows]
    flat, start = dense.FlatSearch(some, (codes[:rows], bounds[:rows])), time.perf_counter()
    search = engines.DeviceSearch(flat, some, given.device)
    print(f"{len(some):,} rows on the device after {time.perf_counter() - start:.1f} s", end=", ")
    search.search([request(len(some))])
    print(f"a first search after {time.perf_counter() - start:.1f} s")
    ends = np.random.randint(10_000, len(some) + 1, groups).tolist()
    asked = [[request(end) for _ in range(64)] for end in ends]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        right = [one for found in pool.map(flat.search, asked) for one in found]
    found = search.search([each for group in asked for each in group])
    same = [list(map(bytes, a)) == list(map(bytes, b)) for a, b in zip(found, right, strict=True)]
    print(f"{same.count(False)} of {len(same):,} searches differ from the CPU's", flush=True)
plain = torch.from_numpy(vectors).to(given.device)
print("| before the cutoff | batch | gpu(dense), queries/s | matmul and topk |\n|---|---|---|---|")
for share in (1, 10, 50, 100, 0):
    for batch in (1, 64, 512, 4096):
        shares = [share or np.random.randint(1, 101) for _ in range(batch)]
        many = [request(given.rows * each // 100) for each in shares]
        ours, theirs = timed(search.search, many), timed(by_torch, many)
        print(f"| {share or 'any'} % | {batch} | {ours} | {theirs} |", flush=True)
gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{gigabytes:.1f} GiB of host memory at most, {vectors.nbytes / 2**30:.1f} of them vectors")
search, plain, parts, codes = None, None, None, None

shares, made = np.geomspace(1e-4, 0.2, 2048), []
for share in shares:  # of the documents, that have a term
    gaps = torch.randint(1, int(2 / share), (int(given.rows * share),), device=given.device)
    made.append((places := gaps.cumsum(0))[places < given.rows].int().cpu().numpy())
docs = np.concatenate(made).view(np.uint32)
starts = np.cumsum([0, *map(len, made)])
codes = np.random.randint(0, 4096, len(docs), np.uint16)
values = np.random.uniform(0.1, 0.9, (1, 4096))
lists = lexical.DeviceLists(docs, codes, given.device)


def arguments(queries: Any) -> Any:
    """Return what the kernel of BM25 takes: eight terms of each query, and the end of its scope."""
    zeros, weights = np.zeros(len(queries) + 1, np.int64), np.log(1 / shares[queries[:, :8]])
    return (
        queries[:, :8].ravel(), weights.ravel(), 8 * np.arange(len(zeros)), values, zeros[1:],
        zeros[1:], queries[:, 8].copy(), zeros[:0], zeros, K * np.arange(len(zeros)), starts, docs,
        codes, np.zeros(lexical.kernel.BLOCK),
    )  # fmt: skip


def by(search: Any, queries: Any) -> Any:
    """Search by the kernel of the engine, or on the device."""
    return search(*arguments(queries))


def by_two(queries: Any) -> None:
    """Search by the kernel in two threads."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(partial(by, lexical.kernel.search), (queries[::2], queries[1::2])))


print(f"BM25, {len(docs):,} postings\n| before | batch | GPU, queries/s | two cores | differ |")
print("|---|---|---|---|---|")
for share in (1, 10, 50, 100):
    for batch in (64, 512):
        terms = [np.sort(np.random.choice(2048, 8, False)) for _ in range(batch)]
        many = np.column_stack([terms, np.full(batch, given.rows * share // 100)])
        mine, right = by(lists.search, many), by(lexical.kernel.search, many)
        hits = (np.arange(K) < right[2][:, None]).ravel()  # that a query has
        pairs = zip((mine[0][hits], mine[1][hits], mine[2]), right, strict=True)
        differ = not all(np.array_equal(a, b[hits] if len(b) > batch else b) for a, b in pairs)
        ours, theirs = timed(partial(by, lists.search), many), timed(by_two, many)
        print(f"| {share} % | {batch} | {ours} | {theirs} | {differ} |", flush=True)
