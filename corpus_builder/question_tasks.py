"""Tasks of questions: joined with a corpus, and dated by the paper that asks."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Any

import duckdb
import pyarrow as pa

from arena.corpus import Corpus, layout
from arena.dates import format_day, parse_cutoff, parse_date
from arena.errors import DataError, clip
from arena.kit.code import code_sha256
from arena.kit.files import sha256_json, write_json
from arena.kit.options import checked
from arena.kit.terminal import progress
from arena.report.listing import cite
from arena.report.marks import replace_groups
from arena.tasks import TaskSet
from arena.text.identifiers import normal_title
from corpus_builder.content import write_tasks
from corpus_builder.database import execute, literal, rows
from corpus_builder.files import read_rows, schema
from corpus_builder.paper_tasks import DOCUMENTS, make_task_set, stage_triples
from corpus_builder.questions import FORMATS, Question, read_questions
from corpus_builder.sources.base import LocatedRecord
from corpus_builder.sources.matching import Collection, PaperQuery, join

_PART = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")
_COLUMNS = ("id", "title", "date", "arxiv_id", "doi")
# What `write_tasks` reads of the surveys of a source; what is not given is null.
_ASKED = schema(
    "id title day:int32 precision n_references_total:int64 arxiv_id doi mind_map figure caption "
    "prompts domain cluster survey_citations:int64 outline article"
)
_GOLD = schema("citing cited influential:bool")
_REACHED = """
SELECT count(*) FILTER (status = 'gold') / count(*) FROM read_parquet({gold}) GROUP BY topic_id
HAVING count(*) FILTER (status = 'gold') > 0 ORDER BY topic_id
"""


@checked
def write_question_tasks(
    directory: str | Path,
    output: str | Path,
    questions: Mapping[str, str],
    *,
    days: str | Path | None = None,
    before: str | dt.date | None = None,
    part: str = "1/1",
    horizon: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write tasks of questions whose gold papers are looked up in a corpus by id, then by title.

    The cutoff is the day of the paper that asks, or the day that the corpus has for that paper if
    it is earlier: so that paper is out of reach. Questions without a day have the cutoff `before`,
    or that of their format. The same input gives the same bytes. The options are those of
    ``arena-corpus tasks --help``; `questions` is name of a format -> file or folder.

    Returns:
        The manifest; docs/questions.md explains its ``counts``.
    """
    root = Path(directory).resolve()
    corpus = Corpus.open(root)
    questions = {FORMATS.resolve(name): path for name, path in questions.items()}
    asked = [q for name, path in questions.items() for q in read_questions(name, Path(path))]
    known = {q.id: q for q in read_questions("autoscholarquery", Path(days))} if days else {}
    asked = [
        q._replace(day=known[q.id].day, source=known[q.id].source) if q.id in known else q
        for q in asked
    ]
    cutoff = None if before is None else str(parse_cutoff(before))
    cutoffs = {cutoff or q.cutoff for q in asked if not q.day} - {""}
    asked = [q._replace(day=q.day or cutoff or q.cutoff) for q in asked]
    for name, times in Counter(q.id for q in asked).items():
        if times > 1:
            raise DataError(f"the question {clip(name)} is given twice. Give each one once.")
    readers = [FORMATS.get(name) for name in questions]
    options = {
        "questions": sorted(questions), "sha256": sha256_json(asked), "part": part,
        **({"before": ", ".join(sorted(cutoffs))} if cutoffs else {}),
        **({"undated": True} if TaskSet(corpus).undated else {}),
        **({"horizon": True} if horizon else {}),
    }  # fmt: skip
    wanted = {"corpus": corpus.sha256, "options": options, "code": code_sha256(__name__, *readers)}
    write = partial(_write, root=root, every=asked, part=part, horizon=horizon)
    return make_task_set(root, Path(output), wanted, write, overwrite)


