"""Actions to send, made from the JSON schemas of an environment's tools.

Tools are named here only as hints: a tool that is added to an environment is called with ids of
every kind, hostile texts, values at the bounds, and wrong types.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple

from arena.testing.files import NEVER, Reach, StoredPaper, StoredSurvey
from arena.testing.walk import parsed, strings, values_of

Schemas = Mapping[str, dict[str, Any]]
"""Name of a tool -> JSON schema of its arguments."""

HUGE = "a" * 1_000_000
ENDINGS = ("submit", "organize", "finish")
"""Tools that end a stage; random play calls them rarely before its last step."""
_DEEP: Any = json.loads(50 * '{"a": [' + 50 * "]}")
_ABOUT_PAPERS = re.compile(r"\b(ids?|papers?)\b")
_ABOUT_TEXT = re.compile(r"\b(query|queries|words?|keywords?|texts?|titles?|topics?|question)\b")
_LOOKALIKES = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_JUNK = (
    "", " ", "\x00", "\ud800", "0", "-1", "None", "null", "'", '"', "\\", "../papers.parquet",
    "%s%n{0}", "\u202e\u200b", "𝔖𝔲𝔯𝔳𝔢𝔶", "深層学習", "; DROP TABLE papers",
)  # fmt: skip


def schemas_of(env: Any) -> dict[str, dict[str, Any]]:
    """Return the schemas of the arguments of all tools of an environment, scalar or vector."""
    from arena.tools import tool_schemas

    functions = [entry["function"] for entry in tool_schemas(env)]
    return {function["name"]: function["parameters"] for function in functions}


class RandomPlayer:
    """Plays at random with the ids and the words of titles that results have shown.

    Args:
        tools: Schemas of the tools.
        rng: Source of randomness.
        steps: Number of steps that will be played.
    """

    usual = 0.7
    """Chance that a number is the default, or the least if there is no default."""

    def __init__(self, tools: Schemas, rng: random.Random, steps: int = 0) -> None:
        self.tools, self.rng, self._left = tools, rng, steps
        self._ids: dict[str, None] = {}
        self._words: dict[str, None] = {}

    def act(self, observation: Mapping[str, Any]) -> Any:
        """Return the next action."""
        result = parsed(observation["result"])
        self._ids |= dict.fromkeys(values_of("id", result))
        texts = [] if self._words else [observation["topic"]]
        for text in (*texts, *values_of("title", result)):
            self._words |= dict.fromkeys(text.split())
        self._left -= 1
        if not self._ids and "search" in self.tools:
            most = self.tools["search"]["properties"].get("k", {}).get("maximum", 50)
            arguments = {"query": observation["topic"], "k": min(50, most)}
            return {"tool": "search", "arguments": arguments}
        tool = self.rng.choice(list(self.tools))
        while self._left > 0 and tool in ENDINGS and self.rng.random() < 0.8:
            tool = self.rng.choice(list(self.tools))
        return {"tool": tool, "arguments": self.draw(self.tools[tool])}

    def paper_id(self) -> str:
        """Draw an id that was shown, now and then another text."""
        return self.rng.choice(list(self._ids)) if self._ids and self.rng.random() < 0.9 else "none"

    def paper_ids(self) -> list[str]:
        """Draw ids that were shown, now and then another text."""
        ids = self.rng.sample(list(self._ids), min(30, len(self._ids)))
        return ids if self.rng.random() < 0.9 else ["none", *ids]

    def text(self) -> str:
        """Draw a query: words of the topic and of titles."""
        return " ".join(self.rng.sample(list(self._words), min(3, len(self._words))))

    def tree(self) -> dict[str, Any]:
        """Draw a mind-map, the value of an object without a schema of its own."""
        ids = self.paper_ids()
        parts = [{"label": f"part {n}", "children": [], "papers": ids[n::3]} for n in range(3)]
        return {"label": "map", "children": parts, "papers": []}

    def draw(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Draw a value for every required and for half of the optional properties."""
        required = schema.get("required", ())
        return {
            name: self._value(name, part)
            for name, part in schema.get("properties", {}).items()
            if name in required or self.rng.random() < 0.5
        }

    def _value(self, name: str, part: Mapping[str, Any]) -> Any:
        rng, kind = self.rng, part.get("type", "string")
        if part.get("enum"):
            return rng.choice(part["enum"])
        if kind in ("integer", "number"):
            return self._number(part)
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "object":
            return self.draw(part) if part.get("properties") else self.tree()
        about_papers = _is_about_papers(name, part)
        if kind == "array":
            items, most = part.get("items", {}), part.get("maxItems", 1_001)
            if items.get("type", "string") == "string" and about_papers is not False:
                return self.paper_ids()[:most]
            return [self._value(name, items) for _ in range(min(most, rng.choice((1, 2, 5))))]
        if about_papers is None:
            about_papers = rng.random() < 0.5
        return (self.paper_id() if about_papers else self.text())[: part.get("maxLength")]

    def _number(self, part: Mapping[str, Any]) -> int:
        rng, least = self.rng, part.get("minimum", 0)
        most = part.get("maximum", max(least, 10**12))
        if rng.random() < self.usual:
            return int(part.get("default", least))
        near = (rng.randint(least, min(most, least + 5)), rng.randint(least, min(most, least + 99)))
        return int(rng.choice((least, min(most, least + 1), *near, min(most, least + 9), most)))


