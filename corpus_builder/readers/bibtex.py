"""BibTeX and BibLaTeX, as reference managers and digital libraries export them.

Of bibtexparser the rules for names are used. Its parser loses what ``#`` joins, two fields without
a comma between them, and entries without a key or with a field twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from arena.kit.lazy import load
from arena.text.identifiers import normal_title
from corpus_builder.readers.base import SUFFIX, PaperFile, Record, paper, plain, reader, turned
from corpus_builder.readers.tables import authors_of

_BEGINNING = re.compile(r"\s*@\s*\w+\s*[{(]")
_ENTRY = re.compile(r"@\s*(\w+)\s*[{(]\s*(?:([^,={}\"]*),)?")
_FIELD = re.compile(r"(?:[\s,}]|%[^\n]*\n)*+([^\s=,{}\"#%()]+)\s*=\s*")  # } may be one too many
_PART = re.compile(r"[{\"]|[^\s,{}\"#()=%]+")
_MARK = re.compile(r"\\.|[{}\"]", re.DOTALL)
_JOIN = re.compile(r"\s*#\s*")
_END = re.compile(r"(?:[\s,]|%[^\n]*\n)*[})]")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_NO_WORK = {"comment", "preamble", "string", "xdata", "set", "control", "ieeetranbstctl"}
_BOOKS = {"book", "mvbook", "proceedings", "mvproceedings", "collection", "mvcollection"}
_AS_IS = {"doi", "eprint", "url", "note", "howpublished"}  # where -- and ~ are what they are
_SIGN = re.compile(r"\\text(less|greater|underscore)(?![a-z])\s?")
_MARKUP = re.compile(r"\\url\b|\\href\s*\{[^{}]*\}|[{}\\$]")
_SIGNS = {"less": "<", "greater": ">", "underscore": "_"}
_BOOK_DOI = re.compile(r"\S*\b10\.\d+/(?:isbn)?97[89][\d-]{10,14}", re.IGNORECASE)
_SEASON = re.compile(r"\b(\d{4})-2[1-4](?![-\d])")
_TWO_YEARS = re.compile(r"^\d{4}\s*[-–/]+\s*\d\d$")
_DATES = ("date", "year", "month", "day")
_FROM_BOOKS = (*_DATES, "booktitle", "journal", "journaltitle", "author")
_KEPT = {*_FROM_BOOKS, "title", "subtitle", "crossref", "xdata"}
_OTHERS = re.compile(r"(?:^|\s)(?:\{?others\}?|et\s+al\.?)[\s,]*$|\s\d{4}$", re.I)  # DBLP's 0001
_LETTER = re.compile(r"(\\[a-zA-Z]+)\{\}|(\\(?:[oOlL]|ss|[aA][aAeE]|[oO][eE]))\s(?=[a-zA-Z])")
_COMMA = re.compile(r",(?:\sand\s)?|\sand\s")
_GROUP = re.compile(r"\{[^{}]*[;&,\s]")
_SEVERAL = re.compile(r"(?:[^,=]+,){3}.+|[A-Z]\.[^,]+,.+")  # Low, A., Ray, B. - A. Low, B. Ray


class _Entry(NamedTuple):
    """An entry as written: the line of its block, its type and its fields."""

    line: int
    kind: str
    fields: dict[str, str]


@reader(
    "bibtex",
    recognises=lambda head: re.search(r"^\s*@\s*\w+\s*[{(]", head, re.MULTILINE) is not None,
)
def _read(file: PaperFile) -> Iterator[tuple[int, Record]]:
    """BibTeX and BibLaTeX."""
    macros = {name: name for name in _MONTHS.split()}
    parents: dict[str, _Entry] = {}
    children: list[_Entry] = []  # wait for their parents, which may stand behind them
    for line, _, block in file.blocks(_BEGINNING):
        at = 0
        while (begin := _ENTRY.search(block, at)) and (kind := begin[1].lower()) != "comment":
            fields: dict[str, str] = {}
            at = begin.end()
            while field := _FIELD.match(block, at):
                parts, at = _parts(block, field.end())
                values = (_value(part, macros, file, line) for part in parts)
                fields.setdefault(field[1].lower(), "".join(values))
            if not (end := _END.match(block, at)):
                if kind != "preamble":
                    file.skip("records", "a broken entry", line, block[:80])
                break
            at, entry = end.end(), _Entry(line, kind, fields)
            if kind == "string":
                macros |= fields
                continue
            small = fields if kind == "xdata" else {n: fields[n] for n in _KEPT & fields.keys()}
            parents.setdefault((begin[2] or "").strip().lower(), entry._replace(fields=small))
            if kind in _NO_WORK:
                continue
            if "crossref" in fields or "xdata" in fields:
                children.append(entry)
            elif record := file.attempt(line, partial(_record, entry, file)):
                yield line, record
    for child in children:
        child = child._replace(fields=_inherited(child, parents, file, set()))
        if record := file.attempt(child.line, partial(_record, child, file)):
            yield child.line, record


def _parts(text: str, at: int) -> tuple[list[str], int]:
    """Return the parts of the value that begins there, which ``#`` joins, and where it ends."""
    parts = []
    while part := _PART.match(text, at):
        at, depth, end = part.end(), 0, {"{": "}", '"': '"'}.get(part[0])
        for mark in _MARK.finditer(text, at) if end else ():
            at = mark.end()
            if mark[0] == end and not depth:
                break
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
        parts.append(text[part.start() : at])
        if not (join := _JOIN.match(text, at)):
            break
        at = join.end()
    return parts, at


