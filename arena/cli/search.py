"""``arena search``."""

from __future__ import annotations

from typing import Any

from arena.cli.app import print_json, print_table, printable


def search(
    *,
    corpus: str,
    query: str,
    before: str,
    k: int = 10,
    exclude: list[str] | None = None,
    retriever: str = "bm25",
    retriever_option: dict[str, Any] | None = None,
    json: bool = False,
) -> None:
    """Search a corpus as it was before a date.

    Args:
        corpus (DIR): Corpus that arena-corpus built.
        query (TEXT): Text to search for.
        before (DATE): First day out of reach: YYYY-MM-DD, YYYY-MM (its last day) or YYYY
            (31 December).
        k: Most hits.
        exclude (ID): Paper to leave out.
        retriever (NAME): Index of the corpus, or a combination such as 'hybrid(bm25,dense)'.
        retriever_option: Option of the engine, such as statistics=corpus, or of a part of a
            combination, such as 'bm25={"statistics": "corpus"}'.
        json: Print JSON instead of text.

    Example:
        arena search --corpus demo/world --query "membrane erosion" --before 2015-01-01 --k 5
    """
    from arena.corpus import Corpus

    opened = Corpus.open(corpus)
    engine = opened.retriever(retriever, **(retriever_option or {}))
    view = opened.at(before, exclude=exclude or [], retriever=engine)
    hits = view.search(query, k)
    if json:
        print_json([hit._asdict() for hit in hits])
    elif hits:
        print_table(
            [
                (rank, hit.score, hit.date, hit.id, printable(hit.title, 80))
                for rank, hit in enumerate(hits, 1)
            ],
            ("rank", "score", "date", "id", "title"),
        )
    else:
        print(f"Nothing matches among {len(view)} papers before {view.cutoff}.")
