"""The dataset card: its figures against values by hand."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from corpus_builder.build import build
from corpus_builder.card import write_card
from corpus_builder.sources.example import Example
from corpus_builder.sources.jsonl import JsonLines

ROOT = Path(__file__).resolve().parents[2]


def made(directory: Path, papers: list[dict[str, Any]], surveys: list[dict[str, Any]]) -> Path:
    """Build a corpus and write its card."""
    directory.mkdir(exist_ok=True)
    files = []
    for name, records in (("papers", papers), ("surveys", surveys)):
        files.append(directory / f"{name}.jsonl")
        lines = "".join(json.dumps(record) + "\n" for record in records)
        files[-1].write_text(lines, encoding="utf-8")
    build(JsonLines(*files), directory / "corpus", fields=("title",))
    write_card(directory / "corpus")
    return directory / "corpus"


def page(corpus: Path) -> str:
    return (corpus / "card/README.md").read_text(encoding="utf-8")


def pictures(corpus: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (corpus / "card").glob("*.svg")}


def rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its header."""
    below = text[text.index(f"\n## {heading}") :]
    lines = re.search(r"(?:^\|.*\n)+", below, re.M)
    assert lines is not None
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines[0].splitlines()[2:]
    ]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tiny") / "corpus"
    build(Example(), directory)
    write_card(directory)
    return directory


def test_domains_of_survey_tasks(tmp_path: Path) -> None:
    """Figure 2 of ReportBench: counts and shares, in all and one without."""
    domains = ["Energy", "Health", "Health", None, "Health"]
    surveys = [
        {"id": f"s{n}", "title": f"A survey {n}", "date": "2020", "references": [], "domain": name}
        for n, name in enumerate(domains)
    ]
    corpus = made(tmp_path / "c", [{"id": "a", "title": "A", "date": "2019"}], surveys)
    text = page(corpus)
    assert rows(text, "Domains of application") == [
        ["Health", "3", "60.00 %"], ["Energy", "1", "20.00 %"], ["no domain given", "1", "20.00 %"]
    ]  # fmt: skip
    assert "With a domain: 4 of 5 survey tasks; different domains: 2." in text
    assert "Health" in pictures(corpus)["domains.svg"]


def test_the_example_by_hand(tiny: Path) -> None:
    # s1 has 12 references; the corpus has p3 p2 p4 p5 p6 p8 of the seven listed, and of them
    # p3 p2 p4 are in reach. s2 has p1 alone, which is later than s2.
    text = page(tiny)
    counts = dict(rows(text, "Counts"))
    assert counts == {
        "papers": "9",
        "of them searchable: dated and no survey": "6",
        "of them undated": "1",
        "of them surveys": "2",
        "papers with an abstract": "7",
        "papers with full text": "1",
        "sections of full text": "2",
        "citations between searchable papers": "7",
        "survey tasks": "2",
        "of them with a reference in reach: they can be scored": "1",
        "of them with prompts for a report": "0",
        "of them with an outline": "0",
        "of them with their own text": "0",
        "of them with a mind-map": "1",
        "references of survey tasks": "13",
        "of them in the corpus": "7",
        "of them in reach: gold": "3",
    }
    assert rows(text, "Dates") == [
        [y, "1"] for y in ["2018", "2016", "2015", "2012", "2010", "2009"]
    ]
    assert rows(text, "(a)") == [
        ["Computer Science", "1", "11.11 %"],
        ["no discipline given", "8", "88.89 %"],
    ]
    assert "No disciplines: none of 2 survey tasks has one" in text
    # 6/12 and 1/1 of the references are there; in reach are 3/12 and 0/1.
    everyone = ["2", "2 (100.00 %)", "2 (100.00 %)", "1 (50.00 %)", "1 (50.00 %)", "0 (0.00 %)"]
    assert rows(text, "(c)") == [["all surveys", *everyone], ["no discipline given", *everyone]]
    assert "100.00 % of the survey tasks (2 of 2) have at least 50 %" in text
    assert "7 of 13 references (53.85 %) are in the corpus, 3 (23.08 %) in reach" in text
    assert rows(text, "(d)") == [["1", "1", "1", "1", "1"]]
    assert {name: number for name, number, _ in rows(text, "What was lost")} == {
        "papers, undated": "1",
        "papers, surveys": "2",
        "references of searchable papers, unknown": "1",
        "references of surveys, not listed": "5",
        "references of surveys, unknown": "1",
        "references of surveys, undated": "1",
        "references of surveys, surveys": "1",
        "references of surveys, not before it": "2",
        "survey tasks without gold": "1",
        "survey tasks without a mind-map": "1",
        "mind-maps that cannot be read": "0",
    }
    assert "license" not in text and "The licence: the source names none." in text
    assert sorted(pictures(tiny)) == [
        "coverage.svg", "dates.svg", "disciplines.svg", "mind-maps.svg",
    ]  # fmt: skip


