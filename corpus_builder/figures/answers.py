"""The answers of a model: the name of a figure, and the tree in it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from arena.errors import DataError, clip
from arena.llm import ParseError, as_json, tagged, unfenced, without_thoughts
from arena.mindmap import MindMap, read_mind_map

_NONE = frozenset({"null", "none"})
_AROUND = " \t\r\n`'\"*"
_COMMA = re.compile(r",(?=\s{0,200}[}\]])")
_OPENS, _CLOSES = re.compile(r"<\s{0,5}typology\b", re.I), re.compile(r"</\s{0,5}typology\b", re.I)


def read_name(text: str, names: Collection[str]) -> str | None:
    """Return the one of `names` that an answer says, or None if it says NULL.

    Raises:
        ParseError: It says none of them, or several.

    >>> read_name("The figure is `2-Figure1-1.png`.", ["2-Figure1-1.png", "12-Figure1-1.png"])
    '2-Figure1-1.png'
    """
    plain = _plain(without_thoughts(text))
    if plain in names:
        return plain
    if plain.casefold() in _NONE:
        return None
    said = [n for n in names if re.search(rf"(?<![\w./\\-]){re.escape(n)}(?![\w/\\-])", plain)]
    if len(said) != 1:
        raise ParseError(f"{clip(plain)} is not the name of one of the figures, nor NULL.")
    return said[0]


def _plain(text: str) -> str:
    """Return a text without the marks and the full stop that may stand around a word."""
    return text.strip(_AROUND).rstrip("." + _AROUND)


def read_tree(text: str) -> str | None:
    """Return the mind-map in an answer as the gold maps of a corpus are kept, as JSON text.

    None if the answer is NULL. Papers are left out: a figure names none that a corpus knows.
    An answer that was cut off is none: half a map would be a wrong label.

    Raises:
        ParseError: There is no mind-map with a label in it.
    """
    plain = without_thoughts(text)
    opened, closed = _OPENS.search(plain), _CLOSES.search(plain)
    if opened and not closed:
        raise ParseError("It ends before </typology>.")
    inside = tagged(plain, "typology") if opened else unfenced(plain)
    if _plain(inside).casefold() in _NONE:
        return None
    tree = _tree(inside, loosely=opened is not None)
    if not tree.labels():
        raise ParseError("There is no label in it.")
    return json.dumps(_bare(tree).to_json())


def _tree(text: str, loosely: bool) -> MindMap:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=len(text))
    part = text[start : max(text.rfind("}"), text.rfind("]")) + 1]
    if not part:
        raise ParseError("There is no JSON object in it.")
    problem = ""
    # A comma after the last entry, as in figure 2 of the paper, is no mistake.
    for repair in (str, lambda part: _COMMA.sub("", part), as_json)[: 3 if loosely else 2]:
        try:
            return read_mind_map(repair(part))[0]
        except DataError as error:
            problem = problem or str(error)
    raise ParseError(problem)


def _bare(tree: MindMap) -> MindMap:
    """Return a tree without its papers."""
    return MindMap(tree.label, tuple(map(_bare, tree.children)))
