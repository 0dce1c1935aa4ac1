"""Ids and texts that an honest agent would not send."""

from __future__ import annotations

import random
import string

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
    """Return an id that looks like another and is none, or so one hopes: ask the facts."""
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
    """Return a text that may trip a parser."""
    return rng.choice(_JUNK)


def twin_of(paper_id: str, known: object, rng: random.Random) -> str | None:
    """Return an id of the same shape that never was, or None if there is none to be made.

    Args:
        paper_id: letters and digits of ASCII are replaced by others of their kind.
        known: a container of the ids that are taken.
        rng: the source of chance.
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
    """Return a message with every form in which it may quote an id taken out.

    A message quotes the ``repr`` of a value, of which long ones are cut.
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


def malformed(tools: tuple[str, ...], rng: random.Random) -> object:
    """Return an action that no environment can carry out."""
    nested: object = "x"
    for _ in range(rng.choice((3, 60, 2_000))):
        nested = [nested]
    return rng.choice(
        (
            None,
            7,
            True,
            "",
            "no json",
            "[1, 2",
            b"\xff\xfe",
            [],
            {},
            {"tool": "search"},
            {"tool": "search", "arguments": []},
            {"tool": "search", "arguments": {"query": None}},
            {"tool": "search", "arguments": {"query": ["membrane"]}},
            {"tool": "search", "arguments": {"query": "a", "cutoff": "2100-01-01"}},
            {"tool": "search", "arguments": {"query": "a", "exclude": []}},
            {"tool": "search", "arguments": {"query": "a", "retriever": "no such engine"}},
            {"tool": "search", "arguments": {"query": "a", "k": 0}},
            {"tool": "search", "arguments": {"query": "a", "k": 101}},
            {"tool": "search", "arguments": {"query": "a", "k": 10**30}},
            {"tool": "search", "arguments": {"query": "a", "k": 1.5}},
            {"tool": "search", "arguments": {"query": "a", "k": True}},
            {"tool": "search", "arguments": {"query": "a", "offset": -1}},
            {"tool": "search", "arguments": {"query": "a", "offset": 1_001}},
            {"tool": "search", "arguments": {"query": "x" * 10_001}},
            {"tool": "read", "arguments": {"paper_id": 5}},
            {"tool": "read", "arguments": {"paper_id": nested}},
            {"tool": "read", "arguments": {}},
            {"tool": "gold", "arguments": {}},
            {"tool": "Search", "arguments": {"query": "a"}},
            {"tool": nested, "arguments": {"query": "a"}},
            {"tool": "submit", "arguments": {"paper_ids": "all"}},
            {"tool": "submit", "arguments": {"paper_ids": [["a"]]}},
            {"tool": "select", "arguments": {"paper_ids": [None]}},
            {"tool": "finish", "arguments": {"now": True}},
            {"tool": "finish", "arguments": {}, "labels": True},
            {"tool": "organize", "arguments": {"mind_map": 3}},
            {"tool": "organize", "arguments": {"mind_map": {"label": 3, "children": []}}},
            {"tool": "organize", "arguments": {"mind_map": {"label": "a", "children": [nested]}}},
            {"tool": "organize" if "organize" not in tools else "submit", "arguments": 0},
        )
    )
