"""Show papers to a model, read queries and judgements in its answers, and let it write a report.

A judgement is a token, ``[Relevant]`` or ``[Irrelevant]``. Models drop the brackets, use others or
bold type, and explain themselves. Each reader of an answer raises `ParseError` if nothing can be
read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from arena.agents import Desk, KnownPaper, Steps
from arena.llm import (
    Failure,
    Fields,
    LLMAgent,
    ParseError,
    as_list,
    tagged,
    unfenced,
    without_thoughts,
)
from arena.report.listing import cite, heading, plain

_TITLE = 200  # characters; few titles are longer
_ABSTRACT = 1_500


def listed(papers: Sequence[KnownPaper], abstracts: bool = True, years: bool = False) -> str:
    """Return papers as numbered lines, each with a line below for its abstract if it was read."""
    lines = []
    for number, paper in enumerate(papers, start=1):
        year = f" ({paper.date[:4]})" if years else ""
        lines.append(f"{number}. {line(paper.title, _TITLE)}{year}")
        if abstracts and paper.abstract:
            lines.append(f"   {line(paper.abstract, _ABSTRACT)}")
    return "\n".join(lines)


def line(text: str, longest: int) -> str:
    """Return a text on one line, cut."""
    return " ".join(text.split())[:longest]


LONGEST = 300  # characters of a query; the longest title of a survey is shorter

_SAID = re.compile(r"^\W*(?:search\s+)?quer(?:y|ies)\W*:", re.IGNORECASE)
_QUOTES = "\"'`“”‘’«»"


def queries(text: str) -> list[str]:
    """Return the queries in the tag ``<Queries>``, each once, in order."""
    cleaned = [query_in(line) for line in as_list(tagged(text, "Queries"))]
    distinct = list(dict.fromkeys(filter(None, cleaned)))
    if not distinct:
        raise ParseError("there is no query in <Queries>...</Queries>.")
    return distinct


def query_in(line: str) -> str:
    """Return the query in a line of an answer; empty if it has no word."""
    query = " ".join(_SAID.sub("", line.strip()).split()).strip(_QUOTES + " *")[:LONGEST]
    return query if re.search(r"\w", query) else ""


_IRRELEVANT = r"irrelevant|(?:not|non|un)[ -]?(?:relevant|related)"
_VERDICT = rf"(?:{_IRRELEVANT}|relevant)(?!\w)"
_IS_IRRELEVANT = re.compile(_IRRELEVANT, re.IGNORECASE)
# "3. [Relevant]", "Paper 3 is not relevant", "3": "relevant", several in a line
_AFTER_NUMBER = re.compile(
    rf"(?<![\w.-])(\d{{1,3}})(?:\W{{0,8}}|\W{{0,4}}is\W{{1,4}})({_VERDICT})", re.IGNORECASE
)
# "3. Some Title - [Relevant]"
_BEGINS = re.compile(r"[^\w\n]{0,8}(?:paper\s{1,3})?(\d{1,3})(?!\w)", re.IGNORECASE)
_BRACKETED = re.compile(rf"[\[(<*]\s?({_VERDICT})", re.IGNORECASE)
_BARE = re.compile(rf"(?<!\w)({_VERDICT})", re.IGNORECASE)
# "[Relevant]: 1, 3 and 5"
_BEFORE_NUMBERS = re.compile(
    rf"\W{{0,8}}({_VERDICT})(?:\s(?:papers|numbers|ones))?\W{{0,8}}"
    r"(\d{1,3}(?:(?:\W|and){1,6}\d{1,3})*)\W*\Z",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\W*({_VERDICT})\W*\Z", re.IGNORECASE)


def verdicts(text: str) -> dict[int, bool]:
    """Return number -> whether the paper is relevant; of two judgements the last one counts.

    Tokens without numbers, one per line, are numbered from 1.
    """
    judged: dict[int, bool] = {}
    alone: list[bool] = []
    for line in without_thoughts(text).splitlines():
        if match := _ALONE.match(line):
            alone.append(_relevant(match[1]))
            continue
        if match := _BEFORE_NUMBERS.match(line):
            for number in re.findall(r"\d+", match[2]):
                judged[int(number)] = _relevant(match[1])
            continue
        begins, bracketed = _BEGINS.match(line), _BRACKETED.findall(line)
        if begins and len(bracketed) == 1:
            judged[int(begins[1])] = _relevant(bracketed[0])
        elif pairs := _AFTER_NUMBER.findall(line):
            judged |= {int(number): _relevant(verdict) for number, verdict in pairs}
        elif begins and (bare := _BARE.findall(line)):
            judged[int(begins[1])] = _relevant(bare[-1])
    judged = judged or dict(enumerate(alone, start=1))
    if not judged:
        raise ParseError("no number with [Relevant] or [Irrelevant] is in it.")
    return judged


def _relevant(verdict: str) -> bool:
    return not _IS_IRRELEVANT.match(verdict)


def judgements(
    agent: LLMAgent, desk: Desk, papers: Sequence[str], batch: int, abstracts: bool, **about: str
) -> dict[str, bool]:
    """Return paper id -> whether the model judges it relevant; unread judgements are left out."""
    batches = [papers[at : at + batch] for at in range(0, len(papers), batch)]
    known = {"topic": desk.topic, "cutoff": desk.cutoff} | about
    many = [known | {"papers": listed([desk.papers[i] for i in b], abstracts)} for b in batches]
    relevance = {}
    for ids, answer in zip(batches, agent.ask_many("judge", verdicts, many), strict=True):
        for number, relevant in (answer or {}).items():
            if 1 <= number <= len(ids):
                relevance[ids[number - 1]] = relevant
    return relevance


_SHARED = ("topic", "cutoff", "outline", "points", "notes")
WRITING = {
    "section": Fields(("heading", "papers"), _SHARED),
    "polish": Fields(("draft", "papers"), (*_SHARED, "heading", "before", "after")),
}
"""Fields of the templates with which `write_report` asks."""

SECTION = 20_000  # most characters of a section
_NEIGHBOUR = 3_000  # characters of a neighbouring section

_NUMBERS = r"[@#^]?\d{1,4}(?:\s*(?:[,;–-]|and|&)\s*[@#^]?\d{1,4})*"
_MARK = re.compile(
    rf"[ \t]*(?:[\[【]\s*(?:(?:papers?|refs?\.?|nos?\.?)\s*)?(?P<numbers>{_NUMBERS})\s*[\]】](?!\()"
    r"|\[[^\[\]]{0,300}@[^\[\]]{0,300}\])",
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
    """A section that is to be written: its heading, and those below it, one a line, as `points`.

    It may cite the `papers`; the model reads their numbers, from 1.
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

    def known(match: re.Match[str]) -> dict[str, None]:
        numbers: list[int] = []
        for first, last in _RANGE.findall(match["numbers"] or ""):
            numbers += range(int(first), min(int(last or first), len(papers)) + 1)
        return {papers[number - 1]: None for number in numbers if 1 <= number <= len(papers)}

    # What is left out may leave another group behind, as in "[@[9]x]".
    while (kept := _MARK.sub(lambda match: match[0] if known(match) else "", text)) != text:
        text = kept
    return _MARK.sub(lambda match: f" {cite(known(match))}", text)


