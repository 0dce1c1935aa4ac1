"""How a label is known when it is seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from arena.check._episodes import ids_in, parsed
from arena.check._subject import Subject
from arena.check._walk import collected, walk

_FEW = 3  # papers or headings that a container may share with the labels by chance


class Secret:
    """The labels of one survey, and what the agent has seen and said so far."""

    def __init__(self, survey: str, subject: Subject) -> None:
        self.shown: set[str] = set()
        self._seen: list[str] = []
        self._said: set[str] = set()
        self._lists: list[set[str]] = []
        self._added: dict[str, set[str]] = {}
        self._gains = subject.labels.gains[survey]
        self._gold = set(self._gains)
        self._influential = {paper for paper, gain in self._gains.items() if gain == 2}
        self._headings = subject.labels.headings[survey]
        self._free, self._begun = subject.gives_references, subject.begins_with_papers
        self._passed = {v for _, v in walk(subject.options, "") if isinstance(v, str)}
        # An id as short as "p4" may stand in a text by chance.
        long = [re.escape(paper) for paper in sorted(self._gold) if len(paper) > 5]
        self._in_text = re.compile(rf"(?<!\w)(?:{'|'.join(long)})(?!\w)") if long else None

    def saw(self, observation: Mapping[str, Any]) -> None:
        """Note what the agent was shown."""
        result = parsed(observation["result"])
        self.shown.update(ids_in(result))
        self._seen.extend(value for _, value in walk(result, "") if isinstance(value, str))

    def said(self, action: Any) -> None:
        """Note what the agent itself wrote, which may come back to it."""
        tool = action["tool"]
        for _, value in walk(action["arguments"], ""):
            if isinstance(value, str):
                self._said.add(value)
            elif isinstance(value, list) and (own := collected(value)):
                self._added[tool] = self._added.get(tool, set()) | own  # as papers are selected
                self._lists += [own, self._added[tool]]

    def told_before_any_action(self, path: str, value: Any) -> str | None:
        """Return which label `value` tells; nothing has been searched, so any gold id is one."""
        if isinstance(value, str) and value not in self._passed and not self._begun:
            if value in self._gold:
                return f"the gold paper {value!r}"
            if self._in_text is not None and (found := self._in_text.search(value)):
                return f"the gold paper {found[0]!r} in a text"
        return self.told(path, value)

    def told(self, path: str, value: Any) -> str | None:
        """Return which label `value` tells: all gold, which of the papers shown are, headings."""
        if isinstance(value, str):
            return self._told_by_text(value)
        strings = collected(value)
        if not strings or strings <= self._passed or strings in self._lists:
            return None
        if (found := self._told_by_headings(strings)) is not None:
            return found
        if len(strings) < _FEW or not strings <= self._gold:
            return None
        if isinstance(value, Mapping) and dict(value) == self._gains:
            return "the gain of every gold paper"
        if strings == self._influential != self._gold:
            return f"which {len(strings)} papers are influential"
        if self._free:
            return None
        if strings == self._gold != self.shown:
            return f"all {len(strings)} gold papers"
        if strings == self._gold & self.shown != self.shown:
            return f"which {len(strings)} of {len(self.shown)} papers shown are gold"
        return None

    def _told_by_headings(self, strings: set[str]) -> str | None:
        common = strings & self._headings - self._said
        if len(common) >= 2 and 2 * len(common) >= len(self._headings):
            return f"{len(common)} of {len(self._headings)} headings of the mind-map"
        return None

    def _told_by_text(self, text: str) -> str | None:
        inside = parsed(text) if text[:1] in ("{", "[") else None
        if inside is not None:
            found = {v for _, v in walk(inside, "") if isinstance(v, str)}
            return self._told_by_headings(found)
        # Single words such as "Methods" stand in many texts, and the subjects of papers in titles.
        names = {h for h in self._headings - self._said if " " in h and h in text}
        names = {name for name in names if not any(name in seen for seen in self._seen)}
        if len(names) >= _FEW and 2 * len(names) >= len(self._headings):
            return f"{len(names)} of {len(self._headings)} headings of the mind-map in a text"
        return None
