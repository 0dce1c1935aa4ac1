"""Real records written in many styles of lists, so that what a reader must find is known."""

from __future__ import annotations

import gzip
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.report import Report
from arena.text.identifiers import normal_title


class Record(NamedTuple):
    """A work; people are (first names, surname)."""

    people: tuple[tuple[str, str], ...]
    title: str
    year: str
    venue: str
    pages: str
    doi: str
    arxiv: str = ""


_SIGNS = dict(zip("\"'`v^~c", "\u0308\u0301\u0300\u030c\u0302\u0303\u0327", strict=True))
_ACCENT = re.compile(r"\\([\"'`v^~c])\{\\?(\w)\}")


def records(folder: Path, number: int = 120, seed: int = 7) -> list[Record]:
    """Return so many works of each bibliography; no two have one title, or first author and year.

    The arXiv ids are made up.
    """
    chosen = random.Random(seed)
    found: dict[str, Record] = {}
    names: set[object] = set()
    for path in sorted(folder.glob("*.bib*")):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        usable = [each for each in map(_record, text.split("\n@")) if each]
        for each in chosen.sample(usable, min(number, len(usable))):
            name = each.people[0][1], each.year
            if not names & {name, fields(each)["alpha"]}:
                names |= {name, fields(each)["alpha"]}
                found.setdefault(normal_title(each.title), each)
    return [each._replace(arxiv=f"2001.{10_000 + n}") for n, each in enumerate(found.values())]


