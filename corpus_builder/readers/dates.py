"""Dates as bibliographies write them, never read as earlier than the text allows."""

from __future__ import annotations

import re
import unicodedata

from arena.dates import parse_date
from arena.errors import DataError

# English, German, French, Spanish, Portuguese, Italian, Dutch; whole words, since Finnish
# "marraskuu" is November.
_NAMES = """january januar janvier enero janeiro gennaio januari jan janv ene|february februar
fevrier febrero fevereiro febbraio februari feb fev fevr|march marz maerz mars marzo marco maart mar
mrz mrt|april avril abril aprile apr avr abr|may mai mayo maio maggio mei|june juni juin junio junho
giugno jun giu|july juli juillet julio julho luglio jul juil lug|august aout agosto augustus aug
|september septembre septiembre setembro settembre sept sep|october oktober octobre octubre outubro
ottobre oct okt ott|november novembre noviembre novembro nov|december dezember decembre diciembre
dezembro dicembre dec dez dic"""
_MONTHS = {name: at for at, names in enumerate(_NAMES.split("|"), 1) for name in names.split()}
_NAMED = re.compile(
    r"(?:(?<![\d.:])(\d{1,2})(?:st|nd|rd|th|er|o|\.(?=\s))?(?:\s+(?:of|de))?[\s./-]*)?"
    rf"(?<![a-z])({'|'.join(sorted(_MONTHS, key=len, reverse=True))})(?![a-z])"
    r"(?:[\s.-]*(?:\d{1,2}\s*-\s*)?(\d{1,2})(?:st|nd|rd|th)?(?![\d:]|\s*[a-z]{3}))?"
)
_BEFORE_WORD = re.compile(r"\.?\s*[-/]\s*([a-z]{3,})")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_COMPACT = re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)(0\d|1[0-2])(?:([0-2]\d|3[01])(?:\d{6})?)?(?!\d)")
_NUMBERS = re.compile(
    r"(?<!\d)(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?|\. ?(\d{1,2})\. ?(\d{1,2}))"
    r"(?!\d|\.\d|-\d{1,2}-|-\d{4})"
)
_DAY_FIRST = re.compile(r"(?<!\d)(?<!\d[-/.])(?:\d{1,2}[-/.])?\d{1,2}[-/.](?=\d{4}(?!\d))")
_SHORT_RANGE = re.compile(  # 2004-11/12, 2004/11-12, 2004-11-28/30, 2004-11-28/12-02
    r"(?<!\d)(\d{4})(?:-(\d\d?)(-\d\d?)?/|/(\d\d?)(/\d\d?)?-)(\d\d?)(?:[-/](\d\d?))?(?![-/]?\d)"
)
# 1998-99, and in words of terms 2010-11: the end of a range without its century.
_RANGE = re.compile(r"(?<!\d)(\d\d)(\d\d)\s*[-/]\s*(\d\d)(?!\d|[-/.]\d)")
_TERM = re.compile(r"winter|spring|summer|autumn|fall\b|season|academic|school|fiscal|\bfy|\bay")
# 1990s, 199-, 199?, 19xx: the last year of the decade or century counts.
_DECADE = re.compile(
    r"(?<!\d)(1[5-9]|20)(?:(\d)(?:0\s?'?s\b|[-?ux_](?![\w-]|\s*\d))|[-?ux_]{2}(?!\w))"
)
_NO_DATE = re.compile(
    r"(?:^|;)\s*-\d|\bb\.?\s?c(?:\.|e?\b)|[/\d]\.\.(?!\d)|\b(?:after|since|not before|post)\b"
    r"|\bfrom (?=\d{4}\s*(?:;|$))|\d{4}\s?-+\s*(?:[];)]|$)"
    r"|\d{4}(?:\s?[-/]+|\s+to|(?=\so))[\s[]*(?:open|present|now|today|current|ongoing|date|onward)"
)
_PLACES = re.compile(r"\b(?:vol|no|nr|iss|issue|number|pp?)\b")
_DASHES = str.maketrans("‐‑‒–—―−年月년월", "-" * 7 + "/" * 4)


