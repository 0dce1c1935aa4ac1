"""``arena search``: the papers of a corpus as of a date."""

from __future__ import annotations

from typing import Any

from arena.cli.app import print_json, print_table
from arena.errors import DataError
from arena.text.display import count, printable


def search(
    *,
    corpus: str,
    query: str,
    before: str,
    k: int = 10,
    retriever: str = "bm25",
    retriever_option: dict[str, Any] | None = None,
    no_check: bool = False,
    json: bool = False,
) -> None:
    """Search a corpus as it was before a date.

    Args:
        query (TEXT): Text to search for.
        k: Most hits.

    Example:
        arena search --corpus demo/synthetic --query "membrane erosion" --before 2015-01-01 --k 5
    """
    from arena.corpus import Corpus

    if k < 1:
        raise DataError(f"--k {k}: give an integer >= 1.")
    if not query.strip():
        raise DataError("--query is empty: give words to search for.")
    opened = Corpus.open(corpus, check=not no_check)
    engine = opened.retriever(retriever, **(retriever_option or {}))
    view = opened.at(before, retriever=engine)
    hits = view.search(query, k)
    if json:
        print_json({"cutoff": view.cutoff, "hits": [hit._asdict() for hit in hits]})
    elif hits:
        print_table(
            [
                (rank, hit.score, hit.date, hit.id, printable(hit.title, 80))
                for rank, hit in enumerate(hits, 1)
            ],
            ("rank", "score", "date", "id", "title"),
        )
        print(f"The best {len(hits)} of {count(len(view), 'paper')} before {view.cutoff}.")
    else:
        print(f"Nothing matches among {count(len(view), 'paper')} before {view.cutoff}.")
