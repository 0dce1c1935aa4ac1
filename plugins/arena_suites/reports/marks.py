"""Marks of citation other than ``[@id]``: footnotes, addresses, numbers, or author and year.

Exports of deep-research products leave superscripts and bare numbers behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import arena.counted as re
from arena.report.marks import Style, pandoc
from arena.report.model import Bibliography, Inline, Mark, Reference, unaccented
from arena_suites.reports.addresses import address_ids, addresses_in, bare_ids

# By address, ``arXiv:2010.11929``, ``doi:10.1000/x``, a footnote ``[^1]`` or a label

_NO_WORDS = re.compile(
    r"https?://\S+|(?<![\w-])(?<![\w-]\.)(?:[\w-]++\.)+[a-z]{2,}(?:/\S*)?|†\S*|source|link|pdf|arxiv",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\[(\^[^\[\]\s]{1,60})\](?!:)|(?<=\])\[([^\[\]]{1,60})\]")


def _links(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield links to other sites, addresses, and identifiers of arXiv and DOIs.

    Links to one paper are one reference, whatever the address. The text of a link stays in the
    sentence if it has words other than a site's name.
    """
    for link in text.links:
        if not link.address.lower().startswith(("http://", "https://")):
            continue
        words = text.text[link.start : link.end]
        kept = re.search(r"[^\W\d]", _NO_WORDS.sub(" ", words)) is not None
        title = link.title or (words if kept else "")
        yield Mark(link.start, link.end, _linked(link.address, title, bibliography), kept=kept)
    for start, end in addresses_in(text.bare):
        yield Mark(start, end, _linked(text.bare[start:end], "", bibliography))
    for start, end, key in bare_ids(text.bare):
        yield Mark(start, end, (bibliography.names.get(key) or Reference(key, ids=(key,)),))


def _linked(address: str, title: str, bibliography: Bibliography) -> tuple[Reference, ...]:
    ids = address_ids(address)
    entry = next((bibliography.names[key] for key in ids if key in bibliography.names), None)
    return (entry or Reference(ids[0], title=title, ids=ids),) if ids else ()


