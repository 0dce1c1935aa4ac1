"""The paper's supplementary metrics: copied words, readability and length (tables 5 and 9)."""

from __future__ import annotations

import re

from arena.llm.estimate import estimate_tokens
from arena_suites.bloom_eval.article import Article
from arena_suites.bloom_eval.base import SUPPLEMENTARY, Finding, SurveyPair, survey_metric

_N = 10
_GRADES = ("Flesch-Kincaid", "Gunning fog", "Coleman-Liau")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SILENT = re.compile(
    r"(?<=[^aeiouyl])e(?=$|ly$|ments?$|ness$|work)|(?<=[aeiouyr])le$"
    r"|(?<=[^aeiouycgslxz])es$|(?<=[^aeioudty])ed$"
)
_APART = r"(?<![cst])i[ao](?!u)|[iy]u|eo(?!u)|(?<!q)ua|ism|ithm|[aeo]y[aeio]"  # "media", "dual"
_SOUNDS = [re.compile("[aeiouy]+"), re.compile(_APART)]


@survey_metric("overlap", tier=SUPPLEMENTARY)
def overlap(pair: SurveyPair) -> Finding:
    """Exact 10-gram overlap: share of the generated 10-grams that the experts' text has, in [0, 1].

    None for a generated survey of fewer than ten words.

    Paper: Table 5, in per cent, without a formula.
    Released: nothing.
    Here: distinct runs of ten words in lower case, over the statements, without marks of citations,
        headings and bibliography.
    """
    human, generated = (_runs(article) for article in pair.sides.values())
    if not generated:
        return Finding({"": None}, reason="the generated survey has fewer than ten words.")
    rows = [(" ".join(run),) for run in sorted(human & generated)]
    return Finding({"": len(rows) / len(generated)}, rows, ("ten words that both have",))


def _runs(article: Article) -> set[tuple[str, ...]]:
    text = " ".join(statement.text for statement in article.report.statements)
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + _N]) for i in range(len(words) - _N + 1)}


@survey_metric("readability", tier=SUPPLEMENTARY)
def readability(pair: SurveyPair) -> Finding:
    """Readability: how near the grade levels of both surveys are, in (0, 1]; for English.

    The mean over the grades of Flesch-Kincaid, Gunning's fog and Coleman-Liau of the smaller one
    divided by the larger. None if a grade is not above 0, where a ratio says nothing.

    Paper: equation 12, Table 9.
    Released: five ratios, of sentence length, its deviation, distinct words, long words and five
        grades.
    Here: equation 12, with ``--official``, too, over the statements, without headings and
        bibliography.
    """
    human, generated = (_grades(article) for article in pair.sides.values())
    both = [*zip(human, generated, strict=True)]
    rows = [(name, f"{a:.2f}", f"{b:.2f}") for name, (a, b) in zip(_GRADES, both, strict=True)]
    headers = ("grade", "experts", "generated")
    if min(map(min, both)) <= 0:
        return Finding({"": None}, rows, headers, "a survey has no grade above 0.")
    return Finding({"": sum(min(each) / max(each) for each in both) / 3}, rows, headers)


def _grades(article: Article) -> tuple[float, float, float]:
    """Return the US grades of a text by the three formulas; 0 without words."""
    found = [_WORD.findall(statement.text) for statement in article.report.statements]
    sentences = [words for words in found if words]
    words = [word for sentence in sentences for word in sentence]
    if not words:
        return 0, 0, 0
    length = len(words) / len(sentences)
    spoken = [syllables(word) for word in words]
    letters = sum(letter.isalpha() for word in words for letter in word)
    complicated = sum(count >= 3 for count in spoken)
    return (
        0.39 * length + 11.8 * sum(spoken) / len(words) - 15.59,
        0.4 * (length + 100 * complicated / len(words)),
        5.88 * letters / len(words) - 29.6 / length - 15.8,
    )


def syllables(word: str) -> int:
    """Count the syllables of an English word by its vowels, at least 1.

    On the words of 45 reports 96 % are those of the CMU Pronouncing Dictionary, and their sum is
    1.00 of its sum.

    >>> [syllables(word) for word in ("use", "cited", "survey", "dual", "evaluation", "well-known")]
    [1, 2, 2, 2, 5, 2]
    """
    parts = (_SILENT.sub("", part) for part in re.split(r"[^a-z]+", word.lower()) if part)
    return sum(max(1, sum(len(sound.findall(each)) for sound in _SOUNDS)) for each in parts) or 1


@survey_metric("tokens", tier=SUPPLEMENTARY, columns=("estimated",))
def tokens(pair: SurveyPair) -> Finding:
    """Output tokens of the generated survey, estimated from its text.

    Paper: Table 9.
    Released: tokens of OpenAI's ``cl100k_base``, which must be fetched.
    Here: an estimate from the text, which is 0.92 to 1.10 of them in the mean of five sources of
        reports.
    """
    counts = {side: estimate_tokens(article.text) for side, article in pair.sides.items()}
    rows = [(side, str(count)) for side, count in counts.items()]
    return Finding({"estimated": float(counts["generated"])}, rows, ("survey", "tokens"))
