"""Surveys from arXiv's metadata, selected as ReportBench and Bloom-Eval select theirs.

What is written has the form of ReportBench's data, so that ``arena-corpus build reportbench`` and
``arena evaluate reportbench`` read it, or a report for each topic, as ``arena evaluate bloom-eval``
reads experts' surveys.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from arena.dates import last_version_month, parse_cutoff, parse_date
from arena.errors import CorpusError, DataError, clip
from arena.kit.code import code_sha256
from arena.kit.files import sha256_file, write_json
from arena.kit.options import checked
from arena.kit.terminal import progress
from arena.kit.workdir import OutputKind, read_manifest_of, staged_directory
from corpus_builder.asking import ask_records
from corpus_builder.judges import JUDGES, SURVEY, Candidate, make_judge
from corpus_builder.latex_source import read_source
from corpus_builder.prompt_writing import cutoff_in
from corpus_builder.readers.arxiv import as_paper, first_day, read_arxiv
from corpus_builder.sources.jsonl import JsonLinesFile

LICENCES = ("licenses/by/", "licenses/by-sa/", "publicdomain/zero/", "nonexclusive-distrib/")
"""Parts of the addresses of the licences that ReportBench admits (section "Limitations")."""
NAME = "ReportBench_selected"
_MANIFEST = "selection.json"
_KIND = OutputKind("selection", _MANIFEST, {"counts": dict, "domains": dict})
_PUBLISHED = re.compile(r"\b(?:publish|accept)", re.IGNORECASE)
_ARCHIVES = (".tar.gz", ".tgz", ".tar")


@checked
def select_surveys(
    metadata: str | Path,
    output: str | Path,
    *,
    title: str = "survey|review",
    since: str = "2020",
    before: str | None = None,
    unpublished: bool = False,
    journal_ref: bool = False,
    any_licence: bool = False,
    venue: str | None = None,
    judge: str = "rules",
    judge_option: dict[str, Any] | None = None,
    citations: str | Path | None = None,
    top: Annotated[int, Ge(1)] | None = None,
    sources: str | Path | None = None,
    prompts: str | Path | None = None,
    max_surveys: Annotated[int, Ge(1)] | None = None,
    seed: int = 0,
    format: Literal["reportbench", "bloom-eval"] = "reportbench",
) -> dict[str, Any]:
    """Select surveys and write them, with their references and prompts, as ReportBench's data.

    The steps, in order: day, title, publication, licence, venue, judge, most cited, those with a
    LaTeX source that cites, those with a prompt, a draw. A paper is published if its comments say
    "published" or "accepted" (ReportBench, section 2.1.1); with `journal_ref` also if it has a
    journal. The date of a survey is the month of its last version, which prompts and scores take
    for its cutoff (2.1.2). With `sources` a record has its text under ``sections``, for the author
    of prompts, and ``listed_titles``, which no prompt may contain. The draw takes the domains in
    turn (section 2.1.3), and one prompt of each survey; without `prompts` a domain is the archive
    of the first category. In the form of Bloom-Eval each survey with a source is ``TOPIC.md``, its
    text and list; topics are ``cs_01`` and so on, or ``gs_01`` of other fields, and
    ``experimental_topics.csv`` lists them as the released table does.

    Args:
        metadata (FILE): arXiv's metadata as JSON lines, plain or gzip.
        output (DIR): Directory to write.
        title (REGEX): What a title must contain, in any case.
        since (DATE): First day of a first version: YYYY-MM-DD, YYYY-MM or YYYY.
        before (DATE): First day out of reach: YYYY-MM-DD, YYYY-MM (its first day) or YYYY
            (1 January).
        unpublished: Keep papers whose comments do not call them published or accepted.
        journal_ref: Keep papers with a journal reference, too.
        any_licence: Keep papers that may not be shared, too.
        venue (REGEX): What the journal or the comments must contain.
        judge (NAME): Judge of title and abstract: rules, llm or all.
        judge_option: Option of the judge, such as model=NAME of llm (docs/surveys.md).
        citations (FILE): JSON lines of arxiv_id and citation_count, for --top.
        top: Keep the most cited of computer science, and as many of other fields.
        sources (DIR): LaTeX sources: a folder ID or an archive ID.tar.gz for each paper; one
            without a source or without references is left out. Prompts are written of their text.
        prompts (FILE): What `arena-corpus prompts DIR/ReportBench_selected.jsonl` wrote; a paper
            without a prompt is left out.
        max_surveys: Draw this many, the domains in turn (default: all).
        seed: Seed of the draw, and of the level of each prompt.
        format: Whose data DIR is like; bloom-eval has a report for each topic.

    Example:
        arena-corpus select arxiv.jsonl.gz --sources tex --max-surveys 100 --output selected

    Returns:
        ``config``, ``sha256`` of what was read, ``counts`` of what each step left, and the numbers
        of ``domains`` and, by what `venue` found, of ``venues`` of what is written.
    """
    if (top is None) != (citations is None):
        raise DataError("top and citations need each other: give both, or neither.")
    output = Path(output)
    days = (parse_cutoff(since).day, parse_cutoff(before).day if before else 2**31)
    config = {
        "title": title, "since": since, "before": before, "unpublished": unpublished,
        "journal_ref": journal_ref, "any_licence": any_licence, "venue": venue, "judge": judge,
        "top": top, "max_surveys": max_surveys, "seed": seed, "format": format,
    }  # fmt: skip
    judged_by = make_judge(JUDGES.resolve(judge), judge_option or {})
    counts: dict[str, int] = {"papers": 0}
    records, venues = {}, dict[str, str]()
    title_pattern, venue_pattern = _pattern("title", title), _pattern("venue", venue or "")

    def keep(step: str, passes: bool) -> bool:
        counts[step] = counts.get(step, 0) + passes
        return passes

    for record, _, _ in read_arxiv(metadata):
        counts["papers"] += 1
        date = first_day(record)
        where = f"{record.get('journal-ref') or ''} {record.get('comments') or ''}"
        known = bool(_PUBLISHED.search(record.get("comments") or ""))
        known |= journal_ref and bool(record.get("journal-ref"))
        licence = str(record.get("license"))
        if (
            keep("in_time", date is not None and days[0] <= parse_date(date).day < days[1])
            and keep("title", bool(title_pattern.search(record["title"])))
            and keep("published", unpublished or known)
            and keep("licence", any_licence or any(part in licence for part in LICENCES))
            and keep("venue", bool(venue_pattern.search(where)))
        ):
            cutoff = last_version_month(record.get("versions")) or date
            records[record["arxiv_id"]] = record | as_paper(record) | {"date": cutoff}
            if venue and (found := venue_pattern.search(where)):
                venues[record["arxiv_id"]] = found[0]
    records = {id_: records[id_] for id_ in _judged(judged_by, records)}
    counts["judged"] = len(records)
    cited: dict[str, int] = {}
    if citations is not None:
        cited = {
            key: row["citation_count"] for key, row in _by_id(citations, "citation_count", int)
        }
        order = sorted(records, key=lambda id_: (-cited.get(id_, 0), id_))
        fields: dict[bool, list[str]] = {True: [], False: []}
        for id_ in order:
            fields[_archive(records[id_]) == "cs"].append(id_)
        kept = {id_ for of_field in fields.values() for id_ in of_field[:top]}
        records = {id_: record for id_, record in records.items() if id_ in kept}
        counts["most_cited"] = len(records)
    bibliographies: dict[str, Sequence[dict[str, Any]]] = {}
    articles: dict[str, str] = {}
    if sources is not None:
        for id_, (text, works, articles[id_]) in _sources(records, Path(sources)):
            bibliographies[id_] = works
            records[id_] |= {"sections": [{"heading": "", "text": text}]}
            titles = [work["title"] for work in works if work["title"].count(" ") > 1]
            records[id_] |= {"listed_titles": titles}  # "BERT" is a name as well
        records = {id_: record for id_, record in records.items() if bibliographies.get(id_)}
        counts["with_references"] = len(records)
    domains = {id_: _archive(record) for id_, record in records.items()}
    if prompts is not None:
        written = {key: row for key, row in _by_id(prompts, "prompts", dict) if row["prompts"]}
        records = {id_: record for id_, record in records.items() if id_ in written}
        domains = {id_: str(written[id_].get("domain") or domains[id_]) for id_ in records}
        for id_, record in records.items():
            for prompt in written[id_]["prompts"].values():
                _check_cutoff(id_, record["date"], cutoff_in(str(prompt)))
            level = random.Random(f"{seed} {id_}").choice(sorted(written[id_]["prompts"]))
            records[id_] = {**record, "prompt": written[id_]["prompts"][level], "level": level}
        counts["with_prompts"] = len(records)
    chosen = draw_in_turn({id_: domains[id_] for id_ in records}, max_surveys, seed)
    counts["selected"] = len(chosen)
    files = {"metadata": metadata, "citations": citations, "prompts": prompts}
    report = {
        "config": config | {"judge_config": judged_by.config},
        "sha256": {name: sha256_file(path) for name, path in files.items() if path is not None}
        | {"code": code_sha256(__name__)},
        "counts": counts,
        "domains": dict(Counter(domains[id_] for id_ in chosen).most_common()),
        "venues": dict(Counter(venues[id_] for id_ in chosen if id_ in venues).most_common()),
    }

    def check(place: Path) -> None:
        if place.exists() and not read_manifest_of(place, _KIND):
            raise CorpusError(f"{str(output)!r} exists. Name a new directory, or a selection.")

    with staged_directory(output, check, manifest=_MANIFEST) as new:
        write_json(new / _MANIFEST, report)
        if format == "bloom-eval":
            order = sorted(chosen, key=lambda id_: (-cited.get(id_, 0), id_))
            _write_topics(new, [records[id_] for id_ in order], articles, cited, venues)
            return report
        lines = []
        for id_ in chosen:
            record = {"prompt": "", **records[id_], "id": id_}
            lines.append(record | {"application_domain": domains[id_]})
        _write(new / f"{NAME}.jsonl", lines)
        (new / f"{NAME}_GT").mkdir()
        for id_ in chosen:
            _write(
                new / f"{NAME}_GT" / f"{id_.replace('/', '_')}.jsonl", bibliographies.get(id_, ())
            )
    return report


def _write_topics(
    folder: Path,
    records: Iterable[Mapping[str, Any]],
    articles: Mapping[str, str],
    cited: Mapping[str, int],
    venues: Mapping[str, str],
) -> None:
    """Write Bloom-Eval's table of topics, the most cited first, and the surveys with a source."""
    rows, numbers = [], Counter[str]()
    for record in records:
        field = "cs" if _archive(record) == "cs" else "gs"
        numbers[field] += 1
        topic, title = f"{field}_{numbers[field]:02}", " ".join(record["title"].split())
        domain = "Computer Science" if field == "cs" else "General Science"
        year, id_ = str(first_day(record))[:4], record["arxiv_id"]
        rows.append((topic, domain, title, venues.get(id_, ""), year, cited.get(id_, "")))
        if article := articles.get(id_):
            abstract = f"## Abstract\n\n{record.get('abstract') or ''}"
            (folder / f"{topic}.md").write_text(f"# {title}\n\n{abstract}\n\n{article}\n", "utf-8")
    with (folder / "experimental_topics.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("topic_id", "domain", "title", "venue", "year", "citations"))
        table.writerows(rows)


def draw_in_turn(domains: Mapping[str, str], max_surveys: int | None, seed: int) -> list[str]:
    """Return at most `max_surveys` ids, the domains in turn, each in an order that `seed` gives.

    >>> draw_in_turn({"a": "x", "b": "x", "c": "y"}, 2, 0) in (["a", "c"], ["b", "c"])
    True
    """
    by_domain: dict[str, list[str]] = {}
    for id_, domain in sorted(domains.items()):
        by_domain.setdefault(domain, []).append(id_)
    ranks: dict[str, int] = {}
    for of_domain in by_domain.values():
        random.Random(seed).shuffle(of_domain)
        ranks |= {id_: rank for rank, id_ in enumerate(of_domain)}
    return sorted(domains, key=lambda id_: (ranks[id_], domains[id_], id_))[:max_surveys]


def _check_cutoff(survey: str, date: str, named: str | None) -> None:
    """Refuse a prompt that names another cutoff than the survey's date, or its month."""
    if named is not None and named not in (date, date[:7]):
        raise DataError(
            f"{survey}: a prompt names {named} as cutoff, and its last version makes it {date}. "
            "Write the prompts again, of what this command writes."
        )


def _pattern(option: str, words: str) -> re.Pattern[str]:
    try:
        return re.compile(words, re.IGNORECASE)
    except re.error as error:
        raise DataError(f"{option}={clip(words)} is not a regular expression: {error}.") from None


def _archive(record: Mapping[str, Any]) -> str:
    return str(record.get("categories") or "unknown").split()[0].split(".")[0]


def _judged(judge: Any, records: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    candidates = (
        Candidate(id_, " ".join(of["title"].split()), str(of.get("abstract") or ""))
        for id_, of in records.items()
    )
    judged = ask_records(candidates, judge.judge, judge.batch, total=len(records), desc="judge")
    return (candidate.id for candidate, verdict in judged if verdict.verdict == SURVEY)


def _by_id(path: str | Path, key: str, kind: type) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and record of a file of JSON lines in which each has an id and `key`."""
    for row, file, line in JsonLinesFile(path, "records"):
        if not isinstance(row, dict) or not isinstance(row.get(key), kind):
            raise DataError(f"{file} line {line}: expected an object with `id` and `{key}`.")
        yield str(row.get("arxiv_id", row.get("id"))), row


def _sources(
    ids: Iterable[str], folder: Path
) -> Iterator[tuple[str, tuple[str, Sequence[dict[str, Any]], str]]]:
    """Yield id, text, bibliography, in the form of ReportBench's, and article of papers."""
    if not folder.is_dir():
        raise DataError(f"{str(folder)!r} is not a folder. Name one with a source for each paper.")
    for id_ in progress(list(ids), desc="sources", unit="paper"):
        name = id_.replace("/", "_")
        places = [folder / name, *(folder / f"{name}{suffix}" for suffix in _ARCHIVES)]
        if found := next((place for place in places if place.exists()), None):
            try:
                text, works, article = read_source(found)
            except DataError:
                continue
            yield id_, (text, [_entry(work) for work in works if work.title or work.ids], article)


def _entry(work: Any) -> dict[str, Any]:
    more = {"year": str(work.year)} if work.year else {}
    names = {"arxiv": "eprint", "doi": "doi"}
    for kind, _, value in (key.partition(":") for key in work.ids):
        if kind in names:
            more.setdefault(names[kind], value)
    return {"bib_id": work.key, "title": work.title, "meta_info": more}


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.write_text(
        "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), "utf-8"
    )
