"""What the project's BM25 was to reach, and what it did on the largest collection measured."""

from __future__ import annotations

from collections.abc import Iterator

from arena.bench._tables import Results, figure, markdown, percents_of

NS_A_POSTING = 1.5
FASTER = {"10": 6.0, "50": 2.0, "100": 1.0}
"""Percent before the cutoff -> how many times as long bm25s should take."""

DOCUMENTS_A_SECOND = 8000.0
OPEN_MS = 200.0

_MODES = (("single", "alone"), ("batch", "in batches"))


def aims(results: Results) -> str:
    """Return each aim, what was measured, and whether it is met."""
    size = max(results["sizes"], key=lambda size: size["documents"])
    headers = (f"{size['documents']:,} documents", "aim", "measured", "")
    return markdown(
        headers,
        [
            (what, f"{sign} {figure(aim)}", figure(found), "met" if met else "not met")
            for what, sign, aim, found, met in _compared(size)
        ],
    )


def _compared(size: Results) -> Iterator[tuple[str, str, float, float, bool]]:
    engines = {n: e for n, e in size["engines"].items() if e["status"] == "measured"}
    own, other = engines.get("bm25"), engines.get("bm25s")
    if own is None:
        return
    percents = percents_of(size)
    for mode, told in _MODES:
        for percent in percents:
            found = own[mode][percent].get("cpu_ns_a_posting")
            if found is not None:
                what = f"bm25, CPU ns a posting {told}, {percent} %"
                yield what, "at most", NS_A_POSTING, found, found <= NS_A_POSTING
    for mode, told in _MODES:
        for percent in percents:
            if other is not None and percent in FASTER:
                took = (engine[mode][percent]["cpu_ms"]["median"] for engine in (other, own))
                found = next(took) / next(took)
                what = f"bm25s / bm25, CPU time {told}, {percent} %"
                yield what, "at least", FASTER[percent], found, found >= FASTER[percent]
    built, opened = own["documents_a_second"], own["open_ms"]["median"]
    yield (
        "bm25, documents built a second", "at least", DOCUMENTS_A_SECOND, built,
        built >= DOCUMENTS_A_SECOND,
    )  # fmt: skip
    yield "bm25, ms to open", "at most", OPEN_MS, opened, opened <= OPEN_MS


BLOCKS = {"aims": aims}
