"""Phrases of a text: its n-grams of 1 to 3 words that could stand as a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from arena.text import analyze

_WORDS = 3
_LONGEST = 100  # characters; what is longer is no word
# A hyphenated word is one word; a Han, Hiragana or Katakana character is one, since no space
# separates words there.
_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CHARACTER}]|[^\W_{_CHARACTER}]+(?:[-'’][^\W_{_CHARACTER}]+)*")

# Words that do not begin or end a heading. The first list is grammar, the second what every
# abstract says of itself, whatever it is about.
_GRAMMAR = """
a about above across after again against all almost along already also although always am among an
and another any are as at away be became because become been before behind being below between
both but by can cannot could did do does doing done down due during each either else enough etc
even ever every few for from further had has have having he hence her here him his how however i
if in indeed instead into is it its itself just least less like many may me might mine more most
mostly much must my neither never nevertheless no nor not nothing now of off often on once only
onto or other others otherwise our ours out over own per perhaps quite rather really same several
she should since so some still such than that the their them themselves then there thereby
therefore these they this those though through throughout thus to together too toward towards
under until up upon us use used uses using very via was we well were what when where whereas
whether which while who whom whose why will with within without would yet you your
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
focuses following four fully furthermore future gap general generally give given good great
greatly help high higher highlight highly hundred identify important improve improved improvement
improvements improves improving including increase increasing increasingly inspired integrate
integrating introduce introduced introduces introducing investigate issue issues key known lack
large largely latest lead leading leads learned leverage leverages leveraging limited low lower
main mainly make makes making mean method methodology methods moreover need needs new notable
notably novel number numerous observe obtain offer outperform outperforms overall overcome paper
papers particular particularly perform performance performed performing performs popular possible
potential present presented presents previous previously primary prior problem problems produce
promising prone propose proposed proposes provide provided provides providing range recent recently
relevant rely remain remains require required requires requiring research result resulting results
reveal review robustly second seek shed show showing shown shows significant significantly simple
simply single small solution solutions solve solving specific specifically standard state
state-of-the-art strong studied studies study substantial substantially success successful
successfully suggest suggests superior survey take task tasks ten term terms thereof third
thousand three towards traditional two type typically understand understood unique useful usually
utilize utilizing variety various view way ways wide widely work works world-wide yields
"""
_STOPS = frozenset((_GRAMMAR + _ABSTRACTS).split())
# What may stand inside: "chain of thought", "learning to rank", "step by step".
_LINKS = frozenset(("and", "by", "for", "in", "of", "on", "to"))
# What names nothing when it stands alone, by stems.
_GENERAL = """
agent algorithm analysis application architecture aspect component concept context data dataset
design domain evaluation example experience feature framework function information input learning
limitation model network output parameter process property question response sample scenario
science setting strategy structure system technique test tool training user value world
"""


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
    found = list(_WORD.finditer(text))
    words = [match.group() for match in found]
    stems = [_stems(word) for word in words]
    for start in range(len(found)):
        if not stems[start]:
            continue
        for end in range(start, min(start + _WORDS, len(found))):
            if end > start and text[found[end - 1].end() : found[end].start()].strip():
                break
            if not stems[end] or (end == start and _names_nothing(words[end], stems[end])):
                continue
            inside = range(start + 1, end)
            if all(stems[i] or words[i].lower() in _LINKS for i in inside):
                surface = " ".join(text[found[start].start() : found[end].end()].split())
                if len(surface) <= _LONGEST:
                    together = tuple(stem for i in range(start, end + 1) for stem in stems[i])
                    yield Phrase(together, surface)


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, by which labels are told apart."""
    return frozenset(analyze(text))


def _names_nothing(word: str, stems: tuple[str, ...]) -> bool:
    return (len(word) == 1 and word.isascii()) or stems in _general()


@cache
def _general() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(analyze(word)) for word in _GENERAL.split())


@lru_cache(1 << 16)
def _stems(word: str) -> tuple[str, ...]:
    """Return the stems of a word, none for one that cannot begin or end a heading."""
    if word.lower() in _STOPS or word.replace("-", "").isnumeric():
        return ()
    return tuple(analyze(word))
