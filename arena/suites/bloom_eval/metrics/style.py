"""The paper's supplementary metrics: copied words, readability and length (tables 5 and 9)."""

from __future__ import annotations

import re

from arena.llm.estimate import estimate_tokens
from arena.suites.bloom_eval.article import Article
from arena.suites.bloom_eval.base import Finding, SurveyPair, survey_metric

_N = 10
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SILENT = re.compile(
    r"(?<=[^aeiouyl])e(?=$|ly$|ments?$|ness$|work)|(?<=[aeiouyr])le$"
    r"|(?<=[^aeiouycgslxz])es$|(?<=[^aeioudty])ed$"
)
_VOWELS = re.compile(r"[aeiouy]+")
_TWO = re.compile(r"(?<![cst])i[ao](?!u)|[iy]u|eo(?!u)|(?<!q)ua|ism|ithm|[aeo]y[aeio]")
"""Vowels that are spoken apart, as in "media" or "dual"."""


@survey_metric("overlap", tier="supplementary", directed=False)
def overlap(pair: SurveyPair) -> Finding:
    """Exact 10-gram overlap: share of the generated 10-grams that the experts' text has, in [0, 1].

    Bloom-Eval, table 5, which prints per cent. It has no formula and no released code, so ours:
    distinct runs of ten words in lower case, over the statements, without marks of citations,
    headings and bibliography. None for a generated survey of fewer than ten words.
    """
    human, generated = (_runs(article) for article in pair.sides.values())
    if not generated:
        return Finding({"": None}, reason="the generated survey has fewer than ten words.")
    shared = sorted(human & generated)
    rows = [(" ".join(run),) for run in shared]
    return Finding({"": len(shared) / len(generated)}, rows, ("ten words that both have",))


def _runs(article: Article) -> set[tuple[str, ...]]:
    text = " ".join(statement.text for statement in article.report.statements)
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + _N]) for i in range(len(words) - _N + 1)}


@survey_metric("readability", tier="supplementary")
def readability(pair: SurveyPair) -> Finding:
    """Readability: how near the grade levels of both surveys are, in (0, 1]; for English.

    Bloom-Eval, equation 12: the mean over the grades of Flesch-Kincaid, Gunning's fog and
    Coleman-Liau of the smaller one divided by the larger. Of the statements, without headings and
    bibliography. None if a grade is not above 0, where a ratio says nothing.

    The released script computes other numbers: five ratios, of which the grades are one.
    """
    grades = {side: _grades(article) for side, article in pair.sides.items()}
    human, generated = grades["human"], grades["generated"]
    rows = [(name, f"{human[name]:.2f}", f"{each:.2f}") for name, each in generated.items()]
    headers = ("grade", "experts", "generated")
    both = [(human[name], generated[name]) for name in generated if name in human]
    if not both or min(map(min, both)) <= 0:
        return Finding({"": None}, rows, headers, "a survey has no grade above 0.")
    return Finding({"": sum(min(each) / max(each) for each in both) / len(both)}, rows, headers)


def _grades(article: Article) -> dict[str, float]:
    """Return the US grades of a text by the three formulas; none for a text without words."""
    found = [_WORD.findall(statement.text) for statement in article.report.statements]
    sentences = [words for words in found if words]
    words = [word for sentence in sentences for word in sentence]
    if not words:
        return {}
    length = len(words) / len(sentences)
    spoken = [syllables(word) for word in words]
    letters = sum(letter.isalpha() for word in words for letter in word)
    complicated = sum(count >= 3 for count in spoken)
    return {
        "Flesch-Kincaid": 0.39 * length + 11.8 * sum(spoken) / len(words) - 15.59,
        "Gunning fog": 0.4 * (length + 100 * complicated / len(words)),
        "Coleman-Liau": 5.88 * letters / len(words) - 29.6 / length - 15.8,
    }


def syllables(word: str) -> int:
    """Count the syllables of an English word by its vowels, at least 1.

    On the words of 45 reports 96 % are those of the CMU Pronouncing Dictionary, and their sum is
    1.00 of its sum.

    >>> [syllables(word) for word in ("use", "cited", "survey", "dual", "evaluation", "well-known")]
    [1, 2, 2, 2, 5, 2]
    """
    return sum(_syllables(part) for part in re.split(r"[^a-z]+", word.lower()) if part) or 1


def _syllables(part: str) -> int:
    spoken = _SILENT.sub("", part)
    return max(1, len(_VOWELS.findall(spoken)) + len(_TWO.findall(spoken)))


@survey_metric("tokens", tier="supplementary", columns=("estimated",), directed=False)
def tokens(pair: SurveyPair) -> Finding:
    """Output tokens of the generated survey, estimated from its text; table 9 of Bloom-Eval.

    The released code counts OpenAI's cl100k_base, which must be fetched; see
    `arena.llm.estimate.estimate_tokens`, whose numbers are near it.
    """
    counts = {side: estimate_tokens(article.text) for side, article in pair.sides.items()}
    rows = [(side, str(count)) for side, count in counts.items()]
    return Finding({"estimated": float(counts["generated"])}, rows, ("survey", "tokens"))
