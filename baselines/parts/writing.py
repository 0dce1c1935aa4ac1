"""Let a model write the sections of a report, and turn the numbers that it cites into citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from arena.agents import Desk, Steps
from arena.llm import Failed, Fields, LLMAgent, ParseError, tagged, unfenced, without_thoughts
from arena.report.listing import cite, heading, plain
from baselines.parts.asking import listed

_SHARED = ("topic", "cutoff", "outline", "points", "notes")
WRITING = {
    "section": Fields(("heading", "papers"), _SHARED),
    "polish": Fields(("draft", "papers"), (*_SHARED, "heading", "before", "after")),
}
"""Fields of the templates with which `write_report` asks."""

SECTION = 20_000
"""Most characters of a section."""
_BESIDE = 3_000  # characters of a neighbouring section

_NUMBERS = r"[@#^]?\d{1,4}(?:\s*(?:[,;–-]|and|&)\s*[@#^]?\d{1,4})*"
_MARK = re.compile(
    rf"[ \t]*(?:[\[【]\s*(?:(?:papers?|refs?\.?|nos?\.?)\s*)?(?P<numbers>{_NUMBERS})\s*[\]】](?!\()"
    r"|\[[^\[\]\n]{0,300}@[^\[\]\n]{0,300}\])",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*[@#^]?(\d+))?")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$", re.MULTILINE)
_NUMBERED = re.compile(r"^\d+(?:[.)]|(?:\.\d+)+[.)]?)\s+")
_LIST = re.compile(
    r"^[ #*]*(?:references|bibliography|works cited|sources)[ *:]*$.*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


class Part(NamedTuple):
    """A section that is to be written.

    Attributes:
        heading: Its heading.
        points: The headings below it, one per line; empty for none.
        papers: Ids of the papers that it may cite; the model reads their numbers, from 1.
        notes: What else the model reads about it.
    """

    heading: str
    points: str
    papers: Sequence[str]
    notes: str = ""


def parts_of(outline: str, most: int) -> list[tuple[str, str]]:
    r"""Return (heading, headings below it) of the sections of an outline, at most `most`.

    Numbers before headings, and marks of bold type, are left out.

    >>> parts_of("# topic\n## 1. Kinds\n### 1.1 **Fast**\n### Slow\n## Uses", 10)
    [('Kinds', 'Fast\nSlow'), ('Uses', '')]
    """
    parts: list[tuple[str, list[str]]] = []
    for match in _HEADING.finditer(outline):
        name = _NUMBERED.sub("", match[2]).strip("* ")
        if len(match[1]) == 2:
            parts.append((name, []))
        elif len(match[1]) > 2 and parts:
            parts[-1][1].append(name)
    return [(name, "\n".join(below)) for name, below in parts[:most]]


def section_in(text: str) -> str:
    """Return the Markdown in ``<section>``, without a list of references behind it.

    Without that tag it is the whole text, if it cites a paper by number.
    """
    try:
        said = tagged(text, "section")
    except ParseError:
        said = unfenced(without_thoughts(text))
        if not any(match["numbers"] for match in _MARK.finditer(said)):
            raise
    said = _LIST.sub("", said)[:SECTION].strip()
    if not re.search(r"\w", _HEADING.sub("", said)):
        raise ParseError("there is no text in <section>...</section>.")
    return said


def citing(text: str, papers: Sequence[str]) -> str:
    """Return a text with citations ``[@id]`` for the numbers of papers in brackets, ``[1, 3-5]``.

    A number that no paper has is left out, and so is every other citation: the model invented it.

    >>> citing("Known [1, 3]. Old [2-3], new [7] [@smith].", ["a", "b", "c"])
    'Known [@a; @c]. Old [@b; @c], new.'
    """

    def mark(match: re.Match[str]) -> str:
        numbers: list[int] = []
        for first, last in _RANGE.findall(match["numbers"] or ""):
            numbers += range(int(first), min(int(last or first), len(papers)) + 1)
        known = [papers[number - 1] for number in numbers if 1 <= number <= len(papers)]
        return f" {cite(dict.fromkeys(known))}" if known else ""

    return _MARK.sub(mark, text)


def section(name: str, text: str, papers: Sequence[str]) -> str:
    """Return a section of a report as Markdown, its heading at level 2.

    Args:
        name: Its heading; left out where the text begins with it.
        text: What the model wrote; its own headings end up at level 3 or below.
        papers: Ids of the papers 1, 2, ... that it cites.
    """
    first = _HEADING.match(text)
    if first and first[2].casefold() == name.casefold():
        text = text[first.end() :].lstrip()
    levels = [len(match[1]) for match in _HEADING.finditer(text)]
    deeper = max(0, 3 - min(levels, default=3))
    text = _HEADING.sub(lambda m: f"{'#' * min(len(m[1]) + deeper, 6)} {m[2]}", text)
    return f"## {plain(name)}\n\n{citing(text, papers)}\n\n"


def write_report(
    agent: LLMAgent, desk: Desk, outline: str, parts: Sequence[Part], polish: bool = True
) -> Steps[None]:
    """Read the papers, and put a report on the desk: its sections, written side by side.

    Abstracts are read as far as the budget allows, the first paper of each section first. A
    section without papers is not written, and one that cannot be read is left out. One whose
    improvement cannot be read stays as it was. If there is no section, there is no report.

    Args:
        agent: Agent with the templates `WRITING`.
        desk: Desk with the papers.
        outline: The outline of the report, which the model sees.
        parts: Sections in order.
        polish: Whether to show each section once more to the model, between its neighbours.
    """
    parts = [part for part in parts if part.papers]
    for paper_id in chain(*zip_longest(*(part.papers for part in parts))):
        if paper_id:
            yield from desk.read(paper_id)
    shown: list[dict[str, str | int]] = [
        {
            "topic": desk.topic, "cutoff": desk.cutoff, "outline": outline,
            "heading": part.heading, "points": part.points or "(none)",
            "papers": listed([desk.papers[i] for i in part.papers], years=True),
            "notes": part.notes or "(none)",
        }
        for part in parts
    ]  # fmt: skip
    drafts = dict(enumerate(agent.ask_many("section", section_in, shown)))
    texts = {place: draft for place, draft in drafts.items() if not isinstance(draft, Failed)}

    def put() -> None:
        sections = [section(parts[i].heading, text, parts[i].papers) for i, text in texts.items()]
        desk.report = f"# {heading(desk.topic)}\n\n{''.join(sections)}"

    if not texts:
        return
    put()
    if polish:
        # Numbers of neighbours are of other lists.
        around = ["", *(citing(text, []) for text in texts.values()), ""]
        beside = zip(texts.items(), around, around[2:], strict=False)
        better = agent.ask_many(
            "polish",
            section_in,
            [
                {
                    **shown[place], "draft": text, "before": before[-_BESIDE:] or "(none)",
                    "after": after[:_BESIDE] or "(none)",
                }
                for (place, text), before, after in beside
            ],
        )  # fmt: skip
        texts = {i: new or text for (i, text), new in zip(texts.items(), better, strict=True)}
        put()
