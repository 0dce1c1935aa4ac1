"""Writing citations in Pandoc's form, and a list of papers as the shortest report."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BARE = re.compile(r"[^\s;,\[\]{}@]*[^\s;,\[\]{}@.:?!]")
_MARKUP = re.compile(r"([\\`*_\[\]<>$#|~@&{}])")
_HEADING = 300


def cite(paper_ids: Iterable[str]) -> str:
    """Return the citation of papers in Pandoc's form; empty for none.

    >>> cite(["arxiv:1706.03762", "p.", "b"])
    '[@arxiv:1706.03762; @{p.}; @b]'
    """
    keys = [f"@{i}" if _BARE.fullmatch(i) else f"@{{{i}}}" for i in paper_ids]
    return f"[{'; '.join(keys)}]" if keys else ""


def plain(text: str) -> str:
    r"""Return a text on one line, so that Markdown shows every character of it as it is.

    >>> plain("A  *new* [1]\nway")
    'A \\*new\\* \\[1\\] way'
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def heading(text: str) -> str:
    """Return the first line of a text as the text of a heading, at most 300 characters."""
    return plain((text.strip().splitlines() or [""])[0][:_HEADING])


def entry(paper_id: str, title: str, date: str) -> str:
    """Return an item of a list that names and cites a paper.

    >>> entry("a", "Sorting", "1962-01-01")
    '- “Sorting”, 1962 [@a].'
    """
    return f"- “{plain(title)}”, {date[:4]} {cite([paper_id])}."


def listing(topic: str, papers: Iterable[tuple[str, str, str]]) -> str:
    """Return a report that names and cites papers (id, title, date), one sentence each."""
    items = [entry(*paper) for paper in papers]
    return "\n".join([f"# {heading(topic)}", "", "## Papers", "", *items, ""])
