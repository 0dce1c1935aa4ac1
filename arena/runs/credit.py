"""``credit.json`` of a run, which ``arena credit`` writes and pages read; docs/credit.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.errors import DataError
from arena.kit.files import read_json, schema_error, sha256_file, write_json
from arena.runs.directory import CREDIT, OpenedRun

_FORM = {"trajectories": str, "calls": list}
_CALL = {
    "topic_id": str, "call": int, "tool": str, "gain": int | float, "marginal": int | float,
    "shapley": int | float, "headline_script": int | float | None,
}  # fmt: skip


def write_credit(run: OpenedRun, calls: Sequence[Mapping[str, Any]]) -> None:
    """Write a row for each call beside the episodes that it is of."""
    content = {"trajectories": sha256_file(run.path), "calls": calls}
    write_json(run.directory / CREDIT, content, sort_keys=False)


def read_credit(run: OpenedRun) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Return topic and repeat -> a row for each call, as ``arena credit`` wrote them.

    Empty without that file, or if it is of other episodes. Raise DataError if it is damaged.
    """
    path = run.directory / CREDIT
    if not path.is_file():
        return {}
    try:
        kept = read_json(path)
        wrong = schema_error(kept, _FORM)
    except ValueError:
        wrong = "it is not JSON"
    for row in () if wrong else kept["calls"]:
        wrong = wrong or schema_error(row, _CALL)
    if wrong:
        raise DataError(f"{str(path)!r} is damaged: {wrong}. Run `arena credit` again.")
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    if kept["trajectories"] == sha256_file(run.path):
        for row in kept["calls"]:
            found.setdefault((row["topic_id"], row.get("repeat", 0)), []).append(row)
    return found