def read_date(text: str) -> str | None:
    """Return a date as ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``, as precise as a text says it.

    Of several years or months the latest counts, of a range or decade its end, so that no paper
    is dated before it was known. ``03/05/2010`` may be of May or of March, so it says the year
    alone; what says no year of four digits, or only when a period begins, says nothing.

    >>> read_date("2010/05/03/"), read_date("May 3, 2010"), read_date("2001-02/2001-04")
    ('2010-05-03', '2010-05-03', '2001-04')
    >>> read_date("March-April 2010"), read_date("2004 [1998]"), read_date("1990s")
    ('2010-04', '2004', '1999')
    >>> read_date("20150305"), read_date("03/05/2010"), read_date("in press")
    ('2015-03-05', '2010', None)
    """
    folded = unicodedata.normalize("NFKD", text.translate(_DASHES)).casefold()
    folded = "".join(each for each in folded if not unicodedata.combining(each))
    if _NO_DATE.search(folded):
        return None
    term = _TERM.search(folded) is not None
    folded = _SHORT_RANGE.sub(_with_end, folded)
    folded = _RANGE.sub(lambda m: _end_of_range(m, term), _DECADE.sub(_last_of_decade, folded))
    folded = _COMPACT.sub(lambda m: "-".join(filter(None, m.groups())), _DAY_FIRST.sub(" ", folded))
    years = list(_YEAR.finditer(folded))
    if not years:
        return None
    year = max(years, key=lambda match: match[0])
    numbers = (m.groups() for m in _NUMBERS.finditer(folded) if m[1] == year[0])
    found = [
        (int(month or dotted), int(day or other or 0)) for _, month, day, dotted, other in numbers
    ]
    for named in _NAMED.finditer(part := _part_of(folded, year, years)):
        before, name, after = named.groups("")
        if (word := _BEFORE_WORD.match(part, named.end())) and word[1] not in _MONTHS:
            return year[0]  # the end of a range in a language that is not known
        days = [] if _PLACES.search(folded) else [int(day) for day in (before, after) if day]
        found.append((_MONTHS[name], max(days, default=0)))
    for month, day in sorted(found, reverse=True):
        for date in (f"{year[0]}-{month:02}-{day:02}", f"{year[0]}-{month:02}"):
            try:
                return str(parse_date(date)) and date
            except DataError:
                continue  # of 2010-02-30 the month is true
    return year[0]


def _last_of_decade(match: re.Match[str]) -> str:
    whole = match[2] is None or (match[2] == "0" and "s" in match[0])  # 1900s may be the century
    return f" {match[1]}99 " if whole else f" {match[1]}{match[2]}9 "


def _with_end(match: re.Match[str]) -> str:
    year, one, two = match.group(1, 6, 7)
    month, day = match[2] or match[4], match[3] or match[5]
    end = f"{one}-{two}" if two else f"{month}-{one}" if day else one
    return f"{year}-{month}{day or ''} {year}-{end}"


def _end_of_range(match: re.Match[str], term: bool) -> str:
    century, start, end = map(int, match.groups())
    if end == (start + 1) % 100 and (term or end == 0 or end > 12):
        return f" {100 * (century + (end < start)) + end} "
    return f" {century}{end:02} " if end > max(start, 12) else match[0]


def _part_of(text: str, year: re.Match[str], years: list[re.Match[str]]) -> str:
    """Return the part of a text that tells of a year: all of it if it names no other."""
    if {each[0] for each in years} == {year[0]}:
        return text
    if (month := _NAMED.search(text)) and month.start() < years[0].start():  # Nov 2009 - Jan 2010
        return text[
            max((y.end() for y in years if y.end() <= year.start()), default=0) : year.start()
        ]
    return text[
        year.end() : min((y.start() for y in years if y.start() >= year.end()), default=None)
    ]