def _is_about_papers(name: str, part: Mapping[str, Any]) -> bool | None:
    """Return whether a string argument is an id (True), a text (False) or may be either (None)."""
    for words in (name.replace("_", " "), part.get("description", "")):
        if _ABOUT_PAPERS.search(words.lower()):
            return True
        if _ABOUT_TEXT.search(words.lower()):
            return False
    return None


class SentCall(NamedTuple):
    """An action as it is sent; `tool` is empty if it is malformed and must be refused."""

    action: Any
    tool: str = ""
    arguments: Mapping[str, Any] = {}


class Probe(NamedTuple):
    """Actions that are sent one after the other because their answers belong together.

    Attributes:
        kind: ``single``; ``twin``: the same call with a hidden id and with ids that no paper has;
            ``paged``: the second call asks for the end of what the first one returns.
        calls: The calls in order.
        ids: The ids of the twins: first the hidden one.
    """

    kind: str
    calls: tuple[SentCall, ...]
    ids: tuple[str, ...] = ()


class Attacker(RandomPlayer):
    """Draws what to send in one episode, with full knowledge of the corpus and of the labels.

    Args:
        reach: The papers that exist in the episode.
        survey: Survey of the episode; None for none.
        tools: Schemas of the tools.
        unproven: Names of the tools whose results no oracle predicts: attacked more often.
        rng: Source of randomness.
    """

    usual = 0.0

    def __init__(
        self,
        reach: Reach,
        survey: StoredSurvey | None,
        tools: Schemas,
        unproven: frozenset[str],
        rng: random.Random,
    ) -> None:
        super().__init__(tools, rng)
        self._reach, self._facts, self._survey = reach, reach.facts, survey
        self._unproven, self._twin_id = unproven, ""
        rows = survey.references if survey else ()
        gains = survey.gains if survey else {}
        self._gold: list[str] = list(gains)
        self._late: list[str] = [r["reference"] for r in rows if r["reference"] not in gains]
        days = self._facts.days
        hidden = ~reach.mask & ~self._facts.survey
        later = hidden & (days > reach.day) & (days < NEVER)
        pools = (
            *(later, later, later),  # what a leaking tool most likely knows
            hidden & (days == reach.day),
            hidden & (days == NEVER),
            self._facts.survey,
        )
        self._pools = [pool.nonzero()[0] for pool in pools if pool.any()]
        self._malformed = list(malformed(tools))
        weights = {"search": 25, "read": 16, "submit": 3, "organize": 3, "finish": 1}
        self._weights = {name: 25 if name in unproven else weights.get(name, 8) for name in tools}
        self._weights |= {"<malformed>": 6, "<paged>": 6 * ("search" in tools)}
        self._weights["<twin>"] = 18 + 18 * len(unproven)

    def probe(self) -> Probe:
        """Return what to send next."""
        kind = self.rng.choices(list(self._weights), list(self._weights.values()))[0]
        if kind == "<malformed>":
            return Probe("single", (SentCall(self.rng.choice(self._malformed)),))
        if kind == "<twin>":
            return self._twin()
        if kind == "<paged>":
            part = self.tools["search"]["properties"]
            offset = self.rng.randint(1, part["k"]["maximum"] - 1)
            k = self.rng.randint(1, part["k"]["maximum"] - offset)
            same = {"query": self.text(), "retriever": self.rng.choice(part["retriever"]["enum"])}
            calls = ({"k": offset + k}, {"k": k, "offset": offset})
            return Probe("paged", tuple(self._call("search", same | more) for more in calls))
        return Probe("single", (self._call(kind, self.draw(self.tools[kind])),))

    def hidden_id(self) -> str:
        """Draw an id that must be refused; a few may exist by chance."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.55 and (paper := self._paper(False)) is not None:
            return paper.id
        named = sorted(self._reach.excluded) if roll < 0.63 else list(self._facts.surveys)
        if roll < 0.7 and named:
            return rng.choice(named)
        if roll < 0.78 and self._late:
            return rng.choice(self._late)
        if roll < 0.95 and self._facts.papers:
            return mutated(rng.choice(self._facts.papers).id, rng)
        return rng.choice(_JUNK)

    def paper_id(self) -> str:
        """Draw any id; in a twin the hidden one."""
        return self._twin_id or self.any_id()

    def any_id(self) -> str:
        """Draw an id, mostly of a paper in reach, often a reference of the survey."""
        roll = self.rng.random()
        if roll < 0.25 and self._gold:
            return self.rng.choice(self._gold)
        if roll < 0.7 and (paper := self._paper(True)) is not None:
            return paper.id
        return self.hidden_id()

    def paper_ids(self) -> list[str]:
        """Draw ids mostly of papers in reach, or all gold; in a twin with the hidden one."""
        rng = self.rng
        if self._gold and rng.random() < 0.2 and not self._twin_id:
            return self._gold
        drawn = [self._paper(True) for _ in range(rng.choice((0, 1, 3, 20)))]
        ids = [paper.id for paper in drawn if paper is not None]
        if self._twin_id:
            return [*ids[:5], self._twin_id]
        if rng.random() < 0.015:
            return [*map(str, range(1_001))]
        return [*ids, self.any_id()] if rng.random() < 0.15 else ids

    def text(self) -> str:
        """Draw a query, also titles and rare words of papers that must not be returned."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.3:
            words = _words(self._paper(True))
        elif roll < 0.5:
            return _title(self._paper(False))
        elif roll < 0.6:  # the longest words are mostly the rarest
            words = sorted(_words(self._paper(False)), key=len)[-3:]
        elif roll < 0.72:
            ids = self._gold if rng.random() < 0.7 else self._late
            return _title(self._facts.by_id.get(rng.choice(ids or [""])))
        elif roll < 0.85:
            surveys = list(self._facts.surveys.values())
            own = self._survey if rng.random() < 0.5 else None
            return _title(own or (rng.choice(surveys) if surveys else None))
        elif roll < 0.93:
            return rng.choice((self.any_id(), rng.choice(_JUNK), "the of and", "x" * 10_000))
        else:
            words = _words(self._paper(True)) + _words(self._paper(False))
        return " ".join(rng.sample(words, min(len(words), rng.choice((1, 2, 4, 30)))))

    def tree(self) -> dict[str, Any]:
        """Draw a mind-map with ids, or take the survey's own."""
        own = self._survey.mind_map if self._survey else None
        if isinstance(own, dict) and not self._twin_id and self.rng.random() < 0.4:
            return own
        return super().tree()

    def _call(self, tool: str, arguments: dict[str, Any]) -> SentCall:
        """Write the call in one of the forms that an environment accepts."""
        action: Any = {"tool": tool, "arguments": arguments}
        if self.rng.random() < 0.3:
            action = json.dumps(action, ensure_ascii=self.rng.random() < 0.5)
        return SentCall(action, tool, arguments)

    def _twin(self) -> Probe:
        """Return one call with a hidden id, and the same with ids that no paper has.

        Two such ids tell whether a tool without an oracle answers differently every time.
        """
        hidden, known = self.hidden_id(), self._facts.by_id
        twins = [twin_of(hidden, known, self.rng) for _ in range(2)]
        tool = self.rng.choice([*self.tools, *4 * sorted(self._unproven)])
        if None not in twins and self._reach.paper(hidden) is None:
            self._twin_id = hidden
            first = self.draw(self.tools[tool])
            self._twin_id = ""
            ids = (hidden, *map(str, twins[: 1 + (tool in self._unproven)]))
            if any(text == hidden for _, text in strings(first)):
                calls = [self._call(tool, _replaced(first, hidden, each)) for each in ids]
                return Probe("twin", tuple(calls), ids)
        return Probe("single", (self._call(tool, self.draw(self.tools[tool])),))

    def _paper(self, visible: bool) -> StoredPaper | None:
        """Draw a paper that is in reach or one that is not; None if there is none."""
        pools = [self._reach.numbers] if visible else self._pools
        pool = self.rng.choice(pools) if pools else ()
        return self._facts.papers[int(self.rng.choice(pool))] if len(pool) else None


