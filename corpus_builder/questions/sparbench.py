"""SPARBench's questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus_builder.questions import FORMATS, Question, named, records
from corpus_builder.sources.published import check_record

_WHAT = "SPARBench"


@FORMATS.register("sparbench")
def read(path: Path) -> Iterator[Question]:
    """Questions with papers that experts chose (SPAR, arXiv:2507.15245), named by their lines.

    The day is that on which SPAR searched.
    """
    keys = {"question": str, "source_meta": dict}
    for number, (where, record) in enumerate(records(path, keys, _WHAT), 1):
        answers = check_record(record["source_meta"], where, {"answers": list}, _WHAT)["answers"]
        gold = tuple(named(paper.get("title"), paper.get("paperID")) for paper in answers)
        yield Question(f"{_WHAT}_{number}", record["question"], record["day"], gold)
