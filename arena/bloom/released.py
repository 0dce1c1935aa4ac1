"""What the code released with Bloom-Eval counts, for `Tools.official`.

It was compared with that code on the experts' articles; the documentation has the figures.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from arena.bloom.article import Article, Heading

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


def formatting(article: Article) -> tuple[set[Id], set[Id]]:
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


def structure(text: str) -> dict[str, str]:
    """Return the heading of each part of a Markdown text that contains its name; empty if none."""
    headings = [heading.strip() for heading in _HEADING.findall(text)]
    return {
        part: next((each for each in headings if re.search(part, each.lower())), "")
        for part in _PARTS
    }


def headings(article: Article) -> list[Heading]:
    """Return all headings, the title with them, without leading numbers such as ``3.1``."""
    number = re.compile(r"^\d+(?:\.\d+)*\s*")
    return [Heading(each.level, number.sub("", each.text)) for each in article.outline]
