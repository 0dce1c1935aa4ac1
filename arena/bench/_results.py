"""From the pieces to results: means over queries, medians and quartiles over repeats, floors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena._internal.files import atomic_write, write_json
from arena.bench._pieces import Pieces, piece_name
from arena.bench.engines.base import ENGINES
from arena.bench.settings import MODES

RESULTS, TABLES, PLOT = "results.json", "results.md", "results.svg"


def collect(
    manifest: dict[str, Any], pieces: Pieces, missing: dict[str, str | None]
) -> dict[str, Any]:
    """Return all raw numbers and what follows from them."""
    settings = manifest["settings"]
    # Before everything and after every size: the best is least disturbed by other processes.
    measured = [pieces.read("bandwidth")]
    measured += [pieces.read(piece_name(n, "bandwidth")) for n in settings["documents"]]
    bandwidth = {key: max(m[key] for m in measured if key in m) for key in measured[0]}
    sizes = []
    for documents in settings["documents"]:
        collection = pieces.read(piece_name(documents, "collection"))
        engines = {
            name: {"status": "skipped", "reason": missing[name]}
            if missing[name]
            else _engine(pieces, documents, name, settings, collection, bandwidth)
            for name in settings["engines"]
        }
        sizes.append({"documents": documents, "collection": collection, "engines": engines})
    return {**manifest, "bandwidth": bandwidth, "sizes": sizes}


def write(results: dict[str, Any], output: Path) -> None:
    """Write the JSON, the tables and, if matplotlib is there, the plot."""
    from arena.bench import _plot, _tables

    write_json(output / RESULTS, results)
    atomic_write(output / TABLES, _tables.page(results))
    plot = _plot.svg(results)
    if plot is not None:
        atomic_write(output / PLOT, plot)


def _engine(
    pieces: Pieces,
    documents: int,
    name: str,
    settings: dict[str, Any],
    collection: dict[str, Any],
    bandwidth: dict[str, Any],
) -> dict[str, Any]:
    kind = ENGINES.get(name)
    build, check = (pieces.read(piece_name(documents, what, name)) for what in ("build", "verify"))
    described = {"family": kind.family, "native": kind.native, "build": build, "check": check}
    if kind.family == "lexical":
        described["convention"] = kind.convention._asdict()
    if "failed" in build:
        return described | {"status": "failed", "reason": f"build: {build['failed']}"}
    if "failed" in check:
        return described | {"status": "failed", "reason": f"check: {check['failed']}"}
    if check["difference"]:
        return described | {"status": "failed", "reason": check["difference"]}
    repeats = {
        mode: [
            pieces.read(piece_name(documents, f"{mode}-{repeat}", name))
            for repeat in range(settings["repeats"])
        ]
        for mode in MODES
    }
    for piece in (*repeats["single"], *repeats["batch"]):
        if "failed" in piece:
            return described | {"status": "failed", "reason": f"timing: {piece['failed']}"}
    posting = build["bytes"] / max(collection["postings"], 1)
    work = {}
    for percent, end in collection["ends"].items():
        postings = collection["postings_a_query"][percent]
        read = end * kind.bytes_a_row if kind.family == "dense" else postings * posting
        work[percent] = {
            "documents": end,
            "bytes": read,
            "floor_ms": read / bandwidth["read_one_core"] * 1e3,
        }
        if kind.family == "lexical":
            work[percent]["postings"] = postings
    return described | {
        "status": "measured",
        "documents_a_second": documents / build["wall_seconds"],
        "bytes_a_document": build["bytes"] / documents,
        **({"bytes_a_posting": posting} if kind.family == "lexical" else {}),
        "open_ms": spread([piece["open_seconds"] * 1e3 for piece in repeats["single"]]),
        "first_ms": spread([piece["first_seconds"] * 1e3 for piece in repeats["single"]]),
        "search_peak_memory": max(piece["peak_memory"] for piece in repeats["single"]),
        "work": work,
        **{mode: _times(repeats[mode], work) for mode in MODES},
        "raw": repeats,
    }


def _times(repeats: Sequence[dict[str, Any]], work: dict[str, Any]) -> dict[str, Any]:
    """Return percent -> milliseconds a query and nanoseconds a posting."""
    found: dict[str, Any] = {}
    for percent, done in work.items():
        queries = sum(repeats[0]["queries"])
        entry: dict[str, Any] = {
            f"{clock}_ms": spread([sum(r[f"{clock}_ns"][percent]) / queries / 1e6 for r in repeats])
            for clock in ("cpu", "wall")
        }
        if done.get("postings"):
            entry["cpu_ns_a_posting"] = entry["cpu_ms"]["median"] * 1e6 / done["postings"]
        if len(repeats[0]["queries"]) == queries:  # alone: one time a query
            every = np.concatenate([r["wall_ns"][percent] for r in repeats]) / 1e6
            entry["wall_ms_of_queries"] = {
                f"p{p}": float(np.percentile(every, p)) for p in (50, 95, 99)
            }
        found[percent] = entry
    return found


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median and the quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return {"median": float(middle), "q1": float(low), "q3": float(high)}
