"""ReportBench's files and the reports to score: what is read, and under which survey."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

from arena.dates import parse_date
from arena.errors import DataError, clip
from arena.report import PaperName
from arena.suites.base import json_lines
from arena.text.identifiers import arxiv_key, bibtex_keys, doi_key, normal_title

_TEXTS = ("response", "content", "text", "message", "output", "result")
_SUFFIXES = (".md", ".json", ".txt", ".html")


class GoldSurvey(NamedTuple):
    """A survey of the data.

    Attributes:
        itself: Title and identifiers of the survey.
        cutoff: The first day that is too late, in days since 1970-01-01: the first of the month of
            the last version, which the prompts name (ReportBench, section 2.1.2).
        domain: Domain of application.
        works: The distinct works of its bibliography. No key of a citation can be their ids.
        titles: The titles of all entries of the bibliography.
    """

    itself: PaperName
    cutoff: int
    domain: str
    works: list[PaperName]
    titles: list[str]


def read_data(folder: str) -> dict[str, GoldSurvey]:
    """Read ``ReportBench_*.jsonl`` and the folder ``ReportBench_*_GT`` beside it.

    Returns:
        arXiv id -> survey, in the order of the file.

    Raises:
        DataError: If the folder is another one, or a file of it is missing or malformed.
    """
    tables = sorted(Path(folder).glob("ReportBench_*.jsonl"))
    if len(tables) != 1:
        raise DataError(
            f"{folder!r} holds {len(tables) or 'no'} ReportBench_*.jsonl: name the folder of "
            "ReportBench's data with --data."
        )
    truth = tables[0].with_name(tables[0].name.removesuffix(".jsonl") + "_GT")
    surveys: dict[str, GoldSurvey] = {}
    for where, record in _records(tables[0]):
        try:
            name, title = str(record["arxiv_id"]), str(record["title"])
            last = parsedate_to_datetime(record["versions"][-1]["created"])
        except (KeyError, IndexError, TypeError, ValueError):
            raise DataError(f"{where} is no record of ReportBench.") from None
        entries = [record for _, record in _records(truth / f"{name.replace('/', '_')}.jsonl")]
        ids = tuple(key for key in (arxiv_key(name), doi_key(record.get("doi"))) if key)
        surveys[name] = GoldSurvey(
            PaperName("the survey", title, ids),
            parse_date(last.date().replace(day=1)).day,
            str(record.get("application_domain") or ""),
            distinct_works(entries),
            [str(entry.get("title") or "") for entry in entries],
        )
    if not surveys:
        raise DataError(f"{str(tables[0])!r} holds no survey.")
    return surveys


def distinct_works(entries: list[dict[str, Any]]) -> list[PaperName]:
    """Return the works of a bibliography: entries that share an identifier or a title are one."""
    works: list[PaperName] = []
    places: dict[str, int] = {}
    for entry in entries:
        title, more = str(entry.get("title") or ""), entry.get("meta_info")
        ids = bibtex_keys(more if isinstance(more, Mapping) else {})
        keys = [*ids, *([f"title:{key}"] if (key := normal_title(title)) else [])]
        place = next((places[key] for key in keys if key in places), len(works))
        if place == len(works) and keys:
            works.append(PaperName(f"work {place}", title, ids))
        elif keys:
            works[place] = works[place]._replace(ids=(*works[place].ids, *ids))
        places.update((key, places.get(key, place)) for key in keys)
    return works


def find_reports(folder: str, surveys: Mapping[str, Any]) -> tuple[dict[str, Path], list[str]]:
    """Return the file of each survey's report, and a sentence for each file that has none.

    A file belongs to the survey whose arXiv id stands in its name, as in ``2004.05937.md`` or
    ``parsed_2004.05937v2.json``; in an old id ``_`` stands for the slash.

    Raises:
        DataError: If the folder holds no report.
    """
    files = sorted(path for path in Path(folder).iterdir() if path.suffix.lower() in _SUFFIXES)
    if not files:
        raise DataError(f"{folder!r} holds no report: expected ARXIV_ID.md or ARXIV_ID.json.")
    names = {name.replace("/", "_"): name for name in surveys}
    pattern = re.compile(rf"(?<!\d)({'|'.join(map(re.escape, names))})(?!\d)")
    found: dict[str, Path] = {}
    problems = []
    for path in files:
        match = pattern.search(path.stem)
        if match is None:
            problems.append(f"{path.name}: no survey of the data has the id in this name.")
        elif (name := names[match[1]]) in found:
            first = found[name].name
            problems.append(f"{path.name}: a second report on {name}; {first} counts.")
        else:
            found[name] = path
    return found, problems


def report_text(path: Path) -> bytes | str:
    """Return a report's text: the file, or what a JSON object has under ``response``.

    Raises:
        DataError: If a file of JSON holds no text.
    """
    content = path.read_bytes()
    if path.suffix.lower() != ".json":
        return content
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        raise DataError(f"{path.name} is no JSON.") from None
    record = record if isinstance(record, dict) else {}
    for key in _TEXTS:  # as the released code has them
        if isinstance(text := record.get(key), str):
            return text
    raise DataError(f"{path.name} has no text under 'response'.")


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        for number, text, record in json_lines(path):
            where = f"{path.name} line {number}"
            if record is None:
                raise DataError(f"{where}: {clip(text)} is no JSON object.")
            yield where, record
    except FileNotFoundError:
        raise DataError(f"{str(path)!r} is missing: ReportBench has it.") from None
