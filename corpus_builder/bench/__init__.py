"""Measures whole builds: rate, memory of all processes, disk, and what kills do to the result."""

from __future__ import annotations

from corpus_builder.bench._build import Built, Command, build_once
from corpus_builder.bench._kills import Killed, Moment, build_killed, moments
from corpus_builder.bench._report import differences, show, summary, tell_kill
from corpus_builder.bench._watch import Watched

__all__ = [
    "Built",
    "Command",
    "Killed",
    "Moment",
    "Watched",
    "build_killed",
    "build_once",
    "differences",
    "moments",
    "show",
    "summary",
    "tell_kill",
]
