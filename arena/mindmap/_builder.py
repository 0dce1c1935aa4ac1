"""The builder of all readers: it checks labels, merges siblings, holds limits, notes repairs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from arena.errors import DataError, clip
from arena.mindmap.tree import MAX_DEPTH, MAX_LABEL, MindMap

MAX_NODES = 10_000
# Dropped, merged and lifted entries make no node, but must end too: objects of Python that share
# parts can unfold to more entries than there are atoms.
MAX_ENTRIES = 100_000

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


class Builder:
    """Adds nodes under nodes and notes its repairs."""

    def __init__(self, notes: Notes | None = None) -> None:
        self.notes = notes or Notes()
        self.root = Branch("", 0)
        self._made = [self.root]
        self._entries = 0

    def count(self) -> None:
        """Count an entry of what is read; raise DataError if there are too many."""
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise DataError(
                f"the mind-map has more than {MAX_ENTRIES:,} entries, papers included: give a "
                "smaller one."
            )

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
        if len(self._made) > MAX_NODES:
            raise DataError(f"the mind-map has more than {MAX_NODES:,} nodes: give a smaller one.")
        node = parent.children[label] = Branch(label, parent.level + 1)
        self._made.append(node)
        return node

    def file(self, paper: object, node: Branch) -> None:
        """File a paper under a node."""
        if not isinstance(paper, str):
            raise DataError(
                f"a paper under {node} is {describe(paper)}: papers are ids, as strings."
            )
        paper = self._whole(str.__str__(paper))
        if paper in node.papers:
            self.notes.add("papers listed twice kept once", paper, node.label)
        node.papers[paper] = None

    def label(self, raw: str) -> str:
        """Return a label with its whitespace collapsed."""
        label = " ".join(raw.split())
        if len(label) > MAX_LABEL:
            raise too_long(raw)
        if label != raw and label:
            self.notes.add("whitespace in labels collapsed", raw)
        return self._whole(label)

    def _whole(self, text: str) -> str:
        """Replace halves of surrogate pairs, which no file and no encoder takes."""
        try:
            text.encode()
        except UnicodeEncodeError:
            self.notes.add("halves of surrogate pairs replaced by U+FFFD", text)
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text

    def finish(self) -> MindMap:
        """Return the tree."""
        if len(self._made) == 1 and not self.root.label:
            raise DataError("the mind-map has no node: give it at least one label.")
        done: dict[int, MindMap] = {}
        for node in reversed(self._made):  # a node is made before those below it
            children = tuple(done.pop(id(child)) for child in node.children.values())
            done[id(node)] = MindMap(node.label, children, tuple(node.papers))
        merged = sum(self.notes.counts.get(kind, 0) for kind in (_MERGED, _BLANK))
        return replace(done[id(self.root)], merged=merged)


def as_read(tree: MindMap) -> MindMap:
    """Return a map made in Python as the readers would have made it from its JSON."""
    for node in tree.nodes():
        labels = {child.label for child in node.children}
        if len(labels) < len(node.children) or any(
            x != " ".join(x.split()) or not x for x in labels
        ):
            break
    else:
        return tree
    builder = Builder()
    builder.root.label = builder.label(tree.label)
    for paper in tree.papers:
        builder.file(paper, builder.root)
    waiting = [(child, builder.root) for child in reversed(tree.children)]
    while waiting:  # in preorder, as a reader comes across them
        node, parent = waiting.pop()
        made = builder.add(node.label, parent)
        for paper in node.papers:
            builder.file(paper, made)
        waiting.extend((child, made) for child in reversed(node.children))
    return builder.finish() if builder.root.children or builder.root.label else MindMap("")


def describe(value: object) -> str:
    """Describe any value for a message, without going into it: its parts may repeat for ever."""
    if value is None or isinstance(value, str | int | float):
        return clip(value)
    if isinstance(value, dict):
        keys = [key for key in list(value)[:5] if isinstance(key, str)]
        return f"an object with keys such as {clip(keys)}" if keys else "an object without keys"
    return "a list" if isinstance(value, list | tuple) else f"a {type(value).__name__}"


def too_long(label: object) -> DataError:
    """Return the error for a label that is no heading."""
    return DataError(
        f"the label {clip(label)} is longer than {MAX_LABEL} characters: a label is a heading."
    )
