"""What was measured, as JSON and as tables."""

from __future__ import annotations

import json
from typing import Any

from arena._internal import tables
from arena.bench import _machine
from arena.corpus import layout
from corpus_builder.bench._build import Built, Command, manifest_hashes
from corpus_builder.bench._kills import Killed

_GB = 1e9


def differences(one: Built, other: Built) -> list[str]:
    """Return the files that only one of two builds has, or that differ."""
    names = one.hashes.keys() | other.hashes.keys()
    return sorted(name for name in names if one.hashes.get(name) != other.hashes.get(name))


def summary(command: Command, built: Built) -> dict[str, Any]:
    """Return all that was measured of a build, as JSON can hold it.

    ``documents`` are the papers of the corpus; where no corpus was built, those that ``parse`` has
    found. Rates are over wall time.
    """
    lines, papers = _counts(command)
    sizes = {**built.sizes, "most": built.peak["disk"]}
    return {
        "command": ["arena-corpus", *command.line[3:]],
        "machine": _machine.describe(),
        "status": built.status,
        "error": built.error,
        "seconds": round(built.seconds, 3),
        "processor_seconds": round(built.processor, 2),
        "documents": papers,
        "documents_per_second": round(papers / built.seconds, 1),
        "lines": lines,
        "lines_per_second_of_parse": {
            stage.name: round(sum(lines.values()) / stage.wall, 1)
            for stage in built.stages
            if stage.name == "parse"
        }.get("parse"),
        "stages": [
            {
                "name": stage.name,
                "seconds": round(stage.wall, 3),
                "processor_seconds": round(stage.processor, 2),
                "documents_per_second": round(papers / stage.wall, 1) if stage.wall else None,
            }
            for stage in built.stages
        ],
        "peak_rss_bytes": built.peak["rss"],
        "peak_pss_bytes": built.peak["pss"],
        "most_processes": built.peak["processes"],
        "looks_at_memory": built.looks,
        "disk_bytes": sizes,
        "manifest": manifest_hashes(command),
        "files": len(built.hashes),
    }


def show(told: dict[str, Any]) -> str:
    """Return tables of what `summary` returned."""
    stages = [
        [s["name"], s["seconds"], s["processor_seconds"], s["documents_per_second"]]
        for s in told["stages"]
    ]
    stages.append(["all", told["seconds"], told["processor_seconds"], told["documents_per_second"]])
    disk = told["disk_bytes"]
    rows = [
        ["documents", f"{told['documents']:,}"],
        *([f"lines of {name}", f"{count:,}"] for name, count in told["lines"].items()),
        ["peak memory, shared pages once (PSS)", f"{told['peak_pss_bytes'] / _GB:.2f} GB"],
        ["peak memory, summed (RSS)", f"{told['peak_rss_bytes'] / _GB:.2f} GB"],
        ["most processes at once", f"{told['most_processes']}"],
        ["disk: corpus", f"{disk['output'] / _GB:.2f} GB"],
        ["disk: stages", f"{disk['stages'] / _GB:.2f} GB"],
        ["disk: most at once", f"{disk['most'] / _GB:.2f} GB"],
        ["exit status", f"{told['status']} {told['error']}".strip()],
        *([name, value] for name, value in told["manifest"].items()),
    ]
    headers = ["stage", "seconds", "processor s", "documents/s"]
    return "\n\n".join(
        [tables.text(headers, stages, missing=""), tables.text(["what", "value"], rows)]
    )


def tell_kill(killed: Killed) -> str:
    """Return a line on a kill."""
    whom = "the first process alone" if killed.alone else "all"
    return (
        f"killed {whom} of {killed.processes} after {killed.ran:.1f} s, "
        f"last done: {killed.stage}; none left after {killed.waited:.2f} s"
    )


def _counts(command: Command) -> tuple[dict[str, int], int]:
    """Return the lines of each dataset, and the number of documents."""
    try:
        told = json.loads((command.work / "parse" / "stage.json").read_bytes())["report"]
    except (OSError, ValueError, LookupError):
        return {}, 0
    lines = {name: int(of["lines"]) for name, of in told["datasets"].items()}
    if (command.output / layout.MANIFEST).is_file():
        return lines, int(layout.read_manifest(command.output)["counts"]["papers"])
    return lines, int(told["papers"])
