"""Trees in the making: labels checked, siblings merged, limits kept, repairs noted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from arena.errors import DataError, clip
from arena.mindmap.tree import MAX_DEPTH, MAX_LABEL, MindMap
from arena.text.cleaning import read_entities
from arena.text.display import replace_surrogates

MAX_NODES = 10_000

_SHOWN = 5  # cases of each kind of repair
_MERGED = "siblings of one label merged"
_BLANK = "empty labels left out, what is below lifted"


class Notes:
    """Counts repairs by kind, and keeps the first few cases of each."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._cases: dict[str, list[str]] = {}

    def add(self, what: str, case: object, under: str | None = None) -> None:
        """Note one case of `what`, a noun phrase and a participle: ``"empty labels skipped"``."""
        self.counts[what] = self.counts.get(what, 0) + 1
        cases = self._cases.setdefault(what, [])
        if len(cases) < _SHOWN:
            cases.append(clip(case, 60) + (f" under {clip(under, 60)}" if under else ""))

    def sentences(self) -> list[str]:
        """Return one sentence a kind, in the order of their first cases."""
        return [
            f"{what} ({count}): {', '.join(self._cases[what])}"
            f"{f' and {count - _SHOWN} more' if count > _SHOWN else ''}."
            for what, count in self.counts.items()
        ]


@dataclass(slots=True)
class Branch:
    """A node in the making; `level` is 0 for the root."""

    label: str
    level: int
    children: dict[str, Branch] = field(default_factory=dict)
    papers: dict[str, None] = field(default_factory=dict)

    def __str__(self) -> str:
        return clip(self.label) if self.label else "the root"

    def made(self) -> MindMap:
        """Return the tree from here down."""
        children = tuple(child.made() for child in self.children.values())
        return MindMap(self.label, children, tuple(self.papers))


class Builder:
    """Adds nodes under nodes and notes its repairs."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.root = Branch("", 0)
        self._nodes = 0

    def add(self, raw: str, parent: Branch) -> Branch:
        """Return the node labelled `raw` under `parent`, or `parent` if the label is empty."""
        label = self.label(raw)
        if not label:
            self.notes.add(_BLANK, raw, parent.label)
            return parent
        if label in parent.children:
            self.notes.add(_MERGED, label, parent.label)
            return parent.children[label]
        if parent.level >= MAX_DEPTH:
            raise DataError(
                f"{clip(label)} is {parent.level + 1} levels below the root: a mind-map has at "
                f"most {MAX_DEPTH}."
            )
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise DataError(f"the mind-map has more than {MAX_NODES:,} nodes: give a smaller one.")
        node = parent.children[label] = Branch(label, parent.level + 1)
        return node

    def file(self, paper: object, node: Branch) -> None:
        """File a paper under a node."""
        if not isinstance(paper, str):
            raise DataError(
                f"a paper under {node} is {describe(paper)}: papers are ids, as strings."
            )
        paper = self._whole(paper)
        if paper in node.papers:
            self.notes.add("papers listed twice kept once", paper, node.label)
        node.papers[paper] = None

    def label(self, raw: str) -> str:
        """Return a label with its whitespace collapsed and its entities decoded."""
        label = " ".join(raw.split())
        if len(label) > MAX_LABEL:
            raise too_long(raw)
        if label != raw and label:
            self.notes.add("whitespace in labels collapsed", raw)
        if (decoded := " ".join(read_entities(label).split())) != label:
            self.notes.add("entities in labels decoded", label)
        return self._whole(decoded)

    def _whole(self, text: str) -> str:
        """Replace halves of surrogate pairs, which no file and no encoder takes."""
        whole = replace_surrogates(text)
        if whole != text:
            self.notes.add("halves of surrogate pairs replaced by U+FFFD", text)
        return whole

    def finish(self) -> MindMap:
        """Return the tree."""
        if not self._nodes and not self.root.label:
            raise DataError("the mind-map has no node: give it at least one label.")
        merged = sum(self.notes.counts.get(kind, 0) for kind in (_MERGED, _BLANK))
        return replace(self.root.made(), merged=merged)


def describe(value: object) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, dict):
        keys = list(value)[:5]
        return f"an object with keys such as {clip(keys)}" if keys else "an object without keys"
    return "a list" if isinstance(value, list | tuple) else clip(value)


def too_long(label: object) -> DataError:
    """Return the error for a label that is not a heading."""
    return DataError(
        f"the label {clip(label)} is longer than {MAX_LABEL} characters: a label is a heading."
    )