def _write(
    connection: duckdb.DuckDBPyConnection,
    new: Path,
    root: Path,
    every: Sequence[Question],
    part: str,
    horizon: bool,
) -> tuple[str, dict[str, Any]]:
    """Write the tasks and the audit into `new`; return the hash of the tasks and counts."""
    found = audit(every)
    kept = [q for q in every if _is_in(part, found[q.id]["group"])]
    sought = [paper for q in kept for paper in (*q.gold, *q.asker)]
    collection = Collection(_papers(root), sought)
    asked, gold, counts = list[dict[str, Any]](), list[dict[str, Any]](), Counter[str]()
    for q in kept:
        found[q.id]["asker"] = [p.id for paper in q.asker for p in collection.versions(paper)]
        found[q.id] |= {"labels": dict(q.labels)} if q.labels else {}
        day = _day(q, collection)
        if day is None:
            counts["without_day"] += 1
            continue
        counts["redated"] += format_day(day) != q.day
        places, _ = join(q.gold, collection)
        named = [place or _name_of(paper) for place, paper in zip(places, q.gold, strict=True)]
        names, best = {*named}, {named[place] for place in q.best}
        about = {"id": q.id, "title": q.text, "day": day, "precision": "day"}
        about["cluster"] = q.source or next((_name_of(p) for p in q.asker), None)
        about["article"] = replace_groups(q.answer, partial(_cited, places)) or None
        asked.append(about | {"n_references_total": len(names)})
        gold += [
            {"citing": q.id, "cited": name, "influential": name in best} for name in sorted(names)
        ]
    if not kept:
        raise DataError("the files of questions contain no question for these tasks.")
    if not asked:
        raise DataError("no question says on which day it was asked. Name a file with --days.")
    for name, given in (("surveys", (asked, _ASKED)), ("survey_references", (gold, _GOLD))):
        connection.register("given", pa.Table.from_pylist(*given))
        connection.execute(f"CREATE TABLE staged_{name} AS SELECT * FROM given")
    execute(connection, DOCUMENTS.format(papers=literal(root / layout.PAPERS)))
    topics = stage_triples(connection) if horizon else {q.id: q.id for q in kept}
    tasks_sha256, written = write_tasks(connection, new)
    shares = [s for (s,) in rows(connection, _REACHED.format(gold=literal(new / layout.GOLD)))]
    listed = {topic: found[origin] for topic, origin in topics.items()}
    write_json(new / layout.QUESTIONS, listed)
    status = "survey_references_"
    return tasks_sha256, {
        "without_day": counts["without_day"],
        "redated": counts["redated"],
        "tasks": written["surveys"],
        "playable": len(shares),
        "complete": shares.count(1),
        "ceiling": round(fmean(shares), 4) if shares else 0.0,
        **{k.removeprefix(status): n for k, n in written.items() if k.startswith(status)},
        **{fault: sum(fault in of for of in listed.values()) for fault in FAULTS},
        "groups": len({of["group"] for of in listed.values()}),
    }


def _name_of(paper: PaperQuery) -> str:
    return next(iter(paper.keys), normal_title(paper.title))


def _cited(places: Sequence[str | None], keys: list[str]) -> str:
    return cite(place for key in keys if (place := places[int(key)]))


def _papers(root: Path) -> Iterator[LocatedRecord]:
    for number, row in enumerate(read_rows(root / layout.PAPERS, _COLUMNS)):
        yield LocatedRecord(dict(zip(_COLUMNS, row, strict=True)), layout.PAPERS, number)


def _day(q: Question, collection: Collection) -> int | None:
    """Return the cutoff of a question; None if nothing gives one."""
    days = [parse_date(q.day).day] if q.day else []
    days += [p.day for paper in q.asker for p in collection.versions(paper) if p.dated]
    return min(days, default=None)


FAULTS = ("one_paper", "gold_in_other", "names_answer")


def audit(questions: Sequence[Question]) -> dict[str, dict[str, Any]]:
    """Return the `FAULTS` of each question by its id, and its ``group``: the least linked id.

    ``one_paper``: the others that may be of the same paper, or have its text; ``gold_in_other``:
    the others that contain the title, of three words or more, of one of its gold papers;
    ``names_answer``: its gold papers whose title it contains itself, or, as written, the name with
    a capital or digit inside that stands before the colon of the title.
    """
    found: dict[str, dict[str, Any]] = {q.id: {} for q in questions}
    texts = {q.id: normal_title(q.text) for q in questions}
    alike = defaultdict[str, list[str]](list)
    for q in questions:
        for value in {q.source, texts[q.id]} - {""}:
            alike[value].append(q.id)
    links = [("one_paper", *pair) for ids in alike.values() for pair in permutations(ids, 2)]
    for q in progress(questions, desc="audit", unit="question"):
        for title in sorted({paper.title for paper in q.gold}):
            key = normal_title(title) if len(title.split()) > 2 else None
            named = [other for other, text in texts.items() if key and key in text]
            links += [("gold_in_other", q.id, other) for other in named if other != q.id]
            if q.id in named or _has_name(q.text, title):
                found[q.id].setdefault("names_answer", []).append(title)
    group = {q.id: q.id for q in questions}
    for fault, one, other in links:
        found[one].setdefault(fault, []).append(other)
    while any(group[one] != group[other] for _, one, other in links):
        for _, one, other in links:
            group[one] = group[other] = min(group[one], group[other])
    return {name: {"group": group[name]} | faults for name, faults in found.items()}


def _has_name(text: str, title: str) -> bool:
    name, colon, _ = title.partition(":")
    is_name = bool(colon and re.search(r"\S[A-Z0-9]", name))
    return is_name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _is_in(part: str, group: str) -> bool:
    """Return whether a group is in the part ``K/N``."""
    match = _PART.fullmatch(part)
    if match is None or int(match[1]) > int(match[2]):
        raise DataError(f"part={clip(part)}: write K/N, such as 1/5 for the first of five parts.")
    draw = int(hashlib.sha256(group.encode()).hexdigest(), 16)
    return draw % int(match[2]) == int(match[1]) - 1
