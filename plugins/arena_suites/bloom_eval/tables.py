"""The output of Bloom-Eval's evaluation: tables next to Table 3 of the paper, and a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from arena.metrics import mean
from arena.suites import Evaluation
from arena.text.display import count
from arena_suites.bloom_eval.base import SUPPLEMENTARY, TIERS, survey_metrics
from arena_suites.published import published

SPENT = ("seconds", "calls", "failed")
AVERAGED = ("", "f1", "ds")
"""The columns of a metric that count in the mean of its tier."""


class SurveyEvaluation(Evaluation):
    """Scores of generated surveys."""

    @property
    def tiers(self) -> dict[str, dict[str, Any]]:
        """Return what each tier has: a ``mean`` as the paper counts it, ``f1_only``, ``columns``.

        ``without`` are the metrics of the tier that are not in its mean.
        """
        tiers = {}
        for tier in TIERS:
            of_metric = {m.name: m.names() for m in survey_metrics().values() if m.tier == tier}
            columns = {name for names in of_metric.values() for name in names}
            if scores := {name: mean for name, mean in self.mean.items() if name in columns}:
                tiers[tier] = {
                    "mean": tier_mean(scores), "f1_only": tier_mean(scores, ds=False),
                    "without": [
                        metric
                        for metric, names in of_metric.items()
                        if tier_mean({name: scores.get(name) for name in names}) is None
                    ],
                    "columns": [*scores],
                }  # fmt: skip
        return tiers

    @property
    def counted(self) -> dict[str, int]:
        """Return how many topics have each score."""
        rows = self.topics.values()
        return {name: sum(row[name] is not None for row in rows) for name in self.mean}

    def to_json(self) -> dict[str, Any]:
        """Return plain dicts and lists; scores are under ``topics``, time under ``spent``."""
        plain = super().to_json()
        return {
            "topics": plain.pop("topics"), "mean": plain.pop("mean"), "tiers": self.tiers,
            "counted": self.counted, **plain,
            "spent": {
                topic: {key: sum(row[key] for row in rows.values()) for key in SPENT}
                for topic, rows in self.details.items()
            },
            "details": dict(self.details),
        }  # fmt: skip

    def parts(self) -> dict[str, tuple[float | None, str]]:
        """Return the mean of each tier, or what it needs, and the metrics that are not in it."""
        found = dict[str, tuple[float | None, str]]()
        for tier, each in self.tiers.items():
            said = f"without {', '.join(each['without'])}" if each["without"] else ""
            if each["mean"] is None:
                needs = (self.needs[name] for name in each["columns"] if name in self.needs)
                said = next((f"needs {need}" for need in needs), "")
            found[tier] = (each["mean"], said)
        return found

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the headers and the rows of Table 3, this system's means beside the paper's.

        A row has the tier; the name of the column, or ``average`` of the tier; the mean over
        topics; how many of the topics have it, or of the metrics; and what Table 3 prints.
        """
        table, supplementary = published("Bloom-Eval")
        printed, others = (
            dict(zip(each["columns"], zip(*each["rows"].values(), strict=True), strict=True))
            for each in (table, supplementary)
        )
        rows, counted = list[tuple[Any, ...]](), self.counted
        marked, of = made_otherwise(self.settings), f"of {len(self.topics)}"
        for tier, found in self.tiers.items():
            for name in found["columns"]:
                by = marked.get(name.partition("_")[0])
                topics = f"{counted[name]} {of}" + (f", by {' and '.join(by)}" if by else "")
                rows.append((tier, name, self.mean[name], topics, printed.get(name)))
            lacking = found["without"]
            metrics = {name.partition("_")[0] for name in found["columns"]} | {*lacking}
            share = f"{len(metrics) - len(lacking)} of {count(len(metrics), 'metric')}"
            if lacking:
                share += f", without {', '.join(lacking)}"
            rows.append((tier, "average", found["mean"], share, printed[f"average of {tier}"]))
        rows += [
            (SUPPLEMENTARY, name, self.mean[name], f"{counted[name]} {of}", paper)
            for name, paper in others.items()
            if name in counted
        ]
        nothing = [None] * len(table["rows"])
        return ["tier", "score", "generated", "counted", *table["rows"]], [
            (*row, *map(as_printed, paper or nothing)) for *row, paper in rows
        ]


ENCODER = "nomic-embed-text-v1"
"""The paper's encoder (section 4.2)."""
JUDGES = {"cf": "gpt-4o"}
"""Its judges; of all other metrics gpt-5-mini."""


def made_otherwise(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return metric -> encoder, linkage or judge that made it, where that is not the paper's."""
    judge = settings.get("judge", {}).get("client", {}).get("model")
    judged = {"judge", "matcher"} if settings["matcher"] == "judge" else {"judge"}
    marked = {}
    for name, metric in survey_metrics().items():
        needs, by = {*metric.needs}, []
        if "matcher" in needs - judged or (
            "embeddings" in needs and settings["encoder"] != ENCODER
        ):
            by.append(settings["encoder"])
        if name in ("tbal", "tfsim") and settings["clusters"] == "linkage":
            by.append("linkage")
        if judge and judged & needs and judge != JUDGES.get(name, "gpt-5-mini"):
            by.append(judge)
        if by:
            marked[name] = by
    return marked


def as_printed(value: float | str | None) -> str:
    """Return a number of the paper's tables as text; empty for one that it does not print."""
    if isinstance(value, str):
        return value
    return "" if value is None else f"{value:.2f}" if 0.01 <= value <= 1 else f"{value:g}"


def tier_mean(scores: Mapping[str, float | None], ds: bool = True) -> float | None:
    """Return the mean over the metrics of a tier, with or without their DS; None without a score.

    The F1 and the DS of one metric are averaged first (caption of Figure 4); so come all 24
    averages of Table 3. Other columns than `AVERAGED` do not count.

    >>> round(tier_mean({"efid_f1": 0.1, "efid_ds": 0.81, "hirc_f1": 0.03, "fcons_f1": 0.07}), 3)
    0.185
    """
    of_metric = defaultdict(list)
    for name, score in scores.items():
        metric, _, column = name.partition("_")
        if score is not None and column in AVERAGED and (ds or column != "ds"):
            of_metric[metric].append(score)
    return mean(mean(values) for values in of_metric.values())
