"""Themes of a bibliography, clusters of its references: their balance, and what both share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.kit.lazy import load, require
from arena.llm import Fields
from arena_suites.bloom_eval.article import Work
from arena_suites.bloom_eval.base import Finding, SurveyPair, survey_metric
from arena_suites.bloom_eval.matching import (
    distribution_similarity,
    ratios,
    side_by_side,
)

FEWEST = 5
"""Fewer references than this are not grouped."""

CUT = 2.0
"""Ward's distance at which the tree of references is cut; see `docs/bloom-eval.md`."""

LEAST_COSINE = 0.8
"""Of the centres of two themes: means of many vectors are closer than two texts are."""

_SPECTRAL = 8
"""Documents below which UMAP cannot begin with a spectral layout of five dimensions."""

Vectors = NDArray[np.float64]


class Theme(NamedTuple):
    """A group of references.

    Attributes:
        label: Its four most typical words.
        central: Title of the reference nearest to its centre.
        centre: Mean of their vectors, of length 1 or 0.
    """

    works: tuple[int, ...]
    label: str
    central: str
    centre: Vectors


@survey_metric("tbal", tier="comprehension", needs=("embeddings",))
def tbal(pair: SurveyPair) -> Finding:
    """Thematic Balance: evenness of the themes of the generated references, in [0, 1].

    1 - G, the Gini coefficient of their sizes. None if BERTopic leaves all references out.

    Paper: equation 5, over BERTopic's topics of nomic-embed-text-v1.
    Released: topics from 2 references; fewer than five references, and no topic, give 0.
    Here: Ward's linkage by default, ``--clusters bertopic`` with the released settings; the encoder
        is that of ``--encoder``. Fewer than five references give 0, one theme 1, no topic no value.
    """
    themes = themes_of(pair, "generated")
    rows = [(theme.label, str(len(theme.works)), theme.central) for theme in themes]
    headers = ("theme", "references", "in its middle")
    if len(_documents(pair, pair.generated.works)) < FEWEST:
        return Finding({"": 0.0}, rows, headers)
    if not themes:
        score = 0.0 if pair.comparison.official else None
        return Finding({"": score}, rows, headers, "the references form no theme.")
    return Finding({"": 1 - gini([len(theme.works) for theme in themes])}, rows, headers)


def gini(sizes: Sequence[int]) -> float:
    """Return the Gini coefficient of sizes, in [0, 1); equation 5.

    >>> gini([1, 3]), gini([2, 2])
    (0.25, 0.0)
    """
    return sum(abs(a - b) for a in sizes for b in sizes) / (2 * len(sizes) * sum(sizes))


@survey_metric(
    "tfsim",
    tier="comprehension",
    needs=("embeddings", "matcher"),
    columns=("f1", "precision", "recall", "ds"),
    prompts=dict.fromkeys(("tfsim", "tfsim_official"), Fields(("human", "generated"))),
)
def tfsim(pair: SurveyPair) -> Finding:
    """Thematic Focus Similarity: the themes of both bibliographies, paired one-to-one, in [0, 1].

    ``ds`` is the distributional similarity of the numbers of references of the themes that are
    shared, 0 if none is. None for experts with fewer than five references.

    Paper: B.2 and A.1, over the topics of ``tbal``, matched by gpt-5-mini.
    Released: a theme may be in several pairs: precision is that of the generated themes in any,
        recall is their number over itself and the experts' themes in none, and DS compares each
        expert's theme with the sum of those that it is paired with.
    Here: each theme in one pair, over the themes of ``tbal``; by the cosine of their centres, at
        least 0.8 and ``--threshold``, or with ``--matcher judge`` by their typical words.
    """
    human, generated = (themes_of(pair, side) for side in ("human", "generated"))
    official = pair.comparison.official
    pairs: list[tuple[int, int]] = []
    if human and generated:
        centres, others = (
            np.stack([theme.centre for theme in side]) for side in (human, generated)
        )
        cosines = centres @ others.T
        near = np.where(cosines >= LEAST_COSINE, cosines, 0.0)
        labels, words = ([theme.label for theme in side] for side in (human, generated))
        prompt = "tfsim_official" if official else "tfsim"
        pairs = pair.match(labels, words, prompt, near, several=official)
    ours, theirs = ({each[side] for each in pairs} for side in (0, 1))
    shared = {i: [len(generated[j].works) for k, j in pairs if k == i] for i in sorted(ours)}
    scores = ratios(len(theirs), len(theirs) + len(human) - len(ours), len(generated))
    sizes = [len(human[i].works) for i in shared], [*map(sum, shared.values())]
    scores["ds"] = distribution_similarity(*sizes) if human else None
    cells = (
        [(f"{each.label}; such as {each.central}", str(len(each.works))) for each in side]
        for side in (human, generated)
    )
    rows = side_by_side(pairs, *cells)
    headers = ("experts' theme", "references", "generated theme", "references")
    reason = "" if human else "the experts' references form no theme."
    return Finding(scores, rows, headers, reason)


