"""Names that different lists give the same work: arXiv ids, DOIs and titles, in one spelling."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from arena.text.cleaning import ATTRIBUTES, RETRACTED, TAG, footnote_mark, read_entities
from arena.text.latex import NAMES, read_latex

_NEW = r"\d{4}\.\d{4,5}"
_OLD = r"[a-z]+(?:-[a-z]+)?(?:\.[a-zA-Z-]{2,12})?/\d{7}"  # with its subject class, or without
_ARXIV = re.compile(rf"({_NEW}|{_OLD})(?:v\d+)?(?:\s*\[[\w.-]+\])?")
_SAID = re.compile(r"^(?:https?://)?(?:(?:\w+\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv\s*:\s*)", re.I)
_ARXIV_IN_TEXT = re.compile(
    rf"(?:arxiv(?:\s(?:pre|e-?)prints?)?+(?:\s*+[:.,(]|\s)\s*+|eprint:\s*+"
    r"|arxiv\.org/(?:abs|pdf|html)/|arxiv\."
    rf"|(?:corr|arxiv)[\s,.:]{{0,3}}(?:abs/|(?=[a-z-]+[./])))({_NEW}|{_OLD})(?!\d)",
    re.IGNORECASE,
)
_DOI = re.compile(r"10\.\d{4,9}/\S{1,500}")
# What is left of a DOI that a line break cut: 10.18653/v1/2024.acl, 10.1109/tnn.2008, 10.18653/v1
_CUT_DOI = re.compile(
    r"10\.18653/v1/(?:\d{4}(?:\.[\w-]*)?|[a-z]\d\d)"
    r"|10\.\d+/(?:v\d|(?:(?=[^/.a-z]*+[a-z])[^/.]++[/.])+(?:19|20)\d\d)"
)
DOI_END = re.compile(  # in addresses of publishers
    r"(?:/(?:full(?:[-_]?text)?|e?pdf(?:direct|plus)?|abstract|html|xml|meta|summary|references|citations)"
    r"|(?<=\d)v\d+(?:\.full\S*)?|\.pdf)+$",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(10\.1101/(?:\d{4}\.\d\d\.\d\d\.)?\d{6,8})v\d+$")  # bioRxiv's have none
_BEHIND = ".,;:!?'’\"”*_}>"
_ARXIV_DOI = "10.48550/arxiv"
_MONTH = re.compile(r"(?:[a-z-]+(?:\.[A-Z]{2})?/(?=\d{7}))?(\d\d)(0[1-9]|1[0-2])(?:\.\d{4}|\d{3})")
_VENUES = ("journal", "journaltitle", "booktitle")
_WITH_ARXIV = ("note", "howpublished", "eid", "number", "pages", "volume")
_WORDS = """january february march april may june july august september october november december
abs accessed also article arxiv as at available corr e eprint eprints export from html http https id
in online org pdf pre preprint preprints print published type url v version www"""
_ABOUT_ONE = frozenset([*_WORDS.split(), *(month[:3] for month in _WORDS.split()[:12])])
_ONLY_DOI = re.compile(r"^\s*(?:doi[\s:=]+|https?://(?:dx\.)?doi\.org/)?(10\.\S+)\s*$", re.I)
_ON_ANOTHER = re.compile(r"\b(?:comment|reply|respon|rejoin|errat|corrig|supersed|see)", re.I)


def arxiv_key(text: object) -> str | None:
    """Return ``arxiv:...`` of an arXiv identifier, without its version; None of anything else.

    >>> arxiv_key("arXiv:1706.03762v5"), arxiv_key("cs/9301111"), arxiv_key("10.1/2")
    ('arxiv:1706.03762', 'arxiv:cs/9301111', None)
    """
    if not isinstance(text, str):
        return None
    match = _ARXIV.fullmatch(_SAID.sub("", text.strip()).removesuffix(".pdf"))
    return _without_class(match[1]) if match else None


def _without_class(identifier: str) -> str:
    """Return ``arxiv:math/0309136`` of ``math.GT/0309136``: the class is no part of the name."""
    return f"arxiv:{re.sub(r'[.][a-zA-Z-]+(?=/)', '', identifier).lower()}"


def arxiv_keys_in(text: str) -> Iterator[str]:
    """Yield ``arxiv:...`` for every identifier that a text names as arXiv's."""
    for match in _ARXIV_IN_TEXT.finditer(text):
        yield _without_class(match[1])


