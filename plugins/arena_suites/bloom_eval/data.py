"""Bloom-Eval's released files and plain reports: what is read of each topic."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from arena.errors import DataError, clip
from arena.failures import scoring_failure
from arena.report import Reference, read_report
from arena.report.listing import plain
from arena_suites.bloom_eval.article import Article, Heading, Work, article_of
from arena_suites.recognised import article_report, find_citations, find_records, year_of

Side = Literal["human", "llm"]

_SUFFIXES = (".md", ".markdown", ".txt", ".html")
_FILES = ("content", "outline", "reference", "expert_article")
_LAYOUT = "TOPIC/{human,llm}/{content,outline,reference}.json or TOPIC.md"
_NOTHING = ("", "n/a", "none", "null")


def read_surveys(
    folder: str | Path,
    side: Side = "llm",
    topics: Sequence[str] = (),
    official: bool = False,
    know: Callable[[Reference], Work | None] = lambda _: None,
) -> tuple[dict[str, Article], dict[str, str]]:
    """Read the surveys of a folder: released files, or a report ``TOPIC.md`` for each topic.

    The released files of a topic lie in ``TOPIC/human``, ``TOPIC/llm`` or ``TOPIC``; the folder of
    a run is read at its reports. If no topic has the side that is asked for, the other one counts,
    so that the experts can be read as a system.

    If `official`, read what the released code reads: ``content.json``, and for the citations the
    pages and the list of ``expert_article.json`` or ``llm_article.json``. `know` returns what else
    is known of a reference of a plain report; None for nothing.

    Returns:
        Topic -> article; and topic -> why it cannot be read, a sentence.
    """
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"{str(folder)!r} is not a folder: expected one with {_LAYOUT}.")
    places, problems = _places(root, side, topics)
    if not places and not problems:
        on = f" on {clip(', '.join(topics), 100)}" if topics else ""
        raise DataError(f"{str(folder)!r} has no survey{on}: expected {_LAYOUT}.")
    articles = {}
    for topic, place in places.items():
        try:
            if place.is_file():
                data = place.read_bytes()
                text = data.decode("utf-8", "replace")
                articles[topic] = article_of(read_report(data), text, know)
            elif official or not (place / "expert_article.json").is_file():
                articles[topic] = _released(place)
                if official:
                    articles[topic] = _with_pages(articles[topic], place)
            else:
                articles[topic] = _experts(place)
        except OSError as error:
            name = Path(error.filename or place).name
            problems[topic] = f"{name} cannot be read: {error.strerror}."
        except DataError as error:
            problems[topic] = str(error)
        except Exception as error:
            problems[topic] = scoring_failure(error)
    problems |= {
        topic: f"{str(folder)!r} has no survey on {topic!r}."
        for topic in topics
        if topic not in places and topic not in problems
    }
    return articles, problems


def _places(
    root: Path, side: Side, topics: Sequence[str]
) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the folder or the report of each topic, and what is wrong with the others."""
    other = "human" if side == "llm" else "llm"
    if (root / "reports").is_dir():
        root = root / "reports"
    found: dict[str, Path] = {}
    problems = {}
    entries = sorted(root.iterdir())
    chosen = side if any((entry / side).is_dir() for entry in entries) else other
    for entry in entries:
        if entry.is_dir():
            direct = any((entry / f"{name}.json").is_file() for name in _FILES)
            inside = [name for name in (side, other) if (entry / name).is_dir()]
            topic: str | None = entry.name if direct or inside else None
            place = entry / chosen if (entry / chosen).is_dir() else entry
        else:
            topic = _topic(entry.stem, topics) if entry.suffix.lower() in _SUFFIXES else None
            direct, place = True, entry
        if topic is None or (topics and topic not in topics):
            continue
        if place == entry and not direct:
            problems[topic] = f"{entry.name} has no folder {chosen!r}."
        else:
            found.setdefault(topic, place)
    order = {topic: place for place, topic in enumerate(topics)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], 0))), problems


def _topic(stem: str, topics: Sequence[str]) -> str | None:
    """Return the topic of a report, as in ``cs_02``, or of a run, ``bloom-eval-cs_02-HASH``."""
    stem = re.sub(r"-[0-9a-f]{16}$", "", stem)
    if not topics:
        return stem.removeprefix("bloom-eval-")
    named = [each for each in topics if re.search(rf"(?:^|[^a-zA-Z0-9]){re.escape(each)}$", stem)]
    return max(named, key=len, default=None)


def _released(folder: Path) -> Article:
    """Read ``content.json``; its list of references is its own, or else ``reference.json``."""
    path = folder / "content.json"
    content = _json(path)
    pieces = content if isinstance(content, list) else [content]
    if not pieces or not all(isinstance(piece, str) for piece in pieces):
        raise DataError(f"{_name(path)} has no text: {clip(content, 60)}.")
    text = "\n\n".join(pieces)
    records = _records(folder)
    report = read_report(text)
    keys = find_records(report.references, records)
    if records and not keys:
        heading = f"{text}\n\n# References\n\n"
        numbered, named = (
            read_report(heading + "\n\n".join(_entry(record, way) for record in records))
            for way in (True, False)
        )
        report = max(
            (numbered, named), key=lambda each: sum(bool(entry.text) for entry in each.cited)
        )
        if report is numbered:
            keys = {place: record["number"] for place, record in enumerate(records)}
        else:
            keys = find_records(report.references, records)
    return _with_records(article_of(report, text), folder, records, keys)


