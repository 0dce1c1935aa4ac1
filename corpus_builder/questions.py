"""Formats of questions with gold papers, one file each, registered by name.

A format is a function from a file to its questions, ``@question_format("mine")``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena.plugins import Registry
from arena.text.identifiers import arxiv_key, doi_key
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import check_record


class Question(NamedTuple):
    """A question with the papers that answer it.

    Attributes:
        id: Its name in runs and qrels.
        text: The question, or the abstract of a paper whose related work is wanted.
        day: Day of the paper that asks, ``YYYY-MM-DD``; empty if no file says it.
        gold: The papers that answer it, as the file names them.
        asker: The paper that asks, if the file names it.
        source: Equal for questions that one paper may have asked; empty if nothing is known.
        answer: What people wrote, in Markdown; ``[@0]`` cites the first gold paper.
        labels: Kinds of it by which scores are split; never for an agent.
        cutoff: What its benchmark takes for the day, where no file says one and nobody names one.
        best: Places in `gold` of the papers with the gain 2; the others have 1.
    """

    id: str
    text: str
    day: str
    gold: tuple[PaperQuery, ...]
    asker: tuple[PaperQuery, ...] = ()
    source: str = ""
    answer: str = ""
    labels: Mapping[str, str] = {}
    cutoff: str = ""
    best: tuple[int, ...] = ()


FORMATS: Registry[Callable[[Path], Iterator[Question]]] = Registry("question format")
question_format = FORMATS.register
"""Decorator of a function from a file to its questions: ``@question_format("name")``."""


def read_questions(name: str, path: Path) -> list[Question]:
    """Return the questions of a file in a registered format."""
    return list(FORMATS.get(name)(path))


def records(path: Path, keys: Mapping[str, type], data_set: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines; each has these keys with values of these types."""
    for raw, name, line in JsonLinesFile(path, "questions"):
        yield check_record(raw, f"{name} line {line}", keys, data_set)


def dashed(day: object) -> str:
    """Return ``YYYYMMDD`` as ``YYYY-MM-DD``."""
    return f"{str(day)[:4]}-{str(day)[4:6]}-{str(day)[6:]}"


def named(title: object, *identifiers: object) -> PaperQuery:
    """Return a paper by its title and by the arXiv identifiers and DOIs among texts."""
    keys = (arxiv_key(text) or doi_key(text) for text in identifiers)
    return PaperQuery(" ".join(str(title or "").split()), tuple(filter(None, keys)))
