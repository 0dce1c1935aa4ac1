"""Cut a tool's result for the observation, or replace its lists by the pool."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from arena.corpus.view import CorpusView
from arena.papers import MAX_TITLE
from arena.tools import Call, ToolResult, encode

MIN_POOL_CHARACTERS, DEFAULT_POOL_CHARACTERS = 2_000, 8_000
"""Characters of a result with a pool: the least number, and that by default."""
POOL_FORM = {"scores": dict, "actions": list, "listed": int}
_RANK = 60  # Cormack, Clarke and Buettcher 2009, Reciprocal Rank Fusion, SIGIR, section 2
_LONGEST = 200  # characters of a past action


def cut(result: str, most: int) -> str:
    """Return a result in at most so many characters: its papers or its text cut at the end.

    ``cut`` says how many are left; where nothing of it fits, the result is an error.
    """
    whole: dict[str, Any] = json.loads(result)
    lists = [n for n, v in whole.items() if isinstance(v, list) and v and isinstance(v[0], dict)]
    name = lists[0] if lists else "text"
    part = whole.get(name, "")
    several = [each["hits"] for each in part] if name == "lists" else [part]
    longest = max(map(len, several))

    def first(n: int) -> str:
        left: Any = part[:n]
        if name == "lists":
            left = [{**each, "hits": each["hits"][:n]} for each in part]
        return encode({**whole, name: left, "cut": f"{n} of {longest}"})

    number = bisect_right(range(longest + 1), most, key=lambda n: len(first(n))) - 1
    if number > 0:
        return first(number)
    return encode({"error": f"the result has {len(result)} characters; {most} are shown at most."})


def lists_paper(text: str, paper_id: str) -> bool:
    """Return whether a result lists a paper."""
    return f'"id":{encode(paper_id)}' in text


class PaperPool:
    """The papers that an episode has found and its past actions, in so many characters.

    A result has, in this order, the last result without its lists of papers, in at most half of the
    characters; ``actions``, the last ones in at most a quarter; and ``papers``, the best ones that
    still fit, by the sum of 1 / (60 + rank) over all lists so far, ties in document order.

    Args:
        view: The corpus as of the topic's date.
        number: Returns the document number of a paper.
        most: Characters of a result, >= `MIN_POOL_CHARACTERS`.
    """

    def __init__(
        self, view: CorpusView, number: Callable[[str], Any], most: int = DEFAULT_POOL_CHARACTERS
    ) -> None:
        self._view, self._number, self._most = view, number, most
        self._scores: dict[str, float] = {}
        self._actions: list[str] = []
        self._listed = 0  # papers in the last result

    def result(
        self, given: Mapping[str, Any], shown: Iterable[str], call: Call | None
    ) -> ToolResult:
        """Return what stands in the place of a result that shows papers, and the papers in it.

        What did not fit was not shown. A refused call, None, shows nothing that was not there.
        """
        rest = {
            name: value
            for name, value in given.items()
            if name not in ("actions", "papers") and not any(_lists(value))
        }
        if call is not None:
            self._take(call, given)
        head = encode(rest)
        if len(head) > self._most // 2:
            head = cut(head, self._most // 2)
        totals = {"actions_total": len(self._actions), "papers_total": len(self._scores)}
        actions = _fitting(map(encode, reversed(self._actions)), self._most // 4)[::-1]
        best = sorted(self._scores, key=lambda paper: (-self._scores[paper], self._number(paper)))
        if call is None:
            best = best[: self._listed]
        start = encode(json.loads(head) | totals)[:-1]
        start += f',"actions":[{",".join(actions)}],"papers":['
        papers = _fitting(map(self._written, best), self._most - len(start) - 2)
        self._listed = len(papers)
        text = f"{start}{','.join(papers)}]}}"
        return ToolResult(
            text, [*best[: len(papers)], *(each for each in shown if lists_paper(head, each))]
        )

    def _take(self, call: Call, given: Mapping[str, Any]) -> None:
        before = len(self._scores)
        for papers in _lists(list(given.values())):
            for rank, paper in enumerate(papers, 1):
                self._scores[paper] = self._scores.get(paper, 0.0) + 1 / (_RANK + rank)
        changed = [
            f"{p.name}={value!r}"
            for p in call.tool.parameters
            if (value := call.arguments[p.name]) != p.default
        ]
        action = f"{call.tool.name}({', '.join(changed)})"[:_LONGEST]
        self._actions.append(f"{action}: {len(self._scores) - before} new")

    def _written(self, paper: str) -> str:
        (brief,) = self._view.briefs([paper])
        score = round(self._scores[paper], 4)
        return encode(
            {"id": paper, "title": brief.title[:MAX_TITLE], "date": brief.date, "score": score}
        )

    def save(self) -> dict[str, Any]:
        """Return all that changes, as values of JSON."""
        return {
            "scores": dict(self._scores), "actions": list(self._actions), "listed": self._listed,
        }  # fmt: skip

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from what `save` returned."""
        self._scores, self._actions = dict(saved["scores"]), list(saved["actions"])
        self._listed = saved["listed"]


def _lists(value: Any) -> Iterator[list[str]]:
    """Yield the ids of every list of papers in a part of a result."""
    if isinstance(value, list) and value and isinstance(value[0], dict) and "id" in value[0]:
        yield [paper["id"] for paper in value]
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _lists(part)


def _fitting(texts: Iterable[str], room: int) -> list[str]:
    """Return the first texts that fit, with a comma between two, into so many characters."""
    kept, room = [], room + 1
    for text in texts:
        room -= len(text) + 1
        if room < 0:
            break
        kept.append(text)
    return kept