def _with_pages(article: Article, folder: Path) -> Article:
    """Add what the released code reads for the citations, if there is a whole article."""
    paths = [folder / f"{name}_article.json" for name in ("expert", "llm")]
    whole = next((_json(path) for path in paths if path.is_file()), None)
    match whole:
        case {"context": Mapping() as context, "reference": list(entries)}:
            body = "\n".join(map(str, context.values()))
            return article._replace(body=body, entries=tuple(map(str, entries)))
    return article


def _experts(folder: Path) -> Article:
    """Read ``expert_article.json``: the article as it was recognised from its pages."""
    path = folder / "expert_article.json"
    article, records = _json(path), _records(folder)
    article = article if isinstance(article, Mapping) else {}
    title, abstract = (_text(article.get(key)) for key in ("title", "abstract"))
    context, listed = article.get("context"), article.get("reference")
    if not title or not isinstance(context, Mapping):
        raise DataError(f"{_name(path)} has no title or no context.")
    entries = listed if isinstance(listed, list) else [_entry(record, True) for record in records]
    citations = find_citations(records, entries, context, repaired=True)
    report = article_report(title, abstract, citations)
    keys = find_records(citations.references, records)
    pieces = [f"# {title}", *(f"## {each.heading}\n\n{each.text}" for each in report.sections)]
    made = article_of(report, "\n\n".join(pieces) + "\n")
    return _with_records(made, folder, records, keys)


def _with_records(
    article: Article, folder: Path, records: Sequence[Mapping[str, Any]], keys: Mapping[int, str]
) -> Article:
    """Add the outline of ``outline.json`` and the works of ``reference.json``, if there are any."""
    outline = _outline(folder) or article.outline
    title = article.title or next((each.text for each in outline if not each.level), "")
    works = tuple(
        Work(
            record["title"],
            record["abstract"],
            record["citations"],
            keys.get(place, ""),
            authors=tuple(record["authors"]),
            year=year_of(record["date"]),
        )
        for place, record in enumerate(records)
    )
    return article._replace(title=title, outline=outline, works=works or article.works)


def _name(path: Path) -> str:
    """Return the end of a path: topic, side and file."""
    return "/".join(path.parts[-3:])


def _json(path: Path) -> Any:
    """Return the value in a JSON file."""
    try:
        data = json.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
        # Half a character, as in "\\ud800", cannot be encoded: it is a question mark from here on.
        return json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    except FileNotFoundError:
        raise DataError(f"{_name(path)} is missing.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{_name(path)} is not JSON ({clip(str(error))}).") from None


def _outline(folder: Path) -> tuple[Heading, ...]:
    """Return the headings of ``outline.json``; none if it is missing."""
    path = folder / "outline.json"
    pairs = _json(path) if path.is_file() else []
    headings = []
    for pair in pairs if isinstance(pairs, list) else [pairs]:
        match pair:
            case [int(level), str(text)] if level in range(100) and level is not bool(level):
                headings.append(Heading(level, " ".join(text.split())))
            case _:
                raise DataError(f"{_name(path)}: {clip(pair, 60)} is not [level, heading].")
    return tuple(headings)


def _records(folder: Path) -> list[dict[str, Any]]:
    """Return number, title, authors, date, publication, abstract and citations of references."""
    path = folder / "reference.json"
    data = _json(path) if path.is_file() else []
    if not isinstance(data, list | Mapping):
        raise DataError(f"{_name(path)} has no references: {clip(data, 60)}.")
    named = (
        data.items() if isinstance(data, Mapping) else ((str(n), x) for n, x in enumerate(data, 1))
    )
    records = []
    for place, (name, value) in enumerate(named, 1):
        record = value if isinstance(value, Mapping) else {"title": value}
        number = re.search(r"\d{1,9}$", name)
        if isinstance(authors := record.get("authors"), list):
            names = [_text(each) for each in authors]
        else:
            names = re.split(r"\s*[,;]\s*", _text(authors)) if _text(authors) else []
        records.append(
            {
                "number": str(int(number[0])) if number else str(place),
                "authors": names,
                "citations": _count(record.get("citation_count")),
                "abstract": _text(record.get("abs") or record.get("abstract")),
                "title": re.sub(r"^\[?\d{1,4}[\].]\s+", "", _text(record.get("title"))),
                **{key: _text(record.get(key)) for key in ("date", "publication")},
            }
        )
    return records


def _count(value: object) -> int | None:
    """Return a number of citations, also of ``120.0`` and ``"1,234"``; None of anything else."""
    found = re.fullmatch(r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?:\.0)?", str(value).strip())
    return int(found[1].replace(",", "")) if found else None


def _text(value: object) -> str:
    text = " ".join(str(value).split()) if isinstance(value, str | int) else ""
    return "" if text.casefold() in _NOTHING else text


def _entry(record: Mapping[str, Any], numbered: bool) -> str:
    """Return ``[3] A. Ames. “On nets”. Venue, 2020.``, or ``A. Ames. 2020. “On nets”. Venue.``."""
    names, title = plain(", ".join(record["authors"])), f"“{plain(record['title'])}”"
    venue, date = record["publication"], record["date"]
    if numbered:
        pieces = [names, title, plain(", ".join(filter(None, [venue, date])))]
    else:
        pieces = [names, str(year_of(date) or ""), title, plain(venue)]
    begin = f"[{record['number']}] " if numbered else ""
    return begin + " ".join(f"{piece}." for piece in pieces if piece)
