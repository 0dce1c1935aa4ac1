"""The analyzer ``unicode-porter-2``: splits a text into terms, for indexes and queries alike.

1. NFKC normalisation and lower-casing, both Unicode-aware (then NFKC again, because lower-casing
   can take a letter apart). The dot of the Turkish ``İ`` goes, so that ``istanbul`` finds
   ``İstanbul``.
2. Tokens are the longest runs of letters, marks and digits of any script; a Han or Hiragana
   character is a token of its own, since those scripts do not separate words.
3. Lucene's 33 English stop words are dropped.
4. Tokens are cut to their first 255 characters and stemmed with Porter's original algorithm.

The name of the analyzer is stored in every index; change the name whenever the output changes.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable

import regex
import Stemmer

ANALYZER = "unicode-porter-2"
_MAX_TOKEN = 255
_MEMO_LIMIT = 200_000

# Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET.
_ENGLISH = """
a an and are as at be but by for if in into is it no not of on or such that the their then there
these they this to was will with
"""
STOP_WORDS = frozenset(_ENGLISH.split())

# Letters and digits in lower case, everything else a blank.
_ASCII = "".join(chr(c).lower() if chr(c).isalnum() else " " for c in range(128))
_TOKEN = regex.compile(
    r"[\p{Han}\p{Hiragana}]\p{M}*|[[\p{L}\p{M}\p{N}]--[\p{Han}\p{Hiragana}]]+",
    flags=regex.VERSION1,
)


def tokenize(text: str) -> list[str]:
    """Split `text` into lower-cased tokens, before stop words and stemming.

    >>> tokenize("Straße, naïve BM25-ranking")
    ['straße', 'naïve', 'bm25', 'ranking']
    """
    if text.isascii():  # the same answer, several times faster
        return text.translate(_ASCII).split()
    folded = unicodedata.normalize("NFKC", text).lower().replace("i\u0307", "i")
    return _TOKEN.findall(unicodedata.normalize("NFKC", folded))  # type: ignore[no-any-return]


class TermMemo(dict[str, str]):
    """Token -> term ("" for a stop word), filled on demand; for one thread at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._stem: Callable[[str], str] = Stemmer.Stemmer("porter", 0).stemWord

    def __missing__(self, token: str) -> str:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        term = "" if token in STOP_WORDS else self._stem(token[:_MAX_TOKEN])
        self[token] = term
        return term


class _Local(threading.local):
    """A memo for each thread: the stemmer is not thread-safe."""

    def __init__(self) -> None:
        self.terms = TermMemo()


_local = _Local()


def analyze(text: str) -> list[str]:
    """Return the terms of `text` in order, repeats kept.

    >>> analyze("The surveys of neural networks")
    ['survei', 'neural', 'network']
    """
    terms = _local.terms
    return [term for token in tokenize(text) if (term := terms[token])]
