"""Actions to send, made from the JSON schemas of an environment's tools.

Tools are named here only as hints: a tool that is added to an environment is called with ids of
every kind, hostile texts, values at the bounds, and wrong types.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from arena.testing.files import Paper, Reach, Survey
from arena.testing.hostile import Ids, junk_text, twin_of
from arena.testing.walk import parsed, strings, values_of

Schemas = Mapping[str, dict[str, Any]]
"""Name of a tool -> JSON schema of its arguments."""

HUGE = "a" * 1_000_000
ENDINGS = ("submit", "organize", "finish")
"""Tools that end a stage; random play calls them rarely before its last step."""
_QUERY = 10_000
_DEEP: Any = json.loads(50 * '{"a": [' + 50 * "]}")
_ABOUT_PAPERS = re.compile(r"\b(ids?|papers?)\b")
_ABOUT_TEXT = re.compile(r"\b(query|queries|words?|keywords?|texts?|titles?|topics?|question)\b")


def schemas_of(env: Any) -> dict[str, dict[str, Any]]:
    """Return the schemas of the arguments of all tools of an environment, scalar or vector."""
    from arena.tools import tool_schemas

    functions = [entry["function"] for entry in tool_schemas(env)]
    return {function["name"]: function["parameters"] for function in functions}


class Arguments:
    """Draws arguments that satisfy the schema of a tool.

    Args:
        rng: Source of randomness.
    """

    usual = 0.0
    """Chance that a number is the default, or the least if there is no default."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def paper_id(self) -> str:
        """Draw an id."""
        raise NotImplementedError

    def paper_ids(self) -> list[str]:
        """Draw a list of ids."""
        raise NotImplementedError

    def text(self) -> str:
        """Draw a query."""
        raise NotImplementedError

    def tree(self) -> dict[str, Any]:
        """Draw a mind-map, the value of an object without a schema of its own."""
        ids = self.paper_ids()
        leaves = [
            {"label": f"part {number}", "children": [], "papers": ids[number::3]}
            for number in range(3)
        ]
        return {"label": "map", "children": leaves, "papers": []}

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
        if kind == "array":
            items = part.get("items", {})
            most = part.get("maxItems", 1_001)
            if (
                items.get("type", "string") == "string"
                and _is_about_papers(name, part) is not False
            ):
                return self.paper_ids()[:most]
            return [self._value(name, items) for _ in range(min(most, rng.choice((1, 2, 5))))]
        about_papers = _is_about_papers(name, part)
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


class Player(Arguments):
    """Plays at random with the ids and the words of titles that results have shown.

    Args:
        tools: Schemas of the tools.
        seed: Seed of all randomness.
        steps: Number of steps that will be played.
    """

    usual = 0.7

    def __init__(self, tools: Schemas, seed: int, steps: int = 16) -> None:
        super().__init__(random.Random(f"{seed} player"))
        self._tools, self._left = tools, steps
        self._ids: dict[str, None] = {}
        self._words: dict[str, None] = {}

    def act(self, observation: Mapping[str, Any]) -> Any:
        """Return the next action."""
        if not self._words:
            self._words.update(dict.fromkeys(observation["topic"].split()))
        result = parsed(observation["result"])
        self._ids.update(dict.fromkeys(values_of("id", result)))
        words = (word for title in values_of("title", result) for word in title.split())
        self._words.update(dict.fromkeys(words))
        self._left -= 1
        if not self._ids and "search" in self._tools:
            most = self._tools["search"]["properties"].get("k", {}).get("maximum", 50)
            arguments = {"query": observation["topic"], "k": min(50, most)}
            return {"tool": "search", "arguments": arguments}
        names = list(self._tools)
        tool = self.rng.choice(names)
        while self._left > 0 and tool in ENDINGS and self.rng.random() < 0.8:
            tool = self.rng.choice(names)
        return {"tool": tool, "arguments": self.draw(self._tools[tool])}

    def paper_id(self) -> str:
        """Draw an id that was shown, now and then another text."""
        ids = list(self._ids)
        return self.rng.choice(ids) if ids and self.rng.random() < 0.9 else "none"

    def paper_ids(self) -> list[str]:
        """Draw ids that were shown, now and then another text."""
        ids = self.rng.sample(list(self._ids), min(30, len(self._ids)))
        return ids if self.rng.random() < 0.9 else ["none", *ids]

    def text(self) -> str:
        """Draw words of the topic and of titles."""
        words = list(self._words)
        return " ".join(self.rng.sample(words, min(3, len(words))))


class Call(NamedTuple):
    """One action.

    Attributes:
        action: The action as it is sent.
        tool: Name of the tool; empty if the action is malformed and must be refused.
        arguments: Arguments of the tool.
    """

    action: Any
    tool: str
    arguments: dict[str, Any]


