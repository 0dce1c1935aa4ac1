"""Identifiers of papers in addresses and entries of lists; citations by address, id or label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from arena.report.model import Bibliography, Inline, Mark, Reference
from arena.text.identifiers import arxiv_key, arxiv_keys_in, doi_key

URL = re.compile(
    r"https?://[^\s<>\[\]\"“”{}|\\^`\x00\ue000\ue001，。；、）】]{1,4000}", re.IGNORECASE
)
_BROKEN = re.compile(
    r"(https?://\S{0,999}+)(?:(?<=[-_]) +(?=[^\s\[(])|(?<=\.) +(?=(?:pdf|html?)\b|[a-z]+- ?[a-z]))",
    re.IGNORECASE,
)
_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html|ps|format|e-print)/|ar5iv(?:\.labs\.arxiv)?\.org/(?:abs|html)/"
    r"|alphaxiv\.org/(?:abs|overview)/|huggingface\.co/papers/|/abs/arxiv:)"
    r"((?:[a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5}))",
    re.IGNORECASE,
)
_ACL = re.compile(
    r"(?:aclanthology\.org|aclweb\.org/anthology)/(?:papers/\w/\w+/)?"
    r"([A-Z]\d{2}-\d{4,5}|\d{4}\.[a-z0-9_]+-[a-z0-9_]+\.\d+)",
    re.IGNORECASE,
)
_OPENREVIEW = re.compile(
    r"openreview\.net/\w[\w/]*\?(?:\S*&)?(?:id|noteId)=([\w-]+)", re.IGNORECASE
)
_SCHOLAR = re.compile(
    r"semanticscholar\.org/(?:paper/(?:\S*[/-])?([0-9a-f]{40})(?!\w)|(CorpusID:\d+)|reader/([0-9a-f]{40}))",
    re.IGNORECASE,
)
_DOI_END = re.compile(r"(?:/\d{5,}(?:/.*)?|/(?:full|pdf|abstract|html)|v\d+(?:\.full.*)?|\.pdf)$")
_TRACKING = re.compile(
    r"utm_|(?:fbclid|gclid|mc_cid|mc_eid|igshid|ref_src|spm|trk)$", re.IGNORECASE
)


def address_ids(address: str) -> tuple[str, ...]:
    """Return the identifiers of what an address leads to; the first one is always there.

    That is arXiv's, in whatever form and without version, a DOI, OpenReview's ``id``, that of the
    ACL Anthology (and the DOI that the anthology gives), Semantic Scholar's; otherwise ``url:`` and
    the address without scheme, ``www.``, fragment, closing slash and parameters that track readers.
    All other parameters stay: they tell two pages apart.

    >>> address_ids("https://arxiv.org/pdf/1706.03762v5.pdf")
    ('arxiv:1706.03762',)
    >>> address_ids("https://openreview.net/pdf?id=md68e8iZK1")
    ('openreview:md68e8iZK1',)
    >>> address_ids("http://www.X.org/a/?p=1&utm_source=chat#top")
    ('url:x.org/a?p=1',)
    """
    if match := _ARXIV.search(address):
        return (f"arxiv:{match[1]}",)
    if match := _OPENREVIEW.search(address):
        return (f"openreview:{match[1]}",)
    if match := _ACL.search(address):
        return (f"acl:{match[1]}", f"doi:10.18653/v1/{match[1].lower()}")
    if match := _SCHOLAR.search(address):
        return (f"s2:{match[1] or match[2] or match[3]}",)
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:  # a malformed host
        return (f"url:{address}",)
    path = unquote(parts.path)
    if "/10." in path and (doi := doi_key(path[path.index("/10.") + 1 :])):
        if doi.startswith("doi:") and not host.endswith("doi.org"):
            doi = _DOI_END.sub("", doi)
        return (doi,)
    query = parse_qsl(parts.query, keep_blank_values=True)
    kept = urlencode([(name, value) for name, value in query if not _TRACKING.match(name)])
    return (f"url:{host}{parts.path.rstrip('/')}{'?' if kept else ''}{kept}",)


def addresses_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the addresses in a text stand, without the punctuation behind them."""
    for match in URL.finditer(text):
        address = match[0].rstrip(".,;:!?'’*_")
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(".,;:!?'’*_")
        yield match.start(), match.start() + len(address)


