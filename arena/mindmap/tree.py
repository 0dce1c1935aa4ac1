"""The mind-map: one small immutable tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arena.errors import DataError, clip
from arena.text.display import count

MAX_DEPTH = 64
"""Most levels of a mind-map."""

MAX_LABEL = 500
"""Most characters of a label."""

MAX_HEADINGS = 500
"""Most headings of a submitted mind-map: ten times the largest of 333 real taxonomies."""


@dataclass(frozen=True, slots=True, repr=False)
class MindMap:
    """A node of a mind-map with all that is below it; the root stands for the whole.

    Equal are maps with the same labels, papers and order of children. Hashable.

    Args:
        label: The heading. The root's is the topic, or empty where there is none.
        papers: Ids of the papers filed under this node itself.
        merged: Of a root: how many headings the reader merged with a sibling of the same label, or
            left out because they were blank. It does not count for equality and is not written.

    Example:
        >>> tree = MindMap("Graphs", (MindMap("Search", papers=("p1",)), MindMap("Colouring")))
        >>> tree.labels(), tree.size, tree.depth, tree.all_papers()
        (['Search', 'Colouring'], 2, 1, ['p1'])
    """

    label: str
    children: tuple[MindMap, ...] = ()
    papers: tuple[str, ...] = ()
    merged: int = field(default=0, compare=False)

    def levels(self) -> Iterator[tuple[int, MindMap]]:
        """Yield this node and all below it, in preorder, each after its steps from here."""
        waiting = [(0, self)]
        while waiting:
            level, node = waiting.pop()
            yield level, node
            waiting.extend((level + 1, child) for child in reversed(node.children))

    def nodes(self) -> Iterator[MindMap]:
        """Return an iterator over this node and all below it, in preorder."""
        return (node for _, node in self.levels())

    def labels(self) -> list[str]:
        """Return the distinct labels without the root's own, in preorder.

        A label that the root shares with a node below it is in the list.
        """
        return list(dict.fromkeys(node.label for level, node in self.levels() if level))

    def all_papers(self) -> list[str]:
        """Return the distinct papers of the whole tree, in preorder."""
        return list(dict.fromkeys(paper for node in self.nodes() for paper in node.papers))

    @property
    def size(self) -> int:
        """The number of nodes without the root."""
        return sum(1 for _ in self.nodes()) - 1

    @property
    def depth(self) -> int:
        """The number of steps from the root to the deepest node; 0 for a root alone."""
        return max(level for level, _ in self.levels())

    def unfiled(self, gold: MindMap) -> str:
        """Return a remark if the tree files no paper, and another, the gold, does; else ""."""
        files = not self.size or self.all_papers() or not gold.all_papers()
        return "" if files else "the map files no paper"

    def to_json(self) -> dict[str, Any]:
        """Return nested plain dicts with the keys ``label``, ``children`` and ``papers``.

        `read_mind_map` reads them back.
        """
        children = [child.to_json() for child in self.children]
        return {"label": self.label, "children": children, "papers": list(self.papers)}

    def __repr__(self) -> str:
        return (
            f"<MindMap {clip(self.label)}: {count(self.size, 'node')}, "
            f"{count(len(self.all_papers()), 'paper')}>"
        )


def cut(tree: MindMap, depth: int) -> MindMap:
    """Return the mind-map down to `depth` levels below the root.

    No paper is lost: those of deeper nodes are filed under the nearest node above that is kept.

    Example:
        >>> tree = MindMap("A", (MindMap("B", (MindMap("C", papers=("p2",)),), ("p1",)),))
        >>> cut(tree, 1).labels(), cut(tree, 1).children[0].papers
        (['B'], ('p1', 'p2'))
    """
    if depth < 0:
        raise DataError(f"depth {clip(depth)}: expected 0 or more levels.")
    if not depth:
        return MindMap(tree.label, (), tuple(tree.all_papers()))
    return MindMap(tree.label, tuple(cut(c, depth - 1) for c in tree.children), tree.papers)