def test_front_matter_is_yaml(tiny: Path) -> None:
    import yaml

    _, front, _ = page(tiny).split("---\n", 2)
    sha256 = json.loads((tiny / "manifest.json").read_text())["content_sha256"]
    assert yaml.safe_load(front) == {
        "pretty_name": f"ResearchArena corpus {sha256[:12]}",
    }


def tree(depth: int, extra: int) -> dict[str, Any]:
    """A chain of `depth` headings below the root, and `extra` more right below the root."""
    node: dict[str, Any] = {"label": f"level {depth}", "children": []}
    for level in range(depth - 1, 0, -1):
        node = {"label": f"level {level}", "children": [node]}
    others = [{"label": f"other {i}", "children": []} for i in range(extra)]
    return {"label": "root", "children": [node, *others]}


def test_complexity_by_hand(tmp_path: Path) -> None:
    # (depth, nodes): (1, 2), (2, 5), (3, 8), (3, 6).
    papers = [{"id": "p", "title": "Paper", "date": "2000"}]
    maps = [tree(1, 1), tree(2, 3), tree(3, 5), tree(3, 3), 7]
    surveys = [
        {"id": f"s{i}", "title": f"Topic {i}", "date": "2001", "references": ["p"], "mind_map": m}
        for i, m in enumerate(maps)
    ]
    corpus = made(tmp_path / "c", papers, surveys)
    assert rows(page(corpus), "(d)") == [
        ["1", "1", "2", "2", "2"], ["2", "1", "5", "5", "5"], ["3", "2", "6", "6", "8"],
    ]  # fmt: skip
    assert "Unreadable, and left out: 1." in page(corpus)


def test_taxonomies_by_hand(tmp_path: Path) -> None:
    # The first map: leaves B and C, p filed twice, depth 2. The second: leaf D with q, depth 1.
    papers = [{"id": x, "title": f"Paper {x}", "date": "2000"} for x in ("p", "q", "r")]
    b, c = {"name": "B", "papers": ["p", "q"]}, {"name": "C", "papers": ["p", "r"]}
    first = {"name": "S", "subtopics": [{"name": "A", "subtopics": [b, c]}]}
    second = {"name": "T", "subtopics": [{"name": "D", "papers": ["q"]}]}
    papers += [{"id": "s0", "title": "T0", "date": "2001", "fields": ["X"], "is_survey": True}]
    surveys = [
        {"id": f"s{i}", "title": f"T{i}", "date": "2001", "references": ["p"], "mind_map": m}
        for i, m in enumerate((first, second))
    ]
    surveys[0]["survey_citations"] = 12
    text = page(made(tmp_path / "c", papers, surveys))
    assert rows(text.replace("\n###", "\n##"), "As Table 1") == [
        ["taxonomies", "2", "-", "-", "72"],
        ["citations of a survey, mean of 1", "12.0", "12", "12", "354.5"],
        ["disciplines of the survey tasks", "1", "-", "-", "8"],
        ["papers in all taxonomies", "4", "-", "-", "3,815"],
        ["papers a taxonomy, mean", "2.0", "1", "3", "53.0"],
        ["levels of headings, mean", "1.5", "1", "2", "3.2"],
        ["leaf categories, mean", "1.5", "1", "2", "12.4"],
    ]


def test_nothing_to_draw(tmp_path: Path) -> None:
    """No disciplines, no references, no mind-maps, nothing dated: sentences, and no picture."""
    papers = [{"id": "p", "title": "Paper"}]
    surveys = [{"id": "s", "title": "Topic", "date": "2001"}]
    corpus = made(tmp_path / "c", papers, surveys)
    text = page(corpus)
    assert pictures(corpus) == {} and "![" not in text
    for told in (
        "No paper of this corpus can be found.",
        "No disciplines: none of 1 paper has one",
        "No coverage: none of 1 survey task lists a reference.",
        "No mind-maps: none of 1 survey task has one that can be read.",
    ):
        assert told in text


