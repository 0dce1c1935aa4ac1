"""SAGE: the question formats ``sage-short`` and ``sage-open``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.errors import DataError
from corpus_builder.questions import Question, question_format
from corpus_builder.release.folder import existing_folder
from corpus_builder.sources.matching import PaperQuery, own_key
from corpus_builder.sources.published import check_record, read_json

DOMAINS = ("computer_science", "healthcare", "humanities", "natural_science")
FOLDERS = {"short": "Sage_Short_Form_Questions", "open": "Sage_Open_Ended_Questions"}
_CUTOFF = "2026-02-01"  # the month of the paper; no question has a day
_KEYS: dict[str, dict[str, Any]] = {
    "short": {"complete_query": str, "ground_truth": dict},
    "open": {"question": str, "ground_truth": dict},
}


def read_kind(folder: Path, kind: str) -> Iterator[Question]:
    """Yield the questions of a kind, ``short`` or ``open``, of the files of its folder.

    The id of one is the kind, the domain and the place in the file: the other keys of a record name
    the papers that answer it. The most relevant papers are the first of its gold.

    Raises:
        DataError: A file is missing or has another form; the message names record and key.
    """
    for domain in DOMAINS:
        path = existing_folder(folder) / FOLDERS[kind] / f"{domain}.json"
        data = read_json(path, {}, path.name)
        rows = data.get("questions") if kind == "open" and isinstance(data, dict) else data
        if not isinstance(rows, list):
            raise DataError(f"{path.name} is not a file of SAGE's {FOLDERS[kind]}.")
        for number, record in enumerate(rows):
            where = f"{FOLDERS[kind]}/{path.name} record {number + 1}"
            check_record(record, where, _KEYS[kind], "SAGE")
            truth, of = record["ground_truth"], f"{where}: ground_truth"
            papers, best = [truth], range(0)
            if kind == "open":
                check_record(truth, of, {"most_relevant": list, "relevant": list}, "SAGE")
                papers = [*truth["most_relevant"], *truth["relevant"]]
                best = range(len(truth["most_relevant"]))
            for paper in papers:
                check_record(paper, of, {"paperId": str, "title": str}, "SAGE")
            if not papers:
                raise DataError(f"{where}: 'ground_truth' names no paper.")
            yield Question(
                f"sage:{kind}:{domain}:{number}",
                record["complete_query" if kind == "short" else "question"],
                "",
                tuple(PaperQuery(p["title"], (own_key(p["paperId"], p["title"]),)) for p in papers),
                labels={"domain": domain},
                cutoff=_CUTOFF,
                best=tuple(best),
            )


@question_format("sage-short")
def read_short(path: Path) -> Iterator[Question]:
    """SAGE's questions with one paper, never tried on its published files; its folder.

    Score them by recall@1. No question has a day: the cutoff is 2026-02-01, or --before.
    """
    return read_kind(path, "short")


@question_format("sage-open")
def read_open(path: Path) -> Iterator[Question]:
    """SAGE's open questions, never tried on its published files; its folder.

    Score them by weighted_recall: the most relevant papers have the gain 2, the others 1. The
    cutoff is that of ``sage-short``.
    """
    return read_kind(path, "open")
