"""What any result must not show, whatever the tool: papers out of reach, and labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import Any

from arena.testing.files import Facts, StoredSurvey, title_key
from arena.testing.reference import Bm25, PlainView
from arena.testing.report import CheckError, Reporter
from arena.testing.walk import leaves, strings, walk

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
_SHORTEST_HEADING = 13  # characters of a heading that cannot stand in a text by chance
_FEW = 3  # headings that one result may have in common with the mind-map by chance
_CALLS = 10  # answered calls from which on the same hint is no chance
_PURE = 0.9  # share of these calls
_REFERENCES = "references"

Leaks = Iterator[tuple[str, str]]
"""(name of a leak, what is wrong)."""


class Words:
    """The words of all texts of a corpus, looked up in several ways."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def lines(self) -> list[str]:
        """The words of all texts of each document."""
        numbers = range(len(self._facts.papers))
        return ["".join(f" {_whole(text)} " for text in self._facts.texts(n)) for n in numbers]

    @cached_property
    def names(self) -> set[str]:
        """Keys of the fields and venues of all papers."""
        names = (name for p in self._facts.papers for name in (*p.fields, p.venue or ""))
        return {title_key(name) for name in names} - {""}

    @cached_property
    def grams(self) -> dict[str, int]:
        """Document of each text that is no short word, title and every eighth gram of a text."""
        grams: dict[str, int] = {}
        for number in range(len(self._facts.papers)):
            for place, text in enumerate(self._facts.texts(number)):
                words = words_of(text)
                if len("".join(words)) >= _SHORTEST_KEY and len(text) < _LONGEST_KEY:
                    grams.setdefault(_whole(text), number)
                if place == 0 and _SHORTEST_TITLE <= len(words) < _GRAM:
                    grams.setdefault(" ".join(words), number)
                for at in range(0, len(words) - _GRAM + 1, _GRAM):
                    grams.setdefault(" ".join(words[at : at + _GRAM]), number)
        return grams


