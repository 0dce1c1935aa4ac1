"""AutoResearchBench: the question format of that name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip
from arena.suites import json_lines
from arena.text.identifiers import arxiv_key
from corpus_builder.questions import Question, question_format
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import check_record

_CUTOFF = "2026-04-01"  # the month of the paper; no question has a day
_HEAD = 4096  # bytes, in which the bundle says what it is
NOBODY = ["None"]
"""The answer of a question that no paper answers."""


def check_question(record: Any, where: str) -> dict[str, Any]:
    """Return a question with ``answer`` and ``arxiv_id`` as lists, and its ``type``.

    Where a question has no ``type``, one with a list of ids is wide, and any other deep.

    Raises:
        DataError: It has another form.
    """
    check_record(record, where, {"question": str, "answer": list}, "AutoResearchBench")
    ids = record.get("arxiv_id", [])
    kind = record.get("type", "wide" if ids and isinstance(ids, list) else "deep")
    ids = [ids] if isinstance(ids, str) else ids
    texts = [*record["answer"], *ids] if isinstance(ids, list) else [None]
    if kind not in ("deep", "wide") or not all(isinstance(text, str) for text in texts):
        raise DataError(
            f"{where}: 'type' is {clip(kind)} and 'arxiv_id' {clip(ids)}: expected deep or wide, "
            "and an id or a list of ids."
        )
    return {**record, "arxiv_id": [each for each in ids if each], "type": kind}


def refuse_bundle(path: Path) -> None:
    """Raise DataError if a file is the encoded bundle, however it is laid out."""
    with path.open("rb") as file:
        if re.search(rb'"(ciphertext|public_obfuscation)"', file.read(_HEAD)):
            raise DataError(
                f"{path.name} is the encoded bundle of AutoResearchBench. Decode it with the "
                "script of its repository, and name the JSON lines that this writes."
            )


@question_format("autoresearchbench")
def read(path: Path) -> Iterator[Question]:
    """Deep and wide questions, never tried on the published files; its decoded JSON lines.

    A question that nothing answers (``None``) has no gold: play it with ``empty_gold=true``. The
    cutoff of all is 2026-04-01, or --before.
    """
    refuse_bundle(path)
    for number, text, line in json_lines(path):
        record = check_question(line or text, f"{path.name} line {number}")
        ids, titles = record["arxiv_id"], record["answer"]
        gold = [] if titles == NOBODY else titles
        papers = tuple(
            PaperQuery(title, tuple(filter(None, (arxiv_key(i) for i in ids[place : place + 1]))))
            for place, title in enumerate(gold)
        )
        labels = {"type": record["type"]}
        yield Question(f"autoresearchbench:{number}", record["question"], "", papers,
                       labels=labels, cutoff=_CUTOFF)  # fmt: skip
