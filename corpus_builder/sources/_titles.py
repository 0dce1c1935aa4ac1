"""Titles as bibliographies, arXiv and PDFs write them, brought to what they have in common."""

from __future__ import annotations

import re
import unicodedata

from corpus_builder.records import title_key

_FONT = r"emph|text[a-z]*|math[a-z]*|ensuremath|mbox|bf|it|em|rm|tt|sc|sl|sf"
_MARK = r"[uvHcdbkrt](?=[\s{])"  # \v{s}, \c c: the accent goes, as all accents do
_TAG = re.compile(r"</?(?:i|b|u|em|sub|sup|scp|strong)>", re.IGNORECASE)  # as PubMed has them
_COMMAND = re.compile(rf"\\(?:(?:{_FONT})(?![a-zA-Z])|{_MARK})")


def normal_title(title: str) -> str:
    r"""Return what two spellings of one title share: `title_key` without markup and accents.

    Commands of LaTeX and tags of HTML that only set a font or an accent go, other commands leave
    their name; braces, dollars and dashes go with all punctuation. Nothing that tells two works
    apart does: a subtitle, a part number or a bracket counts.

    Returns:
        Letters and digits, case folded; empty if the title has none.

    >>> normal_title(r"D\"IoT: {\v{C}}ech $\mathcal{X}$-Nets.")
    'diotcechxnets'
    >>> normal_title("DÏoT: Čech X-nets")
    'diotcechxnets'
    >>> normal_title("Nets (Part 1)") == normal_title("Nets (Part 2)")
    False
    """
    key = unicodedata.normalize("NFD", title_key(_COMMAND.sub("", _TAG.sub("", title))))
    return "".join(c for c in key if unicodedata.category(c)[0] != "M")
