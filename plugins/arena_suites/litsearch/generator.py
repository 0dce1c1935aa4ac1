"""Made-up files in LitSearch's form, for tests; nothing in them is true."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_builder.files import schema
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

_EXTERNAL = ("acl", "arxiv", "dblp", "doi", "mag", "pubmed", "pubmedcentral")
_FORMS = {
    "query": "query_set query specificity:int64 quality:int64 corpusids:ids",
    "corpus_clean": "corpusid:int64 title abstract citations:ids full_paper",
    "corpus_s2orc": "corpusid:int64 externalids:external content:content",
}
_TYPES = {
    "ids": pa.list_(pa.int64()),
    "external": pa.struct([(name, pa.string()) for name in _EXTERNAL]),
    "content": pa.struct([("text", pa.string())]),
}
_SHARDS = {"query": 1, "corpus_clean": 2, "corpus_s2orc": 3}
_SETS = ("inline_nonacl", "manual_acl", "inline_acl", "manual_iclr")


def write_files(output: Path, papers: int, queries: int, seed: int = 7) -> None:
    """Write the three configurations into a folder; the same arguments give the same bytes.

    Titles, abstracts, days and citations are those of a synthetic corpus of 2008 to 2024; two
    papers of three have an arXiv id. A query has words of an abstract, and that paper is its gold;
    every fourth is broad, with a paper that it cites besides.
    """
    config = SyntheticConfig(
        seed=seed, papers=papers, surveys=1, first_year=2008, years=17, year_only=0, undated=0
    )
    made = [*SyntheticCorpus(config).papers()]
    numbers = {paper["id"]: 10_000 + place for place, paper in enumerate(made)}
    records = [_record(paper, numbers) for paper in made]
    asked = [_query(number, records[number * papers // queries]) for number in range(queries)]
    for name, form in _FORMS.items():
        (output / name).mkdir(parents=True, exist_ok=True)
        rows, columns = asked if name == "query" else records, schema(form, **_TYPES)
        for shard in range(of := _SHARDS[name]):
            table = pa.Table.from_pylist(rows[shard::of], columns)
            path = output / name / f"full-{shard:05}-of-{of:05}.parquet"
            pq.write_table(table, path, row_group_size=100)


def _record(paper: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return the columns of a paper in both configurations."""
    number, date = numbers[paper["id"]], paper["date"]
    month = f"{date[2:4]}{date[5:7]}"
    arxiv = f"{month}.{number % 10_000:0{5 if month >= '1501' else 4}}" if number % 3 else None
    text = "\n\n".join(section["text"] for section in paper["sections"])
    return {
        "corpusid": number,
        "title": paper["title"],
        "abstract": paper["abstract"],
        "citations": [numbers[cited["id"]] for cited in paper["references"]],
        "full_paper": text,
        "externalids": {"arxiv": arxiv},
        "content": {"text": text},
    }


def _query(number: int, record: Mapping[str, Any]) -> dict[str, Any]:
    broad = number % 4 == 0
    return {
        "query_set": _SETS[number * 3 // 4 % 4],
        "query": f"Is there work on {' '.join(record['abstract'].split()[:12])}?",
        "specificity": int(not broad),
        "quality": 1 + number % 2,
        "corpusids": [record["corpusid"], *record["citations"][:broad]],
    }