class Probe(NamedTuple):
    """Actions that are sent one after the other because their answers belong together.

    Attributes:
        kind: ``single``; ``twin``: the same call with a hidden id and with ids that no paper has;
            ``paged``: the second call asks for the end of what the first one returns.
        calls: The calls in order.
        ids: The ids of the twins: first the hidden one.
    """

    kind: str
    calls: tuple[Call, ...]
    ids: tuple[str, ...] = ()


class Attacker(Arguments):
    """Draws what to send in one episode, with full knowledge of the corpus and of the labels.

    Args:
        reach: The papers that exist in the episode.
        survey: Survey of the episode; None for none.
        tools: Schemas of the tools.
        unproven: Names of the tools whose results no oracle predicts: attacked more often.
        rng: Source of randomness.
    """

    def __init__(
        self,
        reach: Reach,
        survey: Survey | None,
        tools: Schemas,
        unproven: frozenset[str],
        rng: random.Random,
    ) -> None:
        super().__init__(rng)
        self.ids = Ids(reach, survey, rng)
        self._reach, self._survey, self._tools, self._unproven = reach, survey, tools, unproven
        self._hidden: str | None = None
        self._malformed = list(malformed(tools)) if tools else []
        weights = {"search": 25, "read": 16, "submit": 3, "organize": 3, "finish": 1}
        self._weights = {
            name: 25 if name in unproven else weights.get(name, 8) for name in self._tools
        }
        self._weights |= {"<malformed>": 6, "<paged>": 6 * ("search" in tools)}
        self._weights["<twin>"] = 18 + 18 * len(unproven)

    def probe(self) -> Probe:
        """Return what to send next."""
        kind = self.rng.choices(list(self._weights), list(self._weights.values()))[0]
        if kind == "<malformed>":
            return Probe("single", (Call(self.rng.choice(self._malformed), "", {}),))
        if kind == "<twin>":
            return self._twin()
        if kind == "<paged>":
            return self._paged()
        return Probe("single", (self._call(kind, self.draw(self._tools[kind])),))

    def paper_id(self) -> str:
        """Draw any id; in a twin the hidden one."""
        return self.ids.any() if self._hidden is None else self._hidden

    def paper_ids(self) -> list[str]:
        """Draw ids mostly of papers in reach, or all gold; in a twin with the hidden one."""
        rng = self.rng
        gold = self.ids.gold(True)
        if gold and rng.random() < 0.2 and self._hidden is None:
            return gold
        visible = [self.ids.visible() for _ in range(rng.choice((0, 1, 3, 20)))]
        ids = [paper_id for paper_id in visible if paper_id is not None]
        if self._hidden is not None:
            return [*ids[:5], self._hidden]
        if rng.random() < 0.015:
            return [*map(str, range(1_001))]
        return [*ids, self.ids.any()] if rng.random() < 0.15 else ids

    def text(self) -> str:
        """Draw a query, also titles and rare words of papers that must not be returned."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.3:
            words = self._words(self.ids.paper(True))
        elif roll < 0.5:
            return _title(self.ids.paper(False))
        elif roll < 0.6:  # the longest words are mostly the rarest
            words = sorted(self._words(self.ids.paper(False)), key=len)[-3:]
        elif roll < 0.72:
            gold = self.ids.gold(rng.random() < 0.7)
            return _title(self._reach.facts.by_id.get(rng.choice(gold)) if gold else None)
        elif roll < 0.85:
            surveys = list(self._reach.facts.surveys.values())
            own = self._survey if rng.random() < 0.5 else None
            survey = own or (rng.choice(surveys) if surveys else None)
            return survey.title if survey else ""
        elif roll < 0.93:
            return rng.choice((self.ids.any(), junk_text(rng), "the of and", "x" * _QUERY))
        else:
            words = self._words(self.ids.paper(True)) + self._words(self.ids.paper(False))
        return " ".join(rng.sample(words, min(len(words), rng.choice((1, 2, 4, 30)))))

    def tree(self) -> dict[str, Any]:
        """Draw a mind-map with ids, or take the survey's own."""
        own = self._survey.mind_map if self._survey else None
        if isinstance(own, dict) and self._hidden is None and self.rng.random() < 0.4:
            return own
        return super().tree()

    def _call(self, tool: str, arguments: dict[str, Any]) -> Call:
        """Write the call in one of the forms that an environment accepts."""
        action: Any = {"tool": tool, "arguments": arguments}
        if self.rng.random() < 0.3:
            action = json.dumps(action, ensure_ascii=self.rng.random() < 0.5)
        return Call(action, tool, arguments)

    def _paged(self) -> Probe:
        part = self._tools["search"]["properties"]
        offset = self.rng.randint(1, part["k"]["maximum"] - 1)
        k = self.rng.randint(1, part["k"]["maximum"] - offset)
        same = {"query": self.text(), "retriever": self.rng.choice(part["retriever"]["enum"])}
        calls = ({"k": offset + k}, {"k": k, "offset": offset})
        return Probe("paged", tuple(self._call("search", same | more) for more in calls))

    def _twin(self) -> Probe:
        """Return one call with a hidden id, and the same with ids that no paper has.

        Two such ids tell whether a tool without an oracle answers differently every time.
        """
        hidden, facts, tools = self.ids.hidden(), self._reach.facts, list(self._tools)
        twins = [twin_of(hidden, facts.by_id, self.rng) for _ in range(2)]
        tool = self.rng.choice([*tools, *4 * sorted(self._unproven)])
        if None not in twins and self._reach.paper(hidden) is None:
            self._hidden = hidden
            try:
                first = self.draw(self._tools[tool])
            finally:
                self._hidden = None
            ids = (hidden, *map(str, twins[: 1 + (tool in self._unproven)]))
            if any(text == hidden for _, text in strings(first)):
                calls = [self._call(tool, replaced(first, hidden, each)) for each in ids]
                return Probe("twin", tuple(calls), ids)
        return Probe("single", (self._call(tool, self.draw(self._tools[tool])),))

    def _words(self, paper: Paper | None) -> list[str]:
        return f"{paper.title} {paper.abstract}".split() if paper else []


