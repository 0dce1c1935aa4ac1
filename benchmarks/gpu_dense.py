"""Time exact dated search on a GPU beside torch's matmul and topk, and compare it with the CPU's.

Rows are made up, around 4,096 centres, one in ten equal to another. Needs numpy, numba, torch and
threadpoolctl alone. Without a GPU: `python benchmarks/gpu_dense.py --device cpu --rows 20000`.
"""

import argparse
import importlib
import os
import resource
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.benchmark import Timer

ROOT, DIMENSION, K = Path(__file__).parent.parent, 384, 100
for name in ("arena", "arena.kit", "arena.retrieval", "arena.retrieval.dense", "arena_engines"):
    sys.modules[name] = package = types.ModuleType(name)  # so that nothing else is imported
    package.__path__ = [str(ROOT / folder / name.replace(".", "/")) for folder in ("", "plugins")]
sys.modules["arena.retrieval.dense._vectors"] = files = types.ModuleType("files")
files.load_matrix = None
dense: Any = importlib.import_module("arena.retrieval.dense._flat")
engines: Any = importlib.import_module("arena_engines.device")

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--device", default="cuda")
parser.add_argument("--rows", type=int, default=12_000_000)
given = parser.parse_args()


def request(end: int) -> Any:
    """Return a search for some row, among those before `end` without another one."""
    query, excluded = np.random.randint(0, given.rows), np.random.randint(0, end, 1)
    return dense.RowRequest(vectors[query], min(K, end - 1), end, excluded)


def by_torch(many: list[Any]) -> None:
    """Search by a product of matrices, 512 at a time."""
    for low in range(0, len(many), 512):
        some = torch.from_numpy(np.stack([each.query for each in many[low : low + 512]]))
        (some.to(given.device) @ plain[: many[0].end].T).topk(many[0].k).indices.cpu()


def timed(act: Any, many: list[Any]) -> str:
    """Return how many searches a second, the median of a second."""
    timer = Timer("act(many)", globals={"act": act, "many": many})
    return f"{len(many) / timer.blocked_autorange(min_run_time=1).median:,.0f}"


where = torch.cuda.get_device_name() if given.device != "cpu" else "CPU"
print(f"{where}, {os.cpu_count()} processors, torch {torch.__version__}, {time.strftime('%F')}")
torch.manual_seed(0)
np.random.seed(0)
centres, made = torch.randn((4096, DIMENSION), device=given.device), []
for low in range(0, given.rows, 2**18):
    size = min(2**18, given.rows - low)
    some = 1.5 * torch.randn((size, DIMENSION), device=given.device)
    some += centres[torch.randint(4096, (size,), device=given.device)]
    some[: size // 10] = some[-(size // 10) :]
    made.append(torch.nn.functional.normalize(some).half().cpu().numpy())
vectors = np.concatenate(made)
for rows, groups in ((300_000, min(1563, given.rows // 640)), (given.rows, 16)):
    # Sixty-four of one cutoff are searched without codes, which so need not be made.
    some = vectors[:rows]
    flat, start = dense.FlatSearch(some, (None, None)), time.perf_counter()
    search = engines.DeviceSearch(flat, some, given.device)
    print(f"{len(some):,} rows on the device after {time.perf_counter() - start:.1f} s")
    ends = np.random.randint(10_000, len(some) + 1, groups).tolist()
    asked = [[request(end) for _ in range(64)] for end in ends]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        right = [one for found in pool.map(flat.search, asked) for one in found]
    found = search.search([each for group in asked for each in group])
    same = [list(map(bytes, a)) == list(map(bytes, b)) for a, b in zip(found, right, strict=True)]
    print(f"{same.count(False)} of {len(same):,} searches differ from the CPU's", flush=True)
plain = torch.from_numpy(vectors).to(given.device)
print("| before the cutoff | batch | gpu(dense), queries/s | matmul and topk |\n|---|---|---|---|")
for share in (1, 10, 50, 100):
    for batch in (1, 64, 512, 4096):
        many = [request(given.rows * share // 100) for _ in range(batch)]
        ours, theirs = timed(search.search, many), timed(by_torch, many)
        print(f"| {share} % | {batch} | {ours} | {theirs} |", flush=True)
print(
    f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB of host memory at most"
)
