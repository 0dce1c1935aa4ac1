"""AutoScholarQuery, the questions of PaSa."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus_builder.questions import Question, dashed, named, question_format, records

_KEYS = {"qid": str, "question": str, "answer": list, "answer_arxiv_id": list, "source_meta": dict}


@question_format("autoscholarquery")
def read(path: Path) -> Iterator[Question]:
    """Questions made of related work (PaSa, arXiv:2501.10120, section 3.1), with days.

    No line names the paper that asks. Questions of one day may be of one paper.
    """
    for record in records(path, _KEYS, "AutoScholarQuery"):
        day = dashed(record["source_meta"].get("published_time"))
        gold = tuple(map(named, record["answer"], record["answer_arxiv_id"]))
        yield Question(record["qid"], record["question"], day, gold, source=day)