def _title(paper: Paper | None) -> str:
    return paper.title if paper else ""


def replaced(value: Any, old: str, new: str) -> Any:
    """Return a copy of a value of JSON in which each string `old` is `new`."""
    if isinstance(value, dict):
        return {key: replaced(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, old, new) for item in value]
    return new if value == old else value


def malformed(tools: Schemas) -> Iterator[Any]:
    """Yield actions that are not well-formed calls of one of `tools`."""
    looped: list[Any] = []
    looped.append(looped)
    yield from (None, True, 42, -1.5, float("nan"), "", " ", "search", "{", "[1", '"', "null", HUGE)
    yield from (b"\xff", "[" * 100_000, "\ud800", "\0", object(), {1, 2}, [], looped, {}, len)
    yield from ({"tool": None}, {"tool": 3}, {"tool": ["search"]}, {"tool": "no such tool"})
    yield from ({"tool": HUGE}, {"arguments": {}}, {1: 2}, {"tool": "\ud800"}, {"tool": object()})
    for name, schema in tools.items():
        properties = schema.get("properties", {})
        good = {key: _good(properties[key]) for key in schema.get("required", ())}
        yield {"tool": name.upper(), "arguments": good}
        yield {"tool": name, "arguments": good, "extra": 1}
        for arguments in ([], "{", 1, looped, {1: 1}):
            yield {"tool": name, "arguments": arguments}
        for more in ("no such argument", "cutoff", "exclude", "labels"):
            if more not in properties:
                yield {"tool": name, "arguments": {**good, more: "2100-01-01"}}
        for key, part in properties.items():
            if key in good:
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
            arguments = {
                key: large[part["type"]]
                for key, part in schema.get("properties", {}).items()
                if part.get("type") in large and not part.get("enum")
            }
            if arguments:
                yield {"tool": name, "arguments": arguments}


_GOOD = {
    "string": "word", "integer": 1, "number": 1, "boolean": True, "object": {"label": "word"},
}  # fmt: skip


def _good(part: Mapping[str, Any]) -> Any:
    if part.get("enum"):
        return part["enum"][0]
    if part["type"] == "array":
        return [_good(part.get("items", {"type": "string"}))]
    return max(1, part["minimum"]) if "minimum" in part else _GOOD[part["type"]]


def _bad(part: Mapping[str, Any]) -> Iterator[Any]:
    deep = _DEEP
    kinds: dict[str, tuple[Any, ...]] = {
        "string": (5, ["word"], {"a": 1}, True, deep, b"word"),
        "integer": ("5", 1.5, [1], True, deep, float("inf")),
        "number": ("5", [1], True, deep, float("inf")),
        "boolean": (5, "true", [True], deep),
        "array": ("word", 5, [1], [None], [["word"]], {"word": 1}, deep),
        "object": (5, [], [1], True, 1.5),
    }
    yield from kinds[part["type"]]
    if "minimum" in part:
        yield from (part["minimum"] - 1, -(10**30))
    if "maximum" in part:
        yield from (part["maximum"] + 1, 10**30)
    if part.get("enum"):
        yield "no such choice"
