"""Records of the datasets ``papers`` and ``abstracts``, with all keys of the official samples."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]

_AUTHORS = 1 << 22
_SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276B  # odd: different numbers stay different


def corpus_id(paper: str) -> int:
    """Return the number that stands for a world's paper: that in its id, and one more.

    >>> corpus_id("w7-00000000ff")
    256
    """
    return int(paper.rpartition("-")[2], 16) + 1


def paper_record(
    paper: Record, listed: int, cited: int, influential: int, draw: int, release: str
) -> Record:
    """Return a paper as ``papers`` has it.

    Args:
        paper: record of a world.
        listed: references, those to unknown papers too.
        cited: citations that it has received.
        influential: those of them that are.
        draw: a random 32-bit number.
        release: day of the release.
    """
    number, date = corpus_id(paper["id"]), paper["date"]
    sources = ("s2-fos-model", "external")[: 1 + draw % 2]
    return {
        "corpusid": number,
        "externalids": {
            "ACL": None,
            "DBLP": None,
            "ArXiv": None,
            "MAG": str(number),
            "CorpusId": str(number),
            "PubMed": None,
            "DOI": None,
            "PubMedCentral": None,
        },
        "url": f"https://www.semanticscholar.org/paper/{_hexadecimal(number)}",
        "title": paper["title"],
        "authors": [
            {"authorId": str(_AUTHORS + sum(map(ord, name)) * 8191), "name": name}
            for name in paper["authors"]
        ],
        "venue": paper["venue"],
        "publicationvenueid": None,
        "year": None if date is None else int(date[:4]),
        "referencecount": listed,
        "citationcount": cited,
        "influentialcitationcount": influential,
        "isopenaccess": draw % 3 == 0,
        "s2fieldsofstudy": [
            {"category": field, "source": source} for field in paper["fields"] for source in sources
        ],
        "publicationtypes": None if draw % 4 else ["JournalArticle"],
        "publicationdate": _day(date),
        "journal": {"name": paper["venue"], "pages": None, "volume": str(1 + draw % 60)},
        "updated": f"{release}T02:09:51.713Z",
    }


def abstract_record(paper: Record, release: str) -> Record:
    """Return the abstract of a world's paper as ``abstracts`` has it."""
    number = corpus_id(paper["id"])
    return {
        "corpusid": number,
        "openaccessinfo": {
            "externalids": {
                "MAG": str(number),
                "ACL": None,
                "DOI": None,
                "PubMedCentral": None,
                "ArXiv": None,
            },
            "license": None,
            "url": None,
            "status": None,
        },
        "abstract": paper["abstract"],
        "updated": f"{release}T01:50:42.129Z",
    }


def _day(date: str | None) -> str | None:
    """Return a day or nothing; for a month it is the first, as in real releases."""
    if date is None or len(date) == len("2024"):
        return None
    return date if len(date) == len("2024-02-06") else f"{date}-01"


def _hexadecimal(number: int) -> str:
    """Return 40 hexadecimal digits, others for each number below 2**160."""
    return f"{number * _SPREAD & (1 << 160) - 1:040x}"
