"""Texts of papers: their vectors, n-grams that could be headings, and labels of groups."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from arena.agents import KnownPaper
from arena.encoders import Encoder, make_encoder
from arena.text import analyze

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def encode(texts: Sequence[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return the vectors of texts, shape (n, dimension); a blank text has zeros."""
    import numpy as np

    model = shared_encoder(encoder) if isinstance(encoder, str) else encoder
    # Each text once, so that papers that are alike have the same vector to the last digit.
    distinct = {text: n for n, text in enumerate(dict.fromkeys(filter(str.strip, texts)))}
    vectors = np.zeros((len(texts), model.dimension))
    if distinct:
        rows = [place for place, text in enumerate(texts) if text in distinct]
        encoded = np.asarray(model.documents(list(distinct)), np.float64)
        vectors[rows] = encoded[[distinct[texts[place]] for place in rows]]
    return vectors


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows of an array divided by their lengths; zeros stay zeros."""
    import numpy as np

    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    return vectors / np.where(lengths > 0, lengths, 1.0)


@cache
def shared_encoder(name: str) -> Encoder:
    """Return the one encoder of this name in this process: a model is loaded once."""
    return make_encoder(name, {})


_WORDS = 3
_LONGEST = 100  # most characters of a phrase
# A hyphenated word is one word; a Han, Hiragana or Katakana character is one, since no space
# separates words there.
_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CHARACTER}]|[^\W_{_CHARACTER}]+(?:[-'’][^\W_{_CHARACTER}]+)*")

# Words that do not begin or end a heading, besides those that `analyze` leaves out: words of
# grammar, and words of abstracts on any topic.
_GRAMMAR = """
about above across after again against all almost along already also although always am among
another any away became because become been before behind being below between both can cannot could
did do does doing done down due during each either else enough etc even ever every few from further
had has have having he hence her here him his how however i indeed instead its itself just least
less like many may me might mine more most mostly much must my neither never nevertheless nor
nothing now off often once only onto other others otherwise our ours out over own per perhaps quite
rather really same several she should since so some still than them themselves thereby therefore
those though through throughout thus together too toward towards under until up upon us use used
uses using very via we well were what when where whereas whether which while who whom whose why
within without would yet you your
"""
_ABSTRACTS = """
ability able accuracy achieve achieved achieves achieving additional address addresses addressing
aim aims allow allowing allows al analyze applied apply approach approaches available based best
better bring build building capabilities challenge challenges challenging code common commonly
compare compared complex comprehensive conduct consider considered consists contrast contribution
contributions current currently demonstrate demonstrated demonstrates demonstrating despite develop
developed developing different difficult directly diverse effective effectively effectiveness
efficiently empirical empirically enable enables enabling encourage enhance enhances enhancing
evaluate evaluated especially establish et existing experiment experimental experiments explore
explores extensive face facilitate field final finally find finding findings first five focus
focuses following four fully furthermore future gap general generally give given good great greatly
help high higher highlight highly hundred identify important improve improved improvement
improvements improves improving including increase increasing increasingly inspired integrate
integrating introduce introduced introduces introducing investigate issue issues key known lack
large largely latest lead leading leads learned leverage leverages leveraging limited low lower main
mainly make makes making mean method methodology methods moreover need needs new notable notably
novel number numerous observe obtain offer outperform outperforms overall overcome paper papers
particular particularly perform performance performed performing performs popular possible potential
present presented presents previous previously primary prior problem problems produce promising
prone propose proposed proposes provide provided provides providing range recent recently relevant
rely remain remains require required requires requiring research result resulting results reveal
review robustly second seek shed show showing shown shows significant significantly simple simply
single small solution solutions solve solving specific specifically standard state state-of-the-art
strong studied studies study substantial substantially success successful successfully suggest
suggests superior topic take task tasks ten term terms thereof third thousand three traditional two
type typically understand understood unique useful usually utilize utilizing variety various view
way ways wide widely work works world-wide yields
"""
_STOPS = frozenset((_GRAMMAR + _ABSTRACTS).split())
# Words that may stand inside: "chain of thought", "learning to rank", "step by step".
_LINKS = frozenset(("and", "by", "for", "in", "of", "on", "to"))
_LETTERS = frozenset(map(chr, range(128)))
# Words that are too general alone; compared by stems.
_GENERAL = """
agent algorithm analysis application architecture aspect component concept context data dataset
design domain evaluation example experience feature framework function information input learning
limitation model network output parameter process property question response sample scenario science
setting strategy structure system technique test tool training user value world
"""
_GENERAL_STEMS = frozenset(tuple(analyze(word)) for word in _GENERAL.split())


class Phrase(NamedTuple):
    """An n-gram; those that differ in endings and letter case alone have the same `stems`."""

    stems: tuple[str, ...]
    surface: str


def phrases(text: str) -> Iterator[Phrase]:
    """Yield the n-grams of 1 to 3 words that could stand as a heading, in order, repeats kept.

    None crosses punctuation, begins or ends with a stop word or a number, or is a single letter
    or a single word such as "model".

    >>> [phrase.surface for phrase in phrases("We use a Chain of Thought.")]
    ['Chain', 'Chain of Thought', 'Thought']
    """
    matches = list(_WORD.finditer(text))
    words = [match.group() for match in matches]
    stems = [_stems(word) for word in words]
    for start in range(len(matches)):
        if not stems[start]:
            continue
        for end in range(start, min(start + _WORDS, len(matches))):
            if end > start and text[matches[end - 1].end() : matches[end].start()].strip():
                break
            general = words[end] in _LETTERS or stems[end] in _GENERAL_STEMS
            if not stems[end] or (end == start and general):
                continue
            inside = range(start + 1, end)
            if all(stems[i] or words[i].lower() in _LINKS for i in inside):
                surface = " ".join(text[matches[start].start() : matches[end].end()].split())
                if len(surface) <= _LONGEST:
                    together = tuple(stem for i in range(start, end + 1) for stem in stems[i])
                    yield Phrase(together, surface)


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text; labels with equal stems count as equal."""
    return frozenset(analyze(text))


