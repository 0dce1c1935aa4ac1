"""SurGE's files: the source and the question format named ``surge``."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import DataError, clip
from arena.kit.files import json_value, sha256_file
from arena.kit.lazy import load
from arena.mindmap import MindMap
from corpus_builder.judges import OTHER, Candidate, make_judge
from corpus_builder.questions import Question, question_format
from corpus_builder.release.folder import existing_folder
from corpus_builder.sources.base import LocatedRecord, source
from corpus_builder.sources.matching import PaperQuery, own_key
from corpus_builder.sources.published import check_record

NOTE = "the reader of SurGE was never tried on the published files, only on made-up ones"

PAPERS, SURVEYS, QUERIES = "corpus.json", "surveys.json", "queries.json"
_NODE = "a section of SurGE"
_KEYS: dict[str, dict[str, Any]] = {
    PAPERS: {"doc_id": int, "Title": str, "Abstract": str, "Authors": list, "Category": str},
    SURVEYS: {"survey_id": int, "survey_title": str, "date": str, "category": str,
              "all_cites": list, "structure": list},
    QUERIES: {"original_id": str, "query_id": int, "prefix_titles_query": str,
              "prefix_titles": list, "cites": list},
    _NODE: {"id": str, "title": str, "content": str, "cites": list, "parent_id": str | None},
}  # fmt: skip
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\dZ")
_ABOUT_OTHERS = re.compile(r"\b(?:survey|review|overview)s?\b", re.IGNORECASE)
_NO_SECTION = "abstract:"
_INFLUENTIAL = 3  # sections
_LONGEST = 256 << 20  # bytes of one record: the sections of a survey are one
_BATCH = 2048


@source("surge")
class SurGE:
    """SurGE: 205 surveys over 1,086,992 papers of arXiv, with days; titles and abstracts.

    A survey's references are ``all_cites``; ``influential`` are those that three or more of its
    sections cite. Its sections are the mind-map, each paper under the deepest that cite it. Its
    field is arXiv's category. Papers whose title says survey, review or overview are surveys unless
    the judge ``rules`` says they are not.

    The formats are those of the repository's README and code ("SurGE: A Benchmark and Evaluation
    Framework for Scientific Survey Generation", arXiv 2508.15658, section 3), never tried on the
    published files.

    Args:
        input: Folder with corpus.json and surveys.json.
    """

    example: ClassVar[str] = "--input surge"

    def __init__(self, input: str | Path) -> None:
        self._folder = existing_folder(input)
        for name in (PAPERS, SURVEYS):
            if not (self._folder / name).is_file():
                raise DataError(f"{str(input)!r} has no {name}. Name the folder of SurGE's data.")

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield the papers of ``corpus.json``."""
        judge = make_judge("rules", {})
        for number, where, record in read_array(self._folder / PAPERS):
            title, abstract = record["Title"], record["Abstract"]
            paper = {
                "id": str(record["doc_id"]),
                "title": title,
                "abstract": abstract,
                "date": read_day(record, "Date", where),
                "authors": record["Authors"],
                "fields": [record["Category"]],
            }
            if _ABOUT_OTHERS.search(title):
                (verdict,) = judge.judge([Candidate(paper["id"], title, abstract)])
                paper["is_survey"] = verdict.verdict != OTHER
            yield LocatedRecord(paper, PAPERS, number)

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield the surveys of ``surveys.json``."""
        for number, where, record in read_array(self._folder / SURVEYS):
            nodes = survey_nodes(record, where)
            cited = Counter(paper for node in nodes for paper in set(doc_ids(node, "cites", where)))
            tree = read_sections(record["survey_title"], nodes, where)
            survey = {
                "id": f"surge:{record['survey_id']}",
                "title": record["survey_title"],
                "date": read_day(record, "date", where),
                "references": doc_ids(record, "all_cites", where),
                "influential": [paper for paper, times in cited.items() if times >= _INFLUENTIAL],
                "mind_map": tree.to_json() if tree.children else None,
                "domain": record["category"],
            }
            yield LocatedRecord(survey, SURVEYS, number)

    def describe(self) -> dict[str, Any]:
        """Return the hashes of the files, and that they are not known to be the published ones."""
        hashes = {name: sha256_file(self._folder / name) for name in (PAPERS, SURVEYS)}
        return {"source": "surge", "files": hashes, "note": NOTE}


def read_array(path: Path) -> Iterator[tuple[int, str, Any]]:
    """Yield number from 1, place and record of a file, one JSON array; it may exceed memory."""
    duckdb = load("duckdb", "the reader of SurGE")
    with duckdb.connect(config={"threads": 1, "memory_limit": "1GB"}) as connection:
        number = 0
        try:
            rows = connection.execute(
                "SELECT json FROM read_json_objects(?, format='array', maximum_object_size=?)",
                [str(path), _LONGEST],
            )
            while batch := rows.fetchmany(_BATCH):
                for (text,) in batch:
                    number += 1
                    where = f"{path.name} record {number}"
                    value, kind = json_value(text), f"SurGE's {path.name}"
                    yield number, where, check_record(value, where, _KEYS[path.name], kind)
        except duckdb.Error as error:
            problem = clip(str(error).splitlines()[0], 160)
            raise DataError(
                f"{path.name} after record {number}: not a JSON array of records ({problem}). "
                "Get the file again."
            ) from None
    if not number:
        raise DataError(f"{path.name} has no records. Get the file again.")


def survey_nodes(record: Any, where: str) -> list[dict[str, Any]]:
    """Return the sections of a record of ``surveys.json`` after a look at all that is read."""
    doc_ids(record, "all_cites", where)
    return [
        check_record(node, f"{where}, structure {place}", _KEYS[_NODE], _NODE)
        for place, node in enumerate(record["structure"], 1)
    ]


def read_day(record: Mapping[str, Any], key: str, where: str) -> str | None:
    """Return the day of arXiv's time of release; None of a paper without one."""
    value = record.get(key)
    if value in (None, ""):
        return None
    match = _DAY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise DataError(f"{where}: {key!r} is {clip(value)}: expected YYYY-MM-DDTHH:MM:SSZ.")
    return match[1]


