"""Time the search engines of a corpus side by side, at several cutoffs, and compare their hits.

Each index of the corpus is opened in turn; bm25s, if it is installed, searches the same terms with
a mask for the cutoff. The engine `lucene` runs in a process of its own: of it look at wall time.

    python examples/time_engines.py --corpus demo/synthetic --engines bm25
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from tabulate import tabulate

import arena
from arena.corpus import search_batch
from arena.text import analyze

Search = Callable[[list[str], int], list[list[str]]]  # queries, percent -> ids


def papers_of(corpus: arena.Corpus) -> list[dict[str, Any]]:
    """Return the searchable papers in the order of their days."""
    columns = ["id", "title", "abstract", "date", "searchable"]
    table = pq.read_table(corpus.directory / "papers.parquet", columns=columns)
    return [row for row in table.to_pylist() if row["searchable"]]


def queries_of(papers: list[dict[str, Any]], seed: int) -> Iterator[str]:
    """Yield three to six neighbouring words of a title, without end."""
    draw = random.Random(seed)
    while True:
        words = draw.choice(papers)["title"].split()
        count = min(len(words), draw.randint(3, 6))
        start = draw.randrange(len(words) - count + 1)
        yield " ".join(words[start : start + count])


def own(corpus: arena.Corpus, engine: str, days: dict[int, str], k: int) -> Search:
    """Return a search by an index of the corpus."""
    views = {percent: corpus.at(day, retriever=engine) for percent, day in days.items()}

    def search(queries: list[str], percent: int) -> list[list[str]]:
        found = search_batch([(views[percent], query, k) for query in queries])
        return [[hit.id for hit in hits] for hits in found]

    return search


def by_bm25s(papers: list[dict[str, Any]], days: dict[int, str], k: int) -> Search:
    """Return a search by bm25s, with the statistics of all papers."""
    import bm25s
    from bm25s.tokenization import Tokenized

    numbers: dict[str, int] = {}
    texts = (f"{paper['title']}\n{paper['abstract']}" for paper in papers)
    terms = [[numbers.setdefault(t, len(numbers)) for t in analyze(text)] for text in texts]
    index: Any = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    index.index(Tokenized(terms, numbers), create_empty_token=False, show_progress=False)
    masks = {
        percent: np.array([str(paper["date"]) < day for paper in papers], np.float32)
        for percent, day in days.items()
    }

    def search(queries: list[str], percent: int) -> list[list[str]]:
        known = [[term for term in analyze(query) if term in numbers] for query in queries]
        found = index.retrieve(known, k=k, show_progress=False, weight_mask=masks[percent])
        return [
            [papers[number]["id"] for number in row[scores > 0]]
            for row, scores in zip(*found, strict=True)
        ]

    return search


def main() -> None:
    """Print a table of times: CPU of single queries, wall time of single ones and of a batch."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--engines", help="with commas (default: all indexes of the corpus)")
    parser.add_argument("--cutoffs", default="1,10,50,100", help="percents of the papers before")
    parser.add_argument("--queries", type=int, default=128)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    corpus = arena.Corpus.open(given.corpus)
    papers = papers_of(corpus)
    days = {
        percent: str(papers[len(papers) * percent // 100]["date"]) if percent < 100 else "9999"
        for percent in map(int, given.cutoffs.split(","))
    }
    drawn = queries_of(papers, 0)
    queries = [next(drawn) for _ in range(given.queries)]
    names = given.engines.split(",") if given.engines else sorted(corpus.manifest["indexes"])
    k = min(given.k, len(papers))
    engines: dict[str, Search] = {name: own(corpus, name, days, k) for name in names}
    try:
        engines["bm25s"] = by_bm25s(papers, days, k)
    except ImportError:
        print("bm25s is not installed: pip install bm25s")
    rows, first = [], dict[int, list[list[str]]]()
    for name, search in engines.items():
        for percent in days:
            hits = [search([query], percent)[0] for query in queries]  # what is compiled late, too
            reference = first.setdefault(percent, hits)
            same = sum(len({*a} & {*b}) for a, b in zip(reference, hits, strict=True))
            cpu, wall, batch = [], [], []
            for _ in range(given.repeats):
                began, spent = time.perf_counter(), time.process_time()
                for query in queries:
                    search([query], percent)
                cpu.append(time.process_time() - spent)
                wall.append(time.perf_counter() - began)
                began = time.perf_counter()
                search(queries, percent)
                batch.append(time.perf_counter() - began)
            each = (1e3 * statistics.median(times) / len(queries) for times in (cpu, wall, batch))
            rows.append([name, percent, *each, same / (sum(map(len, reference)) or 1)])
    shared = f"hits of {names[0]}"
    headers = ["engine", "% before", "CPU ms", "wall ms", "wall ms in a batch", shared]
    print(f"{len(papers):,} papers, {len(queries)} queries, k = {k}; a query:\n")
    print(tabulate(rows, headers, "github", floatfmt=".3f"))


if __name__ == "__main__":
    main()
