"""What `info` may hold: nothing of the labels before the end, and at the end only figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.audit._comparing import Say
from arena.audit._facts import Survey

STEP = {"survey", "reward_terms"}
COUNTS = ("gold", "references", "references_total")
END = {*STEP, *COUNTS, "answers", "metrics"}
UNBOUNDED = {
    "heading_soft_recall", "heading_soft_precision", "tree_edit_distance", "tree_semantic_distance",
}  # fmt: skip
"""Metrics that may exceed 1 (docs/mind-map-metrics.md)."""


def check_step(
    info: Mapping[str, Any], reward: float, survey: Survey, over: bool, say: Say
) -> None:
    """Check the keys, and that the terms are named numbers that add up to the reward."""
    wanted = END if over else STEP
    if set(info) != wanted:
        say("info", f"it has the keys {sorted(info)}, and should have {sorted(wanted)}")
    if info.get("survey") != survey.id:
        say("info", f"survey={info.get('survey')!r}, and should be {survey.id!r}")
    terms = info.get("reward_terms")
    if not _numbers(terms) or not math.isclose(sum(terms.values()), reward, abs_tol=1e-12):  # type: ignore[union-attr]
        say("info", f"reward_terms={terms!r} for the reward {reward!r}")


def check_end(
    info: Mapping[str, Any], survey: Survey, handed_in: Mapping[str, Any], say: Say
) -> None:
    """Check that the answers are those handed in, and that all else is figures of the files."""
    wanted = {
        "gold": sum(reference.status == "gold" for reference in survey.references),
        "references": len(survey.references),
        "references_total": survey.references_total,
    }
    for name, value in wanted.items():
        if name in info and info[name] != value:
            say("info", f"{name}={info[name]!r}, and by the files {value}")
    metrics = info.get("metrics")
    if not _numbers(metrics) or not all(
        value >= 0 and (value <= 1 or name in UNBOUNDED)
        for name, value in metrics.items()  # type: ignore[union-attr]
    ):
        say("info", f"metrics={metrics!r}")
    answers = info.get("answers")
    if not isinstance(answers, Mapping) or set(answers) != set(handed_in):
        say("info", f"answers to {answers!r:.200}, and handed in was {sorted(handed_in)}")
        return
    for stage, answer in answers.items():
        _answer(stage, answer, handed_in[stage], say)


def _answer(stage: str, answer: Any, given: Any, say: Say) -> None:
    if isinstance(given, Sequence):
        if list(answer) != list(given):
            say("info", f"the answer to {stage!r} is not what was handed in: {answer!r:.200}")
        return
    sent = set(_strings(given))
    if not set(_strings(answer)) <= sent | {"", "label", "children", "papers"}:
        say("info", f"the answer to {stage!r} holds what was not handed in: {answer!r:.200}")


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a value of JSON, keys as well, with blanks collapsed."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield " ".join(item.split())
        elif isinstance(item, Mapping):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, Sequence):
            waiting += item


def _numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(number, float | int) and math.isfinite(number)
        for name, number in value.items()
    )
