"""Reading the tokens by which a model says whether to retrieve, what is relevant, and when to stop.

``[Retrieve]`` or ``[No Retrieve]``, ``[Relevant]`` or ``[Irrelevant]``, ``[Enough]`` or
``[Continue]``. Models drop the brackets, use others or bold type, and explain themselves.
"""

from __future__ import annotations

import re

from arena.llm import ParseError, without_thoughts
from baselines._queries import one_query, queries

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
    """Return a query, and whether the model wants to see what it finds.

    Without a token it does: the paper's own prompt asks for a query alone.

    Raises:
        ParseError: if there is no query.
    """
    text = without_thoughts(text)
    tokens = list(_RETRIEVE.finditer(text))
    wanted = not (tokens and (tokens[-1][1] or tokens[-1][2]))
    return one_query(_RETRIEVE.sub("\n", text)), wanted


def next_query(text: str) -> str:
    """Return a better query, or nothing if the last one was enough.

    Raises:
        ParseError: if neither is said.
    """
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
    """Return by its number whether a paper is relevant; where one is judged twice, the last time.

    Tokens alone, a line each, are numbered from 1.

    Raises:
        ParseError: if none is judged.
    """
    found: dict[int, bool] = {}
    alone: list[bool] = []
    for line in without_thoughts(text).splitlines():
        if match := _ALONE.match(line):
            alone.append(_relevant(match[1]))
            continue
        if match := _BEFORE_NUMBERS.match(line):
            for number in re.findall(r"\d+", match[2]):
                found[int(number)] = _relevant(match[1])
            continue
        begins, bracketed = _BEGINS.match(line), _BRACKETED.findall(line)
        if begins and len(bracketed) == 1:
            found[int(begins[1])] = _relevant(bracketed[0])
        elif pairs := _AFTER_NUMBER.findall(line):
            found |= {int(number): _relevant(verdict) for number, verdict in pairs}
        elif begins and (bare := _BARE.findall(line)):
            found[int(begins[1])] = _relevant(bare[-1])
    found = found or dict(enumerate(alone, start=1))
    if not found:
        raise ParseError("no number with [Relevant] or [Irrelevant] is in it.")
    return found


def _relevant(verdict: str) -> bool:
    return not _IS_IRRELEVANT.match(verdict)
