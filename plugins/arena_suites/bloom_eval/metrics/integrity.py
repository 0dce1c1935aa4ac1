"""Integrity: has the survey the parts that every survey has, and does it list what it cites?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from arena.report import ReportSection
from arena_suites.bloom_eval.article import Article, is_listed
from arena_suites.bloom_eval.base import Finding, SurveyPair, survey_metric
from arena_suites.reports import is_bibliography

_NUMBER = r"\W*(?:(?:section|chapter|part)\s+)?(?:\d+|[IVX]+(?=\W))?[\W_]*"
_ABSTRACT = re.compile(rf"{_NUMBER}(?:abstract\b|(?:executive )?summary\b)", re.IGNORECASE)
_INTRODUCTION = re.compile(rf"{_NUMBER}introduct", re.IGNORECASE)
_CONCLUSION = re.compile(r"conclu(?:sion|ding)|(?:closing|final) remarks", re.IGNORECASE)
_END = re.compile(r"summary|outlook|discussion", re.IGNORECASE)
_AFTER = re.compile(
    rf"{_NUMBER}(?:acknowledg|appendi|author|conflict|data avail|declaration|disclosure|ethic"
    r"|funding|future issues|keywords|limitations|supplement)",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"\b(?:this|our|the present) (?:review|survey|article|paper|report)\b|\bwe (?:review|survey)\b",
    re.IGNORECASE,
)
_LONG = 30


@survey_metric("dsi", tier="application")
def dsi(pair: SurveyPair) -> Finding:
    """Document Structure Integrity: share of four parts that the survey has, in [0, 1].

    Paper: equation 7, such as abstract, introduction, conclusion and references.
    Released: these four, the last or a bibliography, in the ATX headings of the Markdown text.
    Here: these four, as the reader of reports finds them.

    A heading may have a number before it. What counts:

    - abstract: the heading Abstract, or (Executive) Summary as the first one; or at least 30 words
      before the first heading;
    - introduction: a heading that begins with Introduction or Introductory; or a first section,
      behind the abstract, that speaks of the survey itself ("this review", "we survey");
    - conclusion: a heading with Conclusion, Concluding, Closing or Final remarks; or, before
      acknowledgments and the like, a last section headed Summary, Outlook or Discussion, or a last
      one, of whatever level, that speaks of the survey itself;
    - references: an entry of the bibliography, a heading of one, or a paper cited by its id.
    """
    article = pair.generated
    found = _released_parts(article.text) if pair.comparison.official else _parts(article)
    rows = [(part, heading or "missing") for part, heading in found.items()]
    return Finding({"": sum(map(bool, found.values())) / len(found)}, rows, ("part", "found"))


def _parts(article: Article) -> dict[str, str]:
    sections = [each for each in article.report.sections if not _AFTER.match(each.heading)]
    front = sections[:1] if sections and _is_abstract(sections[0]) else []
    body = sections[len(front) :]
    top = min((each.level for each in body), default=1)
    heads = [each.heading for each in body if each.level == top]
    named = [each.heading for each in sections]
    lists = [each.heading for each in article.report.sections if is_bibliography(each.heading)]
    lists += ["References"] * any(map(is_listed, article.report.references))
    return {
        "abstract": (front[0].heading or "text before the first heading") if front else "",
        "introduction": _first(_INTRODUCTION.match, named) or _speaking(body[:1]),
        "conclusion": _first(_CONCLUSION.search, named)
        or _first(_END.search, heads[1:][-1:])
        or _speaking(body[1:][-1:]),
        "references": next(iter(lists), ""),
    }


def _is_abstract(section: ReportSection) -> bool:
    if section.heading:
        return _ABSTRACT.match(section.heading) is not None
    return len(section.text.split()) >= _LONG


def _first(fits: Callable[[str], object], headings: Sequence[str]) -> str:
    return next((each for each in headings if fits(each)), "")


def _speaking(sections: Sequence[ReportSection]) -> str:
    """Return the heading of a section that speaks of the survey itself."""
    return next(
        (each.heading or "no heading" for each in sections if _SPEAKS.search(each.text)), ""
    )


@survey_metric("fmi", tier="application")
def fmi(pair: SurveyPair) -> Finding:
    """Formatting Integrity: agreement of what is cited with what is listed, in [0, 1].

    |C & R| / |C | R|: C are the keys that the statements of the generated survey cite, R the
    entries of its bibliography. None for a report whose citations are not recognised.

    Paper: equation 6.
    Released: numbers in square or round brackets, so years and equations too, ranges at most 100
        wide; author and year; of the list only the kinds that were cited. 1 for a survey that
        neither cites nor lists anything.
    Here: the citations and entries that the reader of reports knows; an id of a paper in the corpus
        needs no entry. 0 for a survey that neither cites nor lists anything.
    """
    article = pair.generated
    cited: set[Any]
    listed: set[Any]
    if pair.comparison.official:
        cited, listed = _released_ids(article)
    elif article.report.unread:
        return Finding({"": None}, reason=article.report.unread)
    else:
        cited = {key for statement in article.report.statements for key in statement.citations}
        listed = {each.key for each in article.report.references if is_listed(each)}
    both, either = cited & listed, cited | listed
    score = len(both) / len(either) if either else float(pair.comparison.official)
    rows = [
        (_shown(key), "not listed" if key in cited else "not cited")
        for key in sorted(either - both, key=_shown)
    ]
    return Finding({"": score}, rows, ("reference", "fault"))


def _shown(key: Any) -> str:
    """Return a key of the report, or an id of the released code, as text."""
    if isinstance(key, str):
        return key
    kind, name = key
    return " ".join(map(str, (kind, *name) if isinstance(name, tuple) else key))


# What the code released with Bloom-Eval counts, for `official`

Id = tuple[str, int] | tuple[str, tuple[str, str]]

_WIDEST = 100
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]*(\S.*)$", re.MULTILINE)
_PARTS = ("abstract", "introduction", "conclusion", "references|bibliography")
_LIST = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:references?|bibliography|works cited|citations|sources)\s*[:：]?"
    r"[ \t]*$(.*?)(?=^[ \t]*#{1,6}[ \t]*\S|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_LISTED = re.compile(r"^[ \t]*(?:[-*+]|\d+\.)?[ \t]*\[(\d+)\]", re.MULTILINE)
_GROUPS = (re.compile(r"\[([^\]]+)\]"), re.compile(r"\(([^)]+)\)"))
_NUMBERS = re.compile(r"[\d\s,;–—-]+")
_RANGE = re.compile(r"\s*(\d+)(?:\s*[-–—]\s*(\d+))?\s*")
_ENTRY_NUMBER = re.compile(r"\s*(?:\[(\d+)\]|(\d+)\s*[.)])\s*")
_YEAR = r"((?:19|2[0O])[0-9OIl]{2})"
_NAMED = re.compile(rf"(.+?){_YEAR}")
_LETTERS = "A-Za-zÀ-ÖØ-öø-ÿ@'-"
_BEFORE = re.compile(
    rf"\b([A-Z][.{_LETTERS}]+(?:\s+(?:et\s+al\.?|&|and)\s*[.{_LETTERS}]*)?)\s*"
    rf"\(\s*{_YEAR}[a-z]?\s*\)"
)
_DIGITS = str.maketrans("OoIl", "0011")


def _released_ids(article: Article) -> tuple[set[Id], set[Id]]:
    """Return the ids that a text cites and those that its references define.

    An id is ``("num", n)`` or ``("ay", (author, year))``. In square and in round brackets stand
    numbers alone, ranges at most 100 wide, or text and a year between semicolons; or only a year
    behind a name. An entry has the number that it begins with and the first year in it, with the
    author before that. Without entries of its own an article defines the numbers in square
    brackets that begin the lines of its list. Of these ids the kinds count that the text cites.
    """
    text = article.body or article.text
    found = _LIST.search(text)
    body = text[: found.start()] + text[found.end() :] if found else text
    groups = [group for pattern in _GROUPS for group in pattern.findall(body)]
    cited: set[Id] = {("num", number) for group in groups for number in _numbers(group)}
    pieces = (piece.strip() for group in groups for piece in group.split(";"))
    cited |= _names(*(named[0] for each in pieces if (named := _NAMED.findall(each))))
    cited |= _names(*_BEFORE.findall(body))
    defined: set[Id] = set()
    for entry in article.entries:
        if number := _ENTRY_NUMBER.match(entry):
            defined.add(("num", int(number[1] or number[2])))
        if year := re.search(_YEAR, entry):
            defined |= _names((_ENTRY_NUMBER.sub("", entry[: year.start()], count=1), year[0]))
    if found and not article.entries:
        defined = {("num", int(number)) for number in _LISTED.findall(found[1])}
    kinds = {kind for kind, _ in cited}
    return cited, {each for each in defined if each[0] in kinds or not kinds}


def _numbers(group: str) -> Iterator[int]:
    for piece in re.split(r"[,;]", group) if _NUMBERS.fullmatch(group) else ():
        if ends := _RANGE.fullmatch(piece):
            first, last = int(ends[1]), int(ends[2] or ends[1])
            yield from range(first, last + 1) if last - first <= _WIDEST else ()


def _names(*named: tuple[str, str]) -> set[Id]:
    """Return the ids of authors with years; initials may stand behind the first one's name."""
    ids: set[Id] = set()
    for authors, year in named:
        authors = re.sub(r"\bet\s*al\.?|\bothers\b", "", authors, flags=re.IGNORECASE).strip()
        first = re.split(r"[,;&]|\sand\s", authors)[0]
        words = [word for word in re.findall(rf"[{_LETTERS}]+", first) if _plain(word)]
        last = words[-1].replace("-", "") if words else ""
        if words:
            place = 0 if len(last) <= 5 and last.isupper() else -1
            ids.add(("ay", (_plain(words[place]), year.translate(_DIGITS))))
    return ids


def _plain(word: str) -> str:
    word = re.sub(r"[^a-z0-9]+", "", unicodedata.normalize("NFKD", word).lower())
    return word if word not in ("and", "others") else ""


def _released_parts(text: str) -> dict[str, str]:
    """Return the heading of each part of a Markdown text that contains its name; empty if none."""
    headings = [heading.strip() for heading in _HEADING.findall(text)]
    return {
        part: next((each for each in headings if re.search(part, each.lower())), "")
        for part in _PARTS
    }
