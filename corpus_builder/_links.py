"""Write who cites whom among the searchable papers, both ways."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from arena import layout
from arena._arrays import ArrayWriter, save_array
from arena._progress import progress
from corpus_builder._order import batches, count
from corpus_builder._parquet import RowWriter

REFERENCES = pa.schema(
    [("document", pa.int32()), ("cited", pa.int32()), ("influential", pa.bool_())]
)

# A survey's reference list is a gold label and an undated paper is out of reach, so a link counts
# only between two searchable papers. The ids are compared before the joins: comparing documents
# after them makes DuckDB pair every document with every other one first.
_LINKS = """
CREATE TABLE links AS
SELECT a.document AS citing, b.document AS cited, bool_or(r.influential) AS influential
FROM staged_references r
JOIN documents a ON a.id = r.citing
JOIN documents b ON b.id = r.cited
WHERE a.searchable AND b.searchable AND r.citing <> r.cited
GROUP BY ALL
"""


def write_links(connection: duckdb.DuckDBPyConnection, output: Path) -> tuple[str, dict[str, int]]:
    """Write references.parquet and both look-up lists; return the content hash and counts."""
    connection.execute(_LINKS)
    n = count(connection, "SELECT count(*) FROM documents")
    digest = hashlib.sha256()
    counts = np.zeros(n + 1, np.int64)
    total = count(connection, "SELECT count(*) FROM links")
    with (
        RowWriter(output / layout.REFERENCES, REFERENCES) as table,
        ArrayWriter(output / layout.CITED, np.uint32) as cited,
        progress(total=total, desc="citations", unit="link") as bar,
    ):
        for batch in batches(connection, "SELECT * FROM links ORDER BY citing, cited"):
            cited.append([row[1] for row in batch])
            for row in batch:
                table.add(row)
                counts[row[0] + 1] += 1
                digest.update(b"%d %d %d\n" % row)
            bar.update(len(batch))
    save_array(output / layout.CITED_STARTS, np.cumsum(counts))
    counts[:] = 0
    with ArrayWriter(output / layout.CITING, np.uint32) as citing:
        for batch in batches(connection, "SELECT citing, cited FROM links ORDER BY cited, citing"):
            citing.append([row[0] for row in batch])
            for row in batch:
                counts[row[1] + 1] += 1
    save_array(output / layout.CITING_STARTS, np.cumsum(counts))
    return digest.hexdigest(), {
        "references": citing.length,
        "dangling_references": count(
            connection,
            "SELECT count(*) FROM staged_references WHERE cited NOT IN (SELECT id FROM documents)",
        ),
    }
