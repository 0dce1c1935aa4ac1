"""Reading queries in what a model wrote."""

from __future__ import annotations

import re

from arena.llm import ParseError, as_list, tagged, unfenced, without_thoughts

LONGEST = 300
"""Characters of a query; the longest title of a survey is shorter."""

_SAID = re.compile(r"^\W*(?:search\s+)?quer(?:y|ies)\W*:", re.IGNORECASE)
_TAG = re.compile(r"</?\s{0,5}queries[^<>\n]{0,100}>", re.IGNORECASE)
# Two sentences, a question or a shout: the model talks. A query may hold "vs." and "et al.".
_TALK = re.compile(r"[a-z]{3}[.!?]\s+[A-Z]|[?!]$")
_QUOTES = "\"'`“”‘’«»"


def queries(text: str) -> list[str]:
    """Return the queries in the tag ``<Queries>``, each once, in order.

    Raises:
        ParseError: if there is none.
    """
    found = [_cleaned(line) for line in as_list(tagged(text, "Queries"))]
    found = list(dict.fromkeys(filter(None, found)))
    if not found:
        raise ParseError("there is no query in <Queries>...</Queries>.")
    return found


def one_query(text: str) -> str:
    """Return the query in ``<Queries>``, or without that tag the first line of the answer.

    The paper's own prompt for zero-shot asks for no tag, so an answer may be the bare query.

    Raises:
        ParseError: if there is none.
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
