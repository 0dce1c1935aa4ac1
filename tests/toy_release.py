"""The smallest release: a synthetic corpus in shards of plain records, and its surveys as found."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, ClassVar

from arena.text.identifiers import normal_title
from corpus_builder.records import parse_paper
from corpus_builder.release import RecordLimits, RejectError, Release, Shard, Sink
from corpus_builder.sources.matching import identifiers_of, paper_keys
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus


class ToyRelease(Release):
    """Every record is a whole paper, as the source ``jsonl`` reads it."""

    example: ClassVar[str] = "--input DIR"

    def __init__(self, input: str | Path) -> None:
        self._directory = Path(input)

    @property
    def year(self) -> int | None:
        return None

    def shards(self) -> list[Shard]:
        return [
            Shard("papers", f"papers/{path.name}", path, path.stat().st_size)
            for path in sorted(self._directory.glob("*.gz"))
        ]

    def parse(self, dataset: str, record: Any, sink: Sink, limits: RecordLimits) -> None:
        if not isinstance(record, dict) or "id" not in record:
            raise RejectError("no id", repr(record)[:40])
        paper = parse_paper(record)
        day, precision = paper.date or (None, None)
        sink.add(
            "papers",
            (paper.id, paper.title, normal_title(paper.title), day, precision, paper.is_survey,
             record.get("referencecount"), paper.venue, paper.authors, paper.fields,
             *identifiers_of(paper_keys(record)), None),
        )  # fmt: skip
        sink.add("abstracts", (paper.id, paper.abstract))
        sections = [{"heading": heading, "text": text} for heading, text in paper.sections]
        sink.add("texts", (paper.id, None, sections, None))
        for reference in paper.references:
            sink.add("citations", (paper.id, reference.id, reference.influential))

    def describe(self) -> dict[str, Any]:
        return {"source": "toy"}


def write_toy(directory: Path, config: SyntheticConfig, shards: int = 4) -> ToyRelease:
    """Write a synthetic corpus into shards."""
    directory.mkdir(parents=True)
    parts: list[list[str]] = [[] for _ in range(shards)]
    for number, paper in enumerate(SyntheticCorpus(config).papers()):
        parts[number % shards].append(json.dumps(paper))
    for number, lines in enumerate(parts):
        data = "".join(f"{line}\n" for line in lines).encode()
        (directory / f"{number:03}.gz").write_bytes(gzip.compress(data, mtime=0))
    return ToyRelease(directory)
