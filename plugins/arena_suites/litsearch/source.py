"""LitSearch's files: the source and the question format named ``litsearch``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from arena.errors import DataError, clip
from arena.kit.files import sha256_file
from arena.text.cleaning import clean_title
from arena.text.identifiers import arxiv_month
from corpus_builder.questions import Question, question_format
from corpus_builder.release.folder import existing_folder
from corpus_builder.sources.base import LocatedRecord, source
from corpus_builder.sources.matching import PaperQuery, own_key
from corpus_builder.sources.published import check_record

NOTE = "the reader of LitSearch was never tried on the published files, only on made-up ones"
PAPERS, IDENTIFIERS, QUERIES = "corpus_clean", "corpus_s2orc", "query"
TITLED = {"corpusid": int, "title": str | None}
STAND_IN_DAY = "1970-01-01"

_PAPER = TITLED | {"abstract": str | None, "citations": list}
_SHARDS = re.compile(r"-of-0*(\d+)\.parquet")
_BATCH = 1024  # rows
_COLUMNS = {"query": str, "query_set": str, "specificity": int, "corpusids": list}
_FAMILIES = {"inline": "inline", "manual": "author"}  # of queries, by how their set is called
_SPECIFICITY = {0: "broad", 1: "specific"}
_CUTOFF = "2024-07-01"  # the month of the published revision


@source("litsearch")
class LitSearch:
    """LitSearch, never tried on its published files: 64,183 papers, dated by their arXiv ids.

    A paper has the last day of the month that its arXiv id names; one without such an id has no
    date, so no agent finds it. Citations are those of Semantic Scholar; full texts are left out.

    The form is that of the data set princeton-nlp/LitSearch ("LitSearch: A Retrieval Benchmark for
    Scientific Literature Search", arXiv 2407.18940), revision 9573fb28.

    Args:
        input: Folder with query, corpus_clean and corpus_s2orc, each with its Parquet files.
        as_published: Its own evaluation, which knows no day: every paper has the same one, no
            cutoff hides any, and every table of results says "undated". Needs no corpus_s2orc.
    """

    example: ClassVar[str] = "--input litsearch"

    def __init__(self, input: str | Path, as_published: bool = False) -> None:
        self._folder, self._undated = existing_folder(input), as_published
        read = (PAPERS,) if as_published else (PAPERS, IDENTIFIERS)
        self._files = [path for config in read for path in _files(self._folder, config)]

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield the papers of ``corpus_clean``, reading a few rows at a time."""
        known = {} if self._undated else dict(self._identifiers())
        stand_in = {"date": STAND_IN_DAY, "date_stands_in": True} if self._undated else {}
        for file, number, row in read_rows(self._folder, PAPERS, _PAPER):
            paper = {
                "id": str(row["corpusid"]),
                "title": title_of(row),
                "abstract": row["abstract"],
                "references": row["citations"],
                **known.get(row["corpusid"], stand_in),
            }
            yield LocatedRecord(paper, file, number)

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield nothing: ``arena-corpus tasks --questions litsearch=FOLDER`` reads the queries."""
        return iter(())

    def describe(self) -> dict[str, Any]:
        """Return the hashes of the files, and that they are not known to be the published ones."""
        files = {str(p.relative_to(self._folder)): sha256_file(p) for p in self._files}
        about = {"source": "litsearch", "as_published": self._undated, "note": NOTE}
        return about | {"files": files}

    def _identifiers(self) -> Iterator[tuple[int, dict[str, str | None]]]:
        """Yield each corpusid of ``corpus_s2orc`` with the keys of a paper that it leads to."""
        columns = {"corpusid": int, "externalids": Mapping}
        names: dict[str, Any] = {"arxiv": str | None, "doi": str | None}
        for file, number, row in read_rows(self._folder, IDENTIFIERS, columns):
            where = f"{file} row {number}: 'externalids'"
            check_record(row["externalids"], where, names, "LitSearch's corpus_s2orc")
            arxiv, doi = (row["externalids"].get(key) for key in names)
            yield row["corpusid"], {"date": arxiv_month(arxiv or ""), "arxiv_id": arxiv, "doi": doi}


def read_rows(
    folder: Path, config: str, columns: Mapping[str, Any]
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield file, number from 1 and the given columns of each row of a configuration.

    Raises:
        DataError: A file is missing or no Parquet, a column is missing or has another type than
            `columns` says, or a list has no integers; the message names file, row and column.
    """
    for path in _files(folder, config):
        name, number = f"{config}/{path.name}", 0
        try:
            with pq.ParquetFile(path) as file:
                there = [column for column in columns if column in file.schema_arrow.names]
                batches = file.iter_batches(_BATCH, columns=there, use_threads=False)
                rows = (row for batch in batches for row in batch.to_pylist())
                for number, row in enumerate(rows, 1):
                    where = f"{name} row {number}"
                    check_record(row, where, columns, f"LitSearch's {config}")
                    for column in (key for key in columns if columns[key] is list):
                        if {*map(type, row[column])} - {int}:
                            what = f"{column!r} is {clip(row[column])}"
                            raise DataError(f"{where}: {what}: expected corpusids, integers.")
                    yield name, number, row
        except (OSError, pa.ArrowException) as error:
            problem = clip(" ".join(str(error).split()), 160)
            raise DataError(f"{name} after row {number}: {problem} Get it again.") from None


def _files(folder: Path, config: str) -> list[Path]:
    """Return the files of a configuration, which are as many as their names say."""
    paths = sorted((folder / config).glob("*.parquet"))
    said = {match[1] for path in paths if (match := _SHARDS.search(path.name))}
    if said != {str(len(paths))}:
        raise DataError(
            f"{str(folder / config)!r} has {len(paths)} of {max(said, default='its')} files "
            f"full-*-of-*.parquet. `arena-corpus download litsearch` fetches them."
        )
    return paths


def title_of(row: Mapping[str, Any]) -> str:
    """Return the title of a row of ``corpus_clean``; some have none."""
    return clean_title(row["title"] or "") or f"(no title) {row['corpusid']}"


@question_format("litsearch")
def read(path: Path) -> Iterator[Question]:
    """Queries of LitSearch, never tried on its published files (arXiv:2407.18940); a folder.

    No query has a day: the cutoff of all is 2024-07-01, or --before. The id of one is the number of
    its row, from 0, as in ``litsearch:17``.
    """
    titles = {row["corpusid"]: title_of(row) for _, _, row in read_rows(path, PAPERS, TITLED)}
    for file, number, row in read_rows(path, QUERIES, _COLUMNS):
        family = _FAMILIES.get(row["query_set"].partition("_")[0])
        specificity = _SPECIFICITY.get(row["specificity"])
        for column, known in ("query_set", family), ("specificity", specificity):
            if known is None:
                raise DataError(f"{file} row {number}: {column!r} is unknown: {row[column]!r}.")
        named = ((i, titles.get(i, "")) for i in row["corpusids"])
        yield Question(
            f"litsearch:{number - 1}",
            row["query"],
            "",
            tuple(PaperQuery(title, (own_key(i, title),)) for i, title in named),
            labels={"family": str(family), "specificity": str(specificity)},
            cutoff=_CUTOFF,
        )
