"""Marks of citation by key, as Pandoc writes them: ``[@id]``, ``[@a; @b]``, ``[see @a, p. 3]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import arena.counted as re
from arena.report.model import Bibliography, Inline, Mark, Reference

Style = Callable[[Inline, Bibliography], Iterator[Mark]]
"""Finds the marks of one style in a paragraph."""

GROUP = re.compile(
    r"(?<![\\!])\[(?:[^\[\]@]{0,100}[\s\-])?-?(?<!\\)@(?:\{[^{}\n]{1,500}\}|[^\[\]{])++\](?!\()"
)
"""A group; in front of a round bracket it is a link."""
# A key ends before punctuation that a blank or the end follows, as Pandoc has it.
_KEY = re.compile(r"(?<![\w@.\\])@(?:\{([^{}\n]+)\}|([^\s;,\]{}]*[^\s;,\]{}.:?!]))")
_CODE_OR_GROUP = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n(?:.*?^ {0,3}(?P=fence)[`~]*[ \t]*$|.*)"
    r"|(?P<ticks>`++)(?:(?!\n\s*\n).){1,2000}?(?<!`)(?P=ticks)(?!`)"
    r"|\\[\\`]|`++)|" + GROUP.pattern,
    re.DOTALL | re.MULTILINE,
)
_WRAPPED = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+) *(?:markdown|md) *\n"
    r"(?P<inside>.*?)(?:^ {0,3}(?P=fence)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


def unwrap(markdown: str) -> str:
    """Return a text without the fences that language models put around Markdown."""
    return _WRAPPED.sub(lambda match: match["inside"], markdown)


def cited_ids(markdown: str) -> list[str]:
    """Return the ids that a text cites in Pandoc's form, distinct, in order of first citation.

    Code has no citations, except fences of Markdown. A key with unusual characters is written
    ``[@{...}]``.

    >>> cited_ids("Known [@a; @arxiv:1706.03762], `[@not]`. See [-@a, p. 3].")
    ['a', 'arxiv:1706.03762']
    """
    with re.reading(markdown):
        found = _CODE_OR_GROUP.finditer(unwrap(markdown))
        return list(dict.fromkeys(k for each in found if not each["code"] for k in _keys(each[0])))


def replace_groups(markdown: str, mark: Callable[[list[str]], str]) -> str:
    """Return a text with what `mark` returns for the keys of each group outside code."""

    def replace(match: re.Match[str]) -> str:
        keys = [] if match["code"] else _keys(match[0])
        return mark(keys) if keys else match[0]

    return _CODE_OR_GROUP.sub(replace, markdown)


def _keys(group: str) -> list[str]:
    return [braced or plain for braced, plain in _KEY.findall(group)]


def pandoc(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield the groups in brackets."""
    for group in GROUP.finditer(text.bare):
        if keys := _keys(group[0]):
            references = tuple(Reference(key, ids=(f"corpus:{key}",)) for key in keys)
            yield Mark(group.start(), group.end(), references)


def find_marks(
    inline: Inline, bibliography: Bibliography, styles: Mapping[str, Style], used: set[str]
) -> list[Mark]:
    """Return the marks in a paragraph, in order; add their styles to `used`.

    Of marks that overlap, that of the first style counts.
    """
    marks: list[Mark] = []
    for style, marks_of in styles.items():
        if new := _apart(marks_of(inline, bibliography), marks):
            used.add(style)
            marks = sorted([*marks, *new], key=_place)
    return marks


def _apart(marks: Iterable[Mark], taken: Sequence[Mark]) -> list[Mark]:
    """Return the marks that overlap none of those taken and none before them, in order."""
    left: list[Mark] = []
    place = 0
    for mark in sorted(marks, key=_place):
        while place < len(taken) and taken[place].end <= mark.start:
            place += 1
        free = place == len(taken) or taken[place].start >= mark.end
        if free and not (left and left[-1].end > mark.start):
            left.append(mark)
    return left


def _place(mark: Mark) -> tuple[int, int]:
    return mark.start, mark.end
