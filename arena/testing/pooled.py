"""The reference of results with a pool of papers: the whole text, made again from all calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.papers import MAX_TITLE
from arena.testing.reference import PlainView
from arena.tools import Call, encode


class PlainPool:
    """Makes the results of one episode as docs/environments.md describes them."""

    def __init__(self, view: PlainView, most: int) -> None:
        self._view, self._most = view, most
        self._lists: list[Sequence[str]] = []
        self._actions: list[str] = []
        self._shown = 0

    def expected(
        self, rest: Mapping[str, Any], lists: Sequence[Sequence[str]], call: Call | None, given: Any
    ) -> dict[str, Any]:
        """Return what a result has that `given` stands for: `rest` without its `lists` of papers.

        A text in it is cut where that of `given` is, if it is too long.
        """
        known = len(set().union(*self._lists))
        if call is not None:
            self._lists += [each for each in lists if each]
            new = len(set().union(*self._lists)) - known
            names = [p for p in call.tool.parameters if call.arguments[p.name] != p.default]
            shown = ", ".join(f"{p.name}={call.arguments[p.name]!r}" for p in names)
            self._actions.append(f"{f'{call.tool.name}({shown})':.200}: {new} new")
        expected = dict(rest)
        if (size := len(encode(expected))) > self._most // 2 and not given.get("text"):
            text = f"the result has {size} characters; {self._most // 2} are shown at most."
            expected = {"error": text}
        elif size > self._most // 2:
            kept = len(given["text"])
            expected["cut"] = f"{kept} of {len(rest['text'])}"
            expected["text"] = rest["text"][:kept]
            if not len(encode(expected)) <= self._most // 2 < len(encode(expected)) + 10:
                expected["text"] = "as much as fits into half"  # which it is not: a finding
        scores: dict[str, float] = {}
        for each in self._lists:
            for place, paper in enumerate(each):
                scores[paper] = scores.get(paper, 0.0) + 1 / (61 + place)
        number = self._view.stored.by_id
        order = sorted(scores, key=lambda paper: (-scores[paper], number[paper].number))
        actions = list(self._actions)
        while len(encode(actions)) - 2 > self._most // 4:
            del actions[0]
        expected |= {"actions_total": len(self._actions), "papers_total": len(scores)}
        expected |= {"actions": actions, "papers": []}
        for paper in order if call else order[: self._shown]:
            row = number[paper]
            entry = {"id": paper, "title": row.title[:MAX_TITLE], "date": row.date}
            expected["papers"].append(entry | {"score": round(scores[paper], 4)})
            if len(encode(expected)) > self._most:
                del expected["papers"][-1]
                break
        self._shown = len(expected["papers"])
        return expected
