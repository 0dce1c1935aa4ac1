"""The check ``no_future``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from arena.check._episodes import Trace, ids_in, parsed, plain, replay
from arena.check._subject import Subject
from arena.check.base import CHECKS, require

_TEXTS = ("title", "text", "heading")  # papers may be called as other papers are numbered
_PAPERS = 5


@CHECKS.register("no_future")
def check(subject: Subject) -> str:
    """Nothing in a result names a paper or a day from the cutoff on; `arena audit` digs deeper."""
    days = subject.labels.days
    seen = 0
    env = subject.make()
    for recorded in subject.traces:
        for trace in (recorded, replay(env, _around(recorded, subject.tools))):
            asked: set[str] = set()
            for number, (observation, *_) in enumerate([trace.start, *trace.steps]):
                if number:
                    asked |= _words(str(plain(trace.actions[number - 1])))
                where = f"seed {trace.seed}, step {number}, cutoff {observation['cutoff']}"
                seen += _check(where, observation, trace.start[1].get("survey"), days, asked)
    return f"{subject.counted()}, and links of {_PAPERS} papers of each; {seen} ids"


def _around(trace: Trace, tools: dict[str, Any]) -> Trace:
    """Return actions that find papers and then look at them in every way."""
    search = {"tool": "search", "arguments": {"query": trace.start[0]["topic"]}}
    found = [i for o, *_ in [trace.start, *trace.steps] for i in ids_in(parsed(o["result"]))]
    actions = [search] if "search" in tools else []
    for paper_id in list(dict.fromkeys(found))[:_PAPERS]:
        for name in ("read", "references", "citations"):
            if name in tools:
                actions.append({"tool": name, "arguments": {"paper_id": paper_id}})
    return trace._replace(actions=actions)


def _check(
    where: str,
    observation: dict[str, Any],
    survey: str | None,
    days: dict[str, str | None],
    asked: set[str],
) -> int:
    seen = 0
    cutoff = observation["cutoff"]
    for key, text in _strings(parsed(observation["result"])):
        if key == "date":
            require(text < cutoff, f"{where}: the date {text} is shown")
        require(text != survey, f"{where}: the survey's own id is shown")
        # An error may name an id that was asked for, but no other.
        named = {text} if key != "error" else _words(text) - asked
        for paper_id in sorted(named & days.keys()) if key not in _TEXTS else ():
            day = days[paper_id]
            told = "is never in reach" if day is None else f"is of {day}"
            require(day is not None and day < cutoff, f"{where}: {paper_id!r} {told}")
            seen += 1
    return seen


def _words(text: str) -> set[str]:
    return set(re.findall(r"""[^\s'"(),\[\]{}]+""", text))


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, key)
