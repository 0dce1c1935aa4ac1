"""Exchange the labels in copies of a corpus: what an agent sees must not depend on them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_file, sha256_json, write_json

_MANIFEST, _GOLD, _MIND_MAPS = "manifest.json", "tasks/gold.parquet", "tasks/mind_maps.parquet"
_MAPS = (["Quite another heading", "And a third one"], ["Unheard of", "Elsewhere", "Beyond"])


def relabelled(corpus: Path, target: Path, number: int, *, keep_references: bool) -> None:
    """Make one of two copies of a corpus that have no label in common, and all else.

    Each reference of a survey is a reference in one of the copies alone, unless the survey has no
    other, and there are twice as many in the second one. The mind-maps are others, too. All other
    files are links.

    Args:
        corpus: Directory of a built corpus.
        target: Directory that does not exist.
        number: Which copy to make, 0 or 1.
        keep_references: Keep every reference; exchange only which are influential.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    (target / "tasks").mkdir(parents=True)
    source = corpus.resolve()
    for path in (*source.iterdir(), *(source / "tasks").iterdir()):
        name = path.relative_to(source).as_posix()
        if name not in ("tasks", _MANIFEST, _GOLD, _MIND_MAPS):
            (target / name).symlink_to(path)
    gold, maps = pq.read_table(source / _GOLD), pq.read_table(source / _MIND_MAPS)
    rows: list[dict[str, Any]] = []
    places: Counter[str] = Counter()
    total = Counter(row["survey"] for row in gold.to_pylist() if row["status"] == "gold")
    for row in gold.to_pylist():
        first = places[row["survey"]] % 3 == 0
        if row["status"] != "gold":
            rows.append(row)
            continue
        places[row["survey"]] += 1
        if keep_references:
            rows.append(row | {"influential": first == (number == 0)})
        elif first == (number == 0) or total[row["survey"]] == 1:
            rows.append(row)
    tree = json.dumps({"label": f"Map {number}", "children": _MAPS[number]})
    trees = [row | {"mind_map": row["mind_map"] and tree} for row in maps.to_pylist()]
    manifest = json.loads((source / _MANIFEST).read_bytes())
    for name, table, changed in ((_GOLD, gold, rows), (_MIND_MAPS, maps, trees)):
        pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), target / name)
        size, digest = (target / name).stat().st_size, sha256_file(target / name)
        manifest["files"][name] = {"bytes": size, "sha256": digest}
    manifest.pop("manifest_sha256")
    write_json(target / _MANIFEST, manifest | {"manifest_sha256": sha256_json(manifest)})
