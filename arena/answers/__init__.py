"""Kinds of answers, one file each: rankings, mind-maps, reports.

A kind says which tool submits such an answer, what an episode that ends without that submits, and
which files of a run have the answers. To add one, see docs/extending.md.
"""

from arena.answers.base import (
    ANSWERS,
    Answer,
    AnswerKind,
    answer,
    file_name,
    remarked,
    write_rows,
)

__all__ = ["ANSWERS", "Answer", "AnswerKind", "answer", "file_name", "remarked", "write_rows"]