def doc_ids(record: Mapping[str, Any], key: str, where: str) -> list[str]:
    """Return the integers under a key, as texts."""
    for paper in record[key]:
        if type(paper) is not int:
            raise DataError(f"{where}: {key!r} contains {clip(paper)}: expected doc_ids, integers.")
    return [str(paper) for paper in record[key]]


def read_sections(topic: str, nodes: Sequence[Mapping[str, Any]], where: str = "") -> MindMap:
    """Return the sections of a survey as a mind-map.

    Each paper is filed under the deepest sections that cite it: under a section itself only if no
    section below it cites the paper. ``root`` stands for the topic; the abstract is no section.

    Args:
        topic: Label of the root.
        nodes: SurGE's flat list: ``id``, ``title``, ``parent_id`` (None of the root), ``cites``.
        where: Place of the survey, for messages.

    Raises:
        DataError: A section has an unknown parent, or not exactly one has none; two have one id,
            or sections are below themselves.

    Example:
        >>> nodes = [{"id": "r", "title": "root", "cites": []},
        ...          {"id": "a", "title": "Nets", "parent_id": "r", "cites": [7, 9]},
        ...          {"id": "b", "title": "Deep", "parent_id": "a", "cites": [9]}]
        >>> print(read_sections("Toys", nodes).children[0])
        <MindMap 'Nets': 1 node, 2 papers>
    """
    below, known = defaultdict[str | None, list[Mapping[str, Any]]](list), {n["id"] for n in nodes}
    for node in nodes:
        if (parent := node.get("parent_id")) is not None and parent not in known:
            raise DataError(
                f"{where}: section {clip(node['title'])}: 'parent_id' is {clip(parent)}, "
                "which is the id of no section."
            )
        below[parent].append(node)

    def build(node: Mapping[str, Any], label: str) -> MindMap:
        children = tuple(
            build(child, child["title"])
            for child in below[node["id"]]
            if child["title"].strip().lower() != _NO_SECTION
        )
        deeper = {paper for child in children for paper in child.all_papers()}
        own = dict.fromkeys(str(paper) for paper in node["cites"])
        return MindMap(label, children, tuple(paper for paper in own if paper not in deeper))

    roots = below[None]
    if len(roots) != 1:
        raise DataError(f"{where}: {len(roots)} sections have no 'parent_id': expected one root.")
    if len(known) < len(nodes):
        raise DataError(f"{where}: two sections have one 'id'.")
    reached = [*roots]
    for node in reached:
        reached += below[node["id"]]
    if len(reached) < len(nodes):
        raise DataError(f"{where}: by their 'parent_id', sections are below themselves.")
    return build(roots[0], topic)


@question_format("surge")
def read(path: Path) -> Iterator[Question]:
    """Sections of SurGE's surveys, never tried on the published files; its folder.

    The question is the title of a survey and of the sections down to one; its gold is what that
    section cites, its day that of the survey. Questions of one survey share a ``source``.
    """
    asked = []
    for _, where, record in read_array(path / QUERIES):
        day = read_day(record, "date", where)
        if day is None:
            raise DataError(f"{where}: 'date' is empty: expected the day of the survey.")
        survey = str(next(iter(record["prefix_titles"]), ""))
        cites = doc_ids(record, "cites", where)
        asked.append((record["query_id"], record["prefix_titles_query"], day, cites, survey))
    cited, titles = {paper for row in asked for paper in row[3]}, {}
    for _, _, record in read_array(path / PAPERS):
        if (paper := str(record["doc_id"])) in cited:
            titles[paper] = record["Title"]
    for query, text, day, cites, survey in asked:
        gold = tuple(PaperQuery(titles.get(i, ""), (own_key(i, titles.get(i, "")),)) for i in cites)
        yield Question(f"surge-section:{query}", text, day, gold, source=survey)
