"""A format of questions: lines with a day, a question and the titles that answer it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus_builder.questions import Question, named, question_format


@question_format("tabbed")
def tabbed(path: Path) -> Iterator[Question]:
    """Lines with a day, a question and titles of papers, with tabs between them."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        day, text, *titles = line.split("\t")
        yield Question(f"question-{number}", text, day, tuple(map(named, titles)))