class Exposure:
    """Finds ids, dates, titles and texts of papers out of reach in results, and labels."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._words = facts, Words(facts)
        self._in_reach: dict[tuple[str, frozenset[str], str], bool] = {}
        # (tool, key, what a value under it may show) -> for each call that value, or None.
        self._hints: dict[tuple[str, str, str], list[int | None]] = defaultdict(list)

    def find(self, result: Any, view: PlainView, sent: Iterable[str]) -> Leaks:
        """Yield all that a result shows of hidden papers; what the agent has sent may come back."""
        sent = frozenset(sent)
        for key, leaf in leaves(result):
            if isinstance(leaf, str) and leaf not in sent:
                yield from self._ids(key, leaf, view, sent)
                if date := self._late(key, leaf, view, sent):
                    yield "date", f"{date} in {key}={leaf!r:.200} is not before {view.cutoff}"
                yield from self._texts(key, leaf, view, sent)
            late = isinstance(leaf, int | float) and int(view.cutoff[:4]) < leaf < 10_000
            if late and _NAMES_A_DATE.search(key):
                yield "date", f"{key}={leaf} is not before {view.cutoff}"

    def headings(
        self, result: Any, survey: StoredSurvey, view: PlainView, sent: Iterable[str]
    ) -> Leaks:
        """Yield the headings of the survey's mind-map in a result that the agent has not sent.

        One heading is a label if no text of a paper in reach has its words. Of others, which
        papers may be about, a result may have a few by chance.
        """
        named = {" ".join(words_of(text)): text for text in survey.headings if len(text) > 3}
        named.pop("", None)
        sent, several = frozenset(sent), set()
        for key, text in strings(result):
            words = words_of(text)
            line = f" {' '.join(words)} "
            inside = [heading for heading in named if f" {heading} " in line]
            if not inside or text in sent or self._is_name(text, view):
                continue
            inside = [heading for heading in inside if not _is_part(heading, sent)]
            for heading in inside:
                long = len(named[heading]) >= _SHORTEST_HEADING and " " in heading
                if long and not self._is_in_reach(heading, view):
                    yield "label", f"{named[heading]!r} in {key!r} is a heading of the mind-map"
                    return
            if 2 * sum(len(heading.split()) for heading in inside) >= len(words):
                several.update(inside)
        if len(several) >= _FEW:
            shown = sorted(named[heading] for heading in several)
            yield "label", f"{len(several)} headings of the mind-map, such as {shown[:3]}"

    def count_references(
        self, tool: str, result: Any, survey: StoredSurvey, view: PlainView
    ) -> None:
        """Count whether each key of a result has references of the survey alone.

        Nothing is counted if half of all papers are its references.
        """
        if 2 * len(survey.gains) < len(view):
            for key, ids in self.ids_in_reach(result, view).items():
                alone = 1 if ids <= survey.gains.keys() else None
                self._hints[tool, key, _REFERENCES].append(alone)

    def count_numbers(
        self, tool: str, sent: Iterable[str], result: Any, view: PlainView, scorer: Bm25 | None
    ) -> None:
        """Count which numbers of a result are those of all papers, where those in reach differ.

        What was sent are ids of papers, or queries, for which a scorer finds the papers that match.
        """
        views = view, PlainView(self._facts, "9999-12-31", view.excluded)
        pairs = {"papers": [len(each) for each in views]}
        for text in sent:
            if row := view.row(text):
                for name in ("references", "citations"):
                    pairs[f"{name} of a paper"] = [len(each.linked(name, row)) for each in views]
            elif scorer is not None:
                counts = [int((scorer.scores(text, each) > 0).sum()) for each in views]
                pairs["papers that match"] = counts
        for key, number in leaves(result):
            if isinstance(number, int) and not isinstance(number, bool):
                for name, (here, everywhere) in pairs.items():
                    if here != everywhere:
                        same = everywhere if number == everywhere else None
                        self._hints[tool, key, name].append(same)

    def over_many_calls(self) -> Iterator[tuple[str, str, str]]:
        """Yield (name of a leak, tool, what is wrong) for keys that show it almost every time.

        A result that holds only references proves nothing, because a good search finds them, too,
        and a number may be that of all papers by chance. Calls with random arguments prove it.
        """
        for (tool, key, name), hints in self._hints.items():
            known = [hint for hint in hints if hint is not None]
            if len(hints) < _CALLS or len(known) < _PURE * len(hints):
                continue
            if name == _REFERENCES:
                what = f"{len(known)} of {len(hints)} results show references alone in {key!r}"
                yield "label", tool, what
            elif len(set(known)) >= _FEW or (name == "papers" and max(known) > 99):
                what = f"{key!r} counts all {name}, the later ones too, in {len(known)} results"
                yield "count", tool, what

    def ids_in_reach(self, result: Any, view: PlainView) -> dict[str, set[str]]:
        """Return key -> ids of papers in reach below it, for all that a result shows or names."""
        ids: dict[str, set[str]] = defaultdict(set)
        for key, text in strings(result):
            if known := {word for word in _words_like_ids(text) if word in view}:
                ids[key] |= known
        return ids

    def _ids(self, key: str, text: str, view: PlainView, sent: frozenset[str]) -> Leaks:
        for paper_id in sorted(_words_like_ids(text) - sent):
            known = paper_id in self._facts.by_id or paper_id in self._facts.surveys
            if not known or paper_id in view:
                continue
            if self._is_name(text, view) or any(paper_id in each for each in sent):
                continue  # a paper in reach may be called so, or the agent has written it
            place = repr(key) if key else "a key"
            yield "hidden paper", f"{paper_id!r} {view.why_not(paper_id)[1]}, and is in {place}"

    def _late(self, key: str, text: str, view: PlainView, sent: frozenset[str]) -> str | None:
        """Return the first date in a text that is not before the cutoff and is no paper's words.

        Any text may hold a day; a year or month is one under a key that names a date.
        """
        if text in view:
            return None
        short = _NAMES_A_DATE.search(key) and len(text) <= _LONGEST_DATE
        for match in (_DATE if short else _DAY).finditer(text):
            date = "-".join(part for part in match.groups() if part)
            if date < view.cutoff or any(match[0] in each for each in sent):
                continue
            before, after = words_of(text[: match.start()]), words_of(text[match.end() :])
            if date == view.cutoff and {*before[-1:], key.lower()} & {"before", "cutoff"}:
                continue  # the observation has it
            quoted = self._is_quoted(before, words_of(match[0]), after, view)
            if not quoted and not self._is_name(text, view):
                return date
        return None

    def _is_quoted(
        self, before: list[str], day: list[str], after: list[str], view: PlainView
    ) -> bool:
        """Return whether a text of a paper in reach has a day beside the same words."""
        lines = [before[-_CONTEXT:] + day] if len(before) >= _CONTEXT else []
        lines += [day + after[:_CONTEXT]] if len(after) >= _CONTEXT else []
        if not lines and (before or after):
            lines = [before + day + after]
        return any(self._is_in_reach(" ".join(line), view) for line in lines)

    def _texts(self, key: str, text: str, view: PlainView, sent: frozenset[str]) -> Leaks:
        whole = title_key(text) if len(text) < _LONGEST_KEY else ""
        if name := self._facts.title_keys.get(whole):
            if not _is_part(text, sent):
                yield "survey title", f"{key}={text!r} is the title of the survey {name!r}"
            return
        words = words_of(text)
        sizes = range(_SHORTEST_TITLE, _GRAM + 1)
        grams = (" ".join(words[at : at + n]) for n in sizes for at in range(len(words) - n + 1))
        for gram in (_whole(text), *grams):
            number = self._words.grams.get(gram)
            if number is None or view.mask[number] or _is_part(gram, sent):
                continue
            if not self._is_in_reach(gram, view):
                paper_id = self._facts.papers[number].id
                why = view.why_not(paper_id)[1]
                yield "hidden paper", f"{gram[:80]!r} in {key!r} is of {paper_id!r}, which {why}"
                return

    def _is_name(self, text: str, view: PlainView) -> bool:
        """Return whether a paper in reach has a text as its title, heading, field or venue."""
        return title_key(text) in self._words.names or self._is_in_reach(_whole(text), view)

    def _is_in_reach(self, words: str, view: PlainView) -> bool:
        """Return whether a text of a paper in reach has these words one after the other."""
        place = view.cutoff, view.excluded, words
        if place not in self._in_reach:
            line = f" {words} "
            self._in_reach[place] = any(line in self._words.lines[n] for n in view.numbers.tolist())
        return self._in_reach[place]


def words_of(text: str) -> list[str]:
    """Return the words of a text without case and punctuation."""
    return re.findall(r"\w+", text.casefold())


def _whole(text: str) -> str:
    """Return the words of a text between the marks of its ends."""
    return f"| {' '.join(words_of(text))} |"


def _words_like_ids(text: str) -> set[str]:
    """Return a text and the words in it that are long enough for an id."""
    words = re.findall(r"""[^\s'"(),;\[\]{}]+""", text)
    return {text, *(word for word in words if len(word) >= _SHORTEST_ID and not word.isdigit())}


def _is_part(text: str, sent: Iterable[str]) -> bool:
    """Return whether the words of `text` stand in one of the texts that were sent."""
    words = f" {' '.join(words_of(text))} "
    return any(words in f" {' '.join(words_of(each))} " for each in sent)


def check_attributes(env: Any, facts: Facts, headings: Collection[str], report: Reporter) -> int:
    """Check that public attributes lead to no id of a paper, no heading and no object of labels.

    The ids of surveys are no labels, since episodes are of them. Return how many values there are.
    """
    count, labels = 0, (facts.by_id.keys() - facts.surveys.keys()).union(headings)
    try:
        for path, value in walk(env, "env", corpora=True):
            count += 1
            if isinstance(value, str) and value in labels:
                report("attribute", f"{path} is {value!r}")
    except CheckError as error:
        report("attribute", str(error))
    return count
