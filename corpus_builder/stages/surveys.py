"""The stage ``surveys``: which papers are surveys (paper, section 3.1)."""

from __future__ import annotations

import re
from itertools import starmap
from typing import Any

import duckdb

from arena.errors import DataError, clip
from arena.text.cleaning import clean_text, clean_title
from corpus_builder.asking import ask_records
from corpus_builder.database import copy, execute, literal
from corpus_builder.files import read_rows, schema
from corpus_builder.judges import OTHER, VERDICTS, Candidate, make_judge
from corpus_builder.stages.base import Plan, Stage, Steps
from corpus_builder.stages.reading import CORPUS, OTHER_TITLES, PARSE, SHARDS, view_tables

CANDIDATES = "candidates.parquet"
"""One row a candidate, ordered by id: ``id, title, verdict``, the last of them ``survey``,
``other``, or ``unread`` where no judgement could be had."""

JUDGED = "judged.jsonl"
"""The same with ``reason`` and ``flagged`` (the release itself calls it a survey), to be read."""

_FOUND = "found.parquet"
_SCHEMA = schema("id title verdict")
_CHARACTERS = 10_000  # of an abstract; a longer one is none, and a model is paid by the word
_WORDS = re.compile(r"[A-Za-z]+(?:\|[A-Za-z]+)*")

# Of several abstracts of one paper, the first in the order of shards and lines counts. Of several
# titles, one that names a survey is judged: a paper that one record hides must stay hidden.
_SELECT = """
CREATE TABLE candidates AS
SELECT c.id, coalesce(o.title, c.title) AS title, coalesce(is_survey, false) AS flagged,
       own OR o.id IS NOT NULL AS named
FROM (SELECT *, regexp_matches(title, {pattern}, 'i') AS own FROM read_parquet({corpus})) c
LEFT JOIN (SELECT id, min(title) AS title FROM read_parquet({others})
           WHERE regexp_matches(title, {pattern}, 'i') GROUP BY id) o ON o.id = c.id AND NOT own
WHERE named OR flagged
"""
_ABSTRACTS = """
CREATE TABLE {table}_of AS SELECT id, left(abstract, {characters}) AS abstract FROM (
  SELECT id, abstract, row_number() OVER (PARTITION BY id ORDER BY file, line) AS nth
  FROM {table} SEMI JOIN candidates USING (id) WHERE trim(abstract) <> '')
WHERE nth = 1
"""
_JOIN = """
SELECT c.id, c.title, coalesce(a.abstract, t.abstract, '') AS abstract, c.flagged, c.named
FROM candidates c LEFT JOIN abstracts_of a USING (id) LEFT JOIN texts_of t USING (id)
"""


def title_pattern(words: str) -> str:
    r"""Return the regular expression that a candidate's title must match somewhere, in any case.

    Words separated by ``|`` match themselves and their plural as whole words; all else is taken for
    a regular expression of RE2.

    >>> title_pattern("survey|review")
    '\\b(?:survey|review)s?\\b'
    """
    pattern = rf"\b(?:{words})s?\b" if _WORDS.fullmatch(words) else words
    with duckdb.connect() as connection:
        try:
            row = connection.execute("SELECT regexp_matches('', ?, 'i')", [pattern]).fetchone()
        except duckdb.Error as error:
            raise DataError(
                f"surveys.title={clip(words)} is not a regular expression that RE2 reads: "
                f"{clip(str(error).splitlines()[0], 160)}. Write words with | between, such as "
                "survey|review."
            ) from None
    if row and row[0]:
        raise DataError(f"surveys.title={clip(words)} matches every title, also an empty one.")
    return pattern


def _survey_inputs(plan: Plan) -> Any:
    """Return pattern, judge and the judge's configuration."""
    config = plan.config.surveys
    judge = make_judge(config.judge, config.options)
    return [title_pattern(config.title), config.judge, judge.config]


def _judge_candidates(plan: Plan, steps: Steps) -> dict[str, Any]:
    """Write `CANDIDATES` and `JUDGED`; if the judge fails, the store keeps a model's answers."""
    judge = make_judge(plan.config.surveys.judge, plan.config.surveys.options)
    found = steps.once("found", lambda: _find(plan, steps))
    counts, total = dict.fromkeys(VERDICTS, 0), found["candidates"]
    rows = read_rows(steps.directory / _FOUND, Candidate._fields)
    candidates = map(_as_shown, starmap(Candidate, rows))
    judged = ask_records(candidates, judge.judge, judge.batch, total=total, desc="judge")
    with steps.outputs(CANDIDATES, _SCHEMA, JUDGED) as (add_candidate, add_judged):
        for candidate, judgement in judged:
            if judgement.verdict not in counts:
                raise DataError(
                    f"the judge said {clip(judgement.verdict)} of {candidate.id!r}, which is "
                    f"none of {', '.join(VERDICTS)}. Repair the judge."
                )
            counts[judgement.verdict] += 1
            add_candidate((candidate.id, candidate.title, judgement.verdict))
            entry = candidate._asdict() | judgement._asdict()
            del entry["abstract"]
            add_judged(entry)
    return {
        **found,
        "judge": plan.config.surveys.judge,
        "verdicts": counts,
        "discarded": round(counts[OTHER] / total, 4) if total else None,
    }


def _as_shown(candidate: Candidate) -> Candidate:
    """Return a candidate with the title and the abstract that the corpus shows."""
    title, abstract = clean_title(candidate.title), clean_text(candidate.abstract)
    return candidate._replace(title=title, abstract=abstract)


def _find(plan: Plan, steps: Steps) -> dict[str, int]:
    parse, pattern = plan.stage(PARSE.name), title_pattern(plan.config.surveys.title)
    with steps.connect(plan) as connection:
        view_tables(connection, parse / SHARDS)
        quoted = "'" + pattern.replace("'", "''") + "'"
        files = {"corpus": literal(parse / CORPUS), "others": literal(parse / OTHER_TITLES)}
        execute(connection, _SELECT.format(**files, pattern=quoted))
        for table in ("abstracts", "texts"):
            execute(connection, _ABSTRACTS.format(table=table, characters=_CHARACTERS))
        copy(connection, _JOIN, steps.directory / _FOUND, "id")
        row = connection.execute(
            "SELECT count(*), count(*) FILTER (named), count(*) FILTER (flagged) FROM candidates"
        ).fetchone()
    assert row
    return dict(zip(("candidates", "by_title", "flagged_by_release"), map(int, row), strict=True))


SURVEYS = Stage("surveys", _survey_inputs, _judge_candidates)
