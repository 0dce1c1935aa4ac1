"""Scores of papers, corrected by those of papers with similar titles."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder, make_encoder
from arena.text import analyze

Matrix = NDArray[np.float64]

PENALTY = 10.0
"""Of ridge regression: the greater, the more alike are the scores of papers with similar titles."""


def regressed(scores: Matrix, titles: Sequence[str], encoder: str | None) -> Matrix:
    """Return what the titles let one expect of each score: kernel ridge regression.

    With the kernel K of the titles, rows and columns centred, and centred scores s the
    expectation is ``K (K + PENALTY I)^-1 s`` (Saunders, Gammerman and Vovk, ICML 1998). The
    kernel of two titles is the cosine of their words' TF-IDF vectors, and that of their
    embeddings added to it.

    Args:
        scores: of each paper, shape (n,).
        titles: of each paper.
        encoder: the name of a registered encoder; None for words alone.

    Returns:
        Shape (n,), with a mean of 0.
    """
    kernel = _words(titles)
    if encoder is not None:
        vectors = _vectors(titles, encoder)
        kernel = kernel + vectors @ vectors.T
    kernel = kernel - kernel.mean(0) - kernel.mean(1)[:, None] + kernel.mean()
    # By eigenvectors, since LAPACK's LU takes so much of the stack that a process in which Java
    # runs, for the engine lucene, dies of it.
    values, vectors = np.linalg.eigh(kernel)
    shares = vectors.T @ (scores - scores.mean())
    return vectors @ (values / (values + PENALTY) * shares)  # type: ignore[no-any-return]


def standard(values: Matrix) -> Matrix:
    """Return values with a mean of 0 and a standard deviation of 1; zeros if all are equal."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-12 else np.zeros_like(values)


def similarity(titles: Sequence[str], encoder: str | None) -> Matrix:
    """Return the similarity of titles, from 0 to 1, shape (n, n)."""
    if encoder is None:
        return _words(titles)
    vectors = _vectors(titles, encoder)
    return np.clip(vectors @ vectors.T, 0.0, 1.0)


def _words(titles: Sequence[str]) -> Matrix:
    """Return the cosines of TF-IDF vectors of the titles' stems, of those in at least two."""
    stems = [sorted(set(analyze(title))) for title in titles]
    count = Counter(stem for title in stems for stem in title)
    known = {stem: column for column, stem in enumerate(s for s in count if count[s] > 1)}
    vectors = np.zeros((len(titles), len(known)))
    for row, title in enumerate(stems):
        for stem in title:
            if stem in known:
                vectors[row, known[stem]] = np.log(len(titles) / count[stem])
    vectors = _unit(vectors)
    return vectors @ vectors.T


def _vectors(titles: Sequence[str], encoder: str) -> Matrix:
    made = _encoder(encoder)
    # A blank text has no vector, and halves of surrogate pairs are taken by no encoder.
    texts = [
        title.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for title in titles
    ]
    distinct = [text for text in dict.fromkeys(texts) if text.strip()]
    row = {text: number for number, text in enumerate(distinct)}
    vectors = np.zeros((len(titles), made.dimension))
    if distinct:
        found = np.asarray(made.documents(distinct), np.float64)
        for place, text in enumerate(texts):
            if text in row:
                vectors[place] = found[row[text]]
    return _unit(vectors)


def _unit(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


@functools.cache
def _encoder(name: str) -> Encoder:
    """Return the one encoder of this name of this process: a model is loaded once."""
    return make_encoder(name, {})