def _words(paper: StoredPaper | None) -> list[str]:
    return f"{paper.title} {paper.abstract}".split() if paper else []


def _title(paper: StoredPaper | StoredSurvey | None) -> str:
    return paper.title if paper else ""


def mutated(paper_id: str, rng: random.Random) -> str:
    """Return an id that looks like `paper_id`; it is almost never the id of a paper."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in paper_id)
    digits = "".join(c for c in paper_id if c.isdigit())
    ends = ("\n", "\u200b", "\x00", "\ud800", "v2", paper_id)
    forms = (paper_id.upper(), paper_id.swapcase(), paper_id.title(), repr(paper_id), digits, wide)
    cuts = (paper_id[:-1], paper_id[1:], paper_id[:1], paper_id[::-1])
    starts = (f" {paper_id}", f"\ufeff{paper_id}", paper_id.translate(_LOOKALIKES))
    return rng.choice((*(paper_id + end for end in ends), *forms, *cuts, *starts))


def twin_of(paper_id: str, known: Container[str], rng: random.Random) -> str | None:
    """Return an id of the same shape that no paper has, or None if there is none.

    Args:
        paper_id: Id whose ASCII letters and digits are replaced by others of their kind.
        known: The ids of all papers.
        rng: Source of randomness.
    """
    kinds = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    for _ in range(20):
        pools = [next((kind for kind in kinds if c in kind), c) for c in paper_id]
        made = "".join(map(rng.choice, pools))
        if made != paper_id and made not in known:
            return made
    return None


def without_ids(value: Any, paper_id: str) -> Any:
    """Return a value of JSON with every quotation of an id, also in keys, replaced by ``<id>``.

    A message quotes the ``repr`` of a value, and cuts long ones.
    """
    if isinstance(value, dict):
        return {without_ids(k, paper_id): without_ids(v, paper_id) for k, v in value.items()}
    if isinstance(value, list):
        return [without_ids(item, paper_id) for item in value]
    if not isinstance(value, str) or value == paper_id:
        return "<id>" if value == paper_id else value
    # Half a surrogate pair is another character once it stands in a mind-map.
    joined = paper_id.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    for written in (paper_id, joined):
        quoted = repr(written[:80])
        whole = [written] if len(written) > 4 else []  # a "t" is in any text
        for form in (quoted, f"{quoted[:77]}...", repr(written), *whole):
            value = value.replace(form, "<id>")
    return value


def _replaced(value: Any, old: str, new: str) -> Any:
    """Return a copy of a value of JSON in which each string `old` is `new`."""
    if isinstance(value, dict):
        return {key: _replaced(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, old, new) for item in value]
    return new if value == old else value


def malformed(tools: Schemas) -> Iterator[Any]:
    """Yield actions that are not well-formed calls of one of `tools`."""
    looped: list[Any] = []
    looped.append(looped)
    yield from (None, True, 42, -1.5, float("nan"), "", " ", "search", "{", "[1", '"', "null", HUGE)
    yield from (b"\xff", "[" * 100_000, "\ud800", "\0", object(), {1, 2}, [], looped, {}, len)
    yield from ({"tool": None}, {"tool": 3}, {"tool": ["search"]}, {"tool": "no such tool"})
    yield from ({"tool": HUGE}, {"arguments": {}}, {1: 2}, {"tool": "\ud800"}, {"tool": object()})
    player = RandomPlayer(tools, random.Random(0))
    for name, schema in tools.items():
        properties = schema.get("properties", {})
        good = player.draw(schema)
        yield {"tool": name.upper(), "arguments": good}
        yield {"tool": name, "arguments": good, "extra": 1}
        for arguments in ([], "{", 1, looped, {1: 1}):
            yield {"tool": name, "arguments": arguments}
        for more in ("no such argument", "cutoff", "exclude", "labels"):
            if more not in properties:
                yield {"tool": name, "arguments": {**good, more: "2100-01-01"}}
        for key, part in properties.items():
            if key in schema.get("required", ()):
                yield {"tool": name, "arguments": {k: v for k, v in good.items() if k != key}}
                yield {"tool": name, "arguments": {**good, key: None}}
            for value in _bad(part):
                yield {"tool": name, "arguments": {**good, key: value}}


def stress(tools: Schemas) -> Iterator[Any]:
    """Yield well-formed calls with values of unusual size and kind."""
    for name, schema in tools.items():
        for text in (HUGE, "", "\ud800\0\x1b[31m", "深" * 5_000):
            large: dict[str, Any] = {
                "string": text,
                "array": [text] * 2_000 if len(text) < 100 else [text],
                "object": {"label": text, "children": [{"label": text}] * 50},
            }
            parts = schema.get("properties", {}).items()
            free = [(key, part.get("type")) for key, part in parts if not part.get("enum")]
            if arguments := {key: large[kind] for key, kind in free if kind in large}:
                yield {"tool": name, "arguments": arguments}


def _bad(part: Mapping[str, Any]) -> Iterator[Any]:
    kinds: dict[str, tuple[Any, ...]] = {
        "string": (5, ["word"], {"a": 1}, True, _DEEP, b"word"),
        "integer": ("5", 1.5, [1], True, _DEEP, float("inf")),
        "number": ("5", [1], True, _DEEP, float("inf")),
        "boolean": (5, "true", [True], _DEEP),
        "array": ("word", 5, [1], [None], [["word"]], {"word": 1}, _DEEP),
        "object": (5, [], [1], True, 1.5),
    }
    yield from kinds[part["type"]]
    if "minimum" in part:
        yield from (part["minimum"] - 1, -(10**30))
    if "maximum" in part:
        yield from (part["maximum"] + 1, 10**30)
    if part.get("enum"):
        yield "no such choice"
