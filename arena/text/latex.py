r"""Texts with commands of LaTeX as they read: arguments stay; commands go, and notes as a whole.

pylatexenc knows the signs, but its parser takes ``%`` for a comment, drops ``\LaTeX`` and
``\textless``, and fails on ``\href`` and on braces a thousand deep.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from arena.text.cleaning import MARKS

_TOKEN = re.compile(
    r"\\([a-zA-Z]+)\*?(?:(?:\s{0,9}\[[^\[\]{}\\]{0,200}\]){0,3}(?=\s{0,9}\{)|\[\d\])?(\s*+)"
    r"|\\(\\(?:\*?\[[\w.\s-]{1,20}\])?|.)|(\$[^$]{1,500}\$)|([{}])|([^\\{}$]++|[\\$])",
    re.DOTALL,
)
_FIRST_GOES = re.compile(  # nobody reads the first argument of these, or that of the next ones
    r"thanks\w*|(?i:\w*noop\w*)|\w*note(?:s|text|mark|ref)?|foot\w*|\w*cite\w*|label|index"
    r"|(?!hyperref)\w*ref(?:mark)?|url|todo|email|orcid|inst|affil|[hv]?phantom|[hv]space|color"
    r"|begin|end|selectlanguage|input|font(?:family|series|shape)|includegraphics|texorpdfstring"
    r"|textcolor|(?:par|raise|rotate|scale|color)box|hyper(?:link|target)|foreignlanguage"
)
_TWO_GO = {"rule", "fontsize", "resizebox", "fcolorbox"}
_BLANK = re.compile(
    r"q?quad|(?:non|nobreak|thin|med|thick|en|[hv])?space|(?:small|med|big|[hv])skip|[hv]fill|and"
    r"|(?:new|h)line|(?:line|page)?break|newpage|par|item"
)
_NO_COMMAND = re.compile(r"(?!Huge|Large|LARGE|Big)[A-Z][a-zA-Z]+")  # TCP\IP
_OTHER = {**dict.fromkeys("\\,;: \n\t~", " "), **dict.fromkeys("!/-@()[]", "")}
_ALONE = ("~", "^", '"', "'")  # accents that are signs where there is no letter
_NAMES = """LaTeX TeX BibTeX ConTeXt XeTeX LuaTeX log ln exp sin cos tan max min sup inf lim arg
argmax argmin det dim ker gcd deg hom mod Pr"""
NAMES = frozenset(_NAMES.split())
"""Commands that read as their names."""


def read_latex(text: str, sign: Callable[[str], str]) -> str:
    r"""Return a text without commands and braces; formulas between dollars stay as they are.

    Args:
        text: The text; the work is linear in its length.
        sign: Name of a command that is no accent -> what it stands for.

    >>> read_latex(r"{\it K}elp\thanks{A} \href{b}{of \'{\i}\c c} $x_1$", {"i": "ı", "it": ""}.get)
    'Kelp of íç $x_1$'
    """
    shown: list[str] = []
    open_: list[tuple[bool, int]] = []
    hidden, going, accent, last = False, 0, "", ""  # `last` is a character
    for token in _TOKEN.finditer(text):
        name, blank, other, formula, brace, words = token.groups("")
        before, last = last, words[-1:]
        if brace == "{":
            open_.append((hidden, max(going - 1, 0)))
            hidden, going = hidden or going > 0, 0
        elif brace:
            hidden, going = open_.pop() if open_ else (hidden, 0)
            shown.append(accent * (accent in _ALONE and not hidden))  # \~{}
            accent = ""
        elif going and words.isspace():
            continue
        else:
            going = 2 if name in _TWO_GO else bool(_FIRST_GOES.fullmatch(name))
            if (mark := name if len(name) == 1 else other) in MARKS:
                accent = mark
                continue
            if name:
                words = " " if _BLANK.fullmatch(name) else blank if name == "xspace" else sign(name)
                if not words and before.isalpha() and _NO_COMMAND.fullmatch(name):
                    words = token[0]
            words = words or formula or _OTHER.get(other[:1], other)
            if accent and words:
                first = {"ı": "i", "ȷ": "j"}.get(words[0], words[0])
                letter = unicodedata.normalize("NFC", first + MARKS[accent])
                # \"K is no letter, but a quotation mark that somebody escaped
                no_letter = first.isspace() or (accent in _ALONE and letter[1:])
                words = (accent * (accent in _ALONE) + first if no_letter else letter) + words[1:]
                accent = ""
            shown.append("" if hidden else words)
    return "".join(shown) + accent * (accent in _ALONE)
