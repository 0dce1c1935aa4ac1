"""A server for programs that write a query on a line and read the hits on a line."""

from __future__ import annotations

import json
import sys

from arena.corpus import Corpus
from arena.serving import integration


@integration("lines")
def serve(*, corpus: str, before: str, retriever: str = "bm25", topk: int = 10) -> None:
    """Answer each line of the standard input with a line of JSON, the hits of that query.

    Args:
        before (DATE): First day out of reach.
        topk: Hits of a query.

    Example:
        arena serve lines --corpus demo/synthetic --before 2015-01-01 < queries.txt
    """
    view = Corpus.open(corpus).at(before, retriever=retriever)
    for line in sys.stdin:
        print(json.dumps([hit._asdict() for hit in view.search(line.strip(), topk)]), flush=True)
