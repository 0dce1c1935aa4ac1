"""The content of a corpus, written from a database of staged tables: papers, links, tasks."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import orjson
import pyarrow as pa

from arena.corpus import layout
from arena.corpus.store import hash_id
from arena.dates import GUESSED, STAND_IN, format_day
from arena.kit.arrays import ArrayWriter, StringTableWriter
from arena.kit.files import sha256_json
from arena.kit.terminal import progress
from arena.tasks import PROMPT_LEVELS
from arena.text.cleaning import RETRACTED, clean_text, clean_title
from arena.text.identifiers import VERSION
from corpus_builder.database import execute, literal, rows, scalar, sorted_rows, tables
from corpus_builder.files import Belonging, RowWriter, schema
from corpus_builder.prompt_writing import FLAGS, PromptFlag, check_prompt
from corpus_builder.records import PLACEHOLDER

Once = Callable[[str, Callable[[], Any]], Any]


def write_content(
    connection: duckdb.DuckDBPyConnection,
    directory: Path,
    scratch: Path,
    dangling: int,
    once: Once = lambda _, work: work(),
) -> dict[str, Any]:
    """Write all files of a corpus but its indexes and its manifest.

    The tables of `connection` are those of `corpus_builder.build.database`; `dangling` references
    are to papers that are not in the corpus; `once` is as for `corpus_builder.build.finish`.

    Returns:
        ``content_sha256``, ``tasks_sha256``, ``counts``, ``dates`` for the manifest.
    """
    papers, sections, cleaned = once("papers", lambda: write_papers(connection, directory, scratch))
    references, linked = once("links", lambda: write_links(connection, directory))
    tasks, task_counts = once("tasks", lambda: write_tasks(connection, directory))
    hashes = {"papers": papers, "references": references, "tasks": tasks}
    papers_file = literal(directory / layout.PAPERS)
    ((first, last, *numbers),) = rows(connection, _COUNTS.format(papers=papers_file))
    counts = dict(zip(_COUNTED, numbers, strict=True))
    counts |= {"sections": sections, "references": linked, "dangling_references": dangling}
    counts |= cleaned
    for key, precision in (
        ("papers_date_guessed", GUESSED),
        ("papers_stand_in_dates", STAND_IN),
        ("placeholder_dates", PLACEHOLDER),
    ):
        query = f"SELECT count(*) FROM staged_papers WHERE precision = '{precision}'"
        if number := scalar(connection, query):
            counts[key] = number
    return {
        "format_version": layout.FORMAT_VERSION,
        "content_sha256": sha256_json({"format_version": layout.PART_VERSION, **hashes}),
        "tasks_sha256": tasks,
        "counts": counts | task_counts,
        "dates": {
            "first": None if first is None else format_day(first),
            "last": None if last is None else format_day(last),
        },
    }


_COUNTED = ("papers", "searchable", "undated", "survey_papers", "survey_papers_unflagged",
            "unflagged_survey_titles", "abstracts")  # fmt: skip
_COUNTS = """
SELECT min(day) FILTER (searchable), max(day) FILTER (searchable), count(*),
       count(*) FILTER (searchable), count(*) FILTER (day IS NULL), count(*) FILTER (survey),
       (SELECT count(*) FROM documents d JOIN staged_papers p USING (id)
        WHERE d.survey AND NOT p.is_survey),
       (SELECT count(*) FROM documents d JOIN staged_papers p USING (id)
        WHERE d.searchable AND p.title ILIKE '%survey%'),
       (SELECT count(*) FROM read_parquet({papers}) WHERE abstract <> '')
FROM documents
"""

_EPOCH = dt.date(1970, 1, 1)

PAPERS = schema(
    "id title abstract date:date32 date_precision is_survey:bool searchable:bool venue "
    "authors:texts fields:texts arxiv_id doi"
)
SECTIONS = schema("document:int32 position:int32 heading text")
_ROWS = """
SELECT d.document, p.id, title, p.day, CASE WHEN p.day IS NOT NULL THEN precision END, survey,
       searchable, venue, authors, fields, arxiv_id, doi