def test_a_paper_counts_in_each_of_its_disciplines_once(tmp_path: Path) -> None:
    papers = [
        {"id": "a", "title": "A", "date": "2000", "fields": ["X", "Y", "X"]},
        {"id": "b", "title": "B", "date": "2000", "fields": ["X", " "]},
        {"id": "c", "title": "C", "date": "2000", "fields": [""]},
    ]
    surveys = [{"id": "a", "title": "A", "date": "2001", "references": ["b"]}]
    text = page(made(tmp_path / "c", papers, surveys))
    assert rows(text, "(a)") == [
        ["X", "2", "66.67 %"], ["Y", "1", "33.33 %"], ["no discipline given", "1", "33.33 %"],
    ]  # fmt: skip
    assert "One with several counts in each" in text
    assert [row[:2] for row in rows(text, "(b)")] == [["X", "1"], ["Y", "1"]]
    assert [row[:2] for row in rows(text, "(c)")] == [["all surveys", "1"], ["X", "1"], ["Y", "1"]]


EVIL = [
    "<script>alert(1)</script>", "](javascript:alert(1))", "a|b\n\n# heading", "`x` **b** $y$",
    '"><img src=x onerror=alert(1)>', "\u202egnp.exe", "&lt;b&gt;", "https://evil.example/x",
]  # fmt: skip


@pytest.mark.parametrize("name", EVIL)
def test_text_of_others_stays_text(name: str, tmp_path: Path) -> None:
    papers = [{"id": "s", "title": name, "date": "2000", "fields": [name]},
              {"id": "p", "title": "P", "date": "2000"}]  # fmt: skip
    surveys = [{"id": "s", "title": name, "date": "2001", "references": ["p"]}]
    corpus = made(tmp_path / "c", papers, surveys)
    text = page(corpus).split("---\n", 2)[2]  # what stands before is YAML
    plain = " ".join(name.replace("\u202e", "").split())
    row = rows(text, "(a)")[0]
    assert len(row) == 3
    assert re.sub(r"\\(?=[^\w\s])", "", row[0]) == plain  # all that is added are escapes
    assert "\u202e" not in text and not re.search(r"(?<!\\)<(?!/?(details|summary)>)", text)
    assert "\n# heading" not in text and "](javascript" not in text.replace("\\](", "")
    assert "https://" not in text
    for picture in pictures(corpus).values():
        root = ET.fromstring(picture)
        assert "script" not in {e.tag.rpartition("}")[2] for e in root.iter()}
        assert not any(key.startswith("on") for e in root.iter() for key in e.attrib)
    assert plain in "".join(ET.fromstring(pictures(corpus)["disciplines.svg"]).itertext())


def test_a_synthetic_can_be_made_again_by_its_card(
    synthetic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from corpus_builder.cli import main

    corpus = Path(shutil.copytree(synthetic, tmp_path / "corpus"))
    write_card(corpus)
    block = re.search(r"```sh\n(.*?)\n```", page(corpus), re.S)
    assert block is not None
    line = block[1].replace("\\\n", " ").replace("DIR", str(tmp_path / "again")).split()
    assert main(["info", str(corpus)]) == 0
    printed = capsys.readouterr().out.replace("DIR", str(tmp_path / "again"))
    assert "\nmade by" in printed and " ".join(line) in printed
    assert main(line[1:]) == 0
    hashes = [
        json.loads((tmp_path / name / "manifest.json").read_text())["content_sha256"]
        for name in ("corpus", "again")
    ]
    assert hashes[0] == hashes[1]


def test_two_processes_draw_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    """Also where the settings of matplotlib are others."""
    corpus = Path(shutil.copytree(tiny, tmp_path / "corpus"))
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nsvg.fonttype: path\n")
    code = "import sys; from corpus_builder.card import write_card; write_card(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, corpus], check=True, cwd=tmp_path)
    assert pictures(corpus) == pictures(tiny)


def test_without_matplotlib_the_card_has_tables_alone(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Path(shutil.copytree(tiny, tmp_path / "corpus"))
    monkeypatch.setattr("corpus_builder.card.page.find_spec", lambda name: None)
    write_card(corpus)
    assert pictures(corpus) == {} and "![" not in page(corpus)
    assert "install `researcharena[plots]` and write it again" in page(corpus)
    for heading in ("Dates", "(a)", "(c)", "(d)"):
        assert rows(page(corpus), heading) == rows(page(tiny), heading)
