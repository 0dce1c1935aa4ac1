"""Clustering: Ward's method over the papers' embeddings, and TF-IDF labels."""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from arena.agents import Desk, KnownPaper, Researcher, Steps, agent
from arena.encoders import Encoder
from arena.kit.options import checked
from arena.kit.process import one_thread
from arena.mindmap.tree import MAX_DEPTH, MAX_HEADINGS, MAX_LABEL, MindMap
from baselines.parts.texts import Group, Labels, encode, shared_encoder, unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@checked
def cluster(
    papers: Sequence[KnownPaper],
    topic: str = "",
    *,
    encoder: str | Encoder = "static",
    merge: Literal["children", "none"] = "children",
    max_children: Annotated[int, Ge(2)] = 5,
) -> MindMap:
    """Return a mind-map of papers (ResearchArena, section 6.1, the approach Clustering).

    Ward's method merges the papers' vectors, encoded from title and abstract, into a
    dendrogram; its groups become headings, each labelled by its highest TF-IDF n-gram of 1
    to 3 words. docs/organization.md has the details. The same papers give the same map, in
    whatever order they come.

    Args:
        papers: Papers; title and abstract may be empty, and a repeated id counts once, at its
            first place. Time and memory grow with the square of their number.
        topic: Label of the root; no heading consists of its words alone.
        encoder: Name of a registered encoder, or an encoder.
        merge: ``"children"``: a heading with more than `max_children` papers, and more than a
            tenth of all, has up to `max_children` headings below it: its highest merges are
            undone. ``"none"``: the binary dendrogram, as in the paper; its lowest merges are left
            out where it has more than 500 headings or 64 levels.
        max_children: Option of ``"children"``, >= 2.

    Returns:
        The mind-map, with every paper under one heading, in the order of `papers`; a root alone if
        there are no papers.
    """
    lift = merge == "none"

    def grouped(chosen: Sequence[KnownPaper]) -> Group:
        with one_thread():
            tree = Dendrogram(encode([text_of(paper) for paper in chosen], encoder))
        split = binary(tree) if lift else by_children(tree, max_children)
        return groups(tree, split, lift=lift, most_groups=MAX_HEADINGS, most_levels=MAX_DEPTH)

    return labelled(papers, topic, grouped)


def labelled(
    papers: Sequence[KnownPaper], topic: str, grouped: Callable[[Sequence[KnownPaper]], Group]
) -> MindMap:
    """Return the mind-map of the groups that a function makes of papers, with labels."""
    known = {
        paper.id: KnownPaper(paper.id, paper.title or "", abstract=paper.abstract or "")
        for paper in reversed(papers)
    }
    order = list(dict.fromkeys(paper.id for paper in papers))
    topic = " ".join(topic.split())[:MAX_LABEL]
    if not order:
        return MindMap(topic)
    chosen = sorted(known.values())
    root = grouped(chosen)
    labels = Labels(chosen, topic).assign(root)
    place = {paper_id: number for number, paper_id in enumerate(order)}

    def made(group: Group, label: str) -> MindMap:
        children = tuple(made(child, labels[id(child)]) for child in group.children)
        filed = sorted((chosen[number].id for number in group.filed), key=lambda i: place[i])
        return MindMap(label, children, tuple(filed))

    return made(root, topic)


@agent("clustering")
class Clustering(Researcher):
    """Ward's clusters of the papers' embeddings as headings, labelled by TF-IDF n-grams.

    In Organization it organizes the starting papers, or searches for the topic; in Topic it
    plays the first stages as the agent ``title`` and organizes those papers. It reads as many
    abstracts as the budget allows.

    Args:
        encoder, merge, max_children: Options of `cluster`.
        abstracts: Whether to read abstracts; without them it clusters titles.
    """

    def __init__(
        self,
        seed: int = 0,
        encoder: str = "static",
        merge: Literal["children", "none"] = "children",
        max_children: Annotated[int, Ge(2)] = 5,
        abstracts: bool = True,
    ) -> None:
        super().__init__(seed)
        shared_encoder(encoder)
        self._options: dict[str, Any] = {
            "encoder": encoder,
            "merge": merge,
            "max_children": max_children,
        }
        self._abstracts, self._read = abstracts, 0

    def organize(self, desk: Desk) -> Steps[None]:
        """Read abstracts and put the map of all papers on the desk; none if there is no paper."""
        if not desk.papers:
            yield from self.discover(desk)
        if self._abstracts:
            for paper_id in list(desk.papers):
                yield from desk.read(paper_id)
        self._read = desk.read_count
        if desk.papers:
            desk.mind_map = self.draw(list(desk.papers.values()), desk.topic)

    def draw(self, papers: Sequence[KnownPaper], topic: str) -> MindMap:
        """Return the map of papers."""
        return cluster(papers, topic, **self._options)

    def notes(self) -> dict[str, Any]:
        """Return the encoder's configuration and how many abstracts were read."""
        config = dict(shared_encoder(self._options["encoder"]).config)
        config.pop("runtime", None)
        return {"encoder": config, "abstracts": self._read}


