"""Articles whose text was recognised from pages: their citations, and the articles as reports."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arena.report.marks import find_marks
from arena.report.model import (
    BREAK,
    HIDDEN,
    MATH,
    Inline,
    Mark,
    Reference,
    Report,
    ReportSection,
    TextBlock,
    unaccented,
)
from arena.report.sentences import Draft, add_statements, as_statements
from arena.text.identifiers import normal_title
from arena_suites.reports import read_bibliography
from arena_suites.reports.marks import STYLES, as_cited

_STYLES = {name: STYLES[name] for name in ("numbers", "author-year")}
_ALIKE = 0.85
_ET_AL = re.compile(r"\bet\s?al\b")
_YEAR = re.compile(r"\b[12][\dOoIil]{3}(?=[a-z]?\b)")
_DIGITS = str.maketrans("OoIil", "00111")
_NUMBERS = r"\d{1,3}(?:\s?(?:,|[-–]|and)\s?\d{1,3})*"
_FORMULA = re.compile(r"\$\s?\(\s*(\d[\d\s,–-]*)\)\s?\$")
_NAMED = re.compile(rf"(References?)\s?({_NUMBERS})\b")
_BEHIND = re.compile(r"(?<=[^\d\s])([;,])\s?(\d{1,3}(?:\s?[,–-]\s?\d{1,3})*)(?=\))")
_LIST = re.compile("references|bibliography|literaturecited")
_NUMBER = re.compile(r"^\s*(\d{1,3})\.\s*(?=[^\W\d])")
_STUCK = re.compile(r"(?<=[,.])(?=[A-Z]|and\b|(?:19|20)\d\d[a-z]?\.)")
_ZEROS = re.compile(r"(?<!\w)\d++[Oo][\dOo]*+(?=[a-z]?\b)")
_INITIALS = re.compile(r"\s+[A-Z]{1,4}(?:-[A-Z])?\.?$")


class Citations(NamedTuple):
    """The citations of an article.

    Attributes:
        sections: Heading, text and marks of each section, in order.
        places: Key of an entry of the article's list -> place of its record in the data set.
        numbered: Whether all its marks are numbers in square brackets.
    """

    sections: list[tuple[str, str, list[Mark]]]
    places: dict[str, int]
    numbered: bool
    references: tuple[Reference, ...]
    styles: tuple[str, ...]


def year_of(date: object) -> int | None:
    """Return the year that a record names; None if it is none."""
    text = str(date)
    return int(text) if len(text) == 4 and text.isdecimal() and int(text) >= 1000 else None


def find_citations(
    records: Sequence[Mapping[str, Any]],
    bibliography: Sequence[Any],
    sections: Mapping[str, Any],
    repaired: bool = False,
) -> Citations:
    """Find the marks of an article, numbers or authors with years, through `arena.report`.

    A mark means an entry of the article's own list, not the record at that place of the data set:
    in one Bloom-Eval article (cs_08) the two orders part at 48 of 122. An entry is the record whose
    title it contains; if there is none, the only one left whose first author and year it contains.

    Args:
        records: ``title``, ``authors`` and ``date`` of each reference.
        bibliography: Entries of the article's list, such as ``[3] A. Author, "A title", 2020``.
        sections: Text of each section, by heading.
        repaired: Repair what recognition breaks in marks (``etal.2O18``, ``202la``) and in the list
            (an entry in two pieces), read ``Reference 24`` and ``(see also; 26)`` as marks where
            numbers stand in round brackets, and explain a name that is spelt a little otherwise.
    """
    names = [_Name.from_record(record) for record in records]
    listed_as = [entry for entry in bibliography if isinstance(entry, str)]
    if repaired:
        rounded = any(_NUMBER.match(entry) for entry in listed_as[:3])
        listed_as = listed_as if rounded else _whole(listed_as)
        sections = {
            heading: _repaired_text(text, rounded) if isinstance(text, str) else ""
            for heading, text in sections.items()
        }
    entries = [_repaired_entry(entry, names) for entry in listed_as]
    blocks = [
        TextBlock(0, n, n + 1, "", False, Inline(text, text)) for n, text in enumerate(entries)
    ]
    listed = read_bibliography(blocks)
    texts = {
        heading: _zeros(text.strip()) if isinstance(text, str) else ""
        for heading, text in sections.items()
    }
    lines = [
        Inline(text, MATH.sub(lambda match: HIDDEN * len(match[0]), unaccented(text)))
        for text in texts.values()
    ]
    listed = as_cited(listed, lines)
    used: set[str] = set()
    marks = [find_marks(line, listed, _STYLES, used) for line in lines]
    if repaired:
        marks = [[_explained(mark, listed.references) for mark in of] for of in marks]
    return Citations(
        [(*section, of) for section, of in zip(texts.items(), marks, strict=True)],
        _places(listed.references, names),
        not (listed.authors or listed.bare or listed.rounded) and any(marks),
        listed.references,
        tuple(sorted(used)),
    )


def find_records(
    references: Sequence[Reference], records: Sequence[Mapping[str, Any]]
) -> dict[int, str]:
    """Return the key of the first entry of each record, by the record's place.

    An entry has the record that `find_citations` finds.
    """
    places = _places(references, [_Name.from_record(record) for record in records])
    return {place: key for key, place in reversed(places.items())}


def article_report(title: str, abstract: str, citations: Citations) -> Report:
    """Return a recognised article as a report; where its list of references begins, a text ends."""
    first = citations.references[0].text if citations.references else ""
    letters = r"\s*".join(map(re.escape, re.sub(r"\s", "", first)[:12]))
    begin = re.compile(rf"(?<!\S)(?:1\s*[.．]\s*)?{letters}") if letters else None
    sections: list[ReportSection] = []
    drafts: list[Draft] = []
    for heading, text, marks in (("Abstract", abstract, []), *citations.sections):
        name = re.sub(r"[\W\d]", "", heading).casefold()  # recognition breaks blanks
        if (not text and heading == "Abstract") or _LIST.fullmatch(name):
            continue
        found = begin and begin.search(text)
        text = text[: found.start()].rstrip() if found else text
        # A sentence ends where a paragraph does.
        line = text.replace("\n\n", f"{BREAK}\n")
        kept = [mark for mark in marks if mark.end <= len(text)]
        add_statements(drafts, Inline(line, line), kept, len(sections))
        number = re.match(r"\d+(?:\.\d+)*", heading)
        level = 1 + (number[0].count(".") if number else 0)
        sections.append(ReportSection(heading, level, text))
    references = {each.key: each for each in citations.references}
    for _, _, marks in citations.sections:
        for reference in (each for mark in marks for each in mark.references):
            references.setdefault(reference.key, reference)
    return Report(
        title, tuple(sections), as_statements(drafts), tuple(references.values()), citations.styles
    )


class _Name(NamedTuple):
    """Title, first author and year of a record, as keys; and its authors."""

    title: str
    author: str
    year: str
    authors: str

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> _Name:
        authors = [str(author) for author in record.get("authors") or ()]
        first = _INITIALS.sub("", authors[0]).split()[-1:] if authors else []
        year = str(year_of(record.get("date")) or "")
        return cls(
            normal_title(record["title"]), normal_title(*first or [""]), year, ", ".join(authors)
        )


def _repaired_entry(entry: str, names: Sequence[_Name]) -> str:
    """Return a recognised entry with its number in brackets, and the authors or year it lacks."""
    entry = _zeros(unicodedata.normalize("NFKC", entry)).rstrip(" .") + "."
    entry = _STUCK.sub(" ", _NUMBER.sub(r"[\1] ", entry))
    if not re.match(r"\D.*(?:19|20)\d\d", entry) and (place := _by_title(entry, names)) is not None:
        name = names[place]
        return f"{name.authors}. {entry}" if entry[0].isdigit() else f"{entry} {name.year}."
    return entry


def _zeros(text: str) -> str:
    """Return a recognised text with zeros for the letter O in numbers, as in 2O22."""
    return _ZEROS.sub(lambda match: re.sub("[Oo]", "0", match[0]), text)


def _repaired_text(text: str, rounded: bool) -> str:
    text = _YEAR.sub(lambda match: match[0].translate(_DIGITS), _ET_AL.sub("et al", text))
    text = re.sub(r"&(?=\w)", "& ", text)
    if rounded:
        text = _FORMULA.sub(lambda match: f"({match[1]})", text)
        text = _NAMED.sub(lambda match: f"{match[1]} ({match[2].replace('and', ',')})", text)
        text = _BEHIND.sub(lambda match: f"{match[1]} ({match[2]})", text)
    return text


def _whole(entries: Sequence[str]) -> list[str]:
    """Return entries of which each has a year; one without is the beginning of the next."""
    whole = [""]
    for entry in entries:
        whole[-1] = f"{whole[-1]} {entry}".strip()
        whole += [""] if re.search(r"(?:19|20)\d\d", _zeros(entry)) else []
    return [entry for entry in whole if entry]


def _explained(mark: Mark, entries: Sequence[Reference]) -> Mark:
    """Return a mark with the entry of the same year whose first name is all but the same."""
    found = []
    for reference in mark.references:
        name, _, year = reference.key.partition(" ")
        if not reference.text and year:
            alike = {
                unaccented(each.key.split()[0]): each for each in entries if each.key.endswith(year)
            }
            close = difflib.get_close_matches(unaccented(name), alike, 1, _ALIKE)
            reference = alike[close[0]] if close else reference
        found.append(reference)
    return mark._replace(references=tuple(dict.fromkeys(found)))


def _places(entries: Sequence[Reference], names: Sequence[_Name]) -> dict[str, int]:
    """Return the place of the record of each entry, by key."""
    found = {
        entry.key: place for entry in entries if (place := _by_title(entry.text, names)) is not None
    }
    used = set(found.values())
    for entry in entries:
        if entry.key not in found:
            key = normal_title(entry.text)
            alike = [
                place
                for place, name in enumerate(names)
                if place not in used and name.author and name.author in key
                and name.year and name.year in key
            ]  # fmt: skip
            at_its_place = [place for place in alike if entry.key == str(place + 1)]
            if len(alike) == 1 or at_its_place:
                found[entry.key] = (at_its_place or alike)[0]
    return found


def _by_title(entry: str, names: Sequence[_Name]) -> int | None:
    """Return the place of the longest title that an entry contains."""
    key = normal_title(entry)
    found = [place for place, name in enumerate(names) if name.title and name.title in key]
    return max(found, key=lambda place: len(names[place].title), default=None)
