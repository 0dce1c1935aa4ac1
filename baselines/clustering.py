"""Clustering: Ward's method over the papers' embeddings, and TF-IDF labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from arena.agents import AGENTS, Desk, Researcher, Steps
from arena.encoders import ENCODERS, Encoder
from arena.errors import DataError, clip, did_you_mean
from arena.mindmap.tree import MindMap
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
from baselines.parts.options import flag
from baselines.parts.phrases import Labels, Paper
from baselines.parts.trees import MAX_HEADINGS, MAX_LABEL, MAX_LEVELS

__all__ = ["MERGES", "Clustering", "Paper", "cluster"]

MERGES = ("children", "inconsistency", "none")


class PaperLike(Protocol):
    """What has an id, a title and an abstract, such as `Paper` or a paper of a corpus."""

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
        papers: title and abstract may be empty; a repeated id counts once, at its first place.
            Time and memory grow with the square of their number.
        topic: the root's label; no heading is made of its words alone.
        encoder: the name of a registered encoder, or an encoder.
        merge: ``"children"``: a heading with more than `max_children` papers, and more than a
            tenth of all, has up to `max_children` headings below it: its highest merges are
            undone. ``"inconsistency"``: merges not much higher than those below them are
            dissolved. ``"none"``: the binary dendrogram, as in the paper; its lowest merges are
            left out where it has more than 500 headings or 64 levels.
        max_children: of ``"children"``, >= 2.
        threshold: of ``"inconsistency"``: a merge with a coefficient up to this is dissolved,
            >= 0.

    Returns:
        Every paper is filed under one heading, in the order given. A map of no papers is a root.

    Raises:
        DataError: if an option is out of its range.
        UnknownNameError: if there is no such encoder.
    """
    _check(merge, max_children, threshold)
    known = {paper.id: _clean(paper) for paper in reversed(papers)}
    order = list(dict.fromkeys(paper.id for paper in papers))
    topic = " ".join(whole_characters(topic).split())[:MAX_LABEL]
    if not order:
        return MindMap(topic)
    chosen = sorted(known.values())
    tree = Dendrogram(encode([_text(paper) for paper in chosen], encoder))
    if merge == "none":
        split = binary(tree)
    elif merge == "children":
        split = by_children(tree, max_children)
    else:
        split = by_inconsistency(tree, threshold)
    root = groups(
        tree, split, lift=merge == "none", most_groups=MAX_HEADINGS, most_levels=MAX_LEVELS
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

    In Organization it takes the papers given, or searches for the topic; in Survey it begins as
    the agent ``title`` and takes what that found. It reads as many abstracts as the budget allows.

    Args:
        seed: of no consequence.
        encoder, merge, max_children, threshold: see `cluster`.
        abstracts: whether to read them; otherwise titles are all it knows.
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
        """Read abstracts and draw the map of all papers; none if there is no paper at all."""
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
    if merge not in MERGES:
        raise DataError(f"merge={clip(merge)}.{did_you_mean(merge, MERGES)}")
    if isinstance(max_children, bool) or not isinstance(max_children, int) or max_children < 2:
        raise DataError(f"max_children={clip(max_children)}: give an integer >= 2.")
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not (number and threshold >= 0):
        raise DataError(f"threshold={clip(threshold)}: give a number >= 0.")


def _clean(paper: PaperLike) -> Paper:
    title, abstract = paper.title or "", paper.abstract or ""
    return Paper(paper.id, whole_characters(title), whole_characters(abstract))


def _text(paper: Paper) -> str:
    return "\n".join(part for part in (paper.title, paper.abstract) if part.strip())
