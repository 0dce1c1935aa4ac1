"""Write the tasks: what an agent may know of a survey, and, apart from it, the labels."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path

import duckdb
import pyarrow as pa

from arena.corpus import layout
from corpus_builder._duckdb import rows
from corpus_builder._parquet import RowWriter

_EPOCH = dt.date(1970, 1, 1)

SURVEYS = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("date", pa.date32()),
        ("date_precision", pa.string()),
    ]
)
GOLD = pa.schema(
    [
        ("survey", pa.string()),
        ("reference", pa.string()),
        ("influential", pa.bool_()),
        ("document", pa.int32()),
        ("status", pa.string()),
    ]
)
MIND_MAPS = pa.schema(
    [("survey", pa.string()), ("n_references_total", pa.int64()), ("mind_map", pa.string())]
)

# The order of the cases is the order in which a reference is refused.
_GOLD = """
SELECT s.id AS survey, r.cited AS reference, bool_or(r.influential) AS influential,
       any_value(d.document) AS document,
       any_value(CASE WHEN d.id IS NULL THEN 'unknown'
                      WHEN d.day IS NULL THEN 'undated'
                      WHEN d.survey THEN 'survey'
                      WHEN d.day >= s.day THEN 'not_before'
                      ELSE 'gold' END) AS status
FROM staged_survey_references r
JOIN staged_surveys s ON s.id = r.citing
LEFT JOIN documents d ON d.id = r.cited
GROUP BY s.id, r.cited ORDER BY s.id, document NULLS LAST, r.cited
"""


def write_tasks(connection: duckdb.DuckDBPyConnection, output: Path) -> tuple[str, dict[str, int]]:
    """Write the files under tasks/; return their content hash and the counts by status."""
    digest = hashlib.sha256()
    counts = {"surveys": 0, "surveys_with_gold": 0, "mind_maps": 0}
    with (
        RowWriter(output / layout.SURVEYS, SURVEYS) as surveys,
        RowWriter(output / layout.MIND_MAPS, MIND_MAPS) as labels,
    ):
        for row in rows(
            connection,
            "SELECT id, title, day, precision, n_references_total, mind_map "
            "FROM staged_surveys ORDER BY id",
        ):
            id_, title, day, precision, total, mind_map = row
            surveys.add((id_, title, _EPOCH + dt.timedelta(days=day), precision))
            labels.add((id_, total, mind_map))
            counts["surveys"] += 1
            counts["mind_maps"] += mind_map is not None
            digest.update(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    by_status = dict.fromkeys(("gold", "unknown", "undated", "survey", "not_before"), 0)
    with_gold = set()
    with RowWriter(output / layout.GOLD, GOLD) as gold:
        for row in rows(connection, _GOLD):
            gold.add(row)
            status = row[4]
            by_status[status] += 1
            if status == "gold":
                with_gold.add(row[0])
            digest.update(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    counts["surveys_with_gold"] = len(with_gold)
    counts |= {f"survey_references_{status}": number for status, number in by_status.items()}
    return digest.hexdigest(), counts
