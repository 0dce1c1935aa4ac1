"""Published questions in files of JSON lines: AutoScholarQuery, ScholarGym and SPARBench."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus_builder.questions import Question, dashed, named, question_format, records
from corpus_builder.sources.published import check_record


@question_format("autoscholarquery")
def autoscholarquery(path: Path) -> Iterator[Question]:
    """Questions made of related work (PaSa, arXiv:2501.10120, section 3.1), with days.

    No line names the paper that asks. Questions of one day may be of one paper.
    """
    keys = {
        "qid": str,
        "question": str,
        "answer": list,
        "answer_arxiv_id": list,
        "source_meta": dict,
    }
    for record in records(path, keys, "AutoScholarQuery"):
        day = dashed(record["source_meta"].get("published_time"))
        gold = tuple(map(named, record["answer"], record["answer_arxiv_id"]))
        yield Question(record["qid"], record["question"], day, gold, source=day)


@question_format("scholargym")
def scholargym(path: Path) -> Iterator[Question]:
    """Questions of PaSa and LitSearch (ScholarGym, arXiv:2601.21654); days come with --days.

    The file's ``date`` is the month of the newest gold paper, not a day on which anybody asked.
    """
    keys = {"qid": str, "query": str, "cited_paper": list, "gt_label": list}
    for record in records(path, keys, "ScholarGym"):
        pairs = zip(record["cited_paper"], record["gt_label"], strict=False)
        gold = tuple(named(p.get("title"), p.get("arxiv_id")) for p, label in pairs if label)
        yield Question(record["qid"], record["query"], "", gold)


@question_format("sparbench")
def sparbench(path: Path) -> Iterator[Question]:
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
