"""The check that any result passes, whatever the tool: does it show a paper out of reach?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from arena.testing.files import Facts, Reach, title_key
from arena.testing.walk import leaves, strings

_DAY = re.compile(r"(?<!\d)([12]\d{3})[-/.](0[1-9]|1[0-2])[-/.](0[1-9]|[12]\d|3[01])(?!\d)")
_DATE = re.compile(
    r"(?<!\d)([12]\d{3})(?:[-/.](0[1-9]|1[0-2])(?:[-/.](0[1-9]|[12]\d|3[01]))?)?(?!\d)"
)
_NAMES_A_DATE = re.compile(r"(?<!candi)(?<!vali)date|year|month", re.IGNORECASE)
_LONGEST_DATE = 40  # characters of a text that is read as a date under a key that names one
_CONTEXT = 4  # words beside a day by which it is known as part of a paper's text
_GRAM = 8  # words; an excerpt of twice as many is found wherever it begins
_SHORTEST_TITLE = 4  # words of a title that cannot stand in another text by chance
_SHORTEST_KEY = 8  # letters of a heading or title that is compared as a whole
_LONGEST_KEY = 1_000  # characters of a text that is compared as a whole
_SHORTEST_ID = 5  # characters of an id that is looked for inside texts


class Exposure:
    """Finds ids, dates, titles and texts of papers out of reach in results.

    Args:
        facts: The whole corpus.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._in_reach: dict[tuple[str, frozenset[str], str], bool] = {}

    def find(
        self, result: Any, reach: Reach, sent: Iterable[str], texts: bool = True
    ) -> Iterator[tuple[str, str]]:
        """Yield (name of a leak, what is wrong) for all that `result` shows of hidden papers.

        Args:
            result: Value of JSON, or a text.
            reach: The papers that exist.
            sent: Strings that the agent has sent in this episode, which a result may repeat.
            texts: Whether to look for titles, headings and excerpts, too. An oracle that compares
                every text of a result with the files makes it superfluous.
        """
        sent = frozenset(sent)
        for key, text in strings(result):
            if text in sent:
                continue
            yield from self._ids(key, text, reach, sent)
            if late := self._late(key, text, reach, sent):
                yield "date", f"{late} in {key}={text!r:.200} is not before {reach.cutoff}"
            if texts:
                yield from self._texts(key, text, reach, sent)
        for key, number in leaves(result):
            if not isinstance(number, int | float) or isinstance(number, bool):
                continue
            if _NAMES_A_DATE.search(key) and int(reach.cutoff[:4]) < number < 10_000:
                yield "date", f"{key}={number} is not before {reach.cutoff}"

    def _late(self, key: str, text: str, reach: Reach, sent: frozenset[str]) -> str | None:
        """Return the first date in a text that is not before the cutoff and is no paper's words.

        Any text may hold a day; a year or month is one under a key that names a date.
        """
        if reach.paper(text) is not None:
            return None
        short = _NAMES_A_DATE.search(key) and len(text) <= _LONGEST_DATE
        for match in (_DATE if short else _DAY).finditer(text):
            date = "-".join(part for part in match.groups() if part)
            if date < reach.cutoff or any(match[0] in each for each in sent):
                continue
            before = words_of(text[: match.start()])
            if date == reach.cutoff and {*before[-1:], key.lower()} & {"before", "cutoff"}:
                continue  # the observation has it
            if not self._is_quoted(date, before, words_of(text[match.end() :]), reach):
                return date
        return None

    def _is_quoted(self, date: str, before: list[str], after: list[str], reach: Reach) -> bool:
        """Return whether a text of a paper in reach has a day between the same words."""
        for number, (left, right) in self._dated.get(date, ()):
            same = _common(before[::-1], left[::-1]) + _common(after, right)
            if reach.mask[number] and same and same >= min(_CONTEXT, len(left) + len(right)):
                return True
        return False

    def _ids(
        self, key: str, text: str, reach: Reach, sent: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        for paper_id in sorted(_words_like_ids(text) - sent):
            known = paper_id in self._facts.by_id or paper_id in self._facts.surveys
            if not known or reach.paper(paper_id) is not None:
                continue
            if self.is_name(text, reach) or any(paper_id in each for each in sent):
                continue  # a paper in reach may be called so, or the agent has written it
            place = repr(key) if key else "a key"
            yield "hidden paper", f"{paper_id!r} {reach.why_not(paper_id)}, and is in {place}"

    def _texts(
        self, key: str, text: str, reach: Reach, sent: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        whole = title_key(text) if len(text) < _LONGEST_KEY else ""
        if name := self._facts.title_keys.get(whole):
            if not is_part(text, sent):
                yield "survey title", f"{key}={text!r} is the title of the survey {name!r}"
            return
        numbers = self._whole.get(whole, ()) if len(whole) >= _SHORTEST_KEY else ()
        if numbers and not any(reach.mask[n] for n in numbers) and not is_part(text, sent):
            paper_id = self._facts.papers[numbers[0]].id
            why = reach.why_not(paper_id)
            yield "hidden paper", f"{key}={text!r:.80} is of {paper_id!r}, which {why}"
            return
        words = words_of(text)
        for size in range(_SHORTEST_TITLE, _GRAM + 1):
            for at in range(len(words) - size + 1):
                gram = " ".join(words[at : at + size])
                number = self._grams.get(gram)
                if number is None or reach.mask[number] or is_part(gram, sent):
                    continue
                if not any(gram in self._lines[n] for n in reach.numbers.tolist()):
                    paper_id = self._facts.papers[number].id
                    why = reach.why_not(paper_id)
                    yield "hidden paper", f"{gram!r} in {key!r} is of {paper_id!r}, which {why}"
                    return

    def ids_in_reach(self, result: Any, reach: Reach) -> dict[str, set[str]]:
        """Return key -> ids of papers in reach below it, for all that a result shows or names."""
        ids: dict[str, set[str]] = {}
        for key, text in strings(result):
            known = {word for word in _words_like_ids(text) if reach.paper(word) is not None}
            if known:
                ids[key] = ids.get(key, set()) | known
        return ids

    def is_name(self, text: str, reach: Reach) -> bool:
        """Return whether a paper in reach has a text as its title, heading, field or venue."""
        numbers = self._whole.get(title_key(text), ())
        return any(reach.mask[number] for number in numbers) or title_key(text) in self._names

    def is_in_reach(self, words: str, reach: Reach) -> bool:
        """Return whether a text of a paper in reach has these words one after the other."""
        place = reach.cutoff, reach.excluded, words
        if place not in self._in_reach:
            line = f" {words} "
            self._in_reach[place] = any(line in self._lines[n] for n in reach.numbers.tolist())
        return self._in_reach[place]

    @cached_property
    def _lines(self) -> list[str]:
        """The words of all texts of each document."""
        return [
            " | ".join(f" {' '.join(words_of(text))} " for text in self._facts.texts(number))
            for number in range(len(self._facts.papers))
        ]

    @cached_property
    def _names(self) -> set[str]:
        """Keys of the fields and venues of all papers."""
        names = (name for p in self._facts.papers for name in (*p.fields, p.venue or ""))
        return {title_key(name) for name in names} - {""}

    @cached_property
    def _dated(self) -> dict[str, list[tuple[int, tuple[list[str], list[str]]]]]:
        """Day in a text -> documents, each with the words before and after it."""
        dated: dict[str, list[tuple[int, tuple[list[str], list[str]]]]] = defaultdict(list)
        for paper in self._facts.papers:
            for text in (*self._facts.texts(paper.number), paper.venue or ""):
                for match in _DAY.finditer(text):
                    left = words_of(text[: match.start()])[-_CONTEXT:]
                    right = words_of(text[match.end() :])[:_CONTEXT]
                    dated["-".join(match.groups())].append((paper.number, (left, right)))
        return dated

    @cached_property
    def _whole(self) -> dict[str, list[int]]:
        """Key of a title, heading or short abstract -> documents that have it."""
        documents: dict[str, list[int]] = defaultdict(list)
        for paper in self._facts.papers:
            headings = (heading for heading, _ in self._facts.sections.get(paper.number, ()))
            for text in {paper.title, paper.abstract, *headings}:
                if text and len(text) < _LONGEST_KEY:
                    documents[title_key(text)].append(paper.number)
        return documents

    @cached_property
    def _grams(self) -> dict[str, int]:
        """Titles of four to eight words, and every eighth gram of longer texts -> document."""
        grams: dict[str, int] = {}
        for number in range(len(self._facts.papers)):
            for place, text in enumerate(self._facts.texts(number)):
                words = words_of(text)
                if place == 0 and _SHORTEST_TITLE <= len(words) < _GRAM:
                    grams.setdefault(" ".join(words), number)
                for at in range(0, len(words) - _GRAM + 1, _GRAM):
                    grams.setdefault(" ".join(words[at : at + _GRAM]), number)
        return grams


def _common(one: list[str], other: list[str]) -> int:
    """Return the number of words with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _words_like_ids(text: str) -> set[str]:
    """Return a text and the words in it that are long enough for an id."""
    words = re.findall(r"""[^\s'"(),;\[\]{}]+""", text)
    return {text, *(word for word in words if len(word) >= _SHORTEST_ID and not word.isdigit())}


def is_part(text: str, sent: Iterable[str]) -> bool:
    """Return whether the words of `text` stand in one of the texts that were sent."""
    words = f" {' '.join(words_of(text))} "
    return any(words in f" {' '.join(words_of(each))} " for each in sent)


def words_of(text: str) -> list[str]:
    """Return the words of a text without case and punctuation."""
    return re.findall(r"\w+", text.casefold())