def section(name: str, text: str, papers: Sequence[str]) -> str:
    """Return a section of a report as Markdown, its heading at level 2."""
    first = _HEADING.match(text)
    if first and first[2].casefold() == name.casefold():
        text = text[first.end() :].lstrip()
    levels = [len(match[1]) for match in _HEADING.finditer(text)]
    deeper = max(0, 3 - min(levels, default=3))
    text = _HEADING.sub(lambda m: f"{'#' * min(len(m[1]) + deeper, 6)} {m[2]}", text)
    return f"## {plain(name)}\n\n{citing(text, papers)}\n\n"


def write_report(agent: LLMAgent, desk: Desk, outline: str, parts: Sequence[Part]) -> Steps[None]:
    """Read the papers, and put a report on the desk: its sections, written side by side.

    Abstracts are read as far as the budget allows, the first paper of each section first. A
    section without papers is not written, and one that cannot be read is left out. One whose
    improvement cannot be read stays as it was. Without a section there is no report.
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
    texts = {place: draft for place, draft in drafts.items() if not isinstance(draft, Failure)}

    def put() -> None:
        sections = [section(parts[i].heading, text, parts[i].papers) for i, text in texts.items()]
        desk.report = f"# {heading(desk.topic)}\n\n{''.join(sections)}"

    if not texts:
        return
    put()
    # Numbers of neighbours are of other lists.
    around = ["", *(citing(text, []) for text in texts.values()), ""]
    neighbours = zip(texts.items(), around, around[2:], strict=False)
    better = agent.ask_many(
        "polish",
        section_in,
        [
            {
                **shown[place], "draft": text, "before": before[-_NEIGHBOUR:] or "(none)",
                "after": after[:_NEIGHBOUR] or "(none)",
            }
            for (place, text), before, after in neighbours
        ],
    )  # fmt: skip
    texts = {i: new or text for (i, text), new in zip(texts.items(), better, strict=True)}
    put()
