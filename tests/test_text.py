"""The analyzer by itself: every comparison of BM25 feeds it to both sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import text as analyzer
from arena.text import STOP_WORDS, analyze, tokenize

# From the examples in M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980.
PORTER = {
    "ponies": "poni", "agreed": "agre", "happy": "happi", "sky": "sky", "relational": "relat",
    "vietnamization": "vietnam", "hopefulness": "hope", "bowdlerize": "bowdler", "rolling": "roll",
}  # fmt: skip


@pytest.mark.parametrize(("word", "stem"), PORTER.items())
def test_porter(word, stem):
    assert analyze(word) == [stem]


def test_lucenes_stop_words():
    assert len(STOP_WORDS) == 33
    assert analyze("The survey of an idea is not in it") == ["survei", "idea"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("BM25F, k=0.9; don't_stop", ["bm25f", "k", "0", "9", "don", "t", "stop"]),
        ("ΣΊΣΥΦΟΣ ẞ İstanbul", ["σίσυφος", "ß", "istanbul"]),
        ("深度学习 in ML", ["深", "度", "学", "习", "in", "ml"]),
        ("トランスフォーマー の", ["トランスフォーマー", "の"]),
        ("x² ½ Ⅳ", ["x2", "1", "2", "iv"]),
        ("\x00a\ud800b 🜁", ["a", "b"]),
        ("", []),
    ],
)
def test_tokens(text, tokens):
    import unicodedata

    assert tokenize(text) == [unicodedata.normalize("NFKC", token) for token in tokens]


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_quick_path_for_ascii_equals_the_other(text):
    assert tokenize(text) == analyzer._TOKEN.findall(text.lower())


@given(st.text(), st.text())
def test_texts_can_be_analysed_apart(first, second):
    assert analyze(f"{first} \n{second}") == analyze(first) + analyze(second)


def test_long_tokens_are_cut():
    assert analyze("q" * 300) == ["q" * 255]


def test_a_full_memo_changes_nothing(monkeypatch):
    monkeypatch.setattr(analyzer, "_MEMO_LIMIT", 3)
    text = "graphs networks papers surveys graphs the networks"
    assert analyze(text) == ["graph", "network", "paper", "survei", "graph", "network"]
