"""Titles and abstracts as people read them: without markup and characters that nobody sees."""

from __future__ import annotations

import html
import re
import unicodedata
from html.entities import html5

import regex

ATTRIBUTES = r"""\s(?:=\s*+"[^"<]*+"|=\s*+'[^'<]*+'|[^<>])*+"""  # a value can hold a >
_ENTITY = re.compile(r"&(?:amp;)*(#?\w{1,31};|(?:amp|lt|gt|quot)\b)")
TAG = re.compile(  # as PubMed, Crossref and publishers have them; <T> in a title is no tag
    r"<annotation\b[^<>]*>[^<>]*</annotation>|<(/?)((?:mml|jats):[a-z-]+|i|b|u|a|p|br|em|sub|sup"
    r"|scp|sc|tt|small|strong|italic|bold|underline|span|font|inf|div|li|ul|ol|h[1-6]|math"
    r"|m(?:i|n|o|row|text|style|space|frac|sub|sup|subsup)|semantics|inline-formula|tex-math"
    rf")(?:{ATTRIBUTES})?/?>",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"p|br|div|li|ul|ol|h\d|jats:(?:p|title|sec|list|list-item)")
# Joiners are part of words in Persian and in scripts of India, not behind a Latin letter.
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?<=[a-zA-Z])[\u200c\u200d]+"
)
# A formula, or an accent: not \"a ... \" or it\'s, where quotation marks are escaped.
_LATEX = regex.compile(r"""\$+[^$]*\$+|(\{)?(?|
    \\([`'^~"=.uvHcdbkr])\{(?:\\(?=i))?([A-Za-z])\}
    |(?<=\{)\\([`'^~"=.]|[uvHcdbkr](?=\s))\s?([A-Za-z])
    |(?<=[A-Za-z])\\(")([aeiouyAEIOUY])
    |\\([`^~])([aeiounAEIOUN])
    |\\(')([aeiouycnz]|(?<![A-Za-z]\\')[AEIOUY])
    |(?<=[{A-Za-z])\\()([aA][aAeE]|[oO][eE]|ss|[oOlLi])(?![A-Za-z])(?:\{\}|\s(?=[a-z]))?
)(?(1)\})""", regex.VERBOSE)  # fmt: skip
_ESCAPED_BREAK = re.compile(
    r"(?:\\r)?\\n(?!(?:abla|u|e|eq|eg|i|ot|otin|ode|oindent|ewline|ewpage|ocite|onumber|orm|mid|leq|geq)"
    r"(?![a-z]))"
)
MARKS = dict(zip("`'^~\"=.uvHcdbkrt", "\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0306\u030c\u030b"
                  "\u0327\u0323\u0331\u0328\u030a\u0361", strict=True))  # fmt: skip
_LETTERS = {"aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "ss": "ß",
            "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı"}  # fmt: skip
_SAID = r"(?:(?i:retracted)|WITHDRAWN)(?:\s(?i:article|paper|chapter))?"
RETRACTED = re.compile(  # on the day of a survey nobody knew
    rf"\A\s*+(?:(?:[\[(]{_SAID}[\])]\s?[:.–—-]?|{_SAID}(?:\s?[:–—]|\s-(?=\s)))\s*+)++(?=\S)"
)
_SIGNS, _RAISED = r"""\s{}$()\[\],;.:?!~'"*∗†‡§¶""", "¹²³⁴⁵⁶⁷⁸⁹ᵃᵇ"
_MARK = r"<(?:[a-z]+:)?(?:sup|xref|fn)(?![a-zA-Z])"
_ANY_TAG = rf"</?[a-zA-Z][^<>\s]*+(?:{ATTRIBUTES})?>"
_FOOTNOTE = re.compile(
    rf"""(?<![^\W\d_])(?<![\\_])(?<!_\{{)([^\W\d_{_RAISED}]{{4,}}+|[A-Z]{{3}})
    (?:[{_SIGNS}]|\\[(),;:]|\\ensuremath(?![a-zA-Z])|(?!{_MARK}){_ANY_TAG})*+
    (?:(?={_MARK}){_ANY_TAG}|\\textsuperscript(?![a-zA-Z])|\^|(?=[{_RAISED}]))
    (?:[{_SIGNS}^1-9{_RAISED}]|[ab](?![^\W_])|{_ANY_TAG}|\\[(),;:]|\\ensuremath(?![a-zA-Z])
    |\\(?:thanks|footnote(?:mark|text)?)(?:\[\d*\])?(?:\{{(?:[^{{}}]|\{{[^{{}}]*\}})*+\}})?
    |\\(?:textsuperscript|text(?:d?dagger|asteriskcentered)|d?dag(?:ger)?|ast|star|[SP]
    |(?:text|math)?(?:rm|it|bf)|text)(?![a-zA-Z]))*+\Z""",
    re.VERBOSE,
)
_RAISES = re.compile(rf"[<^{_RAISED}]|\\textsuper")  # most titles have none of these
_SUP = re.compile(r"<sup\b[^<>]*>.*?</sup>", re.DOTALL | re.IGNORECASE)


