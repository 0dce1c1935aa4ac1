"""Labels of the groups of a tree: each one's highest TF-IDF n-gram that is still free."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

from baselines._groups import Group
from baselines._papers import Paper
from baselines._phrases import Phrase, phrases, stems_of

_LONGEST = 100  # characters of a title that stands in for a label


class Labels:
    """Gives labels to groups of papers, each label once.

    The weight of an n-gram t of n words for a group g is

        sqrt(n) * tf(t, g) * ln((N + 1) / df(t))

    tf(t, g): the papers of g with t in title or abstract, and twice again those with t in the
    title; df(t): the papers of all N with t. Only n-grams of the titles in g are taken, since the
    words of a title name things, and of those in two papers of g if there is one. Words count by
    their stems; the label is the form that stands most often in the papers. Ties go to the longer
    n-gram, then to the one that comes first in the alphabet.

    Args:
        papers: those of the whole tree.
        topic: no label is made of its words alone.
    """

    def __init__(self, papers: Sequence[Paper], topic: str) -> None:
        self._papers = papers
        self._titles: list[frozenset[tuple[str, ...]]] = []
        self._all: list[frozenset[tuple[str, ...]]] = []
        self._forms: dict[tuple[str, ...], Counter[str]] = {}
        for paper in papers:
            title = list(phrases(paper.title or paper.abstract))
            found = title + list(phrases(paper.abstract))
            self._titles.append(_stems(title))
            self._all.append(_stems(found))
            for stems, surface in found:
                self._forms.setdefault(stems, Counter())[surface] += 1
        self._df = Counter(stems for there in self._all for stems in there)
        self._topic = stems_of(topic)
        self._taken = {self._topic}
        self._shown = {_fold(topic)}

    def of(self, tree: Group) -> dict[int, str]:
        """Return the labels of all groups below `tree`, by `id`, the upper ones chosen first."""
        labels: dict[int, str] = {}
        waiting: deque[tuple[Group, tuple[frozenset[str], ...]]] = deque([(tree, (self._topic,))])
        while waiting:
            group, above = waiting.popleft()
            for child in group.children:
                label, stems = self._label(child.papers, above)
                labels[id(child)] = label
                waiting.append((child, (*above, stems)))
        return labels

    def _label(
        self, papers: Sequence[int], above: Iterable[frozenset[str]]
    ) -> tuple[str, frozenset[str]]:
        for stems in self._ranked(papers):
            words = frozenset(stems)
            if words in self._taken or any(words <= other for other in above):
                continue
            forms = self._forms[stems]
            surface = min(forms, key=lambda form: (-forms[form], form))
            if self._take(surface, words):
                return surface, words
        for paper in papers:
            title = " ".join((self._papers[paper].title or self._papers[paper].abstract).split())
            short = title if len(title) <= _LONGEST else title[: _LONGEST - 1].rstrip() + "…"
            if short and self._take(short, stems_of(short)):
                return short, stems_of(short)
        number = 1
        while not self._take(f"Group {number}", frozenset()):
            number += 1
        return f"Group {number}", frozenset()

    def _take(self, label: str, words: frozenset[str]) -> bool:
        if _fold(label) in self._shown:
            return False
        self._shown.add(_fold(label))
        self._taken.add(words)
        return True

    def _ranked(self, papers: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """Yield the n-grams of the titles of a group, the highest weight first."""
        inside = Counter(stems for paper in papers for stems in self._all[paper])
        titles = Counter(stems for paper in papers for stems in self._titles[paper])
        total = len(self._papers)

        def weight(stems: tuple[str, ...]) -> tuple[bool, float, int, tuple[str, ...]]:
            tf = inside[stems] + 2 * titles[stems]
            value = math.sqrt(len(stems)) * tf * math.log((total + 1) / self._df[stems])
            # Rounded, so that what is equal on paper is equal.
            return inside[stems] < 2, -round(value, 9), -len(stems), stems

        yield from sorted(titles, key=weight)


def _stems(found: Iterable[Phrase]) -> frozenset[tuple[str, ...]]:
    return frozenset(phrase.stems for phrase in found)


def _fold(label: str) -> str:
    return " ".join(label.split()).casefold()
