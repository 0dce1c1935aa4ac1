"""Ids to ask for: of papers in reach, of papers out of reach, and of no paper."""

from __future__ import annotations

import random
import string
from typing import Any

from arena.testing.files import NEVER, Facts, Paper, Reach, Survey

_LOOKALIKES = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_JUNK = (
    "",
    " ",
    "\x00",
    "\ud800",
    "0",
    "-1",
    "None",
    "null",
    "'",
    '"',
    "\\",
    "../papers.parquet",
    "%s%n{0}",
    "\u202e\u200b",
    "𝔖𝔲𝔯𝔳𝔢𝔶",
    "深層学習",
    "; DROP TABLE papers",
)


def mutated(paper_id: str, rng: random.Random) -> str:
    """Return an id that looks like `paper_id`; it is almost never the id of a paper."""
    return rng.choice(
        (
            paper_id.upper(),
            paper_id.swapcase(),
            paper_id.title(),
            f" {paper_id}",
            f"{paper_id}\n",
            f"{paper_id}\u200b",
            f"{paper_id}\x00",
            f"\ufeff{paper_id}",
            f"{paper_id}\ud800",
            paper_id.translate(_LOOKALIKES),
            "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in paper_id),
            paper_id[:-1],
            paper_id[1:],
            paper_id[:1],
            f"{paper_id}v2",
            paper_id + paper_id,
            paper_id[::-1],
            repr(paper_id),
            "".join(c for c in paper_id if c.isdigit()),
        )
    )


def junk_text(rng: random.Random) -> str:
    """Return a text that may break a parser."""
    return rng.choice(_JUNK)


def twin_of(paper_id: str, known: object, rng: random.Random) -> str | None:
    """Return an id of the same shape that no paper has, or None if there is none.

    Args:
        paper_id: Id whose ASCII letters and digits are replaced by others of their kind.
        known: Container of the ids of all papers.
        rng: Source of randomness.
    """
    for _ in range(20):
        made = "".join(_other(c, rng) for c in paper_id)
        if made != paper_id and made not in known:  # type: ignore[operator]
            return made
    return None


def _other(character: str, rng: random.Random) -> str:
    for kind in (string.digits, string.ascii_lowercase, string.ascii_uppercase):
        if character in kind:
            return rng.choice(kind)
    return character


def without(text: str, paper_id: str) -> str:
    """Return `text` with every quotation of an id replaced by ``<id>``.

    A message quotes the ``repr`` of a value, and cuts long ones.
    """
    # Half a surrogate pair is another character once it stands in a mind-map.
    for written in (
        paper_id,
        paper_id.encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
    ):
        quoted = repr(written[:80])
        for form in (quoted, f"{quoted[:77]}...", repr(written)):
            text = text.replace(form, "<id>")
        if len(written) > 4:  # a "t" is in any text
            text = text.replace(written, "<id>")
    return text


def without_ids(value: Any, paper_id: str) -> Any:
    """Return a value of JSON with every quotation of an id, also in keys, replaced by ``<id>``."""
    if isinstance(value, dict):
        return {without(k, paper_id): without_ids(v, paper_id) for k, v in value.items()}
    if isinstance(value, list):
        return [without_ids(item, paper_id) for item in value]
    if isinstance(value, str):
        return "<id>" if value == paper_id else without(value, paper_id)
    return value


class Ids:
    """Draws ids.

    Args:
        reach: The papers that exist.
        survey: Survey whose references are drawn often; None for no survey.
        rng: Source of randomness.
    """

    def __init__(self, reach: Reach, survey: Survey | None, rng: random.Random) -> None:
        self._facts, self._reach, self._rng = reach.facts, reach, rng
        facts: Facts = reach.facts
        self._gold = (
            [] if survey is None else [(r.id, r.status == "gold") for r in survey.references]
        )
        days = facts.days
        hidden = ~reach.mask & ~facts.survey
        later = hidden & (days > reach.day) & (days < NEVER)
        pools = (
            *(later, later, later),  # what a leaking tool most likely knows
            hidden & (days == reach.day),
            hidden & (days == NEVER),
            facts.survey,
        )
        self._pools = [pool.nonzero()[0] for pool in pools if pool.any()]
        self._excluded, self._surveys = sorted(reach.excluded), list(facts.surveys)

    def visible(self) -> str | None:
        """Return the id of a paper in reach, or None if there is none."""
        paper = self.paper(True)
        return paper.id if paper else None

    def paper(self, visible: bool) -> Paper | None:
        """Return a paper that is in reach or one that is not; None if there is none."""
        pool = self._reach.numbers if visible else self._some_pool()
        return self._facts.papers[int(self._rng.choice(pool))] if len(pool) else None

    def hidden(self) -> str:
        """Return an id that must be refused; a few may exist by chance."""
        rng = self._rng
        roll = rng.random()
        if roll < 0.55 and (paper := self.paper(False)) is not None:
            return paper.id
        if roll < 0.7 and (named := self._excluded if roll < 0.63 else self._surveys):
            return rng.choice(named)
        if roll < 0.78 and (gold := self.gold(False)):
            return rng.choice(gold)
        if roll < 0.95 and self._facts.papers:
            return mutated(rng.choice(self._facts.papers).id, rng)
        return junk_text(rng)

    def any(self) -> str:
        """Return any id, mostly of a paper in reach, often a reference of the survey."""
        roll = self._rng.random()
        if roll < 0.25 and (gold := self.gold(True)):
            return self._rng.choice(gold)
        if roll < 0.7 and (paper_id := self.visible()) is not None:
            return paper_id
        return self.hidden()

    def gold(self, in_reach: bool) -> list[str]:
        """Return the references of the survey that are gold, or those out of reach."""
        return [paper_id for paper_id, gold in self._gold if gold == in_reach]

    def _some_pool(self) -> Any:
        return self._rng.choice(self._pools) if self._pools else ()
