"""First pass: check every record and put it into staging files, in the order it came."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from arena.errors import DataError
from corpus_builder._parquet import RowWriter
from corpus_builder.records import Reference, parse_paper, parse_survey, title_key
from corpus_builder.sources import Located, Source

_WHERE = [("file", pa.string()), ("line", pa.int64())]

PAPERS = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("title_key", pa.string()),
        ("abstract", pa.string()),
        ("day", pa.int32()),
        ("precision", pa.string()),
        ("is_survey", pa.bool_()),
        ("venue", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("fields", pa.list_(pa.string())),
        ("sections", pa.list_(pa.struct([("heading", pa.string()), ("text", pa.string())]))),
        *_WHERE,
    ]
)
SURVEYS = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("title_key", pa.string()),
        ("day", pa.int32()),
        ("precision", pa.string()),
        ("n_references_total", pa.int64()),
        ("mind_map", pa.string()),
        *_WHERE,
    ]
)
REFERENCES = pa.schema(
    [("citing", pa.string()), ("cited", pa.string()), ("influential", pa.bool_())]
)


def stage(source: Source, directory: Path) -> None:
    """Write ``papers``, ``surveys`` and their references as Parquet into `directory`.

    Raises:
        DataError: at the first record that is unusable, naming its file and line; or if there
            are no papers or no surveys.
    """
    with (
        RowWriter(directory / "papers.parquet", PAPERS) as papers,
        RowWriter(directory / "references.parquet", REFERENCES) as references,
    ):
        for place, paper in _parsed(source.papers(), parse_paper):
            day, precision = paper.date or (None, None)
            sections = [{"heading": heading, "text": text} for heading, text in paper.sections]
            papers.add(
                (paper.id, paper.title, title_key(paper.title), paper.abstract, day, precision,
                 paper.is_survey, paper.venue, paper.authors, paper.fields, sections,
                 place.file, place.line)
            )  # fmt: skip
            _add_references(references, paper.id, paper.references)
    with (
        RowWriter(directory / "surveys.parquet", SURVEYS) as surveys,
        RowWriter(directory / "survey_references.parquet", REFERENCES) as references,
    ):
        for place, survey in _parsed(source.surveys(), parse_survey):
            surveys.add(
                (survey.id, survey.title, title_key(survey.title), survey.date.day,
                 survey.date.precision, survey.n_references_total, survey.mind_map,
                 place.file, place.line)
            )  # fmt: skip
            _add_references(references, survey.id, survey.references)
    for what, count in (("papers", papers.count), ("surveys", surveys.count)):
        if not count:
            raise DataError(f"the source holds no {what}. Give at least one.")


def _parsed(records: Iterator[Located], parse: Any) -> Iterator[tuple[Located, Any]]:
    for place in records:
        try:
            yield place, parse(place.record)
        except DataError as error:
            raise DataError(f"{place.file} line {place.line}: {error}") from None


def _add_references(writer: RowWriter, citing: str, references: list[Reference]) -> None:
    for reference in references:
        writer.add((citing, reference.id, reference.influential))
