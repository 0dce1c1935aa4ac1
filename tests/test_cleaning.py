"""Titles and abstracts without markup: what goes, what stays, and in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.text.cleaning import clean_text, clean_title
from arena.text.identifiers import normal_title


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("CO<sub>2</sub> in <I>E. coli</I>", "CO2 in E. coli"),
        ("10<sup>6</sup> m<sup>2</sup>, Zeng<sup>1</sup>", "10^6 m2, Zeng1"),
        ("<jats:title>Aims</jats:title><jats:p>A<br/>b.</jats:p>", "Aims  A b."),
        ("p &lt; .05 &amp;amp; q &amp;gt; 3 &#955; &eacute;", "p < .05 & q > 3 λ é"),
        (r"Schr\"odinger, H{\"u}ckel, {\"O}zg\"{u}r", "Schrödinger, Hückel, Özgür"),
        (r"P\'olya, Hlin\v{e}n\'y, \`a la vis-\`a-vis", "Pólya, Hliněný, à la vis-à-vis"),
        (r"Visualiza\c{c}\~ao na\"{\i}ve, S{\o}ren Bj\o rn, Stra\ss e, Erd{\H o}s, {\L}uk",
         "Visualização naïve, Søren Bjørn, Straße, Erdős, Łuk"),
    ],
)  # fmt: skip
def test_what_is_cleaned(text, clean):
    assert clean_text(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "p < 0.05 and x > 3, a<b, <50 ms, A <-> B, n <= 7, 0<=pc<=1",
        "List<int>, Vec<T>, </s> and <s>, between <think> and </think>, <i> alone, a <b and c> d",
        "AT&T, R&D, Q & A, Cut&copy, R&region; &agr; &notanentity;",
        r"$x_1 < \hat{y}$, $\v{x}$, {\lambda}-calculus, {\cal P}, \alpha, \emph{nets}, 10\%",
        r"\"our method\" isn\'t theirs, they\'re O\'Connor's, a\d{3}",
        "  two  blanks\n\nand lines ",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian needs its joiner
    ],
)
def test_what_stays(text):
    assert clean_text(text) == text


@pytest.mark.parametrize(
    ("title", "clean"),
    [
        ("RETRACTED: On Nets", "On Nets"),
        ("<b>WITHDRAWN:</b> On\u00a0Nets", "On Nets"),
        ("Retracted papers: a survey", "Retracted papers: a survey"),
        ("Retraction: On Nets", "Retraction: On Nets"),  # a note, another text
        ("\u200b", "\u200b"),
    ],
)
def test_a_title_does_not_say_that_it_will_be_retracted(title, clean):
    assert clean_title(title) == clean
    assert normal_title(title) == normal_title(clean)


PARTS = ["<i>", "</i>", "<mml:mi>", "<T>", "<span a=b>", "</span>", "<br>", "&amp;amp;lt;", "&#39;",
         "&lt;b&gt;", "&lt;/b&gt;", "\\textit{", "}", "\\v{s}", "{\\aa}", "\\\"o", "{\\o}",
         "\\c{c}", "\\'", "{", "$", "é", "ß", "İ", "a", "B", " ", "2", "RETRACTED: ",
         "da\u00adta"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=9).map("".join))
def test_a_clean_title_is_the_same_title(title):
    assert normal_title(clean_title(f"{title} nets")) == normal_title(f"{title} nets")
