"""``arena search`` and ``arena read``: the papers of a corpus as of a date."""

from __future__ import annotations

from typing import Any

from arena.cli.app import print_json, print_table
from arena.errors import DataError, clip
from arena.text.display import count, printable


def search(
    *,
    corpus: str,
    query: str,
    before: str,
    k: int = 10,
    exclude: list[str] | None = None,
    retriever: str = "bm25",
    retriever_option: dict[str, Any] | None = None,
    no_check: bool = False,
    json: bool = False,
) -> None:
    """Search a corpus as it was before a date.

    Args:
        query (TEXT): Text to search for.
        k: Most hits.
        exclude (ID): Paper to leave out.

    Example:
        arena search --corpus demo/world --query "membrane erosion" --before 2015-01-01 --k 5
    """
    from arena.corpus import Corpus

    if k < 1:
        raise DataError(f"--k {k}: give an integer >= 1.")
    if not query.strip():
        raise DataError("--query is empty: give words to search for.")
    opened = Corpus.open(corpus, check=not no_check)
    existing = opened.at(before)
    for paper_id in exclude or ():
        if paper_id not in existing:
            raise DataError(
                f"--exclude {clip(paper_id)}: there is no such paper before {existing.cutoff}. "
                "Leave the option out, or give the id of a paper that a search finds."
            )
    engine = opened.retriever(retriever, **(retriever_option or {}))
    view = opened.at(before, exclude=exclude or [], retriever=engine)
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


def read(
    paper_id: str, *, corpus: str, before: str, full_text: bool = False, json: bool = False
) -> None:
    """Read a paper of a corpus as it was before a date.

    Args:
        paper_id (ID): Id of the paper.
        full_text: Print the text of the sections, too.

    Example:
        arena read w0-000000000b --corpus demo/world --before 2015-01-01
    """
    from arena.corpus import Corpus

    view = Corpus.open(corpus).at(before)
    paper, sections = view.paper(paper_id), view.sections(paper_id)
    references, citations = view.references(paper_id), view.citations(paper_id)
    if json:
        kept = [s._asdict() if full_text else s.heading for s in sections]
        lists = {"references": references, "citations": citations}
        print_json({"cutoff": view.cutoff} | paper._asdict() | {"sections": kept} | lists)
        return
    print(_text(paper.title))
    print(
        "; ".join(filter(None, [paper.date, _text(paper.venue or ""), *map(_text, paper.authors)]))
    )
    print(f"\n{_text(paper.abstract) or '(no abstract)'}\n")
    for heading, text in sections:
        print(_text(heading) or "(no heading)")
        if full_text:
            print(f"\n{_text(text)}\n")
    cited, citing = count(len(references), "reference"), count(len(citations), "citation")
    print(f"{cited}, {citing} before {view.cutoff}.")


def _text(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines())
