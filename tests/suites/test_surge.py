"""SurGE's files, by hand and made up, to a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.errors import DataError
from arena.tasks import TaskSet
from arena_suites.surge.generator import write_files
from arena_suites.surge.source import read_sections
from corpus_builder.cli import main
from corpus_builder.sources import SOURCES


def paper(number: int, **changes: Any) -> dict[str, Any]:
    return {"Title": f"Toy nets {number}", "Authors": ["A. One"], "Year": "2023",
            "Date": f"2023-05-{4 + number:02}T09:00:00Z", "Abstract": "We make toys.",
            "Category": "cs.LG", "doc_id": number} | changes  # fmt: skip


def section(key: str, title: str, parent: str | None, cites: list[int]) -> dict[str, Any]:
    return {"id": key, "title": title, "level": "section", "parent_id": parent, "subsections": [],
            "content": "", "cites": cites, "cite_extract_rate": 1.0, "origin_cites_number": 1,
            "prefix_titles": [["title", "Toy survey"]]}  # fmt: skip


PAPERS = [
    *map(paper, range(6)),
    paper(7, Title="Late toys", Date="2023-06-01T00:00:00Z"),
    paper(8, Title="Undated toys", Date=""),
    paper(50, Title="Toy Survey", Date="2023-05-28T09:00:00Z"),
    paper(51, Title="A survey of nets", Date="2023-05-01T09:00:00Z", Abstract=""),
]
STRUCTURE = [
    section("u0", "root", None, []),
    section("ua", "Abstract:", "u0", [5]),
    section("u1", "Nets", "u0", [0, 1, 2]),
    section("u2", "Deep nets", "u1", [1, 2]),
    section("u3", "Others", "u0", [1, 3, 7]),
]
SURVEY = {"survey_id": 3, "survey_title": "Toy survey", "authors": ["B. Two"], "year": "2023",
          "date": "2023-05-28T00:00:00Z", "category": "cs.CL", "abstract": "We survey.",
          "all_cites": [0, 1, 2, 3, 7, 8, 51, 99], "structure": STRUCTURE,
          "Bertopic_CD": 0.4}  # fmt: skip


def files(folder: Path, papers: Any = PAPERS, surveys: Any = (SURVEY,)) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "corpus.json").write_text(json.dumps(papers))
    (folder / "surveys.json").write_text(json.dumps(list(surveys)))
    return folder


def test_files_by_hand_become_a_corpus(tmp_path, capsys):
    corpus = tmp_path / "corpus"
    given = files(tmp_path / "surge")
    assert main(["build", "surge", "--input", str(given), "--output", str(corpus)]) == 0
    assert "never tried on the published files" in capsys.readouterr().out
    counts = json.loads((corpus / "manifest.json").read_text())["counts"]
    assert counts["papers"] == 10
    assert counts["searchable"] == 7  # not the undated one, not the two surveys
    assert counts["survey_references_not_before"] == counts["survey_references_undated"] == 1
    topic = TaskSet(corpus).topic("surge:3")
    assert (topic.text, topic.date, topic.domain) == ("Toy survey", "2023-05-28", "cs.CL")
    gains = TaskSet(corpus).gold("surge:3").gains
    assert gains == {"0": 1, "1": 2, "2": 1, "3": 1}  # three sections cite 1


def test_papers_are_filed_under_the_deepest_sections_that_cite_them():
    tree = read_sections("Toy survey", STRUCTURE)
    nets, others = tree.children
    assert (tree.label, nets.label, nets.papers) == ("Toy survey", "Nets", ("0",))
    assert (nets.children[0].label, nets.children[0].papers) == ("Deep nets", ("1", "2"))
    assert (others.label, others.papers) == ("Others", ("1", "3", "7"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"papers": [{**paper(1), "doc_id": "x"}]}, "corpus.json record 1: 'doc_id' is 'x'"),
        ({"papers": [paper(1), paper(2, Date="May")]}, "corpus.json record 2: 'Date' is 'May'"),
        ({"papers": {"a": 1}}, "corpus.json"),
        ({"surveys": [{**SURVEY, "all_cites": ["7"]}]}, "record 1: 'all_cites' contains '7'"),
        (
            {"surveys": [{**SURVEY, "structure": [*STRUCTURE, section("x", "X", "u9", [])]}]},
            "section 'X': 'parent_id' is 'u9', which is the id of no section",
        ),
        (
            {"surveys": [{**SURVEY, "structure": [{**STRUCTURE[0], "parent_id": ["u9"]}]}]},
            "structure 1: 'parent_id' is ['u9']",
        ),
        ({"surveys": [{**SURVEY, "structure": []}]}, "0 sections have no 'parent_id'"),
        (
            {"surveys": [{**SURVEY, "structure": [*STRUCTURE, section("u1", "X", "u0", [])]}]},
            "two sections have one 'id'",
        ),
        (
            {
                "surveys": [
                    {
                        **SURVEY,
                        "structure": [
                            *STRUCTURE,
                            section("x", "X", "y", []),
                            section("y", "Y", "x", []),
                        ],
                    }
                ]
            },
            "sections are below themselves",
        ),
    ],
)
def test_what_differs_from_the_form_is_named_with_key_and_record(tmp_path, change, message):
    source = SOURCES.get("surge")(files(tmp_path / "surge", **change))
    with pytest.raises(DataError) as error:
        list(source.papers()), list(source.surveys())
    assert message in str(error.value)


def test_made_up_files_are_repeatable_and_build(tmp_path):
    for name in ("a", "b"):
        write_files(tmp_path / name, papers=120, surveys=2)
    for name in ("corpus.json", "surveys.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    papers = json.loads((tmp_path / "a" / "corpus.json").read_text())
    assert sum(len(each["Abstract"]) > 1000 for each in papers) == 48  # two in five of 120
    corpus = tmp_path / "corpus"
    assert main(["build", "surge", "--input", str(tmp_path / "a"), "--output", str(corpus)]) == 0
    result = arena.run(corpus, "discovery", "oracle", tmp_path / "run")
    assert result["mean"]["recall@100"] == 1.0