def themes_of(pair: SurveyPair, side: str) -> list[Theme]:
    """Return the themes of the references of a side, the largest first; none for fewer than five.

    References are compared by the vectors of "title. abstract". `clusters` ``linkage``
    merges them by Ward's linkage up to `CUT`; ``bertopic`` is BERTopic, as in the paper, given
    the same vectors, which leaves references out that fit no theme, and with the settings of the
    released code those without an abstract. References without title and abstract are left out.
    """
    return pair.once(("themes", side), lambda: _themes(pair, pair.sides[side].works))


def _documents(pair: SurveyPair, works: tuple[Work, ...]) -> dict[int, str]:
    """Return place of each reference that is grouped -> "title. abstract"."""
    if whole := pair.comparison.clusters == "bertopic":
        require("clusters='bertopic'", "bertopic", "umap", "hdbscan")
    return {
        i: text
        for i, work in enumerate(works)
        if (text := f"{work.title}. {work.abstract}".strip(" ."))
        and (not whole or (work.title and work.abstract))
    }


def _themes(pair: SurveyPair, works: tuple[Work, ...]) -> list[Theme]:
    from arena.mindmap import unit_vectors

    texts = _documents(pair, works)
    places, documents = [*texts], [*texts.values()]
    if len(places) < FEWEST:
        return []
    vectors = unit_vectors(documents, pair.comparison.encoder)
    group = _by_bertopic if pair.comparison.clusters == "bertopic" else _by_linkage
    members: dict[int, list[int]] = {}
    for i, label in enumerate(group(documents, vectors)):
        if label >= 0:  # -1 is BERTopic's for no theme
            members.setdefault(label, []).append(i)
    groups = sorted(members.values(), key=lambda each: (-len(each), each))
    themes = []
    for each, words in zip(groups, _labels(documents, groups), strict=True):
        centre = vectors[each].mean(axis=0)
        centre /= np.linalg.norm(centre) or 1.0
        nearest = each[int(np.argmax(vectors[each] @ centre))]
        central = works[places[nearest]].title
        themes.append(Theme(tuple(places[i] for i in each), words, central, centre))
    return themes


def _by_linkage(documents: list[str], vectors: Vectors) -> list[int]:
    scipy = load("scipy.cluster.hierarchy", "Bloom-Eval")
    labels: list[int] = scipy.fcluster(scipy.linkage(vectors, "ward"), CUT, "distance").tolist()
    return labels


def _by_bertopic(documents: list[str], vectors: Vectors) -> list[int]:
    reduce = load("umap").UMAP(
        n_neighbors=5,
        n_components=5,
        min_dist=0.0,
        metric="cosine",
        init="random" if len(documents) < _SPECTRAL else "spectral",
        random_state=42,  # of one thread, then
        n_jobs=1,
    )
    text = load("sklearn.feature_extraction.text", "Bloom-Eval")
    words = text.CountVectorizer(stop_words="english", ngram_range=(1, 3))
    model = load("bertopic").BERTopic(umap_model=reduce, vectorizer_model=words, min_topic_size=2)
    labels, _ = model.fit_transform(documents, vectors)
    return [int(label) for label in labels]


def _labels(documents: list[str], groups: list[list[int]]) -> list[str]:
    """Return the words of each group with the greatest c-TF-IDF: tf x log(1 + words / frequency).

    Grootendorst, 2022, equation 2; "words" is the mean number of words of a group.
    """
    text = load("sklearn.feature_extraction.text", "Bloom-Eval")
    counts = [
        Counter(
            word
            for i in group
            for word in re.findall(r"[^\W\d_]{3,}", documents[i].lower())
            if word not in text.ENGLISH_STOP_WORDS
        )
        for group in groups
    ]
    everywhere = sum(counts, Counter())
    mean = everywhere.total() / max(1, len(groups))
    return [
        ", ".join(
            sorted(count, key=lambda w: (-count[w] * math.log(1 + mean / everywhere[w]), w))[:4]
        )
        for count in counts
    ]