FROM documents d JOIN staged_papers p USING (id)
"""
# The first abstract in this order counts, and the first text. Nobody may read those of a survey,
# and its title and date are all that a card needs.
_ABSTRACTS = """
SELECT d.document, a.abstract, a.rank, a.file, a.line
FROM staged_abstracts a JOIN documents d USING (id) WHERE NOT d.survey
"""
_TEXTS = """
SELECT d.document, t.sections, t.file, t.line
FROM staged_texts t JOIN documents d USING (id) WHERE NOT d.survey
"""
_STARTS = """
SELECT coalesce(sum(n) OVER (ORDER BY document ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                0)::BIGINT AS start
FROM (SELECT range::INTEGER AS document FROM range({documents} + 1))
LEFT JOIN (SELECT document, count(*) AS n FROM ({rows}) GROUP BY document) USING (document)
ORDER BY document
"""
_HASHES = schema("hash:uint64 document:int32")


def write_papers(
    connection: duckdb.DuckDBPyConnection, output: Path, scratch: Path
) -> tuple[str, int, dict[str, int]]:
    """Write papers.parquet, sections.parquet and the look-up tables.

    Returns:
        The content hash, the number of sections, and how many texts were cleaned, by kind.
    """
    n = scalar(connection, "SELECT count(*) FROM documents")
    digest, cleaned = hashlib.sha256(), Counter[str]()
    hashes = scratch / "hashes.parquet"
    with (
        RowWriter(output / layout.PAPERS, PAPERS) as papers,
        RowWriter(output / layout.SECTIONS, SECTIONS) as sections,
        StringTableWriter(output / layout.IDS) as ids,
        StringTableWriter(output / layout.TITLES) as titles,
        RowWriter(hashes, _HASHES) as unsorted,
    ):

        def ordered(name: str, sql: str, order: str) -> Iterator[tuple[Any, ...]]:
            return sorted_rows(connection, sql, order, scratch / f"sorted-{name}.parquet")

        bodies = Belonging(0, ordered("texts", _TEXTS, "document, file, line"))
        abstracts = Belonging(0, ordered("abstracts", _ABSTRACTS, "document, rank, file, line"))
        rows = ordered("papers", _ROWS, "document")
        for row in progress(rows, total=n, desc="papers", unit="paper"):
            document, id_, given, day, *rest = row
            (_, stored, *_), *_ = abstracts.of(document) or [(document, "")]
            (_, texts, *_), *_ = bodies.of(document) or [(document, [])]
            title, abstract = clean_title(given), clean_text(stored)
            cleaned["titles_cleaned"] += title != given
            cleaned["titles_retracted"] += bool(RETRACTED.match(given))
            cleaned["abstracts_cleaned"] += abstract != stored
            date = None if day is None else _EPOCH + dt.timedelta(days=day)
            papers.add((id_, title, abstract, date, *rest))
            for position, text in enumerate(texts):
                sections.add((document, position, text["heading"], text["text"]))
            ids.add(id_.encode())
            titles.add(title.encode())
            unsorted.add((hash_id(id_), document))
            digest.update(orjson.dumps([id_, title, abstract, *row[3:], texts]) + b"\n")
    _write_lookup(connection, output, hashes, n)
    hashes.unlink()
    return digest.hexdigest(), sections.count, dict(+cleaned)


def _write_lookup(
    connection: duckdb.DuckDBPyConnection, output: Path, unsorted: Path, documents: int
) -> None:
    """Write the arrays by document and by hash of the id."""
    with (
        ArrayWriter(output / layout.DAYS, np.int32) as days,
        ArrayWriter(output / layout.SEARCHABLE_BEFORE, np.int64) as searchable_before,
    ):
        before = np.zeros(1, np.int64)
        searchable_before.append(before)
        columns = f"coalesce(day, {layout.UNDATED})::INTEGER, searchable"
        for batch in tables(connection, f"SELECT {columns} FROM documents ORDER BY document"):
            days.append(batch.column(0).to_numpy())
            before = before[-1] + batch.column(1).to_numpy(zero_copy_only=False).cumsum()
            searchable_before.append(before)
    sections = f"SELECT document FROM read_parquet({literal(output / layout.SECTIONS)})"
    write_starts(connection, output / layout.SECTION_STARTS, documents, sections)
    with (
        ArrayWriter(output / layout.ID_HASHES, np.uint64) as hashes,
        ArrayWriter(output / layout.ID_DOCUMENTS, np.uint32) as numbers,
    ):
        table = f"read_parquet({literal(unsorted)})"
        for batch in tables(connection, f"SELECT * FROM {table} ORDER BY hash, document"):
            hashes.append(batch.column(0).to_numpy())
            numbers.append(batch.column(1).to_numpy())


def write_starts(
    connection: duckdb.DuckDBPyConnection, path: Path, documents: int, rows: str
) -> None:
    """Write the first row of each document, and after the last one the number of rows."""
    with ArrayWriter(path, np.int64) as starts:
        for batch in tables(connection, _STARTS.format(documents=documents, rows=rows)):
            starts.append(batch.column(0).to_numpy())


PROMPTS = pa.struct([(level, pa.string()) for level in PROMPT_LEVELS])
SURVEYS = schema("id title date:date32 date_precision arxiv_id doi prompts:prompts domain cluster "
                 "survey_citations:int64", prompts=PROMPTS)  # fmt: skip
GOLD = schema("topic_id reference influential:bool document:int32 status")
MIND_MAPS = schema("topic_id n_references_total:int64 mind_map figure caption")
_FLAGS = pa.list_(pa.struct([(name, pa.string()) for name in PromptFlag._fields]))
ARTICLES = schema("topic_id outline article prompt_flags:flags", flags=_FLAGS)
# Titles of the references of surveys with prompts, of the source and of the corpus.
_TITLES = """
SELECT s.id, any_value(s.listed_titles),
       coalesce(list(DISTINCT p.title ORDER BY p.title) FILTER (p.title IS NOT NULL), [])
FROM staged_surveys s
LEFT JOIN staged_survey_references r ON r.citing = s.id
LEFT JOIN staged_papers p ON p.id = r.cited
WHERE s.prompts IS NOT NULL GROUP BY s.id
"""

# The order of the cases is the order in which a reference is refused.
_GOLD = """
SELECT s.id AS topic_id, r.cited AS reference, bool_or(r.influential) AS influential,
       any_value(d.document) AS document,
       any_value(CASE WHEN d.id IS NULL THEN 'unknown'
                      WHEN d.day IS NULL THEN 'undated'
                      WHEN d.survey THEN 'survey'
                      WHEN d.day >= s.day THEN 'not_before'
                      ELSE 'gold' END) AS status
FROM staged_survey_references r
JOIN staged_surveys s ON s.id = r.citing
LEFT JOIN documents d ON d.id = r.cited
GROUP BY s.id, r.cited ORDER BY s.id, document NULLS LAST, r.cited
"""


def write_tasks(connection: duckdb.DuckDBPyConnection, output: Path) -> tuple[str, dict[str, int]]:
    """Write the files under tasks/; return their content hash and the counts by status."""
    digest = hashlib.sha256()
    counts = {"surveys": 0, "surveys_with_gold": 0, "mind_maps": 0}
    flagged = [f"prompts_{flag}" for flag in FLAGS]
    counts |= dict.fromkeys(("prompts", "outlines", "articles", *flagged), 0)
    prompted = scalar(connection, "SELECT count(*) FROM staged_surveys WHERE prompts IS NOT NULL")
    titles = (
        {id_: [*map(clean_title, [*(a or ()), *b])] for id_, a, b in rows(connection, _TITLES)}
        if prompted
        else {}
    )
    with (
        RowWriter(output / layout.TOPICS, SURVEYS) as surveys,
        RowWriter(output / layout.MIND_MAPS, MIND_MAPS) as labels,
        RowWriter(output / layout.ARTICLES, ARTICLES) as articles,
    ):
        for row in rows(
            connection,
            "SELECT id, title, day, precision, n_references_total, mind_map, figure, caption, "
            "arxiv_id, doi, prompts, domain, cluster, survey_citations, outline, article "
            "FROM staged_surveys ORDER BY id",
        ):
            row = (row[0], clean_title(row[1]), *row[2:])
            id_, title, day, precision, total, mind_map, figure, caption, *shown = row[:-2]
            outline, article = row[-2:]
            date = _EPOCH + dt.timedelta(days=day)
            surveys.add((id_, title, date, precision, *shown))
            labels.add((id_, total, mind_map, figure, caption))
            prompts = {level: text for level, text in (shown[2] or {}).items() if text}
            flags = [
                flag
                for level, text in prompts.items()
                for flag in check_prompt(level, text, title, date.isoformat(), titles[id_])
            ]
            articles.add((id_, outline, article, [flag._asdict() for flag in flags]))
            for flag in {flag.flag for flag in flags}:
                counts[f"prompts_{flag}"] += 1
            counts["surveys"] += 1
            counts["mind_maps"] += mind_map is not None
            counts["prompts"] += bool(prompts)
            counts["outlines"] += outline is not None
            counts["articles"] += article is not None
            digest.update(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    by_status = dict.fromkeys(("gold", "unknown", "undated", "survey", "not_before"), 0)
    with_gold = set()
    with RowWriter(output / layout.GOLD, GOLD) as gold:
        for row in rows(connection, _GOLD):
            gold.add(row)
            status = row[4]
            by_status[status] += 1
            if status == "gold":
                with_gold.add(row[0])
            digest.update(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    counts["surveys_with_gold"] = len(with_gold)
    counts |= {f"survey_references_{status}": number for status, number in by_status.items()}
    return digest.hexdigest(), counts


REFERENCES = schema("document:int32 cited:int32 influential:bool")


# A paper with the id or the title of a survey, task or not, is that survey, whatever its own flag
# says, and so is its extended abstract: hiding a namesake costs a paper, showing the survey would
# give the task away.
_WORK = f"regexp_replace(title_key, '{VERSION}', '')"
_DOCUMENTS = f"""
CREATE TABLE documents AS
SELECT (row_number() OVER (ORDER BY day NULLS LAST, id) - 1)::INTEGER AS document,
       id, day, survey, day IS NOT NULL AND NOT survey AS searchable
FROM (SELECT id, day, is_survey
             OR id IN (SELECT id FROM staged_surveys)
             OR title_key IN (SELECT title_key FROM staged_surveys WHERE title_key <> '')
             OR {_WORK} IN (SELECT {_WORK} AS work FROM staged_surveys WHERE work <> '')
             AS survey
      FROM staged_papers)
"""


def create_documents(connection: duckdb.DuckDBPyConnection) -> None:
    """Create ``documents(document, id, day, survey, searchable)``, one row a paper.

    It is made of ``staged_papers(id, title_key, day, is_survey)`` and
    ``staged_surveys(id, title_key)``.
    """
    execute(connection, _DOCUMENTS)


# A survey's reference list is a gold label and an undated paper is out of reach, so a link counts
# only between two searchable papers. The ids are compared before the joins: comparing documents
# after them makes DuckDB pair every document with every other one first.
LINKS = """
SELECT a.document AS citing, b.document AS cited, bool_or(r.influential) AS influential
FROM staged_references r
JOIN documents a ON a.id = r.citing
JOIN documents b ON b.id = r.cited
WHERE a.searchable AND b.searchable AND r.citing <> r.cited
GROUP BY ALL
"""
# Pairs of a searchable paper and an unknown id: by their hashes, since a release has a billion.
DANGLING = """
SELECT DISTINCT hash(citing, cited) AS pair FROM staged_references
WHERE citing IN (SELECT id FROM documents WHERE searchable)
  AND cited NOT IN (SELECT id FROM documents)
"""


def write_links(connection: duckdb.DuckDBPyConnection, output: Path) -> tuple[str, int]:
    """Write references.parquet and both look-up lists of the table ``links``.

    Returns:
        The content hash, and the number of links.
    """
    n = scalar(connection, "SELECT count(*) FROM documents")
    digest = hashlib.sha256()
    total = scalar(connection, "SELECT count(*) FROM links")
    with (
        RowWriter(output / layout.REFERENCES, REFERENCES) as table,
        ArrayWriter(output / layout.CITED, np.uint32) as cited,
        progress(total=total, desc="citations", unit="link") as bar,
    ):
        for batch in tables(connection, "SELECT * FROM links ORDER BY citing, cited"):
            table.add_batch(batch)
            one, other, marks = (batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))
            cited.append(other)
            rows = zip(one.tolist(), other.tolist(), marks.tolist(), strict=True)
            digest.update(b"".join(b"%d %d %d\n" % row for row in rows))
            bar.update(batch.num_rows)
    with ArrayWriter(output / layout.CITING, np.uint32) as citing:
        for batch in tables(connection, "SELECT citing FROM links ORDER BY cited, citing"):
            citing.append(batch.column(0).to_numpy())
    for name, end in ((layout.CITED_STARTS, "citing"), (layout.CITING_STARTS, "cited")):
        write_starts(connection, output / name, n, f"SELECT {end} AS document FROM links")
    return digest.hexdigest(), citing.length
