"""Put full texts beside the papers they belong to, out of core."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpus_builder.sources._arena_records import identifier
from corpus_builder.sources.base import Located

_MEMORY = 10**9


class WithText(NamedTuple):
    """A paper and its text, one of which may be None, and where the record stands."""

    paper: Any
    text: Any
    file: str
    line: int


def with_texts(papers: Iterator[Located], texts: Iterator[Located]) -> Iterator[WithText]:
    """Yield every paper and every text, those of one id together, in any order.

    Both are written below the directory for temporary files (``TMPDIR``) as Parquet first, which
    takes about the size of the packed input, and as much again while they are joined.
    """
    import pyarrow as pa

    from corpus_builder._duckdb import connected, literal, rows
    from corpus_builder._parquet import RowWriter

    schema = pa.schema([("id", pa.string()), ("record", pa.string()), ("file", pa.string()),
                        ("line", pa.int64())])  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="researcharena-") as name:
        directory = Path(name)
        sides = directory / "papers.parquet", directory / "texts.parquet"
        for records, path in zip((papers, texts), sides, strict=True):
            with RowWriter(path, schema) as writer:
                for place in records:
                    record = json.dumps(place.record)
                    writer.add((identifier(place.record), record, place.file, place.line))
        with connected(directory / "spill", _MEMORY, 1) as connection:
            left, right = map(literal, sides)
            for paper, text, file, line in rows(
                connection,
                "SELECT p.record, t.record, coalesce(p.file, t.file), coalesce(p.line, t.line) "
                f"FROM read_parquet({left}) p FULL JOIN read_parquet({right}) t USING (id)",
            ):
                yield WithText(_read(paper), _read(text), file, line)


def _read(record: str | None) -> Any:
    return None if record is None else json.loads(record)
