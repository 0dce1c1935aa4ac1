"""Identifiers that tell papers apart in any collection: arXiv's, DOIs, Semantic Scholar's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_NEW = r"\d{4}\.\d{4,5}"
_OLD = r"[a-z-]+(?:\.[A-Z]{2})?/\d{7}"
_ARXIV = re.compile(rf"({_NEW}|{_OLD})(?:v\d+)?")
_ARXIV_IN_TEXT = re.compile(
    rf"(?:arxiv\s*[:.\s]\s*|arxiv\.org/(?:abs|pdf)/|arxiv\.)({_NEW}|{_OLD})(?!\d)", re.IGNORECASE
)
_NUMBER = re.compile(r"(\d{3,4})\.(\d+)")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ARXIV_DOI = "10.48550/arxiv."
_FIVE_DIGITS_FROM = "1501"  # arXiv: four digits behind the dot before January 2015, five since


def arxiv_key(text: object) -> str | None:
    """Return ``arxiv:...`` of an arXiv identifier, without its version; None of anything else.

    >>> arxiv_key("arXiv:1706.03762v5"), arxiv_key("cs/9301111"), arxiv_key("10.1/2")
    ('arxiv:1706.03762', 'arxiv:cs/9301111', None)
    """
    if not isinstance(text, str):
        return None
    bare = re.sub(r"^(?:https?://)?(?:arxiv\.org/(?:abs|pdf)/|arxiv\s*:\s*)", "", text.strip(),
                  flags=re.IGNORECASE)  # fmt: skip
    match = _ARXIV.fullmatch(bare.removesuffix(".pdf"))
    return f"arxiv:{match[1]}" if match else None


def arxiv_keys_in(text: str) -> Iterator[str]:
    """Yield ``arxiv:...`` for every identifier that a text names as arXiv's."""
    for match in _ARXIV_IN_TEXT.finditer(text):
        yield f"arxiv:{match[1]}"


def doi_key(text: object) -> str | None:
    """Return ``doi:...`` of a DOI or its link, in lower case; an arXiv DOI is ``arxiv:...``.

    >>> doi_key("https://doi.org/10.1109/TITS.2025.1"), doi_key("10.48550/arXiv.1706.03762")
    ('doi:10.1109/tits.2025.1', 'arxiv:1706.03762')
    """
    if not isinstance(text, str):
        return None
    match = _DOI.search(text.strip())
    if not match:
        return None
    doi = match[0].rstrip(".,;}").lower()
    return arxiv_key(doi.removeprefix(_ARXIV_DOI)) if doi.startswith(_ARXIV_DOI) else f"doi:{doi}"


def paper_keys(record: Mapping[str, Any]) -> set[str]:
    """Return the identifiers of a paper of a collection.

    They stand in its ``id`` (``arxiv:1706.03762``, ``doi:10...``, or bare), ``arxiv_id``, ``doi``
    and ``externalids`` (Semantic Scholar's). An arXiv ``id`` that passed through a floating-point
    number is repaired: ``arxiv:1907.0384800000002`` and ``arxiv:705.361``.
    """
    external = record.get("externalids") or record.get("externalIds")
    external = external if isinstance(external, Mapping) else {}
    identifier = record.get("id")
    found = {
        arxiv_key(record.get("arxiv_id")),
        arxiv_key(external.get("ArXiv")),
        doi_key(record.get("doi")),
        doi_key(external.get("DOI")),
    }
    if isinstance(identifier, str):
        found |= {arxiv_key(identifier), doi_key(identifier), _repaired(identifier)}
    return {key for key in found if key}


def _repaired(identifier: str) -> str | None:
    match = _NUMBER.fullmatch(identifier.removeprefix("arxiv:"))
    if match is None or not identifier.startswith("arxiv:"):
        return None
    month, digits = match[1].zfill(4), match[2]
    width = 5 if month >= _FIVE_DIGITS_FROM or month < "0704" else 4
    if len(digits) > width:
        digits = f"{float(f'0.{digits}'):.{width}f}"[2:]
    return f"arxiv:{month}.{digits.ljust(width, '0')}"
