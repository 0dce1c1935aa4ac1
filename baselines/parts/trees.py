"""Headings as a model may write them: trees in JSON, and outlines in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.llm import ParseError, as_json, tagged, unfenced, without_thoughts
from arena.mindmap.tree import MAX_DEPTH, MAX_HEADINGS, MAX_LABEL, MindMap

_LABELS = ("label", "name", "title", "topic", "heading", "category", "theme", "group", "cluster")
_BELOW = frozenset(
    {"children", "subtopics", "sub_topics", "subtopic", "subcategories", "subheadings", "headings"}
)
_PAPERS = frozenset({"papers", "paper", "paper_numbers", "paper_ids", "numbers", "ids"})
_NOISE = frozenset({"example", "examples", "e.g."})
_EXAMPLE = re.compile(r"<typology>(.*?)</typology>", re.DOTALL)

PaperOf = Callable[[object, bool], list[int]]
"""Function (item, whether it is in a list of papers) -> numbers of papers; [] for none."""


@dataclass(slots=True, eq=False)
class Topic:
    """A heading; its children have their case-folded labels as keys, so siblings differ."""

    label: str
    level: int = 0
    children: dict[str, Topic] = field(default_factory=dict)
    papers: list[int] = field(default_factory=list)

    def child(self, label: str) -> Topic:
        """Return the child with this label; make it if there is none.

        Return the node itself if the label is empty or no deeper level is allowed.
        """
        label = " ".join(label.split())[:MAX_LABEL].strip()
        if not label or self.level >= MAX_DEPTH:
            return self
        return self.children.setdefault(label.casefold(), Topic(label, self.level + 1))

    def levels(self) -> list[Topic]:
        """Return this node and all below it, level by level."""
        nodes = [self]
        for node in nodes:
            nodes.extend(node.children.values())
        return nodes

    def lines(self, indent: str = "") -> Iterator[str]:
        """Yield the headings below this node as an indented list, in preorder."""
        for node in self.children.values():
            yield f"{indent}- {node.label}"
            yield from node.lines(indent + "  ")

    def mind_map(self, label: str, ids: Sequence[str] = ()) -> MindMap:
        """Return the mind-map; `ids` are those of the papers 1, 2, ...."""
        below = tuple(child.mind_map(child.label, ids) for child in self.children.values())
        return MindMap(label, below, tuple(ids[number - 1] for number in sorted(self.papers)))


def json_of(text: str, template: str = "") -> Any:
    """Return the JSON in the tag ``<typology>``, or else in the text; no example of `template`."""
    try:
        value = as_json(tagged(text, "typology"))
    except ParseError:
        value = as_json(text)
    for example in _EXAMPLE.findall(template):
        try:
            copied = as_json(example) == value
        except ParseError:
            continue  # "<typology>...</typology>" in instructions
        if copied:
            raise ParseError("It is the example, not an answer about the topic.")
    return value


def read_tree(value: Any, paper_of: PaperOf | None = None) -> Tree:
    """Return the tree in a JSON value; any value has one, perhaps without a heading.

    Forms: ``{"name": "A", "subtopics": [...], "papers": [1]}``, the same with ``label`` and
    ``children``, a typology ``{"A": {"B": null, "C": ["D"]}}``, and lists of them. Siblings whose
    labels differ in case alone are one; everything below an empty label, or deeper than 64
    levels, belongs to the heading above.

    Args:
        value: A JSON value, nested at most a few hundred levels deep.
        paper_of: Function that reads papers; without it, lists of papers are left out.
    """
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    tree = Tree(paper_of)
    if isinstance(value, dict) and (label := _own_label(value)) is not None:
        tree.label = " ".join(label.split())
        tree.inside(value, tree.root)
    else:
        tree.below(value, tree.root)
    return tree


class Tree:
    """The tree in an answer; see `read_tree`.

    Attributes:
        label: Label of the root in the answer; None if the answer has no root.
        unknown: Entries in lists of papers that are not papers.
    """

    def __init__(self, paper_of: PaperOf | None) -> None:
        self.root = Topic("")
        self.label: str | None = None
        self.unknown: list[str] = []
        self._paper_of = paper_of

    def below(self, value: Any, node: Topic) -> None:
        """Read everything below a heading."""
        if isinstance(value, dict):
            label = _own_label(value)
            if label is not None:
                self.inside(value, node.child(label))
                return
            for key, item in value.items():
                self._entry(key, item, node)
        elif isinstance(value, list):
            for item in value:
                self.below(item, node)
        elif not self._filed(value, node, listed=False) and isinstance(value, str):
            node.child(value)

    def inside(self, value: dict[str, Any], node: Topic) -> None:
        """Read an object with keys of its own; unknown keys are ignored."""
        for key, item in value.items():
            if _key(key) in _BELOW:
                self.below(item, node)
            elif _key(key) in _PAPERS:
                self._papers(item, node)

    def _entry(self, key: str, item: Any, node: Topic) -> None:
        """Read an entry of a typology."""
        nested = isinstance(item, dict | list)
        if _key(key) in _PAPERS:
            self._papers(item, node)
        elif _key(key) in _BELOW and nested:
            self.below(item, node)
        elif _key(key) in _NOISE and not isinstance(item, dict):
            return
        elif nested or not self._filed(key, node, listed=False, report=False):
            self.below(item, node.child(key))

    def _papers(self, value: Any, node: Topic) -> None:
        """Read a list of papers, which may be one object per paper."""
        if isinstance(value, list):
            for item in value:
                self._papers(item, node)
        elif not isinstance(value, dict):
            self._filed(value, node, listed=True)
        elif self._paper_of is not None and all(self._paper_of(key, True) for key in value):
            for key in value:  # {"1": "a title", "2": "another"}
                self._filed(key, node, listed=True)
        else:
            plain = [v for v in (*value.values(), *value) if not isinstance(v, dict | list)]
            if not any(self._filed(item, node, listed=True, report=False) for item in plain):
                self._unknown(value)

    def _filed(self, item: object, node: Topic, *, listed: bool, report: bool = True) -> bool:
        """File the papers of an item under a node; return whether it has any."""
        if self._paper_of is None or item is None or isinstance(item, bool):
            return False
        numbers = self._paper_of(item, listed)
        node.papers += numbers
        if not numbers and report and (listed or not isinstance(item, str)):
            self._unknown(item)
        return bool(numbers)

    def _unknown(self, item: object) -> None:
        self.unknown.append(" ".join(str(item).split())[:100])


def _key(key: str) -> str:
    return key.strip().casefold()


def _own_label(value: dict[str, Any]) -> str | None:
    """Return the label of an object with keys of its own; None if it is a typology."""
    keys = {_key(key): key for key in value}
    if len(keys) > 1 and keys.keys().isdisjoint(_BELOW | _PAPERS):
        return None
    labels = (value[keys[name]] for name in _LABELS if name in keys)
    return next((label for label in labels if isinstance(label, str)), None)


_LONGEST = 200  # characters of a heading
_LONGEST_ITEM = 120  # a longer list item is text
_DEEPEST = 6  # of headings, and again of list items below one
_ITEM = re.compile(r"(?:[-*+•]|\d{1,2}[.)])\s+(\S.*)")
_LEAD = re.compile(r"\*\*([^*]+)\*\*")
_TYPOLOGY = re.compile(r"<(?=/?typology>)", re.IGNORECASE)  # would begin a mind-map


def outline(text: str, topic: str) -> str:
    r"""Return the headings of an outline as lines ``## heading`` below a line ``# topic``.

    Headings keep their levels, and list items are headings below the last one, as in STORM; all
    other text is left out. The first heading is the title, and left out, if it is the only one of
    level 1 and others follow, or equals the topic. The heading of a list item with an explanation
    is its words in bold, or those before the colon.

    >>> print(outline("# My Title\n## 1 Kinds\nMany.\n- Fast: one pass\n## 2 Uses", "sorting"))
    # sorting
    ## 1 Kinds
    ### Fast
    ## 2 Uses
    """
    try:
        text = tagged(text, "outline")
    except ParseError:
        text = unfenced(without_thoughts(text))
    headings = _headings(text)
    uppermost = [heading for level, heading in headings if level == 1]
    if headings and (
        _words(headings[0][1]) == _words(topic)
        or (headings[0][0] == len(uppermost) == 1 and len(headings) > 1)
    ):
        del headings[0]
    if not headings:
        raise ParseError("there is no heading below the title.")
    least = min(level for level, _ in headings)
    lines = [f"# {_line(topic)}"]
    lines += [
        f"{'#' * (level - least + 2)} {heading}" for level, heading in headings[:MAX_HEADINGS]
    ]
    return "\n".join(lines)


def _headings(text: str) -> list[tuple[int, str]]:
    headings = []
    above = 0
    for written in text.expandtabs(4).splitlines():
        bare = written.strip()
        if bare.startswith("#"):
            heading = bare.lstrip("#")
            level = above = min(len(bare) - len(heading), _DEEPEST)
        elif item := _ITEM.match(bare):
            heading = _of_item(item[1])
            indent = len(written) - len(written.lstrip())
            level = above + 1 + min(indent // 2, _DEEPEST - 1)
        else:
            continue
        heading = _line(heading)
        if re.search(r"\w", heading):
            headings.append((level, heading))
    return headings


def _of_item(text: str) -> str:
    if lead := _LEAD.match(text):
        return lead[1].rstrip(": ")
    label = text.partition(": ")[0]
    return label if len(label) <= _LONGEST_ITEM else ""


def _line(text: str) -> str:
    return _TYPOLOGY.sub("&lt;", " ".join(text.split())[:_LONGEST])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
