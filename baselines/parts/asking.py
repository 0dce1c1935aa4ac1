"""Show papers to a model, and read queries and judgements in its answers.

A judgement is a token: ``[Retrieve]`` or ``[No Retrieve]``, ``[Relevant]`` or ``[Irrelevant]``,
``[Enough]`` or ``[Continue]``. Models drop the brackets, use others or bold type, and explain
themselves. Each reader of an answer raises `ParseError` if nothing can be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.agents import Desk, Known
from arena.llm import LLMAgent, ParseError, as_list, tagged, unfenced, without_thoughts

_TITLE = 200  # characters; few titles are longer
_ABSTRACT = 1_500


def listed(papers: Sequence[Known], abstracts: bool = True, years: bool = False) -> str:
    """Return papers as numbered lines, each with a line below for its abstract if it was read.

    Args:
        papers: Papers, numbered from 1.
        abstracts: Whether to add abstracts.
        years: Whether to add the year to a title.
    """
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


LONGEST = 300
"""Characters of a query; the longest title of a survey is shorter."""

_SAID = re.compile(r"^\W*(?:search\s+)?quer(?:y|ies)\W*:", re.IGNORECASE)
_TAG = re.compile(r"</?\s{0,5}queries[^<>\n]{0,100}>", re.IGNORECASE)
# Two sentences, a question or a shout: the model talks. A query may hold "vs." and "et al.".
_TALK = re.compile(r"[a-z]{3}[.!?]\s+[A-Z]|[?!]$")
_QUOTES = "\"'`“”‘’«»"


def queries(text: str) -> list[str]:
    """Return the queries in the tag ``<Queries>``, each once, in order."""
    cleaned = [_cleaned(line) for line in as_list(tagged(text, "Queries"))]
    distinct = list(dict.fromkeys(filter(None, cleaned)))
    if not distinct:
        raise ParseError("there is no query in <Queries>...</Queries>.")
    return distinct


def one_query(text: str) -> str:
    """Return the query in ``<Queries>``, or without that tag the first line of the answer.

    The paper's own prompt for zero-shot asks for no tag, so an answer may be the bare query.
    """
    try:
        return queries(text)[0]
    except ParseError:
        pass
    plain = unfenced(_TAG.sub("\n", without_thoughts(text)))
    lines = [line for line in map(_cleaned, plain.splitlines()) if line]
    # "Here is a query:" announces what stands in the next line.
    line = next((line for line in lines if not line.endswith(":")), "")
    if not line or _TALK.search(line):
        raise ParseError("there is no query in the answer.")
    return line


def _cleaned(line: str) -> str:
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

# In brackets anywhere, or a line of its own.
_NO = r"no[\s_-]?retriev(?:e|al)"
_RETRIEVE = re.compile(
    rf"[\[(<*]{{1,3}}\s?(?:({_NO})|retriev(?:e|al))\s?[\])>*]{{1,3}}"
    rf"|^[^\w\n]{{0,5}}(?:({_NO})|retrieve)(?=[^\w\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_STOP = re.compile(
    r"[\[(<*]{1,3}\s?(enough|continue)\s?[\])>*]{1,3}"
    r"|^[^\w\n]{0,5}(enough|continue)(?=[^\w\n]*$|:)",
    re.IGNORECASE | re.MULTILINE,
)


def first_query(text: str) -> tuple[str, bool]:
    """Return a query, and whether the model wants to read its hits.

    Without a token it does, since the paper's own prompt asks for a query alone.
    """
    text = without_thoughts(text)
    tokens = list(_RETRIEVE.finditer(text))
    wanted = not (tokens and (tokens[-1][1] or tokens[-1][2]))
    return one_query(_RETRIEVE.sub("\n", text)), wanted


def next_query(text: str) -> str:
    """Return a better query, empty if the last one was enough."""
    text = without_thoughts(text)
    tokens = list(_STOP.finditer(text))
    if not tokens:
        return queries(text)[0]
    last = tokens[-1]
    if (last[1] or last[2]).lower() == "enough":
        return ""
    try:
        return queries(text)[0]
    except ParseError:
        return one_query(text[last.end() :].lstrip(": "))


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
    """Return paper id -> whether the model judges it relevant; unread judgements are left out.

    Args:
        agent: Agent with a template ``judge``.
        desk: Desk with the papers.
        papers: Ids of papers; the model reads numbers in their place.
        batch: Papers in one request, >= 1; the requests are made side by side.
        abstracts: Whether the model reads the abstracts on the desk.
        about: Further fields of the template.
    """
    batches = [papers[at : at + batch] for at in range(0, len(papers), batch)]
    known = {"topic": desk.topic, "cutoff": desk.cutoff} | about
    many = [known | {"papers": listed([desk.papers[i] for i in b], abstracts)} for b in batches]
    relevance = {}
    for ids, answer in zip(batches, agent.ask_many("judge", verdicts, many), strict=True):
        for number, relevant in (answer or {}).items():
            if 1 <= number <= len(ids):
                relevance[ids[number - 1]] = relevant
    return relevance
