"""Actions of an agent that knows the whole corpus and the labels, and wants to see the future.

They are made from the JSON schemas of an environment's tools. No tool needs to be named here: one
that is added to an environment is called like all others.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from arena.answers import ANSWERS
from arena.errors import clip
from arena.testing.reference import PlainView
from arena.testing.stored import NEVER, StoredPaper, StoredTopic
from arena.tools import Tool

_HUGE = "a" * 1_000_000
_DEEP: Any = json.loads(50 * '{"a": [' + 50 * "]}")
_LOOPED: list[Any] = []
_LOOPED.append(_LOOPED)
_NO_CALLS: tuple[Any, ...] = (
    None, True, 42, -1.5, float("nan"), "", " ", "search", "{", "[1", '"', "null", _HUGE, b"\xff",
    "[" * 100_000, "\ud800", "\0", object(), {1, 2}, [], _LOOPED, {}, len, {"tool": None},
    {"tool": 3}, {"tool": ["search"]}, {"tool": "no such tool"}, {"tool": _HUGE},
    {"arguments": {}}, {1: 2}, {"tool": "\ud800"}, {"tool": object()},
)  # fmt: skip
"""Actions that do not call a tool."""
_VALUES: tuple[Any, ...] = (
    None, True, "true", 0, 1, 5, "5", 10**3, 10**6, 10**30, -1, -(10**30), 0.5, float("inf"),
    "", "word", b"word", "\ud800\0\x1b[31m", "深" * 5_000, _HUGE, [], ["word"], [1], [None],
    [["word"]], [""] * 2_000, [_HUGE], {}, {"a": 1}, _DEEP, {"label": _HUGE},
    {"label": "", "children": [{"label": "\ud800\0"}] * 50},
)  # fmt: skip
"""Values for any argument."""


class Probe(NamedTuple):
    """An odd action."""

    action: Any
    allowed: bool  # whether it is a call that satisfies the schema of its tool
    tool: str = ""  # empty if it is not a call
    what: str = ""  # the argument that is odd, and its value


def probes(tools: Mapping[str, Tool]) -> Iterator[Probe]:
    """Yield actions that are not calls, and calls of each tool with one odd argument.

    An argument is missing or unknown, or has a value of another type, of unusual size, at a bound
    or beyond it. The schema of the tool says which of these calls are allowed. Left out is what
    environments accept though the schema does not: null for an optional argument, an object as
    text, and an integer as its digits.
    """
    for action in _NO_CALLS:
        yield Probe(action, False)
    for name, tool in tools.items():
        (good, *_), *odd = _odd_arguments(json.dumps(tool.schema), tool.either[:1])
        call: dict[str, Any] = {"tool": name, "arguments": dict(good)}
        changes: list[dict[str, Any]] = [{"tool": name.upper()}, {"extra": 1}]
        changes += [{"arguments": value} for value in ([], "{", 1, _LOOPED, {1: 1})]
        yield from (Probe(call | change, False, name) for change in changes)
        for arguments, allowed, what in odd:
            yield Probe(call | {"arguments": dict(arguments)}, allowed, name, what)


@lru_cache(256)  # an audit makes many environments with the same tools
def _odd_arguments(
    schema_text: str, usual: tuple[str, ...]
) -> list[tuple[dict[str, Any], bool, str]]:
    """Return (arguments, whether the schema allows them, what is odd); of the first nothing is.

    The first has the required arguments and the `usual` ones.
    """
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    schema = json.loads(schema_text)
    properties, required = schema.get("properties", {}), schema.get("required", ())
    good = {name: _plain_value(properties[name]) for name in (*required, *usual)}
    odd = [(good, "")]
    odd += [({k: v for k, v in good.items() if k != key}, f"no {key}") for key in required]
    for key in ("no such argument", "cutoff", "exclude", "labels"):
        odd.append((good | {key: "2100-01-01"}, key))
    for key, part in properties.items():
        limits = [b for b in ("minimum", "maximum", "minItems", "maxItems") if b in part]
        bounds: list[Any] = [
            ["word"] * (part[b] + d) if "Items" in b else part[b] + d
            for b in limits
            for d in (0, -1, 1)
        ]
        for value in (*_VALUES, *bounds):
            is_null = value is None and key not in required
            as_text = part["type"] == "object" or (part["type"] == "integer" and value == "5")
            if not is_null and not (as_text and isinstance(value, str)):
                odd.append((good | {key: value}, f"{key}={clip(value)}"))
    is_valid = Draft202012Validator(schema).is_valid
    return [(arguments, is_valid(arguments), what) for arguments, what in odd]


def _plain_value(part: Mapping[str, Any]) -> Any:
    """Return a value of an argument with nothing odd about it."""
    if part.get("enum"):
        return part["enum"][0]
    kinds = {"integer": part.get("minimum", 1), "array": ["word"], "object": {"label": "map"}}
    kinds |= {"number": part.get("minimum", 1)}
    return kinds.get(part["type"], "word")


_ABOUT_PAPERS = re.compile(r"\b(ids?|papers?)\b", re.IGNORECASE)
_PLACE = "<hidden id>"
_LOOKALIKES = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_JUNK = (
    "", " ", "\x00", "\ud800", "0", "-1", "None", "null", "'", '"', "\\", "../papers.parquet",
    "%s%n{0}", "\u202e\u200b", "𝔖𝔲𝔯𝔳𝔢𝔶", "深層学習", "; DROP TABLE papers",
)  # fmt: skip


def endings() -> set[str]:
    """Return the names of the tools that end a stage."""
    return {"finish", *(ANSWERS.get(name).tool for name in ANSWERS.names())}


class SentCall(NamedTuple):
    """An action as it is sent; `tool` is empty if it is malformed and must be refused."""

    action: Any
    tool: str = ""
    arguments: Mapping[str, Any] = {}


class Attack(NamedTuple):
    """A call; or three that are sent one after the other, because their answers must be equal."""

    calls: tuple[SentCall, ...]
    ids: tuple[str, ...] = ()  # of three calls: the hidden id, then decoys, which no paper has


class Attacker:
    """Draws what to send in one episode, with full knowledge of the corpus and of the labels.

    Arguments are drawn from the JSON schemas of the tools; what is about papers gets ids.
    `malformed` are actions that the environment must refuse.
    """

    def __init__(
        self,
        view: PlainView,
        rng: random.Random,
        topic: StoredTopic | None = None,
        tools: Mapping[str, Tool] | None = None,
        malformed: Sequence[Any] = (),
    ) -> None:
        self.rng, self._tools, self._malformed = rng, tools or {}, malformed
        self._view, self._stored, self._topic = view, view.stored, topic
        self._hides = False  # whether ids of papers are left open, for a hidden one
        gains = topic.gains if topic else {}
        rows = topic.references if topic else ()
        self._gold = list(gains)
        self._named: dict[str, list[str]] = {
            "late": [r["reference"] for r in rows if r["reference"] not in gains],
            "excluded": sorted(view.excluded),
            "survey": list(self._stored.topics),
        }
        days, surveys = self._stored.days, self._stored.survey
        hidden = ~view.mask & ~surveys
        later = hidden & (days > view.day) & (days < NEVER)
        # Later papers more often: a leaking tool most likely knows these.
        pools = (*[later] * 3, hidden & (days == view.day), hidden & (days == NEVER), surveys)
        self._hidden = [pool.nonzero()[0] for pool in pools if pool.any()]
        often = dict.fromkeys(endings(), 3) | {"search": 50}
        self._weights = {name: often.get(name, 12) for name in self._tools}
        self._weights |= {"<malformed>": 8 * bool(malformed), "<decoy>": 24}

    def attack(self) -> Attack:
        """Return what to send next."""
        (kind,) = self.rng.choices(list(self._weights), list(self._weights.values()))
        if kind == "<malformed>":
            return Attack((SentCall(self.rng.choice(self._malformed)),))
        if kind == "<decoy>":
            return self._with_decoys()
        return Attack((self._call(kind, self._arguments(kind)),))

    def hidden_id(self) -> str:
        """Draw an id that must be refused; a few may exist by chance."""
        rng = self.rng
        kinds = {"paper": 55, "excluded": 8, "survey": 7, "late": 8, "mutated": 17, "junk": 5}
        (kind,) = rng.choices(list(kinds), list(kinds.values()))
        if kind == "paper" and (paper := self._paper(False)) is not None:
            return paper.id
        if named := self._named.get(kind):
            return rng.choice(named)
        if kind == "junk" or not self._stored.papers:
            return rng.choice(_JUNK)
        return mutated(rng.choice(self._stored.papers).id, rng)

    def paper_id(self) -> str:
        """Draw an id, mostly of a paper in reach, often a reference."""
        if self._hides:
            return _PLACE
        roll = self.rng.random()
        if roll < 0.25 and self._gold:
            return self.rng.choice(self._gold)
        if roll < 0.7 and (paper := self._paper(True)) is not None:
            return paper.id
        return self.hidden_id()

    def paper_ids(self) -> list[str]:
        """Draw ids mostly of papers in reach, or all gold."""
        rng = self.rng
        if self._gold and rng.random() < 0.2 and not self._hides:
            return self._gold
        drawn = [self._paper(True) for _ in range(rng.choice((0, 1, 3, 20)))]
        ids = [paper.id for paper in drawn if paper is not None]
        if self._hides:
            return [*ids[:5], _PLACE]
        if rng.random() < 0.015:
            return [*map(str, range(1_001))]
        return [*ids, self.paper_id()] if rng.random() < 0.15 else ids

    def text(self) -> str:
        """Draw a query: a title, some words or the rarest words of any paper or survey, or junk."""
        rng = self.rng
        if rng.random() < 0.08:
            return rng.choice((self.hidden_id(), rng.choice(_JUNK), "the of and", "x" * 10_000))
        references = self._gold if rng.random() < 0.7 else self._named["late"]
        topics: list[Any] = [self._topic] if self._topic else [*self._stored.topics.values()]
        about: Any = rng.choice((
            self._paper(True),
            self._paper(False),
            self._stored.by_id.get(rng.choice(references or [""])),
            rng.choice(topics or [None]),
        ))  # fmt: skip
        form = rng.choice(("title", "some", "some", "rarest"))
        title = about.title if about else ""
        if form == "title" or isinstance(about, StoredTopic):
            return title
        words = f"{title} {about.abstract}".split() if about else []
        if form == "rarest":  # mostly the longest
            words = sorted(words, key=len)[-3:]
        return " ".join(rng.sample(words, min(len(words), rng.choice((1, 2, 4, 30)))))

    def tree(self) -> dict[str, Any]:
        """Draw a mind-map with ids, or take the survey's own."""
        own = self._topic.mind_map if self._topic else None
        if isinstance(own, dict) and not self._hides and self.rng.random() < 0.4:
            return own
        ids = self.paper_ids()
        parts = [{"label": f"part {n}", "children": [], "papers": ids[n::3]} for n in range(3)]
        return {"label": "map", "children": parts, "papers": []}

    def report(self) -> str:
        """Draw a text that cites papers."""
        ids = self.paper_ids()
        sentences = [f"{self.text()[:100]} [@{{{paper_id}}}]." for paper_id in ids[-5:]]
        return " ".join([*sentences, f"All [@{'; @'.join(ids[:-5])}]."])

    def draw(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Draw a value for every required and for half of the optional arguments."""
        required = schema.get("required", ())
        return {
            name: self._value(name, part)
            for name, part in schema.get("properties", {}).items()
            if name in required or self.rng.random() < 0.5
        }

    def _arguments(self, name: str) -> dict[str, Any]:
        """Draw the arguments of a tool, mostly one of those of which a call has one."""
        schema, either = self._tools[name].schema, self._tools[name].either
        arguments = self.draw(schema)
        if either and self.rng.random() < 0.95:
            one = self.rng.choice(either)
            arguments[one] = self._value(one, schema["properties"][one])
            arguments = {n: v for n, v in arguments.items() if n == one or n not in either}
        return arguments

    def _value(self, name: str, part: Mapping[str, Any]) -> Any:
        rng = self.rng
        if part.get("enum"):
            return rng.choice(part["enum"])
        if part["type"] == "boolean":
            return rng.random() < 0.5
        if part["type"] == "integer":
            least = part.get("minimum", 0)
            most = part.get("maximum", max(least, 10**12))
            more = rng.choice((0, 0, 1, 9, rng.randint(0, 5), rng.randint(0, 99), most))
            return min(most, least + more)
        if part["type"] == "number":
            return rng.uniform(part.get("minimum", 0), part.get("maximum", 1))
        if part["type"] == "object":
            return self.tree()
        if "[@" in part.get("description", ""):
            return self.report()
        about = _ABOUT_PAPERS.search(f"{name.replace('_', ' ')} {part.get('description')}")
        # One argument in ten gets the other kind of value; a search for any id may find papers.
        about_papers = bool(about) != (rng.random() < 0.1 and not self._hides)
        if part["type"] == "array":
            return self.paper_ids() if about_papers else [self.text() for _ in range(3)]
        return self.paper_id() if about_papers else self.text()

    def _call(self, tool: str, arguments: dict[str, Any]) -> SentCall:
        """Write the call in one of the forms that an environment accepts."""
        action: Any = {"tool": tool, "arguments": arguments}
        if self.rng.random() < 0.3:
            action = json.dumps(action, ensure_ascii=self.rng.random() < 0.5)
        return SentCall(action, tool, arguments)

    def _with_decoys(self) -> Attack:
        """Return one call with a hidden id, and the same with two ids that no paper has."""
        hidden, tool = self.hidden_id(), self.rng.choice(list(self._tools))
        decoys = [decoy_of(hidden, self._stored.by_id, self.rng) for _ in range(2)]
        ids = (hidden, *filter(None, decoys))
        # A message quotes the repr of an id, and cuts long ones: only ids that show as they are.
        self._hides = len(ids) == 3 and hidden not in self._view and hidden in repr(hidden)[:79]
        arguments = self._arguments(tool)
        text, self._hides = json.dumps(arguments), False
        if _PLACE not in text:
            return Attack((self._call(tool, arguments),))
        written = (text.replace(_PLACE, json.dumps(paper_id)[1:-1]) for paper_id in ids)
        return Attack(tuple(self._call(tool, json.loads(each)) for each in written), ids)

    def _paper(self, visible: bool) -> StoredPaper | None:
        """Draw a paper that is in reach or one that is not; None if there is none."""
        pools = [self._view.numbers] if visible else self._hidden
        pool = self.rng.choice(pools) if pools else ()
        return self._stored.papers[int(self.rng.choice(pool))] if len(pool) else None


def mutated(paper_id: str, rng: random.Random) -> str:
    """Return an id that looks like `paper_id`; it is almost never the id of a paper."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in paper_id)
    digits = "".join(c for c in paper_id if c.isdigit())
    ends = ("\n", "\u200b", "\x00", "\ud800", "v2", paper_id)
    forms = (paper_id.upper(), paper_id.swapcase(), paper_id.title(), repr(paper_id), digits, wide)
    cuts = (paper_id[:-1], paper_id[1:], paper_id[:1], paper_id[::-1])
    starts = (f" {paper_id}", f"\ufeff{paper_id}", paper_id.translate(_LOOKALIKES))
    return rng.choice((*(paper_id + end for end in ends), *forms, *cuts, *starts))


def decoy_of(paper_id: str, known: Container[str], rng: random.Random) -> str | None:
    """Return an id of the same shape that is not `known`, or None if there is none.

    Its ASCII letters and digits are others of their kind.
    """
    kinds = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    for _ in range(20):
        pools = [next((kind for kind in kinds if c in kind), c) for c in paper_id]
        made = "".join(map(rng.choice, pools))
        if made != paper_id and made not in known:
            return made
    return None


def without_id(text: str, paper_id: str) -> str:
    """Return a text in which ``<id>`` stands for an id."""
    forms = (repr(paper_id), paper_id) if len(paper_id) > 4 else (repr(paper_id),)  # "t" is common
    for form in forms:
        text = text.replace(form, "<id>")
    return "<id>" if text == paper_id else text
