"""Made-up files in SurGE's form, for tests and measurements; nothing in them is true.

``python -m arena_suites.surge.generator --papers 1086992 --surveys 205 --output surge``
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from arena.kit.terminal import progress
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

_LONG, _SHORT = 1300, 700  # characters of an abstract; of arXiv's, 40 % have more than 1,000


def write_files(output: Path, papers: int, surveys: int, seed: int = 7) -> None:
    """Write ``corpus.json``, ``surveys.json`` and ``queries.json`` into a folder.

    Titles, days, authors and what a survey cites are those of a synthetic corpus; two abstracts in
    five have about 1,300 characters, the others 700. The papers of a heading of a survey's mind-map
    are the ``cites`` of its section, each of which is a query. Same arguments, same bytes.
    """
    config = SyntheticConfig(
        seed=seed, papers=papers, surveys=surveys, first_year=2008, years=16, year_only=0, undated=0
    )
    corpus, numbers = SyntheticCorpus(config), dict[str, int]()
    output.mkdir(parents=True, exist_ok=True)
    with (output / "corpus.json").open("w", encoding="utf-8") as file:
        _write(file, progress(_papers(corpus, numbers), desc="write", unit="paper", total=papers))
    written = [*_surveys(corpus, numbers)]
    for name, records in (("surveys.json", written), ("queries.json", _queries(written))):
        with (output / name).open("w", encoding="utf-8") as file:
            _write(file, records)


def _write(file: Any, records: Iterable[dict[str, Any]]) -> None:
    for number, record in enumerate(records):
        file.write((", " if number else "[") + json.dumps(record))
    file.write("]")


def _papers(corpus: SyntheticCorpus, numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    for number, paper in enumerate(corpus.papers()):
        numbers[paper["id"]] = number
        texts = [paper["abstract"], *(section["text"] for section in paper["sections"])]
        yield {
            "Title": paper["title"],
            "Authors": paper["authors"],
            "Year": paper["date"][:4],
            "Date": _time(paper["date"]),
            "Abstract": " ".join(texts)[: _LONG if number % 5 < 2 else _SHORT],
            "Category": _category(paper["fields"][0]),
            "doc_id": number,
        }


def _surveys(corpus: SyntheticCorpus, numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    for number, survey in enumerate(corpus.surveys()):
        day, title = survey["date"], survey["title"]
        yield {
            "survey_id": number,
            "survey_title": title,
            "authors": ["A. One"],
            "year": day[:4],
            "date": _time(day),
            "category": _category(survey["cluster"]),
            "abstract": "",
            "all_cites": [numbers[each["id"]] for each in survey["references"]],
            "structure": list(_sections(survey["mind_map"], title, numbers, f"{number}")),
            "Bertopic_CD": 0.5,
        }


def _queries(surveys: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    cited = ((survey, node) for survey in surveys for node in survey["structure"] if node["cites"])
    for number, (survey, node) in enumerate(cited):
        kept = ("content", "cites", "cite_extract_rate", "origin_cites_number")
        yield {
            "original_id": node["id"], "query_id": number,
            **{key: survey[key] for key in ("date", "year", "category")},
            "prefix_titles": node["prefix_titles"],
            "prefix_titles_query": " ".join(title for _, title in node["prefix_titles"]),
            **{key: node[key] for key in kept},
        }  # fmt: skip


def _sections(
    tree: dict[str, Any], title: str, numbers: dict[str, int], key: str
) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a mind-map as SurGE's flat list; a key has the keys of all above it."""
    waiting: list[tuple[str, str | None, dict[str, Any], list[list[str]]]] = [
        (key, None, tree | {"name": "root"}, [["title", title]])
    ]
    for node_id, parent, node, above in waiting:
        below = node.get("subtopics") or []
        keys = [f"{node_id}-{place}" for place in range(len(below))]
        cites = [numbers[paper] for paper in node.get("papers") or ()]
        yield {
            "id": node_id,
            "title": node["name"],
            "level": "root" if parent is None else above[-1][0],
            "parent_id": parent,
            "subsections": keys,
            "content": " ".join([node["name"], *("[..]" for _ in cites)]),
            "cites": cites,
            "cite_extract_rate": 1.0,
            "origin_cites_number": len(cites),
            "prefix_titles": above,
        }
        level = "sub" * min(len(above) - 1, 2) + "section"
        waiting += [
            (child_id, node_id, child, [*above, [level, child["name"]]])
            for child_id, child in zip(keys, below, strict=True)
        ]


def _time(date: str) -> str:
    return f"{(date + '-28')[:10]}T09:00:00Z"  # some dates are a month


def _category(field: str) -> str:
    return f"cs.{field[:2].upper()}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write made-up files in SurGE's form.")
    parser.add_argument("--papers", type=int, default=3000)
    parser.add_argument("--surveys", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--output", type=Path, required=True)
    write_files(**vars(parser.parse_args()))
