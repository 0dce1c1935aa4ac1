"""Clustering: Ward's method over the papers' embeddings, and TF-IDF labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from arena._internal.cores import one_thread
from arena.agents import AGENTS, Desk, Researcher, Steps
from arena.encoders import ENCODERS, Encoder
from arena.mindmap.tree import MAX_DEPTH, MAX_HEADINGS, MAX_LABEL, MindMap
from baselines.parts.dendrogram import (
    Dendrogram,
    Group,
    binary,
    by_children,
    by_inconsistency,
    encode,
    groups,
    shared_encoder,
    whole_characters,
)
from baselines.parts.options import choice, flag, real, whole
from baselines.parts.phrases import Labels, Paper

__all__ = ["MERGES", "Clustering", "Paper", "cluster"]

MERGES = ("children", "inconsistency", "none")


class PaperLike(Protocol):
    """An object with an id, a title and an abstract, such as `Paper` or a paper of a corpus."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def abstract(self) -> str: ...


def cluster(
    papers: Sequence[PaperLike],
    topic: str = "",
    *,
    encoder: str | Encoder = "static",
    merge: str = "children",
    max_children: int = 5,
    threshold: float = 1.0,
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
            undone. ``"inconsistency"``: merges not much higher than those below them are
            dissolved. ``"none"``: the binary dendrogram, as in the paper; its lowest merges are
            left out where it has more than 500 headings or 64 levels.
        max_children: Option of ``"children"``, >= 2.
        threshold: Option of ``"inconsistency"``, >= 0: a merge with a coefficient up to this is
            dissolved.

    Returns:
        The mind-map, with every paper under one heading, in the order of `papers`; a root alone if
        there are no papers.

    Raises:
        DataError: An option is out of its range.
        UnknownNameError: There is no such encoder.
    """
    _check(merge, max_children, threshold)
    known = {paper.id: _clean(paper) for paper in reversed(papers)}
    order = list(dict.fromkeys(paper.id for paper in papers))
    topic = " ".join(whole_characters(topic).split())[:MAX_LABEL]
    if not order:
        return MindMap(topic)
    chosen = sorted(known.values())
    with one_thread():
        tree = Dendrogram(encode([_text(paper) for paper in chosen], encoder))
    if merge == "none":
        split = binary(tree)
    elif merge == "children":
        split = by_children(tree, max_children)
    else:
        split = by_inconsistency(tree, threshold)
    root = groups(
        tree, split, lift=merge == "none", most_groups=MAX_HEADINGS, most_levels=MAX_DEPTH
    )
    labels = Labels(chosen, topic).of(root)
    place = {paper_id: number for number, paper_id in enumerate(order)}

    def made(group: Group, label: str) -> MindMap:
        children = tuple(made(child, labels[id(child)]) for child in group.children)
        filed = sorted(
            (chosen[number].id for number in group.filed), key=lambda known: place[known]
        )
        return MindMap(label, children, tuple(filed))

    return made(root, topic)


@AGENTS.register("clustering")
class Clustering(Researcher):
    """Ward's clusters of the papers' embeddings as headings, labelled by TF-IDF n-grams.

    In Organization it organizes the starting papers, or searches for the topic; in Survey it
    plays the first stages as the agent ``title`` and organizes those papers. It reads as many
    abstracts as the budget allows.

    Args:
        seed: Not used.
        encoder, merge, max_children, threshold: Options of `cluster`.
        abstracts: Whether to read abstracts; without them it clusters titles.
    """

    def __init__(
        self,
        seed: int = 0,
        encoder: str = "static",
        merge: str = "children",
        max_children: int = 5,
        threshold: float = 1.0,
        abstracts: bool = True,
    ) -> None:
        super().__init__(seed)
        ENCODERS.get(encoder)
        _check(merge, max_children, threshold)
        self._options: dict[str, Any] = {
            "encoder": encoder,
            "merge": merge,
            "max_children": max_children,
            "threshold": threshold,
        }
        self._abstracts = flag("abstracts", abstracts)
        self._read = 0

    def organize(self, desk: Desk) -> Steps[None]:
        """Read abstracts and put the map of all papers on the desk; none if there is no paper."""
        if not desk.papers:
            yield from self.discover(desk)
        if self._abstracts:
            for paper_id in list(desk.papers):
                yield from desk.read(paper_id)
        self._read = desk.read_count
        if desk.papers:
            desk.mind_map = cluster(list(desk.papers.values()), desk.topic, **self._options)

    def notes(self) -> dict[str, Any]:
        """Return the encoder's configuration and how many abstracts were read."""
        config = shared_encoder(self._options["encoder"]).config
        return {
            "encoder": {name: value for name, value in config.items() if name != "runtime"},
            "abstracts": self._read,
        }


def _check(merge: str, max_children: int, threshold: float) -> None:
    choice("merge", merge, MERGES)
    whole("max_children", max_children, 2)
    real("threshold", threshold, 0)


def _clean(paper: PaperLike) -> Paper:
    title, abstract = paper.title or "", paper.abstract or ""
    return Paper(paper.id, whole_characters(title), whole_characters(abstract))


def _text(paper: Paper) -> str:
    return "\n".join(part for part in (paper.title, paper.abstract) if part.strip())
