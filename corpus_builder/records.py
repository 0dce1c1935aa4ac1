"""Raw records of sources, checked and brought into one form."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from arena.dates import GUESSED, STAND_IN, ResolvedDate, parse_date
from arena.errors import DataError, clip, did_you_mean
from arena.report.sentences import split_sentences
from arena.tasks import PROMPT_LEVELS
from arena.text.cleaning import clean_text
from arena.text.display import replace_surrogates
from corpus_builder.release import UNKNOWN_DAY, RecordLimits
from corpus_builder.release.values import MAX_ID, identifier

_JOINED = {"arxiv_id", "doi", "externalids", "externalIds"}  # what a join looks papers up by
PAPER_KEYS = {"id", "title", "abstract", "date", "date_guessed", "date_stands_in", "sections",
              "references", "is_survey", "is_survey_title", "fields", "venue", "authors",
              *_JOINED}  # fmt: skip
"""Keys that a paper may have."""
SURVEY_KEYS = {*PAPER_KEYS, "influential", "n_references_total", "mind_map", "taxonomy", "prompt",
               "prompts", "outline", "article", "domain", "listed_titles", "cluster",
               "survey_citations", "figure", "caption"}  # fmt: skip
"""Keys that a survey may have; those of a paper, and what published data sets add, say nothing."""
_MEANT = {
    "abstract": ("summary", "description"),
    "authors": ("creators", "author"),
    "date": ("year", "published", "publication_date", "published_date", "publicationdate"),
    "fields": ("categories", "subjects", "topics", "keywords", "disciplines"),
    "id": ("paper_id", "corpusid", "corpus_id", "identifier"),
    "mind_map": ("typology", "tree", "outline"),
    "references": ("refs", "citations", "cited", "bibliography", "cites"),
    "sections": ("text", "full_text", "fulltext", "body", "content"),
    "title": ("name", "heading"),
    "venue": ("journal", "conference", "booktitle"),
}


def nearest_key(key: str, known: Collection[str]) -> str | None:
    """Return the known key that a writer of `key` most likely means, or None.

    >>> nearest_key("summary", PAPER_KEYS), nearest_key("Abstracts", PAPER_KEYS)
    ('abstract', 'abstract')
    """
    name = key.lower()
    for meant, others in _MEANT.items():
        if meant in known and (name == meant or name in others):
            return meant
    # Of short names as of most others, what is less alike is about something else.
    near = get_close_matches(name, sorted(each for each in known if len(each) > 3), 1, 0.8)
    return next(iter(near), None)


class CitedId(NamedTuple):
    """A cited id, and whether the citation is influential."""

    id: str
    influential: bool


class PaperRecord(NamedTuple):
    """A checked paper."""

    id: str
    title: str
    abstract: str
    date: ResolvedDate | None
    is_survey: bool
    venue: str | None
    authors: list[str]
    fields: list[str]
    sections: list[tuple[str, str]]
    references: list[CitedId]


class SurveyRecord(NamedTuple):
    """A checked survey: a topic, its date, what an agent is asked, and the labels.

    Attributes:
        mind_map: JSON text, as is `outline`.
        prompts: Level of `arena.tasks.PROMPT_LEVELS` -> text, in that order.
        article: The survey's own text as Markdown that cites papers of the corpus as ``[@id]``.
        listed_titles: Titles of references, whether they have an id or not; prompts must not
            contain one.
        cluster: What it shares with the surveys that depend on it in tests; None if nothing.
        survey_citations: How often the survey itself was cited when the source was made.
        figure: File name of the figure that `mind_map` was read from; `caption` is its caption.
    """

    id: str
    title: str
    date: ResolvedDate
    references: list[CitedId]
    n_references_total: int
    mind_map: str | None
    prompts: dict[str, str]
    domain: str | None
    outline: str | None
    article: str | None
    listed_titles: list[str]
    cluster: str | None
    survey_citations: int | None
    figure: str | None
    caption: str | None


_LONGEST_PARAGRAPH = 900  # characters


def level_of(prompt: str) -> str:
    r"""Return the level of a prompt whose source names none.

    One sentence is ``sentence``; several in one line of at most 900 characters are ``paragraph``;
    more, or several lines, are ``detailed``. So do the three examples of ReportBench (A.3).

    >>> level_of("Survey reefs."), level_of("Survey reefs. Cite all."), level_of("Survey:\n1. X")
    ('sentence', 'paragraph', 'detailed')
    """
    text = prompt.strip()
    if "\n" in text or len(text) > _LONGEST_PARAGRAPH:
        return "detailed"
    return "paragraph" if len(split_sentences(text)) > 1 else "sentence"


def parse_paper(raw: object) -> PaperRecord:
    """Check one paper.

    Keys: ``id, title, abstract?, date?, date_guessed?, date_stands_in?, sections? [{heading,
    text}], references? [id or {id, influential}], is_survey? (or is_survey_title), fields?, venue?,
    authors?``; others are ignored, and null counts as absent.
    """
    record = _object(raw, "a paper")
    return PaperRecord(
        id=_check_id(record.get("id")),
        title=_title(record),
        abstract=_text(record, "abstract") or "",
        date=_date(record),
        is_survey=_flag(record, "is_survey") or _flag(record, "is_survey_title"),
        venue=_text(record, "venue"),
        authors=_names(record, "authors"),
        fields=_names(record, "fields"),
        sections=_sections(record),
        references=_references(record),
    )


def parse_survey(raw: object) -> SurveyRecord:
    """Check one survey.

    Keys: ``id, title, date, date_guessed?, references [id or {id, influential}], influential?
    [ids], n_references_total?, mind_map? (or taxonomy), prompts? {level: text} or prompt?,
    domain?, outline?, article?, listed_titles? [strings], cluster?, survey_citations? (or
    citation_count, citationcount, cited_by_count), figure?, caption?``; others are ignored.
    """
    record = _object(raw, "a survey")
    date = _date(record)
    if date is None:
        raise DataError("a survey needs a date: it is the cutoff of its task.")
    references = _references(record)
    influential = {_check_id(value) for value in _list(record, "influential")}
    references = [CitedId(r.id, r.influential or r.id in influential) for r in references]
    distinct = len({r.id for r in references})
    mind_map = record.get("mind_map")
    return SurveyRecord(
        id=_check_id(record.get("id")),
        title=_title(record),
        date=date,
        references=references,
        n_references_total=max(_number(record, "n_references_total") or 0, distinct),
        mind_map=_json(record.get("taxonomy") if mind_map is None else mind_map),
        prompts=_prompts(record),
        domain=_text(record, "domain") or None,
        outline=_json(record.get("outline")),
        article=_text(record, "article") or None,
        listed_titles=_names(record, "listed_titles"),
        cluster=_text(record, "cluster") or None,
        survey_citations=times_cited(record),
        figure=_text(record, "figure") or None,
        caption=_text(record, "caption") or None,
    )


def times_cited(record: Mapping[str, Any]) -> int | None:
    """Return how often a paper was cited, by any name that catalogues have; None if unknown."""
    own = _number(record, "survey_citations")
    named = map(record.get, ("citation_count", "citationcount", "cited_by_count"))
    known = (n for n in (own, *named) if type(n) is int and 0 <= n < 2**63)
    return next(known, None)


def _prompts(record: Mapping[str, Any]) -> dict[str, str]:
    given = _typed(record, "prompts", Mapping, "an object {level: text}") or {}
    for level in given:
        if level not in PROMPT_LEVELS:
            raise DataError(f"prompts: no level {clip(level)}.{did_you_mean(level, PROMPT_LEVELS)}")
    prompts = {level: _text(given, level) for level in PROMPT_LEVELS if given.get(level)}
    if not given and (prompt := _text(record, "prompt")):
        prompts = {level_of(prompt): prompt}
    return {level: text.strip() for level, text in prompts.items() if text and text.strip()}


def _object(raw: object, what: str) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise DataError(f"{clip(raw)} is not a JSON object, so it is not {what}. Write {{...}}.")
    return raw


def _json(value: object) -> str | None:
    if value is None:
        return None
    # Not sorted: in some forms of a mind-map the order of keys is that of the headings.
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(
        json.loads(replace_surrogates(text))
    )  # ASCII, and no lone surrogate behind an escape


def _check_id(value: object) -> str:
    if isinstance(value, str) and (known := identifier(str(value))) is not None:
        return known
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**100:
        return str(value)  # Semantic Scholar's corpus ids are numbers
    if not isinstance(value, str) or not value:
        raise DataError(f"id={clip(value)}: every record needs an id, a string or an integer.")
    raise DataError(
        f"id={clip(value)}: an id has at most {MAX_ID} printable characters and no white "
        "space, because TREC files could not carry it."
    )


def _title(record: Mapping[str, Any]) -> str:
    title = record.get("title")
    if not isinstance(title, str) or not clean_text(title).strip():
        raise DataError(f"title={clip(title)}: every record needs a title, a string.")
    return " ".join(replace_surrogates(title).split())


PLACEHOLDER = "placeholder"
"""Staged as the precision of a paper whose date is one."""


def publication_date(value: object) -> ResolvedDate | None:
    """Return a date as `parse_date` does; None of a placeholder: before 1600, or `UNKNOWN_DAY`."""
    date = parse_date(value)
    return None if str(date) < str(RecordLimits().first_year) or str(date) == UNKNOWN_DAY else date


def version_day(versions: Any) -> str | None:
    """Return the day of the first version, ``YYYY-MM-DD``; None if unreadable."""
    given = [each for each in versions or () if isinstance(each, Mapping)]
    chosen = [each for each in given if each.get("version") == "v1"]
    try:
        return parsedate_to_datetime(chosen[0]["created"]).date().isoformat()
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def _date(record: Mapping[str, Any]) -> ResolvedDate | None:
    if record.get("date") is None:
        return None
    try:
        date = publication_date(record["date"])
    except DataError as error:
        raise DataError(f"date: {error}") from None
    for key, precision in ("date_stands_in", STAND_IN), ("date_guessed", GUESSED):
        if date and _flag(record, key):
            return date._replace(precision=precision)
    return date


def _typed(record: Mapping[str, Any], key: str, kind: type, what: str) -> Any:
    value = record.get(key)
    if not isinstance(value, kind | None):
        raise DataError(f"{key}={clip(value)}: expected {what} or null.")
    return value


def _text(record: Mapping[str, Any], key: str) -> str | None:
    value = _typed(record, key, str, "a string")
    return None if value is None else replace_surrogates(value)


def _number(record: Mapping[str, Any], key: str) -> int | None:
    value = record.get(key)
    if value is None or (type(value) is int and 0 <= value < 2**63):
        return value
    raise DataError(f"{key}={clip(value)}: give an integer >= 0 (and < 2**63).")


def _flag(record: Mapping[str, Any], key: str) -> bool:
    return bool(_typed(record, key, bool, "true, false"))


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    return _typed(record, key, list, "a list") or []


def _names(record: Mapping[str, Any], key: str) -> list[str]:
    names = []
    for value in _list(record, key):
        name = value.get("name") if isinstance(value, Mapping) else value
        if not isinstance(name, str):
            raise DataError(f"{key} contains {clip(value)}: expected strings.")
        names.append(replace_surrogates(name))
    return names


def _sections(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    sections = []
    for value in _list(record, "sections"):
        section = _object(value, "a section {heading, text}")
        heading, text = _text(section, "heading") or "", _text(section, "text") or ""
        if heading or text:
            sections.append((" ".join(heading.split()), text))
    return sections


def _references(record: Mapping[str, Any]) -> list[CitedId]:
    references = []
    for value in _list(record, "references"):
        if isinstance(value, dict):  # not Mapping, whose test is slow: a paper cites dozens
            references.append(CitedId(_check_id(value.get("id")), _flag(value, "influential")))
        else:
            references.append(CitedId(_check_id(value), False))
    return references
