"""Find ids, titles and dates of papers out of reach in results of tools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any

from arena.testing.reference import PlainList, PlainView
from arena.testing.stored import StoredCorpus, work
from arena.testing.values import leaves

_DAY = re.compile(r"(before )?(?<!\d)([12]\d{3}[-/.][01]\d[-/.][0-3]\d)(?!\d)")
_MONTH_OR_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?:-[01]\d)?(?!\d)")
_NAMES_A_DATE = re.compile(r"(?<!candi)(?<!vali)date|year|month", re.IGNORECASE)
_START = 4  # words of a title by which it is looked up; a shorter one may stand in any text
_SHORTEST_ID = 5  # characters of an id that is looked for inside texts
_LONGEST_DATE = 40  # characters of a text that is read as a year or month under a key of dates


class Exposure:
    """Finds ids, titles and dates of papers out of reach in results."""

    def __init__(self, stored: StoredCorpus) -> None:
        self._stored = stored
        self._in_reach: dict[tuple[str, frozenset[str], str], bool] = {}

    @cached_property
    def _lines(self) -> list[str]:
        """The words of all texts of each document."""
        numbers = range(len(self._stored.papers))
        return ["|".join(map(_line, self._stored.texts(n))) for n in numbers]

    @cached_property
    def _titles(self) -> dict[str, list[tuple[int, str]]]:
        """First four words of a title -> (document, all words of its title)."""
        titles: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for paper in self._stored.papers:
            words = _line(paper.title).split()
            if len(words) >= _START:
                titles[" ".join(words[:_START])].append((paper.number, _line(paper.title)))
        return titles

    def find(
        self, result: Any, view: PlainView, sent: Collection[str]
    ) -> Iterator[tuple[str, str]]:
        """Yield (id of a check, what is wrong) for all that a result shows of hidden papers.

        What stands in a text that the agent has sent, or in a paper in reach, may come back.
        """
        for key, leaf in leaves(result):
            for check, shown, what in self._shown(key, leaf, view):
                line = _line(shown)
                known = any(shown in each or line in _line(each) for each in sent)
                # In a list of papers that was given, a survey may be one.
                may = check != "leak.survey-title" or isinstance(view, PlainList)
                if not known and not (may and self._is_in_reach(line, view)):
                    yield check, f"{what}, and is in {key!r}: {leaf!r:.200}"

    def _shown(self, key: str, leaf: Any, view: PlainView) -> Iterator[tuple[str, str, str]]:
        """Yield (id of a check, the part of a leaf that shows it, what is wrong)."""
        stored, text = self._stored, str(leaf)
        if key != "cutoff" and text not in view and (late := _late(key, text, view.cutoff)):
            yield "leak.date", late, f"{late} is not before {view.cutoff}"
        if not isinstance(leaf, str):  # the number 12345 is no id
            return
        words = re.findall(r"""[^\s'"(),;\[\]{}]+""", text)
        long = (word for word in words if len(word) >= _SHORTEST_ID and not word.isdigit())
        for word in sorted({text, *long}):
            if (word in stored.by_id or word in stored.topics) and word not in view:
                yield "leak.paper", word, f"{word!r} {view.why_not(word)}"
        if len(text) < 1_000 and (name := stored.title_keys.get(work(text))):
            yield "leak.survey-title", text, f"it is the title of the survey {name!r}"
            return
        words = (line := _line(text)).split()
        for at in range(len(words) - _START + 1):
            for number, title in self._titles.get(" ".join(words[at : at + _START]), ()):
                if not view.mask[number] and title in line:
                    paper_id = stored.papers[number].id
                    what = f"{title[1:80]!r} is the title of {paper_id!r}"
                    yield "leak.paper", title, f"{what}, which {view.why_not(paper_id)}"

    def _is_in_reach(self, words: str, view: PlainView) -> bool:
        """Return whether a text of a paper in reach has these words one after the other."""
        place = view.cutoff, view.excluded, words
        if place not in self._in_reach:
            self._in_reach[place] = any(words in self._lines[n] for n in view.numbers.tolist())
        return self._in_reach[place]


def _line(text: str) -> str:
    """Return the words of a text without case and punctuation, between blanks."""
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} "


def _late(key: str, text: str, cutoff: str) -> str | None:
    """Return the first date in a text that is not before the cutoff; it may say "before" that day.

    Any text may have a day; a year or month is a date under a key that names one.
    """
    dates = [day for before, day in _DAY.findall(text) if not (before and day == cutoff)]
    if _NAMES_A_DATE.search(key) and len(text) <= _LONGEST_DATE:
        dates += _MONTH_OR_YEAR.findall(text)
    return next((date for date in dates if re.sub("[/.]", "-", date) >= cutoff), None)
