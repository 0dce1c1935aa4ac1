"""``arena serve``: a corpus for agents and trainers of other frameworks."""

from __future__ import annotations

from typing import Any

SUMMARY = "Serve a corpus to agents and trainers of other frameworks."
EXAMPLE = "arena serve retrieve --corpus demo/world --before 2015-01-01"


def retrieve(
    *,
    corpus: str,
    before: str | None = None,
    topk: int = 3,
    retriever: str = "bm25",
    retriever_option: dict[str, Any] | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve Search-R1's /retrieve, for Search-R1, verl and SkyRL.

    Args:
        corpus (DIR): Corpus that arena-corpus built.
        before (DATE): First day out of reach: YYYY-MM-DD, YYYY-MM (its last day) or YYYY
            (31 December). Without it, each URL names one: /retrieve?before=2015-01-01.
        topk: Papers of a query that names no number.
        retriever (NAME): Index of the corpus, or a combination such as 'hybrid(bm25,dense)'.
        retriever_option: Option of the engine, such as statistics=corpus.
        host (ADDRESS): Address to listen at. One that other machines reach needs a token in the
            environment variable ARENA_TOKEN.
        port: Port; 0 takes a free one.

    Example:
        arena serve retrieve --corpus demo/world --before 2015-01-01
    """
    from arena.doors.retrieve import Searcher, serve

    serve(Searcher(corpus, before, retriever, retriever_option, topk), host, port)
