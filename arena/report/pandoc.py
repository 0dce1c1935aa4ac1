"""Citations by key, as Pandoc writes them: ``[@id]``, ``[@a; @b]``, ``[see @a, p. 3]``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from arena.report.model import Bibliography, Inline, Mark, Reference

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

    What stands in code is no citation, except in fences of Markdown. A key with unusual characters
    is written ``[@{...}]``.

    >>> cited_ids("Known [@a; @arxiv:1706.03762], `[@not]`. See [-@a, p. 3].")
    ['a', 'arxiv:1706.03762']
    """
    groups = (each[0] for each in _CODE_OR_GROUP.finditer(unwrap(markdown)) if not each["code"])
    return list(dict.fromkeys(key for group in groups for key in _keys(group)))


def replace_groups(markdown: str, mark: Callable[[list[str]], str]) -> str:
    """Return a text with what `mark` returns for the keys of each group outside code."""

    def replace(match: re.Match[str]) -> str:
        keys = [] if match["code"] else _keys(match[0])
        return mark(keys) if keys else match[0]

    return _CODE_OR_GROUP.sub(replace, markdown)


def _keys(group: str) -> list[str]:
    return [braced or plain for braced, plain in _KEY.findall(group)]


def marks(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield the groups in brackets."""
    for group in GROUP.finditer(text.bare):
        if keys := _keys(group[0]):
            references = tuple(Reference(key, ids=(f"corpus:{key}",)) for key in keys)
            yield Mark(group.start(), group.end(), references)
