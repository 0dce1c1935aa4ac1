"""The counts of a join of surveys to a collection, for the manifest and for people."""

from __future__ import annotations

from collections import Counter
from typing import Any


class JoinCounts:
    """Counts for each survey, and their sums.

    Attributes:
        surveys: Id of a survey -> its counts.
        left_out: Ids of the surveys without a date, which no corpus can hold.
        unusable: Ids of the surveys whose mind-map cannot be read.
    """

    def __init__(self) -> None:
        self.surveys: dict[str, dict[str, Any]] = {}
        self.left_out: list[str] = []
        self.unusable: list[str] = []

    def to_json(self) -> dict[str, Any]:
        """Return the sums over the surveys that are not left out, and the counts of every one."""
        kept = [of for survey, of in self.surveys.items() if survey not in set(self.left_out)]
        total: Counter[str] = Counter()
        for counts in kept:
            for name, value in counts.items():
                if isinstance(value, int):
                    total[name] += value
        dates = Counter(counts["date_from"] for counts in kept if "date_from" in counts)
        return {
            "surveys": len(kept),
            "left_out_undated": sorted(self.left_out),
            "unusable_mind_maps": sorted(self.unusable),
            "dates_from": dict(sorted(dates.items())),
            "total": dict(total),
            "per_survey": self.surveys,
        }


def yield_rows(counts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (name, text) rows that describe what `JoinCounts.to_json` returns."""
    total = counts["total"]
    rows = []
    if total.get("listed"):
        text = (
            f"{total['listed']:,} listed by {counts['surveys']:,} surveys: {total['by_id']:,} "
            f"found by id, {total['by_title']:,} by title, {total['not_found']:,} not found, "
            f"{total['repeated']:,} repeats"
        )
        for name, reason in (("ambiguous", "of several candidates"),
                           ("years_apart", "3 or more years from their listed year")):  # fmt: skip
            if total.get(name):
                text += f"; {total[name]:,} {reason}"
        rows.append(("joined", text))
    parts = [f"{count:,} from {whence}" for whence, count in counts["dates_from"].items()]
    if left_out := len(counts["left_out_undated"]):
        parts.append(f"{left_out:,} left out: no date is known")
    if counts["unusable_mind_maps"]:
        parts.append(f"{len(counts['unusable_mind_maps']):,} mind-maps cannot be read")
    if total.get("in_collection"):
        parts.append(f"{total['in_collection']:,} of their own papers in the collection, hidden")
    if parts:
        rows.append(("survey dates" if counts["dates_from"] else "surveys", "; ".join(parts)))
    return rows
