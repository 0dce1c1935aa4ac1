"""TaxoAlign's taxonomies: the source named ``taxoalign``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from arena.text.identifiers import arxiv_key, arxiv_month, doi_key
from corpus_builder.sources.base import source
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import PublishedSource, PublishedSurvey, check_record

_WHAT = "TaxoAlign's taxonomies, one {id, title, arxiv_id, tree} a line"
_ACM = "10.1145/"  # what ACM Computing Surveys has before the numbers that stand here
_ANTHOLOGY = re.compile(r"((?:19|20)\d\d)\.[a-z]+-")


@source("taxoalign")
class TaxoAlign(PublishedSource):
    """TaxoAlign: taxonomies of surveys without references, for the organization of papers.

    A survey is dated by the month of its arXiv identifier or the year of its identifier in the
    ACL Anthology; others by ``--dates`` or the collection, or they are left out.

    Args:
        input: Taxonomies as JSON lines: id, title, arxiv_id, tree.
    """

    name: ClassVar[str] = "taxoalign"
    example: ClassVar[str] = "--input taxonomies.jsonl --papers papers.jsonl.gz"

    def read(self, path: Path) -> Iterator[PublishedSurvey]:
        """Yield the surveys."""
        file = JsonLinesFile(path, "taxonomies")
        for raw, name, line in file:
            where = f"{name} line {line}"
            record = check_record(raw, where, {"id": str, "title": str, "tree": dict}, _WHAT)
            number = record["id"].rpartition(":")[2]
            doi = _ACM + number if re.fullmatch(r"\d{7}", number) else None
            keys = {arxiv_key(record.get("arxiv_id")), arxiv_key(number), doi_key(doi)}
            yield PublishedSurvey(
                id=f"{self.name}:{record['id'].removeprefix(f'{self.name}:')}",
                listed_id=record["id"],
                itself=PaperQuery(record["title"], tuple(sorted(key for key in keys if key))),
                file=name,
                line=line,
                mind_map=record["tree"],
            )
        self._hashes[file.name] = file.sha256

    def date_of(self, survey: PublishedSurvey) -> tuple[Any, str]:
        """Return the date that an identifier of the survey implies."""
        for key in survey.itself.keys:
            if key.startswith("arxiv:") and (month := arxiv_month(key)):
                return month, "arXiv id (month)"
        year = _ANTHOLOGY.match(survey.listed_id.rpartition(":")[2])
        return year and year[1], "ACL Anthology id (year)"