@lru_cache(1 << 16)
def _stems(word: str) -> tuple[str, ...]:
    """Return the stems of a word, none for one that cannot begin or end a heading."""
    if word.lower() in _STOPS or word.replace("-", "").isnumeric():
        return ()
    return tuple(analyze(word))


@dataclass(slots=True)
class Group:
    """Papers that belong together, by number, in order; the `filed` ones are in no group below.

    The `children` are ordered, the largest first; of equals the one with the first paper.
    """

    papers: tuple[int, ...]
    children: list[Group] = field(default_factory=list)
    filed: tuple[int, ...] = ()


_LONGEST_TITLE = 100  # characters of a title that stands in for a label


class Labels:
    """Choose labels for groups of papers, each label once.

    The weight of an n-gram t of n words for a group g is

        sqrt(n) * tf(t, g) * ln((N + 1) / df(t))

    tf(t, g): the papers of g with t in title or abstract, and twice again those with t in the
    title; df(t): the papers of all N with t. Only n-grams of the titles in g are candidates, since
    the words of a title name things, and only those in two papers of g if there is one. Words are
    compared by their stems; the label is the most frequent form in the papers. Ties go to the
    longer n-gram, then to the first in the alphabet.

    Args:
        topic: Title of the topic; no label consists of its words alone.
    """

    def __init__(self, papers: Sequence[KnownPaper], topic: str) -> None:
        self._papers = papers
        self._titles: list[frozenset[tuple[str, ...]]] = []
        self._all: list[frozenset[tuple[str, ...]]] = []
        self._forms: dict[tuple[str, ...], Counter[str]] = {}
        for paper in papers:
            title = list(phrases(paper.title or paper.abstract))
            both = title + list(phrases(paper.abstract))
            self._titles.append(frozenset(phrase.stems for phrase in title))
            self._all.append(frozenset(phrase.stems for phrase in both))
            for stems, surface in both:
                self._forms.setdefault(stems, Counter())[surface] += 1
        self._df = Counter(stems for there in self._all for stems in there)
        self._topic = stems_of(topic)
        self._taken = {self._topic}
        self._shown = {_fold(topic)}

    def assign(self, tree: Group) -> dict[int, str]:
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
            if words not in self._taken and not any(words <= other for other in above):
                forms = self._forms[stems]
                surface = min(forms, key=lambda form: (-forms[form], form))
                if self._take(surface, words):
                    return surface, words
        for paper in papers:
            title = " ".join((self._papers[paper].title or self._papers[paper].abstract).split())
            if len(title) > _LONGEST_TITLE:
                title = title[: _LONGEST_TITLE - 1].rstrip() + "…"
            if title and self._take(title, stems_of(title)):
                return title, stems_of(title)
        names = (f"Group {number}" for number in count(1))
        return next(name for name in names if self._take(name, frozenset())), frozenset()

    def _take(self, label: str, words: frozenset[str]) -> bool:
        if _fold(label) in self._shown:
            return False
        self._shown.add(_fold(label))
        self._taken.add(words)
        return True

    def _ranked(self, papers: Sequence[int]) -> list[tuple[str, ...]]:
        """Return the n-grams of the titles of a group, the highest weight first."""
        inside = Counter(stems for paper in papers for stems in self._all[paper])
        titles = Counter(stems for paper in papers for stems in self._titles[paper])
        total = len(self._papers)

        def weight(stems: tuple[str, ...]) -> tuple[bool, float, int, tuple[str, ...]]:
            tf = inside[stems] + 2 * titles[stems]
            value = math.sqrt(len(stems)) * tf * math.log((total + 1) / self._df[stems])
            # Rounded, so that weights that are equal in exact arithmetic are equal.
            return inside[stems] < 2, -round(value, 9), -len(stems), stems

        return sorted(titles, key=weight)


def _fold(label: str) -> str:
    return " ".join(label.split()).casefold()
