"""Addresses of works, and the identifiers in them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import arena.counted as re
from arena.text.identifiers import DOI_END, arxiv_key, arxiv_keys_in, doi_key, without_end

_URL_PART = r"[^\s<>\[\]\"“”{}|\\^`\x00\ue000\ue001，。；、）】]"
_SICI = r"<\d{1,9}:[^\s<>]{1,40}>(?=\d)"  # as in 10.1002/(SICI)1097(199009)41:6<391::AID>3.0.CO;2-9
URL = re.compile(rf"https?://{_URL_PART}{{1,4000}}+(?:{_SICI}{_URL_PART}{{1,40}})?", re.IGNORECASE)
ADDRESS_ENDS = re.compile(rf"https?://{_URL_PART}+$", re.IGNORECASE)
_BROKEN = re.compile(
    r"((?:https?://|\b10\.\d{4,9}/)\S{0,999}+)(?:(?<=[-_]) +(?=[^\s\[(])"
    r"|(?<=\.) +(?=(?:pdf|html?)\b|[a-z]+- ?[a-z])|(?<=\.(?:19|20)\d\d\.) +(?=\d{5}))",
    re.IGNORECASE,
)
_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html|ps|format|e-print)/|ar5iv(?:\.labs\.arxiv)?\.org/(?:abs|html)/"
    r"|alphaxiv\.org/(?:abs|overview)/|huggingface\.co/papers/|/abs/arxiv:)"
    r"((?:[a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5}))(?!\d)",
    re.IGNORECASE,
)
_ACL = re.compile(
    r"(?:aclanthology\.org|aclweb\.org/anthology)/(?:papers/\w/\w+/)?"
    r"([A-Z]\d{2}-\d{4,5}|\d{4}\.[a-z0-9_]+-[a-z0-9_]+\.\d+)",
    re.IGNORECASE,
)
_OPENREVIEW = re.compile(
    r"openreview\.net/(?:forum|pdf|attachment|revisions|references/pdf)\?(?:[^\s&]*+&)*?id=([\w-]+)",
    re.IGNORECASE,
)
_SCHOLAR = re.compile(
    r"semanticscholar\.org/(?:paper/(?:\S*[/-])?([0-9a-f]{40})(?!\w)|CorpusID:(\d+)|reader/([0-9a-f]{40}))",
    re.IGNORECASE,
)
_OPENALEX = re.compile(r"openalex\.org/(?:works/)?(W\d+)", re.IGNORECASE)
# A page of these that names no work, as where a line break cut the address
_NO_WORK = re.compile(
    r"url:(?:(?:[a-z]+\.)?arxiv\.org(?:/(?:abs|pdf|html).*)?|(?:dx\.)?doi\.org.*"
    r"|openreview\.net(?:/(?:forum|pdf)(?:\?(?:id=)?)?)?|aclanthology\.org(?:/(?:\d{4}|[A-Z]\d\d).*)?"
    r"|(?:\w+\.)?semanticscholar\.org(?:/paper)?|openalex\.org(?:/works)?)"
)
_ARTICLE = re.compile(
    r"/[a-z-]*article[a-z-]*/(?:\w+/)?doi/(10\.\d+/.+?)/\d{5,}(?:/|$)", re.IGNORECASE
)
_TRACKING = re.compile(
    r"utm_|(?:fbclid|gclid|mc_cid|mc_eid|igshid|ref_src|spm|trk)$", re.IGNORECASE
)


def address_ids(address: str) -> tuple[str, ...]:
    """Return the identifiers of what an address leads to.

    That is arXiv's, in whatever form and without version, a DOI, OpenReview's ``id``, that of the
    ACL Anthology (and the DOI that the anthology gives), Semantic Scholar's or OpenAlex'; otherwise
    ``url:`` and the address without scheme, ``www.``, fragment, closing slash and parameters that
    track readers. All other parameters stay: they distinguish two pages. An address of these sites
    that is cut before its identifier ends, or that has none, has no identifiers.

    >>> address_ids("https://arxiv.org/pdf/1706.03762v5.pdf")
    ('arxiv:1706.03762',)
    >>> address_ids("https://openreview.net/pdf?id=md68e8iZK1")
    ('openreview:md68e8iZK1',)
    >>> address_ids("http://www.X.org/a/?p=1&utm_source=chat#top")
    ('url:x.org/a?p=1',)
    """
    address = address[:4000]
    if match := _ARXIV.search(address):
        return (f"arxiv:{match[1]}",)
    if match := _OPENREVIEW.search(address):
        return (f"openreview:{match[1]}",)
    if match := _ACL.search(address):
        return (f"acl:{match[1]}", f"doi:10.18653/v1/{match[1].lower()}")
    if match := _SCHOLAR.search(address):
        return (f"s2:{match[1] or match[3] or f'CorpusID:{match[2]}'}",)
    if match := _OPENALEX.search(address):
        return (f"openalex:{match[1].upper()}",)
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
        query = parse_qsl(parts.query, keep_blank_values=True)
        kept = urlencode([(name, value) for name, value in query if not _TRACKING.match(name)])
    except ValueError:  # a malformed host, half a character
        return (f"url:{address}",)
    for path in (unquote(parts.path), *(f"/{value}" for _, value in query)):
        whole = _ARTICLE.search(path)
        if "/10." in path and (
            doi := doi_key(whole[1] if whole else path[path.index("/10.") + 1 :])
        ):
            return (doi if host.endswith("doi.org") else DOI_END.sub("", doi),)
    page = f"url:{host}{parts.path.rstrip('/')}{'?' if kept else ''}{kept}"
    return () if _NO_WORK.fullmatch(page) else (page,)


def addresses_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the addresses in a text stand, without the punctuation behind them."""
    for match in URL.finditer(text):
        yield match.start(), match.start() + len(without_end(match[0]))


