"""A report's reference list: where it stands, its entries, and the identifiers in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from unicodedata import normalize

import arena.counted as re
from arena.report.model import BREAK, Bibliography, Inline, Reference, TextBlock, unaccented
from arena_suites.reports.addresses import ADDRESS_ENDS, URL, ids_in

_HEADING = re.compile(
    r"\W*(?:(?:\d+|[IVX]+|[A-Z])(?:\.\d+)*[.:)]?\s+)?(?:(?:list of |cited |key |main |selected )?"
    r"(?:references?|sources?|citations|literature)(?: list| cited| and notes| and links)?"
    r"(?: (?:used|read but not used) in the report)?(?: (?:and|&) (?:further|additional) reading)?"
    r"|bibliography|works cited|footnotes|参考文献|参考资料|参考来源|引用文献|引用来源"
    r"|參考文獻|參考資料|引用文獻|참고 ?문헌|referen(?:zen|ser|ties)"
    r"|références(?: bibliographiques)?|refer[eê]ncias(?: bibliográficas)?"
    r"|bibliogra(?:f|ph)[ií]\w{0,2}"
    r"|(?:literatur|quellen|schriften)(?:verzeichnis|angaben|nachweise?)?|quellen|fuentes|fonti|fontes"
    r"|literatuur(?:lijst)?|bronnen|litteratur(?:liste|förteckning)?|källor|kilder|lähteet|literatura"
    r"|riferimenti(?: bibliografici)?|piśmiennictwo|источники|литература|библиография"
    r"|список (?:использованной )?литературы|література|kaynakça|kaynaklar|daftar pustaka"
    r"|tài liệu tham khảo|المراجع|संदर्भ)\W*",
    re.IGNORECASE,
)
_CONTENTS = re.compile(r"\W*(?:table of )?contents\W*|目录", re.IGNORECASE)
_WEAK = re.compile(
    "sources|citations|notes|litt?erat(?!urverz|uurl)|schriften|quellen$|fuentes|fonti|fontes|bronnen|källor"
    "|kilder|lähteet|источники|лит|kaynaklar",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"^\[(\^[^\[\]\s]{1,60}|\d{1,5}|[^\[\]]{1,60}(?=\]:\s*<?https?://))\]:\s*", re.MULTILINE
)
_FOOTNOTE = re.compile(r"^\[\^[^\[\]\s]{1,60}\](?!:)", re.MULTILINE)
_LABEL = re.compile(  # [KMF17], [Fang et al., 2022]
    r"^\[((?=[^\[\]]*?[^\W\d])[^\[\]]{1,60}?\d\d[a-z]?)\)?\]:?\s+", re.MULTILINE
)
_RAISED = re.compile(r"^(?:\^\{(\d{1,4})\}|([⁰¹²³⁴-⁹]{1,4}))\s*", re.MULTILINE)
_OF_ENTRY = r"(?!(?<=\()(?:19|20)\d\d\))(\d{1,5})"  # not (2019)
_LOOSE = re.compile(rf"^\W{{0,3}}{_OF_ENTRY}[\])］】]", re.MULTILINE)  # 1), #1) or 1]
_POINT = re.compile(r"^(\d{1,3})\.\s")
_BRACKETED = re.compile(
    rf"(?<!\S)(?:\*\*)?[\[［【(]{_OF_ENTRY}[\]］】)](?:\*\*)?:?|\[(\d{{1,5}})\]:?"
)
_BARE = re.compile(r"(?:^|(?<=\s))(\d{1,3}(?: +\d{1,3})*)[ \n]+(?=\S)", re.MULTILINE)
_CITED = re.compile(r"\[\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,99}\]")
_YEAR = re.compile(r"(?<![\d.:/–-])(?<![–-][ ])((?:19|20)\d{2})([a-z]?)(?![\d/]|\.\d|\s?[–-]\s?\d)")
_LAST_YEAR = re.compile(r"[,.]\s(?:19|20)\d{2}[a-z]?\.(?:\s*(?:URL )?https?://\S+)?\s*(?=[A-Z])")

# Authors with their surnames first, "Ren, X., van der Maaten, L." or "Ren X, Wei W, et al", or not
_CAP = r"[^\W\d_a-zß-öø-ÿ]"
_PARTICLES = r"(?:(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|el|al|bin|ter|ten)\s)"
_WORD = rf"{_PARTICLES}{{0,3}}{_CAP}[\w’'`-]+"
_SURNAME = rf"{_WORD}(?:\s{_WORD}){{0,2}}"
_DOTTED = rf"(?:(?<=\.)[\s-]{{0,2}}[^\W\d_]\.|(?<!\.)[\s-]{_CAP}(?![\w’'.])){{0,4}}+"
_REST = rf",\s{_CAP}{{1,3}}(?![\w’'])\.?+{_DOTTED}(?:,?\s(?:Jr|Sr|I+)\b\.?)?"
_PLAIN = rf"{_SURNAME}\s{_CAP}{{1,4}}(?:[\s-]{_CAP}){{0,3}}(?![\w’'])"
_AND = r"(?:[,;]\s(?:and\s|&\s|\.\.\.\s)?|\s(?:and|&)\s)"
_ET_AL = r"(?:[,;]?\s(?:et\sal\b|and\sothers|等)\.?)"
_MORE = rf"(?:(?:{_AND}(?:{_SURNAME}{_REST}|{_PLAIN})){{1,400}}{_ET_AL}?|{_ET_AL})"
# Not "Robert F." of "Robert F. Rosin, A. Lee" and "Robert F. Rosin and Ann Lee."
_OTHER = (
    rf"\s(?:{_CAP}\.\s){{0,3}}{_WORD}(?:\s{_WORD})?(?:,\s{_CAP}(?:\.|[\w-]+\s{_CAP}[\w.-]*[,.])"
    rf"|,?\s(?:and|&)\s(?:{_CAP}\.\s)*+(?:{_WORD}\s)?(?:{_CAP}\.\s)*+{_WORD}[.,])"
)
_TURNED = (
    rf"(?:{_WORD}{_REST}{_MORE}?|{_SURNAME}{_REST}(?:{_MORE}|(?!{_OTHER}))"
    rf"|{_PLAIN}(?:{_MORE}|(?<={_CAP}{_CAP})|(?!\.(?:{_OTHER}|\s(?:{_CAP}\.\s){{0,3}}{_WORD}\.\s))))"
)
_STRAIGHT = rf"{_CAP}\.(?:[\s-]{{0,2}}{_CAP}\.){{0,3}}\s{_SURNAME}"  # J. P. Wu
_IN_BRACKETS = (
    r"[,.]?\s?\((?:(?:19|20)\d{2}[a-z]?(?:,[^()]{0,40})?"
    r"|n\.\s?d\.|(?:in press|forthcoming|submitted|to appear)(?:-[a-z])?)\)[.,:]?\s"
)
_OF_YEAR = rf"(?:{_IN_BRACKETS}|[,.]?\s(?:19|20)\d{{2}}[a-z]?[.,:]\s)"
# The full stop of a sentence, and not of an initial
_END = (
    rf"(?<!\s[^\W\d_])(?<!\.[^\W\d_])(?<!\.-{_CAP})(?<!\b{_CAP}-{_CAP})(?<!^{_CAP})\."
    r"(?!(?<=\d\.) \d\b)"  # Qwen2. 5, as recognised
)
_HEADS = (
    re.compile(rf"(?P<people>{_TURNED})(?:{_OF_YEAR}|(?<=\.):\s|\.\s|(?<=\.)\s)(?!and\s|&\s)"),
    re.compile(
        rf"(?P<people>(?:(?!{_END}\s+(?!(?:19|20)\d\d|(?!A){_CAP}\.?\s)|[“\"]).){{2,2000}}?)"
        rf"(?:{_IN_BRACKETS}|[,.]\s(?:19|20)\d{{2}}[a-z]?[.,:]\s)"
    ),
    re.compile(
        rf"(?P<people>{_STRAIGHT}(?:(?:,|,?\sand)\s{_STRAIGHT}){{0,400}}{_ET_AL}?),"
        rf"(?!\s{_WORD}(?:\s{_CAP}\.)?\s{_WORD},\s(?!\d))\s"
        rf"(?!and\s|et\sal|Eds?\b|{_CAP}\.)"
    ),
    re.compile(rf"(?P<people>[^“\"]{{2,2000}}?){_END}\s+(?=[\w\"“‘$])"),
)
_BEGINNING = re.compile(  # of an entry behind another
    rf"(?:{_END}\s*|[)\]”\"/\d]\s+)(?={_TURNED}{_OF_YEAR})|{_END}\s*(?=[^\W\d_a-z]"
    rf"(?:(?!{_END}|\s(?:19|20)\d\d).){{1,999}}+{_END}\s(?:19|20)\d\d[a-z]?\.\s)"
)
_AUTHOR_END = re.compile(
    r",\s*(?:and\s|&)?|\s+(?:and|&)\s+|\s+et al\b|(?<!\b[A-Z])\.\s+|\s*\(|[:;]"
    r"|\.?\s+(?=(?:19|20)\d{2}[a-z]?\b)"
)
_INITIALS = re.compile(rf"(?:{_CAP}\.?[\s-]*){{1,4}}")
_LAST_INITIALS = re.compile(rf"(?<=\w\w)\s+{_CAP}{{1,4}}(?:-{_CAP})?\.?$")
_NAMES = re.compile(rf"(?:(?:{_PARTICLES}|(?:{_CAP}[\w’'.-]*\s))){{0,4}}{_CAP}[\w’'-]*")
_QUOTED = re.compile(  # a quotation at the start of a title continues: “Why trust you?”: Explaining
    r"[\"“«](.{6,400}?)(?:[,.]\s?[\"”»]|[\"”»](?![\w:]|\s[a-z](?!n\b|rXiv)))"
    r"|(?<!\w)[‘'](?![‘’'])(.{6,400}?)[,.]?[’'](?=[,.](?:\s|$)|$)"
)
_AFTER_COMMA = re.compile(rf"(?:^|(?<=[,.;)\]]\s)){_QUOTED.pattern}")
_SENTENCE = re.compile(
    r".{3,}?(?:[?!](?=\s+(?:In|ar[xX]iv|CoRR|Proc\w*|Journal|Advances|IEEE|ACM)\b|\s*\(|$)"
    rf"|(?<!\bvs){_END}(?=\s|$)|\s?\[[A-Z]{{1,2}}(?:/OL)?\])|.+"
)
_TITLE_FIRST = re.compile(  # Title. A. Lee, B. Wu. 2020; Title - Lee et al., 2020
    rf"([^,;]{{8,300}}?)(?:\.|,|\s[-–—])\s(?:{_STRAIGHT}(?:,|{_ET_AL}|\sand\s|\.\s)|{_WORD}{_ET_AL})"
)
_ACCESSED = re.compile(r",? \(?(?:accessed|retrieved)(?: on)? \w+ \d{1,2}, \d{4}\)?", re.IGNORECASE)
_BEHIND_TITLE = re.compile(
    r"(?:(?<![ .*])(?=[ .*]+$)|\s?\[[A-Z]{1,2}(?:/OL)?\]|\s\((?:19|20)\d\d\)|, \d\w\w ed"
    r"|^(?:19|20)\d\d"
    r"|[.,](?: (?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)? (?:19|20)\d\d[a-z]?)"
    r"[ .*]*$"
)


def is_bibliography(heading: str) -> bool:
    """Return whether a heading is that of a reference list."""
    return _HEADING.fullmatch(heading) is not None


def is_contents(heading: str) -> bool:
    """Return whether a heading is that of a table of contents."""
    return _CONTENTS.fullmatch(heading) is not None


def part(blocks: Sequence[TextBlock]) -> tuple[list[TextBlock], list[TextBlock]]:
    """Return the blocks of a report's text, and those of its reference list.

    The list stands below a heading such as References, Bibliography, Works cited or Sources, or a
    paragraph of that word; and there may be several. Otherwise it is what ends the report: numbered
    items, below any heading or none, that name years or addresses and have all
    numbers that the text cites; or two paragraphs or more that begin with ``[1]``, or numbered
    items of which each has an address.
    """
    text: list[TextBlock] = []
    listed: list[TextBlock] = []
    level: int | None = None  # of the open list's heading
    for place, block in enumerate(blocks):
        title = block.inline.text
        is_named = len(title) < 60 and is_bibliography(title)
        is_sure = block.level and not _WEAK.search(title)
        if is_named and (is_sure or _starts(blocks, place)):
            level = block.level or 7
        elif block.level and (level is None or block.level <= level or not _starts(blocks, place)):
            level = None
            text.append(block)
        elif level is not None or _DEFINITION.match(title):
            listed += [] if block.level else [block]
        else:
            text.append(block)
    if not listed and (at := _cited_list(text)):
        return text[: at - (text[at - 1].level > 0)], text[at:]
    if not listed:
        end = len(text)
        while end and _is_entry(text[end - 1]):
            end -= 1
        if len(text) - end >= 2 or (
            len(text) > end and len(_BRACKETED.findall(text[end].inline.text)) >= 2
        ):
            text, listed = text[:end], text[end:]
    return text, listed


def _cited_list(blocks: Sequence[TextBlock]) -> int:
    """Return the place of the numbered items at the end if they are the list, or else 0."""
    at = max((place for place, block in enumerate(blocks, 1) if not block.number), default=0)
    items = blocks[at:]
    dated = sum(_YEAR.search(each.inline.text) is not None or _is_entry(each) for each in items)
    if not at or 2 * dated <= len(items):
        return 0
    marks = (_CITED.findall(block.inline.text) for block in blocks[:at])
    cited = {number for mark in chain(*marks) for number in re.findall(r"\d+", mark)}
    return at if cited and cited <= {block.number for block in items} else 0


def _starts(blocks: Sequence[TextBlock], place: int) -> bool:
    """Return whether the paragraph after `place` is an entry of a reference list."""
    return place + 1 < len(blocks) and (_is_entry(blocks[place + 1]) or blocks[place + 1].is_item)


def _is_entry(block: TextBlock) -> bool:
    text = block.inline.text
    if block.level:
        return False
    if re.match(r"[\[［【]\d{1,4}[\]］】]:?\s*\S", text) and not re.match(r".{0,9}\][,;(]", text):
        return True
    has_address = bool(block.inline.links) or URL.search(text) is not None
    return has_address and (
        bool(block.number) or re.match(r"\d{1,3}(?: \d{1,3})* \D", text) is not None
    )


def read_bibliography(blocks: Sequence[TextBlock]) -> Bibliography:
    """Read the entries of a reference list.

    They are numbered: ``[1] ...`` (several may share a paragraph), items of a numbered list,
    ``7 14 25 Title https://...``, where one entry has many numbers; labelled: ``[^a]: ...``; or
    without a number, named by first author and year.
    """
    references: list[Reference] = []
    names: dict[str, Reference] = {}
    unlettered: dict[str, list[Reference]] = {}
    entries = list(_entries([block for block in blocks if block.inline.text.strip()]))
    bare = any(re.match(r"\d+ ", labels) for labels, _ in entries)
    for labels, text in entries:
        called = [labels] if labels and not labels[0].isdigit() else labels.split()
        people, year, title = _work(text)
        if labelled := re.fullmatch(r"(.{2,}?),?\s\(?((?:19|20)\d\d[a-z]?)", labels):
            people, year, called, labels = _surnames(labelled[1]), labelled[2], [], ""
        if year and people and not called:
            called = list(dict.fromkeys([f"{people[0]} {year}", f"{' '.join(people)} {year}"]))
        number = int(year[:4]) if year else None
        reference = Reference("", " ".join(text.split()), title, ids_in(text), number)
        if bare and labels:  # all its numbers stay with the entry
            reference = reference._replace(text=f"{labels} {reference.text}")
        key = next((name for name in called if name not in names), "")
        if not key:
            if labels:
                continue  # a number that an entry before it has
            key = f"{called[0] if called else reference.text[:60]} ({len(references) + 1})"
        reference = reference._replace(key=key)
        references.append(reference)
        for name in (key, *called):
            names.setdefault(name, reference)
        if called and not labels:
            unlettered.setdefault(called[0], []).append(reference)
    for name, group in unlettered.items():  # a list may leave out the letters of 2020a, 2020b
        for letter, reference in zip("abcdefghijklmnopqrstuvwxyz", group, strict=False):
            names.setdefault(f"{name}{letter}", reference)
    for reference in references:
        for name in reference.ids:
            names.setdefault(name, reference)
    plain = {unaccented(name): each for name, each in reversed(names.items())}
    return Bibliography(tuple(references), plain | names, bare)


def _entries(blocks: Sequence[TextBlock]) -> Iterator[tuple[str, str]]:
    """Yield the labels of each entry, with blanks between, and its text."""
    texts: list[str] = []
    for block in blocks:
        text = _FOOTNOTE.sub(r"\g<0>:", _with_addresses(block.inline))
        text = _RAISED.sub(lambda each: f"[{int(each[1] or normalize('NFKC', each[2]))}] ", text)
        if (definition := _DEFINITION.match(text)) and not definition[1].isdigit():
            _, *labelled = _DEFINITION.split(text)
            yield from zip(labelled[::2], labelled[1::2], strict=True)
            continue
        if block.number and not _BRACKETED.match(text):
            text = f"[{block.number}] {text}"
        texts += (
            [text] if block.number else chain(*map(_lines, filter(str.strip, text.split(BREAK))))
        )
    if 2 * sum(_POINT.match(text) is not None for text in texts) > len(texts):
        texts = [_POINT.sub(r"[\1] ", text) for text in texts]
    texts = [_points(text) for text in texts]
    if 2 * sum(_LABEL.match(text) is not None for text in texts) > len(texts):
        _, *labelled = _LABEL.split("\n".join(texts))
        yield from zip(labelled[::2], labelled[1::2], strict=True)
        return
    is_bracketed = any(_LOOSE.match(text) for text in texts)
    is_bare = not is_bracketed and sum(
        re.match(r"\d{1,3}(?: \d{1,3})*(?:\s\D|$)", text) is not None for text in texts
    ) * 4 > len(texts)  # fmt: skip
    if not is_bracketed and not is_bare:
        items = all(block.is_item for block in blocks)
        yield from (("", text) for text in (texts if items else _unnumbered(texts)))
        return
    starts = _bracketed if is_bracketed else _bare
    if is_bracketed and not any(next(starts(text), (1,))[0] == 0 for text in texts):
        texts = [_LOOSE.sub(r"[\1]", text) for text in texts]
    places = (n for n, text in enumerate(texts) if next(starts(f"{text} ."), (1,))[0] == 0)
    first = next(places, len(texts))
    yield from (("", text) for text in _unnumbered(texts[:first]))
    whole = "\n".join(texts[first:])
    found = list(starts(whole))
    ends = [start for start, _, _ in found[1:]] + [len(whole)]
    for (_, begin, numbers), end in zip(found, ends, strict=False):  # none: no end
        yield numbers, whole[begin:end].strip().lstrip(".:| ")


def _points(text: str) -> str:
    """Return a text of "[1] One. 2. Two. 3. Three." with all numbers in brackets."""
    parts = re.split(r"(?<=[.)\]”\"\w/])\s(\d{1,4})\.\s(?=[^\W\d_a-z]|[“\"])", text)
    numbered = _BRACKETED.match(text)
    first = last = int(numbered[1] or numbered[2]) if numbered else 0
    for place in range(1, len(parts), 2):
        following = int(parts[place]) == last + 1
        last += following
        parts[place] = f"\n[{last}] " if following else f" {parts[place]}. "
    return "".join(parts) if last >= first + 2 else text


def _begins(text: str) -> bool:
    """Return whether a text begins as an entry does, with authors and a year."""
    return not re.match("and |& ", text) and any(head.match(text) for head in _HEADS[:2])


def _lines(text: str) -> list[str]:
    """Return the lines of a paragraph if most of them begin entries, or else the paragraph."""
    lines = text.split("\n")
    return lines if 2 * sum(map(_begins, lines)) > len(lines) else [text]


def _bracketed(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and number of the marks that begin entries.

    Each is the next number, or at a line or behind punctuation one that is a little higher; or 1.
    """
    last = 0
    for match in _BRACKETED.finditer(text):
        number = int(match[1] or match[2])
        before = text[max(0, match.start() - 2) : match.start()].rstrip(" ")[-1:]
        near = not last or last < number <= last + 20 or (number == 1 and before == "\n")
        if number == last + 1 or (near and before in '\n.,)/”"0123456789'):
            yield match.start(), match.end(), str(number)
            last = number


