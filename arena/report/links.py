"""Citations by address, ``arXiv:2010.11929``, ``doi:10.1000/x``, a footnote ``[^1]`` or a label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena.report.addresses import address_ids, addresses_in, bare_ids
from arena.report.marks import Bibliography, Inline, Mark
from arena.report.model import Reference

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