def repair_addresses(text: str) -> str:
    """Return a text without the blanks that text recognition leaves behind hyphens in addresses."""
    for _ in range(30):  # each pass removes one blank of every address
        text, count = _BROKEN.subn(r"\1", text)
        if not count:
            break
    return text


def ids_in(entry: str) -> tuple[str, ...]:
    """Return the identifiers that an entry of a reference list names, distinct; addresses last."""
    found = list(arxiv_keys_in(entry.replace("- ", "-")))
    without = URL.sub(" ", entry)
    if match := re.match(r"[\s\d\[\]]*?\[(\d{4}\.\d{4,5})(?:v\d+)?\]", without):
        found.append(f"arxiv:{match[1]}")
    found += [key for key in (doi_key(without), *(key for _, _, key in bare_ids(without))) if key]
    named = [each for a, b in addresses_in(entry) for each in address_ids(entry[a:b])]
    found += sorted(named, key=lambda each: each.startswith("url:"))
    return tuple(dict.fromkeys(found))


def bare_ids(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the identifiers that a text names without an address, and where they stand."""
    for match in _NAMED.finditer(text):
        end = match.start() + len(without_end(match[0]))
        key = doi_key(match["doi"]) if match["doi"] else arxiv_key(match["arxiv"])
        if match["work"] or match["corpus"]:
            key = f"openalex:{match['work']}" if match["work"] else f"s2:CorpusID:{match['corpus']}"
        if key:
            yield match.start(), end, key


_NAMED = re.compile(
    r"\barxiv:\s?(?P<arxiv>\d{4}\.\d{4,5}(?:v\d+)?)(?!\d)|\bCorpus ?ID:\s?(?P<corpus>\d+)"
    r"|\bopenalex(?:\.org/|:)(?P<work>W\d+)"
    r"|\bdoi:\s?(?P<doi>10\.\d{4,9}/(?:(?!\[\d{1,4}\])[^\s\x00]){1,500})",
    re.IGNORECASE,
)
