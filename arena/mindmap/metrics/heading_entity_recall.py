"""Heading entity recall: which of the entities in the survey's headings a mind-map names."""

from __future__ import annotations

from arena.mindmap._labels import compared, entities
from arena.mindmap.extractors import Extractor
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("heading_entity_recall")
def heading_entity_recall(
    predicted: MindMap, gold: MindMap, extractor: str | Extractor = "spacy"
) -> float | None:
    """Share of the entities in the gold map's labels that stand in the predicted map's too.

    Recall = |E(G) n E(P)| / |E(G)|, where E(G) and E(P) are the entities found in the labels
    of the gold and the predicted map, without their roots'. Each label is read by itself; two
    entities are the same if their texts are, without regard to case and white space. In [0, 1];
    an empty prediction scores 0.

    Source: STORM (Shao et al. 2024, arXiv:2402.14207), section 3.2; ResearchArena
    (arXiv:2406.10291), section 5, with FLAIR (Akbik et al. 2019) for the entities. There A, the
    original map, is the one whose entities are to be found.

    Args:
        predicted: The map that was made; its root's label does not count.
        gold: The survey's own.
        extractor: The name of a registered extractor, or an extractor.

    Returns:
        The recall; None where the gold map has no entity, so that there is nothing to find.

    Raises:
        DataError: The gold map has no label below its root; the extractor's packages are absent.
        UnknownNameError: There is no such extractor.

    Example:
        >>> class Capitals:  # takes words with a capital for entities
        ...     def entities(self, labels):
        ...         return [{w for w in label.split() if w[0].isupper()} for label in labels]
        >>> gold = MindMap("", (MindMap("BERT in Berlin"), MindMap("other models")))
        >>> heading_entity_recall(MindMap("", (MindMap("What Bert does"),)), gold, Capitals())
        0.5
    """
    ours, theirs = compared(predicted, gold)
    wanted = entities(theirs, extractor)
    return len(wanted & entities(ours, extractor)) / len(wanted) if wanted else None