def doi_key(text: object) -> str | None:
    """Return ``doi:...`` of a DOI or its link, in lower case; an arXiv DOI is ``arxiv:...``.

    The beginning of a DOI that many works share is none: ``10.18653/v1/2024.acl-long``.

    >>> doi_key("https://doi.org/10.1109/TITS.2025.1"), doi_key("10.48550/arXiv.1706.03762")
    ('doi:10.1109/tits.2025.1', 'arxiv:1706.03762')
    """
    if not isinstance(text, str):
        return None
    if "://" in text:
        text = re.split(r"[?#]", text)[0]
    if "%" in text or "&" in text:
        text = unquote(html.unescape(text))
    match = _DOI.search(text)
    if not match:
        return None
    doi = without_end(match[0]).lower()
    if "://" in text and "doi.org/" not in text:  # a page of a publisher about it
        doi = DOI_END.sub("", doi)
    doi = _VERSION.sub(r"\1", doi)
    if doi.startswith(_ARXIV_DOI):
        return arxiv_key(doi.removeprefix(_ARXIV_DOI).lstrip("."))
    return None if _CUT_DOI.fullmatch(doi) else f"doi:{doi}"


def without_end(text: str) -> str:
    """Return a DOI or an address without the punctuation and unpaired brackets behind it."""
    text = text.rstrip(_BEHIND)
    more = {")": text.count(")") - text.count("("), "]": text.count("]") - text.count("[")}
    while more.get(text[-1:], 0) > 0:
        more[text[-1]] -= 1
        text = text[:-1].rstrip(_BEHIND)
    return text


def arxiv_month(key: str) -> str | None:
    """Return the month that an arXiv identifier of either form names, or None.

    >>> arxiv_month("arxiv:2010.10563"), arxiv_month("cs/9301111"), arxiv_month("0907")
    ('2020-10', '1993-01', None)
    """
    match = _MONTH.match(key.removeprefix("arxiv:"))
    return f"{19 if match[1] >= '91' else 20}{match[1]}-{match[2]}" if match else None


def bibtex_keys(fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the arXiv identifiers and DOIs of the work in the fields of a BibTeX entry.

    One in a note, or in the address of a page, is the work's own if nothing else stands there: a
    note such as ``Comment on arXiv:1203.4567`` is about another work.

    >>> bibtex_keys({"journal": "arXiv preprint arXiv:1706.03762", "doi": "10.1109/X"})
    ('arxiv:1706.03762', 'doi:10.1109/x')
    """
    text = {name: value for name, value in fields.items() if isinstance(value, str)}
    eprint = text.get("eprint") or text.get("arxivid") or text.get("arxiv") or ""
    keys: list[str | None] = []
    if "arxiv" in (text.get("eprinttype") or text.get("archiveprefix") or "arxiv").lower():
        class_ = text.get("primaryclass") or text.get("eprintclass")
        keys += [arxiv_key(eprint) or arxiv_key(f"{class_}/{eprint}"), *arxiv_keys_in(eprint)]
    for field in _VENUES:
        parts = (text.get(name, "") for name in (field, "volume", "number", "eid", "pages"))
        venue = " ".join(parts)  # of DBLP: CoRR, abs/1706.03762
        if not _ON_ANOTHER.search(venue) and len(named := set(arxiv_keys_in(venue))) == 1:
            keys += named
    pages = (re.split(r"[?#]", page)[0] for page in text.get("url", "").split())
    for value in (*pages, *(text.get(field, "") for field in _WITH_ARXIV)):
        rest = re.sub(r"\[[\w.,\s-]{2,40}\]", " ", _ARXIV_IN_TEXT.sub(" ", value)).lower()
        named = set(arxiv_keys_in(value))
        if len(named) == 1 and _ABOUT_ONE.issuperset(re.findall(r"[^\W\d_]+", rest)):
            keys += named
    dois = [fields.get("doi"), fields.get("url"), *_ONLY_DOI.findall(text.get("note", ""))]
    keys += [arxiv_key(fields.get("doi")), *map(doi_key, dois)]
    return tuple(dict.fromkeys(key for key in keys if key))


_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho
sigma sigma tau upsilon phi chi psi omega"""  # as LaTeX names them, in the order of Unicode
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "♯": "#"}
    | dict.fromkeys("∗⋆★", "*")
    | {chr(0x3B1 + place): name for place, name in enumerate(_GREEK.split())}
)
_AS_LETTERS = {"aa": "a", "AA": "a", "ae": "ae", "AE": "ae", "oe": "oe", "OE": "oe", "ss": "ss",
          "dh": "ð", "DH": "ð", "th": "þ", "TH": "þ", "ng": "ŋ", "dj": "d", "DJ": "d", "ell": "l",
          "hbar": "ħ", "Re": "r", "Im": "i", "aleph": "א", "ast": "*", "star": "*",
          "S": "", "P": ""}  # fmt: skip