def _record(entry: str) -> Record | None:
    entry = unicodedata.normalize("NFC", _ACCENT.sub(lambda m: m[2] + _SIGNS[m[1]], entry))
    given = dict(re.findall(r"^(\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    names = [name.split(", ") for name in given.get("author", "").split(" and ")]
    title, year = given.get("title", ""), given.get("year", "")
    odd = re.compile(r"[a-z]|.?$|.*[.]")  # nobody's surname, or not whole
    if any(len(name) != 2 or odd.match(name[0]) for name in names) or not year:
        return None
    if re.search(r"[\\{}$]|^\W|\.  ", title) or "\\" in given["author"]:
        return None
    people = tuple((first, last) for last, first in names)
    venue = given.get("journal") or "Proceedings of the Conference"
    return Record(people, title, year, venue.rstrip("."), given.get("pages", "1–9"), given["doi"])


def _initials(first: str, dot: str = ".", between: str = " ") -> str:
    parts = [word for word in re.split(r"[ .]+", first) if word]
    return between.join("-".join(f"{p[0]}{dot}" for p in word.split("-") if p) for word in parts)


def _and(names: Sequence[str], last: str = " and ", comma: str = ", ") -> str:
    if len(names) > 2:
        return f"{comma.join(names[:-1])}{comma.strip()}{last}{names[-1]}"
    return last.join(names)


def fields(r: Record) -> dict[str, str]:
    """Return what a template of a style may contain."""
    whole = [f"{first} {last}" for first, last in r.people]
    short = [f"{_initials(first)} {last}" for first, last in r.people]
    turned = [f"{last}, {_initials(first)}" for first, last in r.people]
    medical = [f"{last} {_initials(first, '', '')}" for first, last in r.people]
    names = [last for _, last in r.people]
    few = ", ".join(medical[:3]) + ", et al" * (len(medical) > 3)
    first = f"{names[0]}, {r.people[0][0]}"
    lettered = "".join(n[0] for n in names[:3]) if len(names) > 1 else names[0][:3]
    return r._asdict() | {
        "ended": r.title if r.title[-1] in "?!." else f"{r.title}.",
        "whole": _and(whole),
        "short": _and(short),
        "tied": _and(short).replace(" ", "~"),
        "turned": _and(turned, " & "),
        "commas": ", ".join(turned),
        "turned_and": _and(turned),
        "semicolons": _and(turned, " and ", "; "),
        "one": f"{turned[0]} et al." if len(names) > 1 else turned[0],
        "medical": ", ".join(medical),
        "few": few,
        "FEW": few.upper().replace("ET AL", "et al"),
        "first": first + ", et al" * (len(names) > 1),
        "chicago": first + f", {_and(['', *whole[1:]])}"[2:] if len(names) > 1 else first,
        "bibtex": " and ".join(f"{last}, {given}" for given, last in r.people),
        "key": f"{names[0]} et al." if len(names) > 2 else " and ".join(names),
        "alpha": lettered + r.year[2:],
    }


class Style(NamedTuple):
    """How a list is written: templates of an entry and of a mark, and what parts entries.

    Attributes:
        ids: The kind of identifier that an entry names.
    """

    entry: str
    mark: str = "[{n}]"
    between: str = "\n\n"
    ids: str = ""


_NAMED = "({key}, {year})"
STYLES = {
    "IEEE": Style("[{n}] {short}, “{title},” {venue}, pp. {pages}, {year}, doi: {doi}.", ids="doi"),
    "IEEE, one paragraph": Style("[{n}] {short}, “{title},” {venue}, {year}.", between=" "),
    "IEEE, books": Style("[{n}] {short}, {title}. Springer, {year}."),
    "ACM": Style(
        "[{n}] {whole}. {year}. {ended} In {venue}, {pages}. https://doi.org/{doi}", ids="doi"
    ),
    "plain": Style("[{n}] {whole}. {ended} {venue}, {pages}, {year}."),
    "plain, initials": Style("[{n}] {short}. {ended} In {venue}, pp. {pages}, {year}."),
    "LNCS": Style("{n}. {commas}: {ended} CoRR abs/{arxiv} ({year})", ids="arxiv"),
    "LNCS, one paragraph": Style("{n}. {commas}: {ended} In: {venue} ({year}).", between=" "),
    "Vancouver": Style(
        "{n}. {medical}. {ended} {venue}. {year};5(2):{pages}. doi:{doi}", ids="doi"
    ),
    "Vancouver, proceedings": Style("[{n}] {few}. {ended} In: {venue}; {year}. p. {pages}."),
    "GB/T 7714": Style("[{n}] {FEW}. {title}[J]. {venue}, {year}, 5(2): {pages}."),
    "GB/T 7714, proceedings": Style("[{n}] {few}. {title}[C]//{venue}. {year}: {pages}."),
    "Nature": Style("{n}. {turned} {ended} {venue} 5, {pages} ({year})."),
    "Nature, et al.": Style("{n}. {one} {ended} {venue} 5, {pages} ({year})."),
    "MLA": Style("[{n}] {first}. “{ended}” {venue}, {year}, pp. {pages}."),
    "APA, numbered": Style(
        "[{n}] {turned} ({year}). {ended} {venue}, 5(2). https://doi.org/{doi}", ids="doi"
    ),
    "APA": Style("{turned} ({year}). {ended} {venue}. https://doi.org/{doi}", _NAMED, ids="doi"),
    "APA, one line each": Style("{turned} ({year}). {ended} {venue}", _NAMED, "\n"),
    "APA, one paragraph": Style("{turned} ({year}). {ended} {venue}.", _NAMED, " "),
    "ACL": Style("{whole}. {year}. {ended} In {venue}, pages {pages}.", _NAMED),
    "ACL, one paragraph": Style("{whole}. {year}. {ended} In {venue}.", _NAMED, " "),
    "plainnat": Style("{whole}. {ended} {venue}, {pages}, {year}.", _NAMED),
    "Elsevier": Style("{commas}, {year}. {ended} {venue} 5. doi:{doi}.", _NAMED, ids="doi"),
    "Harvard": Style("{turned_and} ({year}) ‘{title}’, {venue}, 5(2), pp. {pages}.", _NAMED),
    "Chicago": Style("{chicago}. {year}. “{ended}” {venue} 5 (2): {pages}.", _NAMED),
    "AAAI": Style("{semicolons} {year}. {ended} In {venue}, {pages}.", _NAMED),
    "AAAI, labelled": Style(
        "[{key} {year}] {semicolons} {year}. {ended} In {venue}.", "[{key} {year}]"
    ),
    "IJCAI, labelled": Style(
        "[{key}, {year}] {whole}. {ended} In {venue}, {year}.", "[{key}, {year}]"
    ),
    "alpha": Style("[{alpha}] {whole}. {ended} {venue}, {pages}, {year}.", "[{alpha}]"),
    "title and address": Style(
        "[{n}] {title} https://arxiv.org/abs/{arxiv}v2", between="\n", ids="arxiv"
    ),
    "numbers in round brackets": Style("{n}. {turned} {ended} {venue} {year}, 5.", "({n})", "\n"),
}
"""Ways of writing a list, by name."""


def report(style: Style, works: Iterable[Record]) -> str:
    """Return a report that cites works one after another, a sentence each."""
    each = [fields(work) | {"n": str(n)} for n, work in enumerate(works, 1)]
    said = "\n".join(f"This is what is said {style.mark.format(**one)}." for one in each)
    listed = style.between.join(style.entry.format(**one) for one in each)
    if "\\bibitem" in listed:
        listed = f"\\begin{{thebibliography}}{{99}}\n{listed}\n\\end{{thebibliography}}"
    return f"# A survey\n\n## One\n\n{said}\n\n## References\n\n{listed}\n"


class Measured(NamedTuple):
    """Precision and recall of titles; shares of identifiers found and of marks resolved."""

    precision: float
    recall: float
    ids: float
    marks: float


def measure(read: Callable[[str], Report], style: Style, works: Sequence[Record]) -> Measured:
    """Compare what a reader finds in a list of works with what is there."""
    found = read(report(style, works))
    entries = [each for each in found.references if each.text]
    wanted = {normal_title(work.title): work._asdict() for work in works}
    right = {title: e for e in entries if (title := normal_title(e.title)) in wanted}
    ids = sum(
        not style.ids or f"{style.ids}:{wanted[title][style.ids]}".lower() in entry.ids
        for title, entry in right.items()
    )
    titles = {each.key: normal_title(each.title) for each in found.references}
    cited = [[titles[key] for key in statement.citations] for statement in found.statements]
    marks = sum([title] == of for title, of in zip(wanted, cited, strict=False))
    n = len(works)
    return Measured(len(right) / max(len(entries), 1), len(right) / n, ids / n, marks / n)