def text_of(paper: KnownPaper) -> str:
    """Return title and abstract, as they are encoded."""
    return "\n".join(part for part in (paper.title, paper.abstract) if part.strip())


# Vectors are rounded to multiples of 2^-20: squared distances are then exact sums, and vectors that
# differ in the last digits alone are equal.
_GRID = float(1 << 20)


class Dendrogram:
    """The merges of Ward's method over unit vectors (Ward 1963), by Euclidean distance.

    The nodes 0 to n - 1 are the papers, node n + i is the merge i, the last one is the root.
    Vectors, shape (n, dimension), n >= 1, are normalised here; zeros stay zeros.
    """

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        import numpy as np
        from scipy.cluster.hierarchy import linkage

        self.points = np.rint(unit(np.asarray(vectors, np.float64)) * _GRID) / _GRID
        count = len(vectors)
        merges = linkage(self.points, method="ward") if count > 1 else np.empty((0, 4))
        self.root = 2 * count - 2
        self.least = 2 if count > 3 else 1  # papers of a group of a flattened tree
        self.height = [0.0] * count + merges[:, 2].tolist()
        self.sides: list[tuple[int, ...]] = [()] * count
        self.papers: list[tuple[int, ...]] = [(paper,) for paper in range(count)]
        for pair in merges[:, :2].astype(int).tolist():
            # The greater side first, then the one with the first paper.
            sides = sorted(pair, key=lambda node: (-len(self.papers[node]), self.papers[node][0]))
            self.sides.append(tuple(sides))
            self.papers.append(tuple(sorted(self.papers[sides[0]] + self.papers[sides[1]])))

    def nearest(self, paper: int, nodes: Sequence[int]) -> int:
        """Return the one of `nodes` whose mean is nearest to a paper; of equals the first."""
        import numpy as np

        means = np.stack([self.points[list(self.papers[node])].mean(axis=0) for node in nodes])
        distances = np.square(means - self.points[paper]).sum(axis=1).round(12)
        return nodes[int(distances.argmin())]


Split = Callable[[int], list[int]]
"""Function from a node of the dendrogram to the nodes whose groups lie below its group."""


def groups(
    tree: Dendrogram, split: Split, *, lift: bool, most_groups: int, most_levels: int
) -> Group:
    """Return the tree of groups that `split` makes of a dendrogram.

    Groups are divided in the order of their heights, the highest first, as long as there are at
    most `most_groups` below the root and at most `most_levels` of them one below the other.
    """
    root = Group(tree.papers[tree.root])
    made = 0
    waiting = [(-tree.height[tree.root], -tree.root, 0, root)]  # no two have the same node
    while waiting:
        _, node, level, group = heapq.heappop(waiting)
        below = split(-node) if level < most_levels else []
        if not below or made + len(below) > most_groups:
            group.filed = group.papers
            continue
        made += len(below)
        members = {child: list(tree.papers[child]) for child in below}
        strays = sorted(set(group.papers).difference(*members.values()))
        if lift:
            group.filed = tuple(strays)
        else:
            for paper, child in [(paper, tree.nearest(paper, below)) for paper in strays]:
                members[child].append(paper)
        children = [(Group(tuple(sorted(papers))), child) for child, papers in members.items()]
        children.sort(key=lambda pair: (-len(pair[0].papers), pair[0].papers))
        group.children = [child for child, _ in children]
        for below_it, child in children:
            heapq.heappush(waiting, (-tree.height[child], -child, level + 1, below_it))
    if not root.children:
        root.children, root.filed = [Group(root.papers, filed=root.papers)], ()
    return root


def binary(tree: Dendrogram) -> Split:
    """Keep every merge: its sides are the groups, single papers only at the root."""

    def split(node: int) -> list[int]:
        if not tree.height[node]:  # a paper, or papers that are equal
            return []
        least = 1 if node == tree.root else 2
        return [side for side in tree.sides[node] if len(tree.papers[side]) >= least]

    return split


def by_children(tree: Dendrogram, most: int) -> Split:
    """Divide a large group by undoing its highest merges, until it has `most` parts.

    A group is large if it has more than `most` papers and more than a tenth of all, so that a map
    of many papers has about as many headings as that of a few. A merge with a side that is too
    small is skipped, and that side left out.
    """
    great = max(most, len(tree.papers[tree.root]) // 10)

    @functools.cache
    def fork(node: int) -> int | None:
        """Return the first merge at or below `node` with two sides that are large enough."""
        while tree.height[node]:
            if len(tree.papers[tree.sides[node][1]]) >= tree.least:
                return node
            node = tree.sides[node][0]
        return None

    def split(node: int) -> list[int]:
        parts = [node]
        if node != tree.root and len(tree.papers[node]) <= great:
            return []
        while len(parts) < most:
            forks = [(tree.height[at], at, part) for part in parts if (at := fork(part))]
            if not forks:
                break
            _, at, part = max(forks)
            parts.remove(part)
            parts += tree.sides[at]
        return parts if len(parts) > 1 else []

    return split
