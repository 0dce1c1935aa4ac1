"""The labels and dates of a corpus, read from its Parquet files by nothing but pyarrow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from arena.check._episodes import parsed
from arena.corpus import layout

_OTHER_MAP = {
    "label": "Other",
    "children": [{"label": "Quite another heading"}, {"label": "And a third one"}],
}


class Labels:
    """What no agent may learn, and the days from which papers exist."""

    def __init__(self, corpus: Path) -> None:
        self._corpus = corpus

    @cached_property
    def gains(self) -> dict[str, dict[str, int]]:
        """Survey -> paper -> 2 (influential) or 1, of the references in reach."""
        found: dict[str, dict[str, int]] = {row["id"]: {} for row in self._rows(layout.SURVEYS)}
        for row in self._rows(layout.GOLD):
            if row["status"] == "gold":
                found[row["survey"]][row["reference"]] = 2 if row["influential"] else 1
        return found

    @cached_property
    def headings(self) -> dict[str, set[str]]:
        """Survey -> headings of its mind-map below the root, of four characters and more."""
        found: dict[str, set[str]] = {}
        for row in self._rows(layout.MIND_MAPS):
            texts = list(_texts(parsed(row["mind_map"])))
            found[row["survey"]] = {text for text in texts[1:] if len(text) > 3}
        return found

    @cached_property
    def days(self) -> dict[str, str | None]:
        """Paper -> the day from which it exists, ``YYYY-MM-DD``; None if it never does."""
        return {
            row["id"]: row["date"].isoformat() if row["searchable"] and row["date"] else None
            for row in self._rows(layout.PAPERS, ["id", "date", "searchable"])
        }

    def _rows(self, name: str, columns: list[str] | None = None) -> list[dict[str, Any]]:
        import pyarrow.parquet as pq

        found: list[dict[str, Any]] = pq.read_table(
            self._corpus / name, columns=columns
        ).to_pylist()
        return found


def _texts(tree: Any) -> Iterator[str]:
    """Yield the strings of a mind-map in any of its forms, but not its papers."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from _texts(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key != "papers":
                yield from _texts(value)


def relabelled(
    corpus: Path, target: Path, rng: np.random.Generator, *, keep_references: bool
) -> None:
    """Make a corpus at `target` that differs from `corpus` in its labels alone.

    Half of the references of each survey are gone, at least one is left; the others are
    influential where they were not. Every mind-map is another one. All other files are links to
    those of `corpus`.

    Args:
        corpus: a built corpus.
        target: a directory that does not exist.
        rng: draws the references.
        keep_references: leave every reference where it is, and change only whether it is
            influential.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    (target / "tasks").mkdir(parents=True)
    source = corpus.resolve()
    for path in (*source.iterdir(), *(source / "tasks").iterdir()):
        other = target / path.relative_to(source)
        if path.name != "tasks" and path.relative_to(source).as_posix() != layout.MANIFEST:
            other.symlink_to(path)
    changed: dict[str, Any] = {}
    gold = pq.read_table(source / layout.GOLD)
    rows, seen = [], set()
    for row in gold.to_pylist():
        first = row["status"] == "gold" and row["survey"] not in seen
        if keep_references or row["status"] != "gold" or first or rng.integers(2):
            rows.append(row | {"influential": not row["influential"]})
            if row["status"] == "gold":
                seen.add(row["survey"])
    changed[layout.GOLD] = pa.Table.from_pylist(rows, schema=gold.schema)
    maps = pq.read_table(source / layout.MIND_MAPS)
    text = json.dumps(_OTHER_MAP)
    changed[layout.MIND_MAPS] = pa.Table.from_pylist(
        [row | {"mind_map": row["mind_map"] and text} for row in maps.to_pylist()],
        schema=maps.schema,
    )
    manifest = json.loads((source / layout.MANIFEST).read_bytes())
    for name, table in changed.items():
        (target / name).unlink()
        pq.write_table(table, target / name)
        data = (target / name).read_bytes()
        manifest["files"][name] = {
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
    (target / layout.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
