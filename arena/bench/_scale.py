"""What the measured rates come to for larger collections; docs/scale.md holds the formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from arena.bench._tables import Results, figure, markdown, percents_of


class Target(NamedTuple):
    """A collection to reckon with, relative to the one that was measured.

    Attributes:
        documents: how many.
        terms, distinct: of a document; None as measured.
        matches: postings of a query, as a multiple of those it has in as many abstracts.
        least: engine -> bytes a posting takes at least.
    """

    documents: int
    terms: float | None = None
    distinct: float | None = None
    matches: float = 1.0
    least: Mapping[str, float] = MappingProxyType({})


ABSTRACTS = Target(12_000_000)

FULL_TEXTS = Target(
    12_000_000, terms=3353, distinct=760, matches=3.58, least=MappingProxyType({"bm25": 8.0})
)
"""Means over the 250 papers with full text in the package aclsum 0.1.2 (Takeshita et al. 2024), by
`arena.text.analyze`: terms and distinct terms of title, abstract, headings and paragraphs; and
the sum, over the terms of 76 survey titles, of the share of papers that hold the term, which is
2.60 in full texts and 0.727 in titles with abstracts.

bm25 keeps a code of four bytes for the frequency and length of a posting, not two, where there are
more than 65,536 different pairs of them (docs/bm25.md), as there are in long texts."""

DIMENSIONS = (384, 768)

ENCODERS = (
    ("static", 27_111 / 7.2, "27,111 real titles with abstracts in 7.2 s, wall time"),
    ("minilm", 11.0, "papers a CPU second, one core"),
)
"""(encoder, papers a second, how that was measured) with `arena-corpus index --engine dense` on an
AMD EPYC with two cores, no GPU; docs/dense.md has the papers. The made-up vectors of the benchmark
need no encoder, so its results hold no such rate."""


def rates(results: Results) -> str:
    """Return the rates of the largest size that was measured."""
    size, rows = _largest(results), []
    percents = percents_of(size)
    for name, engine in _measured(size, "lexical"):
        rows.append(
            (
                name,
                f"{_terms_a_second(size, engine) / 1e6:.2f}",
                figure(engine["bytes_a_posting"]),
                *(_ns(engine, "single", percent) for percent in percents),
                *(_ns(engine, "batch", percent) for percent in percents),
            )
        )
    headers = [
        f"{size['documents']:,} documents", "million terms/s", "bytes/posting",
        *(f"ns/posting, {percent} %" for percent in percents),
        *(f"batch, {percent} %" for percent in percents),
    ]  # fmt: skip
    return markdown(headers, rows)


def abstracts(results: Results) -> str:
    """Return bytes and times for 12 million titles with abstracts."""
    return _lexical(results, ABSTRACTS)


def full_texts(results: Results) -> str:
    """Return bytes and times for 12 million full texts."""
    return _lexical(results, FULL_TEXTS)


def vectors(results: Results) -> str:
    """Return bytes and scan times of 12 million vectors."""
    size, rows = _largest(results), []
    percents = percents_of(size)
    for name, engine in _measured(size, "dense"):
        whole = engine["work"][percents[-1]]
        row_bytes = whole["bytes"] / whole["documents"]
        for dimension in DIMENSIONS:
            # What is measured was of 384 components; time and bytes grow with them.
            wider = dimension / DIMENSIONS[0]
            times = ABSTRACTS.documents / size["documents"] * wider
            rows.append(
                (
                    name,
                    str(dimension),
                    f"{ABSTRACTS.documents * row_bytes * wider / 1e9:.1f}",
                    *(
                        figure(engine[mode][percent]["cpu_ms"]["median"] * times)
                        for mode in ("single", "batch")
                        for percent in percents
                    ),
                )
            )
    headers = [
        f"{ABSTRACTS.documents:,} vectors", "dimension", "GB",
        *(f"ms, {percent} %" for percent in percents),
        *(f"batch, {percent} %" for percent in percents),
    ]  # fmt: skip
    return markdown(headers, rows)


def encoders(results: Results) -> str:
    """Return the hours that encoding 12 million titles with abstracts takes."""
    rows = [
        (name, f"{rate:,.0f}", figure(ABSTRACTS.documents / rate / 3600), measured)
        for name, rate, measured in ENCODERS
    ]
    return markdown(("encoder", "papers/s", "hours", "measured"), rows)


BLOCKS: dict[str, Callable[[Results], str]] = {
    "scale-rates": rates,
    "scale-abstracts": abstracts,
    "scale-full-texts": full_texts,
    "scale-vectors": vectors,
    "scale-encoders": encoders,
}


def _lexical(results: Results, target: Target) -> str:
    size, rows = _largest(results), []
    made = size["collection"]
    terms = target.documents * (target.terms or made["tokens"] / size["documents"])
    postings = target.documents * (target.distinct or made["postings"] / size["documents"])
    matches = target.matches * target.documents / size["documents"]
    percents = percents_of(size)
    for name, engine in _measured(size, "lexical"):
        posting = max(engine["bytes_a_posting"], target.least.get(name, 0.0))
        rows.append(
            (
                name,
                f"{postings * posting / 1e9:.1f}",
                figure(terms / _terms_a_second(size, engine) / 3600),
                *(
                    figure(engine[mode][percent]["cpu_ms"]["median"] * matches)
                    for mode in ("single", "batch")
                    for percent in percents
                ),
            )
        )
    headers = [
        f"{postings / 1e9:.2f} billion postings", "index GB", "build hours",
        *(f"CPU ms, {percent} %" for percent in percents),
        *(f"batch, {percent} %" for percent in percents),
    ]  # fmt: skip
    asked = made["postings_a_query"][percents[-1]] * matches / 1e6
    note = f"A query has {asked:.1f} million postings at {percents[-1]} %."
    return f"{markdown(headers, rows)}\n\n{note}"


def _terms_a_second(size: Results, engine: Results) -> float:
    return float(size["collection"]["tokens"] / engine["build"]["wall_seconds"])


def _ns(engine: dict[str, Any], mode: str, percent: str) -> str:
    return figure(engine[mode][percent].get("cpu_ns_a_posting", 0.0))


def _largest(results: Results) -> Results:
    found: Results = max(results["sizes"], key=lambda size: size["documents"])
    return found


def _measured(size: Results, family: str) -> Iterator[tuple[str, Results]]:
    for name, engine in size["engines"].items():
        if engine["status"] == "measured" and engine["family"] == family:
            yield name, engine
