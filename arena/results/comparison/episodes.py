"""What a comparison shows of an episode, read from its record."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from arena.results.comparison.model import Effort, ModelUse, PlayedEpisode, Query
from arena.tasks import tools_of
from arena.tools import TOOLS, parse_action

GAIN = "gain"


class Reader:
    """Reads the records of one run.

    Args:
        manifest: Manifest of the run.
    """

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        known = set(TOOLS.names())
        self._tools = {n: TOOLS.get(n) for n in tools_of(manifest["task"]) if n in known}
        self._engine = str(manifest["environment"]["retriever"])
        self.without_curve = why_no_curve(manifest)

    def episode(self, record: Mapping[str, Any], picture: str | None) -> PlayedEpisode:
        """Return the episode of `record`, a line of ``trajectories.jsonl``, with its picture."""
        queries, curve, shown = [], [0.0], 0.0
        for step in record["steps"]:
            gain = _number(step["reward_terms"].get(GAIN))
            error = step.get("error")
            query = self._query(step["action"], gain, error)
            if query is not None:
                queries.append(query)
                if error is None:
                    curve.append(curve[-1])
            shown += gain or 0.0
            curve[-1] = min(1.0, shown)  # thirds and the like need not add up to 1
        return PlayedEpisode(
            tuple(queries),
            tuple(curve) if self.without_curve is None else None,
            record["answers"],
            record["spent"],
            sum("error" in step for step in record["steps"]),
            record["truncated"],
            use_of(record["notes"]),
            picture,
        )

    def _query(self, action: Any, gain: float | None, error: str | None) -> Query | None:
        call = parse_action(action, self._tools)
        if isinstance(call, str) or "query" not in call.arguments:
            return None
        given = call.arguments
        engine = given.get("retriever") or self._engine
        return Query(
            given["query"], given.get("k", 10), given.get("offset", 0), str(engine), gain, error
        )


def why_no_curve(manifest: Mapping[str, Any]) -> str | None:
    """Return why a run does not record how many references each search showed, or None."""
    reward = str(manifest["environment"].get("reward"))
    if GAIN not in reward.split("+"):
        return f"its reward is {reward!r}, without {GAIN!r}"
    if manifest["environment"].get("references") is not None:
        return "its agent was given papers at the beginning"
    return None


def use_of(notes: Mapping[str, Any]) -> ModelUse | None:
    """Return the use of a language model that an agent's notes record; see docs/llm.md.

    Notes are free in form: what has another form is unknown, not an error.
    """
    use = notes.get("llm")
    if not isinstance(use, dict):
        return None
    total = use.get("total")
    total = total if isinstance(total, dict) else {}
    failed, model = use.get("failed"), use.get("model")
    return ModelUse(
        model if isinstance(model, str) else "",
        _number(total.get("calls")),
        _number(total.get("prompt_tokens")),
        _number(total.get("completion_tokens")),
        _number(total.get("dollars")),
        len(failed) if isinstance(failed, list) else None,
    )


def effort_of(episodes: Mapping[str, PlayedEpisode]) -> Effort:
    """Return sums over all episodes; one unknown part makes a sum unknown."""
    played = list(episodes.values())
    uses = [episode.use for episode in played]
    known = [use for use in uses if use is not None]

    def spent(name: str) -> int:
        return sum(episode.spent.get(name, 0) for episode in played)

    def total(name: str) -> Any:
        parts = [None if use is None else getattr(use, name) for use in uses]
        return None if not parts or None in parts else sum(parts)  # in the order of surveys

    return Effort(
        len(played),
        spent("steps"),
        spent("searches"),
        spent("reads"),
        spent("characters"),
        sum(episode.errors for episode in played),
        sum(episode.truncated for episode in played),
        tuple(sorted({use.model for use in known if use.model})),
        total("calls"),
        total("prompt_tokens"),
        total("completion_tokens"),
        total("dollars"),
        total("failed"),
    )


def _number(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value < math.inf else None


def usage_of(notes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `use_of` as a dict."""
    use = use_of(notes)
    return None if use is None else dataclasses.asdict(use)