def _value(part: str, macros: Mapping[str, str], file: PaperFile, line: int) -> str:
    """Return what a part of a field stands for."""
    if part[0] in '{"':
        return part[1:-1]
    if part.lower() not in macros and not part[0].isdigit():
        file.skip("parts", "a name that no @string defines", line, part)
    return macros.get(part.lower(), part)


def _inherited(
    entry: _Entry, parents: Mapping[str, _Entry], file: PaperFile, seen: set[str]
) -> dict[str, str]:
    """Return the fields of an entry, and what it lacks of those that it names.

    ``xdata`` gives everything, ``crossref`` the date, the authors and the title of the book.
    """
    fields = {name: text for name, text in entry.fields.items() if text.strip()}
    links = [(link, fields.get(link, "").lower()) for link in ("xdata", "crossref")]
    for link, key in ((link, key.strip()) for link, keys in links for key in keys.split(",")):
        if key and key not in parents:
            file.skip("parts", f"{link} to an entry that is not in the file", entry.line, key)
        elif key and key not in seen:
            seen.add(key)
            more = _inherited(parents[key], parents, file, seen)
            if link == "crossref":
                whole = _titled(more, "title", "subtitle")
                book = parents[key].fields.get("booktitle") or whole
                more = {name: more[name] for name in _FROM_BOOKS if name in more}
                more |= {"booktitle": book, "maintitle": whole}
            if "date" in fields or fields.get("year", more.get("year")) != more.get("year"):
                more = {name: text for name, text in more.items() if name not in _DATES}
            fields = more | fields
    return fields


def _record(entry: _Entry, file: PaperFile) -> Record | None:
    """Return the record of an entry."""
    fields = {
        name: _MARKUP.sub("", _SIGN.sub(lambda sign: _SIGNS[sign[1]], text))
        if name in _AS_IS
        else plain(text)
        for name, text in entry.fields.items()
    }
    fields["title"] = _titled(fields, "title", "subtitle")
    fields["date"] = _SEASON.sub(r"\1", re.sub(r"/\s*$", "/..", fields.get("date", "")))
    fields["year"] = _TWO_YEARS.sub(r"season \g<0>", fields.get("year", ""))
    if entry.kind in _BOOKS and not fields["title"]:
        whole, volume = _titled(fields, "maintitle", "mainsubtitle"), fields.get("volume", "")
        number = f": Volume {volume}" if volume.isalnum() else f": {volume}" * bool(volume)
        fields["title"] = whole + number if whole else fields.get("booktitle", "")
    is_part = entry.kind not in _BOOKS and fields.get("booktitle")
    if is_part and _BOOK_DOI.fullmatch(fields.get("doi", "")):
        file.skip("parts", "the DOI of the whole book", entry.line, fields.pop("doi"))
    keywords = re.split(r"\s*[,;]\s*", fields.get("keywords", ""))
    record = paper(fields, [], keywords, file, entry.line)
    people = _people(entry.fields.get("author") or entry.fields.get("editor") or "")
    return {**record, "authors": people} if record and people else record


def _titled(fields: Mapping[str, str], title: str, subtitle: str) -> str:
    """Return a title with its subtitle, unless it has it."""
    one, more = fields.get(title, "").strip(), fields.get(subtitle, "").strip()
    if not one or not more or normal_title(one).endswith(normal_title(more)):
        return one
    return f"{one}{' ' if one[-1] in ':?!.–—' else ': '}{more}"


def _people(text: str) -> list[str]:
    """Return names by BibTeX's rules, the given name first; ``others`` are nobody."""
    names = load("bibtexparser.middlewares.names", "BibTeX")
    text = _LETTER.sub(r"{\1\2}", " ".join(text.split()))
    grouped = _GROUP.search(text)
    text = text if grouped else re.sub(r"\s*;\s*|\s&\s", " and ", text)
    text = re.sub(r"^and\s|(?<=\s)and(?:(?=\s+and\s)|\s*$)", "", text)
    people = names.split_multiple_persons_names(text)
    alone = not people[1:] or (", and " in text and "," not in people[-1])
    alone = alone and text.count(",") > 1 and all(" " in x.strip() for x in _COMMA.split(text))
    if not grouped and (alone or any(_SEVERAL.fullmatch(each.strip(" ,")) for each in people)):
        people = authors_of([text])(text)  # not as BibTeX has it
    return [*filter(None, map(_person, (_OTHERS.sub("", name) for name in people), repeat(names)))]


def _person(name: str, names: Any) -> str:
    """Return a name in the order in which it is spoken."""
    if re.match(r"\s*(?:family|given|prefix|suffix)(?:-i)?\s*=", name):  # BibLaTeX's other form
        parts = dict(re.findall(r"([\w-]+)\s*=\s*([^,]*)", name))
        return plain(
            " ".join(parts[n] for n in ("given", "prefix", "family", "suffix") if n in parts)
        )
    if SUFFIX.fullmatch(name.rpartition(",")[2].strip()):  # Low, Jr. is no given name
        return plain(turned(name))
    parts = names.parse_single_name_into_parts(name, strict=False)
    return plain(" ".join([*parts.first, *parts.von, *parts.last, *parts.jr]))
