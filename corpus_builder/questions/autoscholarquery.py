"""AutoScholarQuery, the questions of PaSa."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus_builder.questions import FORMATS, Question, named, records

_KEYS = {"qid": str, "question": str, "answer": list, "answer_arxiv_id": list, "source_meta": dict}


@FORMATS.register("autoscholarquery")
def read(path: Path) -> Iterator[Question]:
    """Questions made of related work (PaSa, arXiv:2501.10120, section 3.1), with days.

    No line names the paper that asks. Questions of one day may be of one paper.
    """
    for _, record in records(path, _KEYS, "AutoScholarQuery"):
        gold = tuple(map(named, record["answer"], record["answer_arxiv_id"]))
        day = record["day"]
        yield Question(record["qid"], record["question"], day, gold, source=day)
