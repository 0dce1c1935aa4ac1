"""SPARBench's questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus_builder.questions import Question, dashed, named, question_format, records
from corpus_builder.sources.published import check_record


@question_format("sparbench")
def read(path: Path) -> Iterator[Question]:
    """Questions with papers that experts chose (SPAR, arXiv:2507.15245), named by their lines.

    The day is that on which SPAR searched.
    """
    keys = {"question": str, "source_meta": dict}
    for number, record in enumerate(records(path, keys, "SPARBench"), 1):
        where = f"{path.name} record {number}: source_meta"
        meta = check_record(record["source_meta"], where, {"answers": list}, "SPARBench")
        gold = tuple(named(paper.get("title"), paper.get("paperID")) for paper in meta["answers"])
        day = dashed(meta.get("published_time"))
        yield Question(f"SPARBench_{number}", record["question"], day, gold)
