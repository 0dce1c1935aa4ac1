"""SAGE: the question formats ``sage-short`` and ``sage-open``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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


class Row(NamedTuple):
    """A question with its gold: title and id of each paper, the most relevant first.

    Its id is the kind, the domain and the place in the file: the other keys of a record name the
    papers that answer it.
    """

    id: str
    domain: str
    text: str
    gold: tuple[tuple[str, str], ...]
    most: int  # how many of the gold are most relevant


def read_rows(folder: Path, kind: str) -> Iterator[Row]:
    """Yield the questions of a kind, ``short`` or ``open``, of the files of its folder.

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
            truth = record["ground_truth"]
            if kind == "short":
                groups: list[list[Any]] = [[truth], []]
            else:
                form = {"most_relevant": list, "relevant": list}
                check_record(truth, f"{where}: ground_truth", form, "SAGE")
                groups = [truth["most_relevant"], truth["relevant"]]
            papers = [
                check_record(p, f"{where}: ground_truth", {"paperId": str, "title": str}, "SAGE")
                for group in groups
                for p in group
            ]
            if not papers:
                raise DataError(f"{where}: 'ground_truth' names no paper.")
            text = record["complete_query" if kind == "short" else "question"]
            gold = tuple((p["title"], p["paperId"]) for p in papers)
            yield Row(f"sage:{kind}:{domain}:{number}", domain, text, gold, len(groups[0]))


def _questions(path: Path, kind: str) -> Iterator[Question]:
    for row in read_rows(path, kind):
        gold = tuple(PaperQuery(title, (own_key(i, title),)) for title, i in row.gold)
        labels = {"domain": row.domain}
        best = range(row.most if kind == "open" else 0)
        yield Question(row.id, row.text, "", gold, labels=labels, cutoff=_CUTOFF, best=tuple(best))


@question_format("sage-short")
def read_short(path: Path) -> Iterator[Question]:
    """SAGE's questions with one paper, never tried on its published files; its folder.

    Score them by recall@1. No question has a day: the cutoff is 2026-02-01, or --before.
    """
    return _questions(path, "short")


@question_format("sage-open")
def read_open(path: Path) -> Iterator[Question]:
    """SAGE's open questions, never tried on its published files; its folder.

    Score them by weighted_recall: the most relevant papers have the gain 2, the others 1. The
    cutoff is that of ``sage-short``.
    """
    return _questions(path, "open")
