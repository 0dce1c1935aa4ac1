"""Records with one identifier and several titles: whose is it?

Chapters have the DOI of their book, and some entries the arXiv identifier of what they comment on.
A preprint that is published under another title, by the same people, has its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena.text.identifiers import normal_title

_REPLY = re.compile(r"\W*(?:comments? on|repl(?:y|ies) to|response to|errat|corrig)", re.IGNORECASE)
_MOST = 100  # works with one identifier: of more, records with other titles are other works


class Claim(NamedTuple):
    """A record with the identifier: number, key of its title, family names, and the record."""

    number: int
    title: str
    names: set[str]
    record: Mapping[str, Any]

    @property
    def venue(self) -> str:
        """The key of what it is in."""
        return normal_title(str(self.record.get("venue") or ""))


def settled(claims: Sequence[Claim]) -> Iterator[tuple[Claim, bool]]:
    """Yield the claims that change: whether the identifier stays theirs, though not its month.

    It belongs to the work that has a record with an id of its own, such as arXiv's, or is the book
    of the others; else to nobody. If all are of one work, a record keeps it; its month does not
    count where titles are not alike. `claims` are in an order that no file decides.
    """
    works: list[list[Claim]] = []
    for claim in claims:
        near = (work for work in works[:_MOST] if _is_one(work[0], claim))
        if (found := next(near, None)) is None:
            works.append(found := [])
        found.append(claim)
    venues = {claim.venue for claim in claims}
    owners = [work for work in works if any("id" in claim.record for claim in work)]
    owners = owners or [work for work in works if len(works) == 1 or work[0].title in venues]
    owner = owners[0] if owners else []
    known = next((claim for claim in owner if "id" in claim.record), None)
    unlike = [claim for claim in owner if not _alike(known or owner[0], claim)]
    for claim in claims:
        if claim not in owner or claim in unlike or (unlike and not known):
            yield claim, claim in owner


def _is_one(one: Claim, other: Claim) -> bool:
    """Return whether titles are alike, or people the same, and not of two parts of one book."""
    book = {one.venue, one.title} & {other.venue, other.title} - {""}
    return _alike(one, other) or not (book or one.names.isdisjoint(other.names))


def _alike(one: Claim, other: Claim) -> bool:
    """Return whether two titles are spellings of one, or one has a subtitle more."""
    titles = [str(claim.record["title"]) for claim in (one, other)]
    parts = [(re.findall(r"\d+", title), bool(_REPLY.match(title))) for title in titles]
    short, long = sorted((one.title, other.title), key=len)
    pairs = [{title[at : at + 2] for at in range(len(title) - 1)} for title in (short, long)]
    near = 2 * len(pairs[0] & pairs[1]) >= len(pairs[0] | pairs[1])
    return short == long or (parts[0] == parts[1] and (near or long.startswith(short)))