def mend_addresses(text: str) -> str:
    """Return a text without the blanks that text recognition leaves behind hyphens in addresses."""
    for _ in range(30):  # each pass mends one blank of every address
        mended = _BROKEN.sub(r"\1", text)
        if mended == text:
            break
        text = mended
    return text


def ids_in(entry: str) -> tuple[str, ...]:
    """Return the identifiers that an entry of a reference list names, distinct; addresses last."""
    found = list(arxiv_keys_in(entry.replace("- ", "-")))
    without = URL.sub(" ", entry)
    if match := re.match(r"[\s\d\[\]]*?\[(\d{4}\.\d{4,5})(?:v\d+)?\]", without):
        found.append(f"arxiv:{match[1]}")
    if key := doi_key(without):
        found.append(key)
    named = [each for a, b in addresses_in(entry) for each in address_ids(entry[a:b])]
    found += sorted(named, key=lambda each: each.startswith("url:"))
    return tuple(dict.fromkeys(found))


def bare_ids(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the arXiv ids and DOIs that a text names without an address, and where they stand."""
    for match in _NAMED.finditer(text):
        key = doi_key(match[0]) if match["doi"] else arxiv_key(match["arxiv"])
        if key:
            end = match.end() - (len(match[0]) - len(match[0].rstrip(".,;}")))
            yield match.start(), end, key


_NAMED = re.compile(
    r"\barxiv:\s?(?P<arxiv>\d{4}\.\d{4,5}(?:v\d+)?)(?!\d)|\bdoi:\s?(?P<doi>10\.\d{4,9}/[^\s\])\x00]+)",
    re.IGNORECASE,
)


# Citations by address, ``arXiv:2010.11929``, ``doi:10.1000/x``, a footnote ``[^1]`` or a label

_NO_WORDS = re.compile(r"[\[(【]*(?:\W|\d|https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?|source|link|pdf|arxiv)*[\])】]*",
                       re.IGNORECASE)  # fmt: skip
_LABEL = re.compile(r"\[(\^[^\[\]\s]{1,60})\](?!:)|(?<=\])\[([^\[\]]{1,60})\]")


def marks(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield links to other sites, addresses, and identifiers of arXiv and DOIs.

    Links to one paper are one reference, whatever the address. The text of a link stays in the
    sentence if it has words other than a site's name.
    """
    for link in text.links:
        if not link.address.lower().startswith(("http://", "https://")):
            continue
        words = text.text[link.start : link.end]
        title = "" if _NO_WORDS.fullmatch(words) else words
        reference = _reference(link.address, title, bibliography)
        yield Mark(link.start, link.end, (reference,), kept=bool(title))
    for start, end in addresses_in(text.bare):
        yield Mark(start, end, (_reference(text.bare[start:end], "", bibliography),))
    for start, end, key in bare_ids(text.bare):
        yield Mark(start, end, (bibliography.names.get(key) or Reference(key, ids=(key,)),))


def _reference(address: str, title: str, bibliography: Bibliography) -> Reference:
    ids = address_ids(address)
    entry = next((bibliography.names[key] for key in ids if key in bibliography.names), None)
    return entry or Reference(ids[0], title=title, ids=ids)


def labels(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield ``[^1]``, and the labels of links, ``[words][label]``, if an address explains them."""
    for match in _LABEL.finditer(text.bare):
        label = match[1] or match[2]
        if match[1] or (label in bibliography.names and not label.isdigit()):
            yield Mark(match.start(), match.end(), (bibliography.cited(label),))
