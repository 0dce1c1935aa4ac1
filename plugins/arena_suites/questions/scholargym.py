"""ScholarGym's questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus_builder.questions import Question, named, question_format, records

_KEYS = {"qid": str, "query": str, "cited_paper": list, "gt_label": list}


@question_format("scholargym")
def read(path: Path) -> Iterator[Question]:
    """Questions of PaSa and LitSearch (ScholarGym, arXiv:2601.21654); days come with --days.

    The file's ``date`` is the month of the newest gold paper, not a day on which anybody asked.
    """
    for record in records(path, _KEYS, "ScholarGym"):
        pairs = zip(record["cited_paper"], record["gt_label"], strict=False)
        gold = tuple(named(p.get("title"), p.get("arxiv_id")) for p, label in pairs if label)
        yield Question(record["qid"], record["query"], "", gold)
