"""What should have been selected and handed in so far, kept beside the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.audit._actions import Call, Map
from arena.audit._comparing import Say, keys, only_error
from arena.audit._facts import Reach
from arena.audit._results import Results

MOST = 1_000


class Answers:
    """The stages of one episode.

    Args:
        stages: (name, ``ranking`` or ``mind_map``) in order.
        results: checks refusals.
        reach: what exists.
    """

    def __init__(self, stages: tuple[tuple[str, str], ...], results: Results, reach: Reach) -> None:
        self._stages, self._results, self._reach = stages, results, reach
        self._at = 0
        self._selected: dict[str, None] = {}
        self.handed_in: dict[str, Any] = {}

    @property
    def stage(self) -> str:
        """The name of the stage; the last one's after the end."""
        return self._stages[min(self._at, len(self._stages) - 1)][0]

    def check(self, call: Call, result: Mapping[str, Any], say: Say) -> None:
        """Check the result of ``select``, ``submit``, ``organize`` or ``finish``; go on."""
        if call.tool == "finish":
            self._finish(result, say)
            return
        mind_map = call.arguments.get("mind_map")
        ids = list(dict.fromkeys(papers_of(mind_map) if mind_map else call.arguments["paper_ids"]))
        hidden = [paper_id for paper_id in ids if self._reach.paper(paper_id) is None]
        if hidden:
            self._results.refused(hidden[-1], result, say)
            return
        kind = self._stages[self._at][1]
        wanted = {"submit": "ranking", "organize": "mind_map"}.get(call.tool, kind)
        too_many = len(ids | self._selected.keys() if call.tool == "select" else ids) > MOST
        if kind != wanted or too_many:
            if "error" not in result:
                say("error", f"{call.tool} of {len(ids)} ids was taken in the stage {self.stage!r}")
            only_error(result, say)
        elif "error" in result:
            only_error(result, say)
            if mind_map is None or _canonical(mind_map):  # another one may be unreadable
                say("missing paper", f"refused: {result['error']}")
        elif call.tool == "select":
            self._selected |= dict.fromkeys(ids)
            said(result, {"selected": len(self._selected)}, set(), say)
        elif call.tool == "submit":
            self._hand_in(ids, {"submitted": len(ids)}, set(), result, say)
        else:
            self._organize(mind_map, result, say)

    def _organize(self, mind_map: Any, result: Mapping[str, Any], say: Say) -> None:
        repaired = {"repairs"} & result.keys()
        size = sum(1 for _ in nodes_of(mind_map)) - 1
        plain = _canonical(mind_map) and not repaired
        told = {"organized": size if plain else result.get("organized")}
        self._hand_in(mind_map, told, repaired, result, say)

    def _hand_in(
        self,
        answer: Any,
        told: dict[str, Any],
        more: set[str],
        result: Mapping[str, Any],
        say: Say,
    ) -> None:
        self.handed_in[self.stage] = answer
        self._at += 1
        if self._at < len(self._stages):
            told["stage"] = self.stage
            more = {*more, "message"}
        said(result, told, more, say)

    def _finish(self, result: Mapping[str, Any], say: Say) -> None:
        ranking = self._stages[self._at][1] == "ranking"
        if ranking:
            self.handed_in[self.stage] = list(self._selected)
        said(result, {"submitted": len(self._selected) if ranking else 0}, set(), say)


def said(result: Mapping[str, Any], wanted: dict[str, Any], more: set[str], say: Say) -> None:
    """Check a result that shows no paper."""
    keys(result, wanted.keys() | more, "the result", say)
    for name, value in wanted.items():
        if result.get(name) != value:
            say("count", f"{name}={result.get(name)!r}, and should be {value!r}")


def nodes_of(mind_map: Any) -> Iterator[Map]:
    """Yield the objects of a mind-map of either form with named keys, the root first."""
    waiting = [mind_map]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += [*(node.get("children") or ()), *(node.get("subtopics") or ())]
        elif isinstance(node, str):
            yield {"label": node}


def papers_of(mind_map: Any) -> list[str]:
    """Return the papers of a mind-map with named keys; of another form there are none."""
    if not isinstance(mind_map, dict) or not {"label", "name"} & mind_map.keys():
        return []
    listed = (node.get("papers") for node in nodes_of(mind_map))
    return [paper_id for papers in listed if isinstance(papers, list) for paper_id in papers]


def _canonical(mind_map: Any) -> bool:
    return isinstance(mind_map, dict) and "label" in mind_map