def _labels(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield ``[^1]``, ``[KMF17]``, and ``[words][label]``, if an address explains the label."""
    for match in re.finditer(r"\[([^\[\]]{2,300})\]", text.bare):
        labels = re.split(r"\s*[,;]\s*", match[1].strip())
        if all(re.search(r"\D\d\d", each) and each in bibliography.names for each in labels):
            yield Mark(match.start(), match.end(), tuple(map(bibliography.cited, labels)))
    for match in _LABEL.finditer(text.bare):
        label = match[1] or match[2]
        if label not in bibliography.names and label[1:] in bibliography.names:  # [^1] of "1."
            label = label[1:]
        if match[1] or (label in bibliography.names and not label.isdigit()):
            yield Mark(match.start(), match.end(), (bibliography.cited(label),))


# By number: ``[12]``, ``[1, 3-5]``, ``[69]-[71]``, ``(12)``, ``【12†source】``, or bare

_SAID = r"(?:(?i:cite|cited|see|sources?|refs?|references?|citations?)\b[\s:.]*)*#?"
_NUMBERS = re.compile(
    rf"[\[［【]\s*{_SAID}(?P<numbers>\d{{1,5}}(?:(?:\s*[,;，、،–—-]+|,?\s+(?:and|&))"
    r"\s*#?\d{1,5})*)"
    r"(?:\s*[,;]\s*(?:pp?|[Ss]ec|[Cc]h|[Ff]ig|[Tt]ab|[Tt]hm)\b[^\[\]]{0,40})?"
    r"\s*(?:(?:†|\+ ?L)[^\[\]【】]{0,80})?[\]］】]"
)
_ROUND = re.compile(
    r"(?<!\d)\(\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*(?:,\s*pp?\b[^()]{0,40})?(;\D[^()]{0,80})?\)"
)
_BETWEEN = re.compile(r"\s*[-–—]\s*")
_NO_NUMBERS = range(1900, 2100)  # but years
_LONGEST = 200  # a range of more numbers is none


def _numbers(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield the groups in brackets.

    A number that no entry has is a mark too, except 0 (``[0, 1]`` is an interval) and, if no entry
    has it, a year. Round brackets are marks if `_covers` and the list has all of
    their numbers. Yields nothing where the list has authors and no numbers.
    """
    if bibliography.authors and bibliography.references:
        return
    for match in _ROUND.finditer(text.bare) if bibliography.rounded else ():
        found = tuple(bibliography.cited(str(number)) for number in _spread(match[1]))
        if all(entry.text for entry in found):
            yield Mark(match.start(), match.end(), found, kept=bool(match[2]))
    groups = [
        (match.start(), match.end(), numbers)
        for match in _NUMBERS.finditer(text.bare)
        for numbers in [_spread(match["numbers"])]
        if all(str(n) in bibliography.names or (n and n not in _NO_NUMBERS) for n in numbers)
    ]
    for place, (start, end, numbers) in enumerate(groups):
        after = groups[place + 1] if place + 1 < len(groups) else None
        if after and _BETWEEN.fullmatch(text.bare, end, after[0]):  # [69]-[71]
            numbers = [*numbers, *range(numbers[-1] + 1, min(after[2][0], numbers[-1] + _LONGEST))]
            end = after[0]
        yield Mark(start, end, tuple(bibliography.cited(str(number)) for number in numbers))


def _covers(texts: Iterable[Inline], marks: re.Pattern[str], listed: Collection[str]) -> bool:
    """Return whether marks contain half of the numbers of a list, and ten or before punctuation."""
    anywhere, ending = set[str](), set[str]()
    for text in texts:
        for match in marks.finditer(text.bare):
            numbers = {*map(str, _spread(match[1]))}.intersection(listed)
            anywhere |= numbers
            if re.match(r"\s*(?:[.,;:)\]([]|$)", text.bare[match.end() : match.end() + 9]):
                ending |= numbers
    return any(
        2 * len(seen) >= max(len(listed), least) for seen, least in ((ending, 3), (anywhere, 20))
    )


def _spread(text: str) -> list[int]:
    """Return the numbers of a list with ranges, distinct, in order.

    >>> _spread("1, 3-5; 9")
    [1, 3, 4, 5, 9]
    """
    numbers: list[int] = []
    text = re.sub(" ?[-–—]+ ?", "-", " ".join(text.split()))
    for piece in re.split(" ?(?:[,;，、، ]|and|&) ?(?![-–—])", text):
        ends = [int(end) for end in re.findall(r"\d+", piece)]  # of "3,-5", too
        if ends and ends[0] < ends[-1] <= ends[0] + _LONGEST:
            numbers += range(ends[0], ends[-1] + 1)
        else:
            numbers += ends
    return list(dict.fromkeys(numbers))


_RAISED = re.compile(r"\^\{?\s*+(\d{1,4}(?:(?:\s*+[,;–—-]|\s)\s*+\d{1,4})*+)\s*+[}^]")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒", "0123456789-,")
_SUPERSCRIPT = re.compile(
    r"(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?)\]”\"’»%]))([⁰¹²³⁴-⁹]{1,4}(?:[,˒–⁻][⁰¹²³⁴-⁹]{1,4}){0,20})"
)
_RUN = r"\d{1,3}(?:[ ,]+\d{1,3})*"
_BARE = re.compile(
    rf"(?:(?<=[^\W\d_])|(?<=[)\]\"”'’%.,;:!?}}\x00])|(?<=\b(?:19|20)\d\d))[ \n]+(?P<before>{_RUN})"
    r"(?=\s*(?:[.,;:!?)](?!\d)|[–—\ue001]|\s-\s|$))"
    r"|(?<=[^\W\d_][.!?])(?P<behind>\d{1,3}(?:,\d{1,3})*)(?=\s|$)"
    rf"|(?<=[.!?\"”)])[ ](?P<between>{_RUN})(?=\s+[A-Z])"
)
_NO_MARK = re.compile(
    r"(?:\b(?:[Ff]ig(?:ure)?s?|[Tt]ables?|[Ss]ec(?:tion)?s?|[Cc]hapters?|[Pp]arts?|[Ss]teps?|[Pp]hases?|[Ss]tages?"
    r"|[Ll]evels?|[Tt]ypes?|[Tt]ier|[Vv]ersions?|[Ee]q(?:uation)?s?|[Aa]lgorithms?|[Ll]ayers?|[Tt]op|[Aa]ppendix"
    r"|[Nn]o|[Ll]lama|LLaMA|LLAMA|GPT|PaLM|Gemini|Claude|Phi|Gemma|Qwen|[Vv]ol|[Pp]ages?|pp?|[Tt]o|[Oo]f|[Ii]s"
    r"|[Bb]y|[Aa]t|and|or|than|from|only|about|around|over|under|with|has|have|are|equals?|[Cc]lass|[Rr]ank"
    r"|[Jj]anuary|[Ff]ebruary|[Mm]arch|[Aa]pril|[Mm]ay|[Jj]une|[Jj]uly|[Aa]ugust|[Ss]eptember|[Oo]ctober|[Nn]ovember|[Dd]ecember)\.?|[=<>≈~×+*/§$])$"
)


def _bare_marks(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield superscripts and bare numbers where nothing but these can be a report's marks.

    That is if its list is one of bare numbers; or if it has no numbers in brackets, a numbered list
    or none, and `_cites_bare_numbers`. A bare number is a mark before a full stop, a comma or the
    like, or right behind a full stop, unless a word such as "Figure" or "Llama" stands before it or
    the list ends below it.
    """
    # Almost every number has an entry; one above them all is a quantity.
    unlisted = 0 if bibliography.references else 999
    highest = max((int(name) for name in bibliography.names if name.isdigit()), default=unlisted)
    for start, end, numbers in _bare_numbers(text) if bibliography.bare else ():
        each = _spread(numbers)
        if all(0 < number <= highest for number in each):
            yield Mark(start, end, tuple(bibliography.cited(str(number)) for number in each))


def _bare_numbers(text: Inline) -> Iterator[tuple[int, int, str]]:
    """Yield the places and numbers that may be marks."""
    for match in _RAISED.finditer(text.bare):
        yield match.start(), match.end(), match[1]
    for match in _SUPERSCRIPT.finditer(text.bare):
        yield match.start(), match.end(), match[1].translate(_DIGITS)
    for match in _BARE.finditer(text.bare):
        kind = match.lastgroup or ""
        before = text.bare[max(0, match.start() - 12) : match.start()]
        if " " in match[kind] or not _NO_MARK.search(before):
            yield match.start(kind), match.end(), match[kind]


def _cites_bare_numbers(texts: Iterable[Inline], listed: int) -> bool:
    """Return whether texts without numbers in brackets cite by superscripts or bare numbers.

    They do if at least three numbers occur (or all of a shorter list), among them 1, and half of
    those up to the highest; or if these are raised and the list is numbered.
    """
    seen, raised = set[int](), set[int]()
    for text in texts:
        for start, _, numbers in _bare_numbers(text):
            seen.update(_spread(numbers))
            raised.update(_spread(numbers) if listed and not text.bare[start].isascii() else ())
    enough = [len(each) >= min(3, listed or 3) and 1 in each for each in (seen, raised)]
    return (enough[0] and 2 * len(seen) >= max(seen)) or enough[1]


# By author and year: ``(Smith et al., 2020; Lee, 2021a)``, ``Smith and Lee [2020]``

_YEAR = r"(?:19|20)\d{2}[a-z]?"
# A word ends at a year, at a letter, or with the rest of it that a line break cut off: "Ben- gio".
_CUT = r"- (?!et\b|and\b)\w"
_WORD = rf"(?:[^\W\d_a-z](?:(?!{_CUT}|{_YEAR}(?![\w/-]))[\w’'`-])*+(?:{_CUT}\w*+)?+)"
_PARTICLE = r"(?:(?:van|von|der|den|de|del|della|di|da|dos|la|le|el|al|bin|ter|ten)\s++)"
_NAME = rf"{_PARTICLE}{{0,3}}{_WORD}(?:\s++{_PARTICLE}{{0,3}}{_WORD}){{0,2}}"
_MORE = rf"(?:(?:\s*+,\s*+|(?:\s*+,)?+\s++(?:and|&)\s++){_NAME}){{0,4}}"
_NAMES = rf"{_NAME}{_MORE}(?:(?:\s*+,)?+\s++et\s++al\b\.?)?(?:['’]s?)?"
_NAMES = rf"(?<![\w’'`-])(?:(?={_PARTICLE})|[a-z\d_’'`-]*+)(?P<names>{_NAMES})"
_YEARS = rf"{_YEAR}(?:\s*+(?:,|and|&)\s*+(?:{_YEAR}|[a-z](?![\w.])))*"
_ONE = re.compile(rf"{_NAMES}\s*+[,.]*+\s*+(?P<years>{_YEARS})(?![\w/-])")
_NAME_GROUP = re.compile(r"\(([^()]{6,1500})\)|\[([^\[\]]{6,1500})\]")
_NARRATIVE = re.compile(rf"{_NAMES},?\s*+(?:\((?P<round>{_YEARS})\)|\[(?P<square>{_YEARS})\])")
_NO_NAME = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december|spring"
    r"|summer|autumn|fall|winter|since|until|in|by|early|late|mid"
)


def _names(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield groups in round or square brackets, and names before a year in brackets.

    A single name that no entry has is none if it is in capitals ("ICLR, 2021") or a month.
    Yields nothing where the report numbers its references.
    """
    if not bibliography.authors:
        return
    for match in _NARRATIVE.finditer(text.bare):
        if found := _named(match["names"], match["round"] or match["square"], bibliography):
            yield Mark(match.start("names"), match.end(), found, kept=True)
    for group in _NAME_GROUP.finditer(text.bare):
        found = tuple(
            reference
            for one in _ONE.finditer(group[0])
            for reference in _named(one["names"], one["years"], bibliography)
        )
        if found:
            rest = _ONE.sub("", group[0][1:-1])
            yield Mark(group.start(), group.end(), found, kept=len(re.findall(r"\w{2,}", rest)) > 3)


def _named(names: str, years: str, bibliography: Bibliography) -> tuple[Reference, ...]:
    names = " ".join(names.split())
    several = re.search(r"\bet al\b|\band\b|&", names)
    bare = re.sub(r" ?,? et al\b\.?|['’]s?$", "", names)
    people = [
        person.replace("- ", "-").strip().rpartition(" ")[2].lower()
        for person in re.split(" ?, ?(?:and |& ?)?| (?:and|&) ", bare)
    ]
    found = []
    for year in _each_year(years):
        keys = [" ".join([*people[:2], year]), f"{people[0]} {year}"]
        keys += [f"{people[-1]} {year}"]  # "Besides, Smith et al. (2020)"
        spelt = (*keys, *map(unaccented, keys))
        entry = next((key for key in spelt if key in bibliography.names), None)
        doubtful = len(people) > 1 or names.isupper() or _NO_NAME.fullmatch(people[0])
        if entry or several or not (doubtful or bibliography.references):
            found.append(bibliography.cited(entry or keys[-1 if " et" in names else 1]))
    return tuple(found)


def _each_year(years: str) -> list[str]:
    """Return ``2020a``, ``2020b`` of ``2020a, b``."""
    found: list[str] = []
    for piece in re.findall(rf"{_YEAR}|\b[a-z]\b", years):
        found.append(piece if piece[0].isdigit() else found[-1][:4] + piece)
    return found


# All styles

STYLES: dict[str, Style] = {
    "pandoc": pandoc, "footnotes": _labels, "links": _links,
    "numbers": _numbers, "author-year": _names, "exports": _bare_marks,
}  # fmt: skip
"""Functions that find marks, by style; of marks that overlap, that of the first style counts."""


def as_cited(bibliography: Bibliography, texts: Sequence[Inline]) -> Bibliography:
    """Return the bibliography with the forms of marks that paragraphs of a report may use."""
    numbered = [name for name in bibliography.names if name.isdigit()]
    bracketed = any(
        any(marks(each, bibliography)) for each in texts for marks in (pandoc, _numbers)
    )
    places = {str(n): each for n, each in enumerate(bibliography.references, 1)}
    if not numbered and any(_covers(texts, marks, places) for marks in (_NUMBERS, _ROUND)):
        bibliography = bibliography._replace(names=places | dict(bibliography.names))
        numbered = list(places)  # a list without numbers, cited by place
    bare = bibliography.bare or (
        not bracketed
        and bool(numbered or not bibliography.references)
        and _cites_bare_numbers(texts, len(numbered))
    )
    authors = not (numbered or bare or (bracketed and not bibliography.references))
    rounded = not (bracketed or bare) and _covers(texts, _ROUND, numbered)
    return bibliography._replace(bare=bare, authors=authors, rounded=rounded)