def _bare(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and numbers of what begins entries: at a line, or behind an address."""
    address = 0
    for match in _BARE.finditer(text):
        at_line = match.start() == 0 or text[match.start() - 1] == "\n"
        behind = ADDRESS_ENDS.search(text[max(0, match.start() - 2000) : match.start()].rstrip())
        if at_line or behind or " " in match[1]:
            if at_line or URL.search(text, address, match.start()):
                yield match.start(), match.end(), match[1]
            address = match.start()  # an address ends at the blank before it


def _unnumbered(texts: Sequence[str]) -> Iterator[str]:
    """Yield entries without numbers; recognised text breaks some apart and joins others."""
    joined: list[list[str]] = []
    for text in texts:
        before = joined[-1][-1][-4:] if joined else "."
        if joined and (
            re.search(r"(?:,|\band|&|-)$", before)
            or (
                not ADDRESS_ENDS.search(joined[-1][-1])
                and (
                    (before[-1:].islower() and not (_begins(text) and _YEAR.search(joined[-1][-1])))
                    or (text[:1].islower() and not _begins(text))
                )
            )
        ):
            joined[-1].append(text)
        else:
            joined.append([text])
    for text in map(" ".join, joined):
        cuts = [match.end() for match in _BEGINNING.finditer(text)]
        if cuts and _begins(text):
            yield from (text[a:b].strip() for a, b in pairwise([0, *cuts, len(text)]))
        elif _LAST_YEAR.search(text) and not _HEADS[1].match(text):  # Names. Title. Venue, 2020.
            entry = ""
            for piece in _LAST_YEAR.sub(lambda match: f"{match[0].rstrip()}\ue001", text).split(
                "\ue001"
            ):
                if entry and _YEAR.search(URL.sub(" ", piece)):
                    yield entry
                    entry = piece
                else:
                    entry = f"{entry} {piece}".strip()
            yield entry
        else:
            yield text


def _with_addresses(inline: Inline) -> str:
    """Return the text with the address of each link behind its words."""
    text, at = "", 0
    for link in inline.links:
        text += inline.text[at : link.end]
        at = link.end
        if "://" in link.address and "://" not in inline.text[link.start : link.end]:
            text += f" {link.address}"
    return text + inline.text[at:]


def _work(text: str) -> tuple[list[str], str, str]:
    """Return the last names of two authors, the year with its letter, and the title of an entry.

    Behind the authors stand the year, a colon or a full stop; then the title, in quotation marks or
    up to the end of a sentence. An entry without authors begins with its title.
    """
    text = _ACCESSED.sub("", " ".join(URL.sub(" \ue001 ", text).split()))
    text = re.sub(r"^(?:\[(?:PDF|\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+/\d{7})\]\s*)+", "", text)
    behind = text.find("\ue001")
    text = " ".join(text.replace("\ue001", " ").split())
    turned, dated, straight, dotted = (head.match(text) for head in _HEADS)
    of_one = turned and not re.search(r",.*,|&|\d| and ", turned[0])
    if (  # Robert F. Rosin. 1969.
        of_one
        and dated
        and dated[0].endswith(". ")
        and not re.search(r"\s[a-z]{4}", dated["people"])
    ):
        turned = None
    if dotted and not (turned or dated or straight):
        people = dotted["people"]
        is_name = _YEAR.search(text) and _NAMES.fullmatch(people)
        dotted = dotted if is_name or re.search(r",|;| and | & | et al", people) else None
        no_title = re.search(r"[^\W\d]", text[dotted.end() :] if dotted else "") is None
        dotted = None if no_title or re.search(r" [-–—] ", people) else dotted
    head = turned or dated or straight or dotted
    start = head.end() if head else 0
    quoted = _QUOTED.match(text, start) or (
        None if head and re.search(r"\d", head[0]) else _AFTER_COMMA.search(text)
    )
    if quoted:
        title = quoted[1] or quoted[2]
    elif start and (sentence := _SENTENCE.match(text, start)):
        title = sentence[0]
    else:
        lead = text[:behind] if behind > 8 else text  # what stands behind its address is a note
        parts = lead.split(" | ")  # a short one is the name of a site
        title = parts[0] if len(parts[0]) > 8 else max(parts, key=len)
        title = re.split(r"\s[-–—]\s(?=(?:[A-Z]|arXiv)\S*(?:\s\S+){0,3}$)|\s\.\.\.", title)[0]
        if first := _TITLE_FIRST.match(text):
            title = first[1]
    years = _YEAR.findall(head[0] if head else "") or _YEAR.findall(text)
    people = _surnames((head["people"] if head else text)[:2000])
    title = _BEHIND_TITLE.sub("", title).strip(' .,:*_"|-–—')
    return people, "".join(years[-1]) if years else "", title


def _surnames(people: str) -> list[str]:
    """Return the last names of the first two of some authors, in lower case."""
    chunks = [chunk.strip(" .*_-") for chunk in _AUTHOR_END.split(people.replace("- ", "-"))]
    return [
        _LAST_INITIALS.sub("", chunk).split()[-1].lower()
        for place, chunk in enumerate(chunks)
        if re.match(r"[^\W\d]", chunk)
        and not (_INITIALS.fullmatch(chunk) and (place or not chunk.isalpha()))
    ][:2]
