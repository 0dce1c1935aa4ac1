"""Records of a library with the identifier of another work: chapters, comments, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corpus_builder.library.source import Library


def joined(folder: Path, *texts: str) -> list[dict[str, Any]]:
    for number, text in enumerate(texts):
        (folder / f"{number}").write_text(text, encoding="utf-8")
    return [
        place.record for place in Library([folder / f"{n}" for n in range(len(texts))]).papers()
    ]


def chapter(title: str, author: str = "Low, Ada", more: str = "doi={10.1000/sea}") -> str:
    return (f"@incollection{{a, title={{{title}}}, author={{{author}}}, booktitle={{The Sea}}, "
            f"year=2001, {more}}}\n")  # fmt: skip


SEA = "@book{b, title={The Sea}, editor={Doe, Cy}, year=2001, doi={10.1000/sea}}\n"


def test_chapters_do_not_have_the_doi_of_their_book(tmp_path: Path) -> None:
    texts = [chapter("Reefs by night"), chapter("Of urchins and crabs"), SEA]
    for order in (texts, texts[::-1]):
        papers = joined(tmp_path, *order)
        assert {paper["title"]: paper.get("doi") for paper in papers} == {
            "Reefs by night": None, "Of urchins and crabs": None, "The Sea": "10.1000/sea"
        }  # fmt: skip
    assert len(joined(tmp_path, *texts[:2])) == 2
    assert len(joined(tmp_path, texts[0], chapter("Reefs by Nights"))) == 1
    (paper,) = joined(tmp_path, chapter("Tides", more="doi={10.1007/978-3-030-11111-1}"))
    assert "doi" not in paper


def preprint(*authors: list[str]) -> str:
    return json.dumps({"id": "2104.01234", "title": "Reefs by night", "categories": "cs.LG",
                       "authors_parsed": authors,
                       "versions": [{"version": "v1", "created": "Thu, 1 Apr 2021 10:00:00 GMT"}],
                       })  # fmt: skip


def test_an_identifier_of_another_work_joins_nothing(tmp_path: Path) -> None:
    entry = ("@misc{a, title={Urchins, crabs and more}, author={Low, Ada}, year=2023, "
             "eprint={2104.01234}}\n")  # fmt: skip
    for texts in ([entry, preprint(["Ray", "Bo", ""])], [preprint(), entry]):
        papers = {paper["title"]: paper for paper in joined(tmp_path, *texts)}
        urchins = papers["Urchins, crabs and more"]
        assert len(papers) == 2 and urchins["date"] == "2023" and "arxiv_id" not in urchins
    # By the same people: published under another title. Its month is then not that of the entry.
    assert [p["date"] for p in joined(tmp_path, entry, preprint(["Low", "Ada", ""]))] == [
        "2021-04-01"
    ]
    other = entry.replace("Urchins, crabs and more", "Reefs by night").replace("2023", "2022")
    assert [p["date"] for p in joined(tmp_path, entry, other)] == ["2022"]
    assert [p["date"] for p in joined(tmp_path, entry)] == ["2021-04"]
