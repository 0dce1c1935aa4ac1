"""The work of readers grows with a text and not with its square: counted in steps, without a clock.

Texts are runs of all that the readers know: the characters of their patterns, and tokens. A pattern
that looks again at what it has looked at takes eight times as many steps a character in a text that
is eight times as long.
"""

from __future__ import annotations

import gc
import random

import pytest
from counting import work

from arena import counted
from arena.errors import UnreadableError
from arena.mindmap import read_mind_map
from arena.report import read_report
from arena.report.readers import report_reader_in_use

TOKENS = [
    "a", "Ab", "AB", "1", "12", "2020", "é", "İ", "日", "\ud800", "¹", "\ufeff", "\u0000",
    "\u200b", "\n", "\n\n", " \n", "\t", "  ", "\u3000", "---\n", "+---\n", "***\n", "> ", "\n> ",
    "- ", "- a\n", "1. ", "1. a\n", "a) b\n", "IV. b\n", "• ", "# a\n", "## References\n",
    "Sources:\n", "2.1 a\n", "a: b\n", "| a ", "|-|\n", "*a* ", "**", "__a", "~~", "`a` ", "``",
    "\\", "\\(", "\\(a\\) ", "\\[a", "$a$ ", "$$", "^{", "^{1} ", "<a ", "<b>", "</p>",
    "<sup>1</sup>", "&amp;", "&#1;", "[", "]", "[[", "[1]", "[1] ", "[1, ", "[1-2]", "[1-",
    "[1]: ", "[^1]", "[^1]: ", "[A20] ", "[a](", "[a](b) ", "![", "[@", "[@a; ", "[@a]", "@{",
    "(", "(1)", "(Ab, 2020) ", "(Ab ", "Ab et al., ", " et al. ", "Ab and ", "A. ", "A. B. ",
    "A.-B. ", "Ab, A., ", "Ab A, ", "von der ", "2020. ", "2020a, ", "(2020). ", "Ab's ", "“Ab ",
    "‘Ab ", "'a ", "”, ", "In: ", "vs. ", "1 2 ", "\n1 ", "a.1 ", "...", "… ", "?! ", "。",
    "http://", "https://a.b/ ", "https://a.b/-", "doi:10.1000/", "10.1000/a ",
    "arXiv:2010.11929 ", "arxiv.org/abs/", "openreview.net/forum?", "<1:a>2", "\\cite{",
    "\\cite{a} ", "\\bibitem{a} ", "\\section{a}\n", "@misc{a, ", "title={a}, ", "\\emph{",
    "\\begin{a}", "{", "}", "Accessed May 1, 2020 ", "- [p1] a\n", "[x] ", "%%\n", "(a) ",
    "\u25aa a\n", "\\n", "\ue000", "\ue001",
]  # fmt: skip
OPENERS = ["```\n", "~~~ a\n", "<!--", "<!-- a -->", "<p>", "<div><pre>", "---\na: b\n", "+++\n",
           "```mermaid\nmindmap\n", "\\begin{thebibliography}", "<typology>"]  # fmt: skip
_AT_ONCE = 16


def groups() -> list[list[str]]:
    """Return all tokens, in groups whose runs share a text; what may hide the others is alone."""
    report_reader_in_use()  # which imports the patterns
    known = {
        character
        for each in gc.get_objects()
        if isinstance(each, counted.Pattern)
        for character in each.compiled.pattern
        if not character.isalnum()
    }
    tokens = sorted({*TOKENS, *known})
    random.Random(1).shuffle(tokens)
    parts = [tokens[place : place + _AT_ONCE] for place in range(0, len(tokens), _AT_ONCE)]
    return parts + [[opener] for opener in OPENERS]


def runs(tokens: list[str], size: int) -> str:
    """Return a text of about so many characters, with a run of each token."""
    each = size // len(tokens)
    return "x\n".join((token * (each // len(token) + 1))[:each] for token in tokens)


def reports(tokens: list[str], size: int) -> str:
    """Return a report with the runs in its text and in an entry of its list."""
    text = runs(tokens, size // 2)
    return f"{text}\n\nIt works [1].\n\n## References\n\n[1] A. Lee. Nets {text} work. 2020."


def maps(tokens: list[str], size: int) -> str:
    """Return a map with the runs in labels and between them."""
    text = runs(tokens, size // 2)
    return f"{text}\n# A\n- b\n- c {text}"


@pytest.mark.slow
@pytest.mark.parametrize("tokens", groups(), ids=repr)
@pytest.mark.parametrize(("read", "texts"), [(read_report, reports), (read_mind_map, maps)])
def test_steps_a_character_do_not_grow(read, texts, tokens):
    short, long = (texts(tokens, size) for size in (4_000, 32_000))
    before, after = work(read, short), work(read, long)
    for pattern, steps in after.items():
        ratio, was = steps / len(long), before[pattern] / len(short)
        assert ratio <= 1.5 * was + 40, (
            f"{ratio:.0f} steps a character, {was:.0f} before: {pattern}"
        )
    assert sum(after.values()) <= 2_000 * len(long)


@pytest.mark.parametrize("read", [read_report, read_mind_map])
def test_a_text_that_takes_too_many_steps_is_refused_and_the_same_everywhere(read, monkeypatch):
    text = "# A\n- b [1]\n" * 9
    read(text)
    read_report.__globals__["_read"].cache_clear()
    monkeypatch.setattr(counted, "STEPS", 1)
    monkeypatch.setattr(counted, "_FREE", 0)
    with pytest.raises(UnreadableError, match="the text is too complex to read: write it more"):
        read(text)


def test_uses_of_patterns_are_counted():
    spent = counted.compile("b+")
    with counted.reading("abc"):
        left = counted._left.get()
        before = left[0]
        assert spent.search("abbcd").span() == (1, 3)  # up to its end
        assert spent.match("abbcd", 1).end() == 3  # itself
        assert spent.match("abbcd") is None
        assert spent.sub("", "abbcd") == "acd"  # all
        assert spent.fullmatch("bb", 0, 2) is not None
    assert before - left[0] == 4 + 3 + 1 + 6 + 3
    assert spent.search("b") is not None  # and outside nothing