_GREEK_LETTER = re.compile(rf"(?:text|var|up|bold)?((?i:{'|'.join(_GREEK.split())}))")
_ANNOTATION = re.compile(
    r"<annotation\b[^<>]*>[^<>]*</annotation>|<!--[^<>]*-->|<!--|-->|<!\[CDATA\[", re.I
)
_TAG = re.compile(rf"<(/?)([a-zA-Z][\w:.-]*)(?:({ATTRIBUTES})|(/))?>")
_CLOSING = re.compile(r"</[a-zA-Z][^<>]*>")
# Signs that tell works apart: C++ from C#, PointNet++ from PointNet, A* from A, C*-algebras.
_MEANING = re.compile(r"(?<=[^\W_])\s*+\+\s?\+|(?<=(?<![\w*])[^\W\d_])[#*](?![\w*])")
_SPOKEN = {"+": "plusplus", "#": "sharp", "*": "star"}
_MEANT = frozenset("+#*")


def normal_title(title: str) -> str:
    r"""Return the key of a title, equal for its spellings: letters and digits without accents.

    Case is folded, entities are read, also escaped twice. Every command of LaTeX goes, and notes
    such as ``\thanks{...}`` with what they say; Greek letters, functions and letters leave their
    names. Tags go that close, that have attributes, or that are known; ``<T>`` and ``<`` stay what
    they are. Braces, dollars and dashes go with all punctuation but that of ``C++``, ``C#`` and
    ``A*``, ``RETRACTED:`` before a title and a `footnote_mark` behind it. Whatever distinguishes
    two works stays: a subtitle, a part number, a bracket and ``(v2)`` count.

    Returns:
        Letters and digits, case folded; empty if the title has none.

    >>> normal_title(r"D\"IoT: {\v{C}}ech $\mathcal{X}$-Nets.\thanks{Funded.}")
    'diotcechxnets'
    >>> normal_title("DÏoT: <i>Čech</i> X-nets</title>")
    'diotcechxnets'
    >>> normal_title(r"$\alpha$-Nets") == normal_title("α-nets") == normal_title("Alpha nets")
    True
    >>> normal_title("C++ (Part 1)"), normal_title("C# (Part 1)")
    ('cpluspluspart1', 'csharppart1')
    """
    return "".join(filter(str.isalnum, _folded(title)))


VERSION = (
    "(?:extended|full|long|short|revised|updated|preliminary|conference|technical|invited)"
    "(?:version|abstract|paper|report|talk)$"
)
"""Pattern of what the `normal_title` of another version of a work can end in."""


def work_key(title: str) -> str:
    """Return the `normal_title` of a title without ``(Extended Abstract)`` and the like behind it.

    It tells which papers may give a survey away; as a name it is too wide.

    >>> work_key("Reefs [Extended Version]"), work_key("Extended version")
    ('reefs', 'extendedversion')
    """
    key = normal_title(title)
    return re.sub(VERSION, "", key) or key


def title_words(text: str) -> list[str]:
    """Return the words of a title, or of a text that names one, as `normal_title` spells them.

    >>> title_words("Čech X-nets: <i>deep</i>")
    ['cech', 'x', 'nets', 'deep']
    """
    letters = (c for c in _folded(text) if not unicodedata.combining(c))
    return re.findall(r"[^\W_]+", "".join(letters))


def _folded(title: str) -> str:
    title = read_entities(title)
    if end := footnote_mark(title):
        title = title[:end] + "".join(_CLOSING.findall(title, end))
    if "<" in title:
        title = _ANNOTATION.sub("", title)
        closed = {tag[2].lower() for tag in _TAG.finditer(title) if tag[1]}
        title = _TAG.sub(lambda tag: tag[0] if _is_text(tag, closed) else "", title)
    title = RETRACTED.sub("", title)
    if "\\" in title:
        title = read_latex(title.replace("\\$", " ").replace("$", ""), _sign)
    folded = unicodedata.normalize("NFKC", title).casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFD", folded).translate(_LETTERS)
    if not _MEANT.isdisjoint(folded):
        folded = "".join(c for c in folded if c not in "{}$^~" and not unicodedata.combining(c))
        folded = _MEANING.sub(lambda found: _SPOKEN[found[0][-1]], folded)
    return folded


def _sign(command: str) -> str:
    """Return the letters that a command of LaTeX stands for; unknown letters stay."""
    if greek := _GREEK_LETTER.fullmatch(command):
        return str(greek[1])
    return _AS_LETTERS.get(command, command if command in NAMES or len(command) == 1 else "")


def _is_text(tag: re.Match[str], closed: set[str]) -> bool:
    """Return whether what looks like a tag is part of a title, as in ``Vec<T>``, ``Vec<B>``."""
    if tag[1] or tag[4] or tag[2].lower() in closed or "=" in (tag[3] or ""):
        return False
    type_ = len(tag[2]) == 1 and tag[2].isupper()
    return bool(tag[3]) or type_ or not TAG.fullmatch(tag[0])
