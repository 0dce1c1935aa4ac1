"""Judges, which decide which candidates are surveys; one file each, registered by name."""

from corpus_builder.judges.base import (
    JUDGES,
    OTHER,
    SURVEY,
    UNREAD,
    VERDICTS,
    Candidate,
    Judge,
    Verdict,
    make_judge,
)

__all__ = [
    "JUDGES",
    "OTHER",
    "SURVEY",
    "UNREAD",
    "VERDICTS",
    "Candidate",
    "Judge",
    "Verdict",
    "make_judge",
]