def footnote_mark(title: str) -> int | None:
    r"""Return where the footnote mark at the end of a title begins; None if it has none.

    A mark is a superscript of a, b, signs or digits that are not 0, behind a word of four letters
    or three capitals: ``R<sup>2</sup>``, ``$NC^1$`` and ``$\log^2$`` stay what they are.

    >>> footnote_mark("Reefs<sup>1,*</sup>"), footnote_mark(r"Reefs$^1$"), footnote_mark("R$^2$")
    (5, 5, None)
    """
    found = _FOOTNOTE.search(title) if _RAISES.search(title) else None
    return found.end(1) if found else None


def clean_title(title: str) -> str:
    """Return a title as `clean_text` does, on one line and without ``RETRACTED:`` before it.

    A `footnote_mark` between tags goes, too.
    """
    if "<" in (read := read_entities(title)) and (end := footnote_mark(read)):
        title = read[:end] + _SUP.sub("", read[end:])
    return RETRACTED.sub("", " ".join(clean_text(title).split())) or title


def clean_text(text: str) -> str:
    r"""Return a text with its entities, tags and accents of LaTeX as what they stand for.

    A tag is one of HTML, JATS or MathML that opens and closes in the text; a power of a number gets
    ``^``. Characters that nobody sees go. Formulas between dollars and other commands stay.

    >>> clean_text(r"<p>10<sup>6</sup> B\"uchi &amp;amp; P &lt; .05, List<int> and a <b</p>")
    '10^6 Büchi & P < .05, List<int> and a <b'
    """
    was, text = text, read_entities(text)
    text = text if text.isascii() else _INVISIBLE.sub("", text)
    if "<" in text:
        found = {(tag[1], (tag[2] or "").lower()) for tag in TAG.finditer(text)}
        text = TAG.sub(lambda tag: _shown(tag, found), text)
    if "\\" in text:
        text = _LATEX.sub(_letter, text)
    return text if text == was else text.strip()


def with_line_breaks(text: str) -> str:
    r"""Return a text on one line with line breaks for the ``\n`` that a model escaped twice.

    A text with one, or with a line break, is left alone; so are commands such as ``\nabla``.

    >>> with_line_breaks(r"# Kelp\n- Grazing\n- $\nu$ and $\nabla$")
    '# Kelp\n- Grazing\n- $\\nu$ and $\\nabla$'
    """
    if "\\n" not in text or "\n" in text.strip():
        return text
    read, number = _ESCAPED_BREAK.subn("\n", text)
    return read if number > 1 else text


def read_entities(text: str) -> str:
    """Return a text with the characters for its entities, however often they are escaped."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    name = f"{entity[1].rstrip(';')};"
    return html.unescape(f"&{name}") if name[0] == "#" or name in html5 else entity[0]


def _shown(tag: re.Match[str], found: set[tuple[str, str]]) -> str:
    name = (tag[2] or ":").lower()
    alone = name == "br" or ":" in name or tag[0].endswith("/>")
    if not alone and not found.issuperset({("", name), ("/", name)}):
        return tag[0]
    if name == "sup" and not tag[1] and tag.string[max(0, tag.start() - 1)].isdigit():
        return "^"
    return " " * bool(_BLOCK.fullmatch(name))


def _letter(latex: regex.Match[str]) -> str:
    whole, mark, base = str(latex[0]), latex[2], latex[3] or ""
    letter = unicodedata.normalize("NFC", base + MARKS[mark]) if mark else _LETTERS.get(base, "")
    return letter if len(letter) == 1 else whole
