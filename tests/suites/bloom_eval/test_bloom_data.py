"""Reading the released files, plain reports, and folders with faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.errors import DataError
from arena_suites.bloom_eval import Article, Heading, SurveyPair, compare
from arena_suites.bloom_eval.data import read_surveys

RECORDS = {
    "reference_1": {
        "title": "On nets", "date": "2020", "authors": ["Ann Ames", "Bo Bell"],
        "publication": "N/A", "citation_count": 51, "abs": "Nets are old.",
    },
    "reference_2": {"title": "N/A", "authors": "N/A", "citation_count": "N/A", "abs": "N/A"},
    "reference_3": {"title": "On trees", "date": 2021, "authors": ["C. Cole"], "citation_count": 7},
}  # fmt: skip


def write(folder: Path, **files: Any) -> Path:
    folder.mkdir(parents=True)
    for name, value in files.items():
        text = "{" if value == "broken" else json.dumps(value)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def read(folder: Path, **options: Any) -> Article:
    articles, problems = read_surveys(folder, **options)
    assert not problems
    (article,) = articles.values()
    return article


def cited(article: Article) -> list[str]:
    works = {work.key: work for work in article.works if work.key}
    return [works[k].title for each in article.report.statements for k in each.citations]


@pytest.mark.parametrize("side", ["llm", ""])
def test_numbers_mean_the_records(tmp_path: Path, side: str) -> None:
    outline = [[0, "Nets"], [1, "Past"], [3, "Deep  past"]]
    content = ["# Nets\n\n## Past\n\nOld [3]. Older [1, 3]."]
    write(tmp_path / "cs_02" / side, content=content, outline=outline, reference=RECORDS)
    article = read(tmp_path)
    assert article.outline == (Heading(0, "Nets"), Heading(1, "Past"), Heading(3, "Deep past"))
    assert [each.heading for each in article.report.sections if each.heading] == ["Past"]
    assert [(w.title, w.abstract, w.citations) for w in article.works] == [
        ("On nets", "Nets are old.", 51), ("", "", None), ("On trees", "", 7)
    ]  # fmt: skip
    assert cited(article) == ["On trees", "On nets", "On trees"]
    # cited 1, 3 of 1, 2, 3
    assert compare(SurveyPair(article, article), ["fmi"])["fmi"]["finding"].scores == {
        "": pytest.approx(2 / 3)
    }


def test_names_mean_the_records(tmp_path: Path) -> None:
    content = "# Nets\n\n## Past\n\nCole (2021) is new. Nets are old (Ames and Bell, 2020)."
    write(tmp_path / "cs_02" / "llm", content=content, reference=RECORDS)
    assert cited(read(tmp_path)) == ["On trees", "On nets"]


def test_a_list_of_titles_and_a_list_of_its_own(tmp_path: Path) -> None:
    content = "# Nets\n\n## Past\n\nOld [1]. New [2]."
    write(
        tmp_path / "a" / "cs_02", content=content, reference=["1. On nets", {"title": "On trees"}]
    )
    assert cited(read(tmp_path / "a")) == ["On nets", "On trees"]
    # the text's own list has another order
    content += "\n\n## References\n\n[1] C. Cole. On trees. 2021.\n\n[2] A. Ames. On nets. 2020."
    write(tmp_path / "b" / "cs_02", content=content, reference=RECORDS)
    article = read(tmp_path / "b")
    assert cited(article) == ["On trees", "On nets"]
    assert [work.key for work in article.works] == ["2", "", "1"]


def test_the_experts_article_as_it_was_recognised(tmp_path: Path) -> None:
    expert = {
        "title": "Nets", "abstract": "All on nets.",
        "context": {
            "1.PAST": "Old (Ames &Bel etal.2O2O).\n\nNets.",
            "2.1. Now": "New (Cole 202l). 1.Nothing",
            "ACKNOWLEDGMENTS": "Thanks. Ames A, Bell B. 2020. On nets. J. Nets 1:2",
        },
        "reference": ["Ames A, Bell B. 2020. On nets. J. Nets 1:2", "Cole C. 2021. On trees."],
    }  # fmt: skip
    write(tmp_path / "cs_02" / "human", expert_article=expert, reference=RECORDS)
    article = read(tmp_path, side="human")
    headings = [each.heading for each in article.report.sections]
    assert headings == ["Abstract", "1.PAST", "2.1. Now", "ACKNOWLEDGMENTS"]
    assert cited(article) == ["On nets", "On trees"]
    assert article.text.endswith("## ACKNOWLEDGMENTS\n\nThanks.\n")
    assert article.report.sections[2].level == 2


def test_faults_are_lines_and_the_other_topics_go_on(tmp_path: Path) -> None:
    good = {"content": "# T\n\n## A\n\nB.", "reference": {}}
    write(tmp_path / "a" / "llm", **good)
    write(tmp_path / "b" / "llm", content="broken", reference={})
    write(tmp_path / "c" / "llm", outline=[])
    write(tmp_path / "d" / "human", **good)
    write(tmp_path / "e" / "llm", **good, outline=[[1, "A"], ["B"]])
    write(tmp_path / "f" / "llm", content=[3])
    write(tmp_path / "g" / "llm", content="B.", reference="none")
    write(tmp_path / "i" / "llm", **good, outline=[[True, "A"]])
    write(tmp_path / "j" / "llm", **good, outline=[[10**300, "A"]])
    (tmp_path / "k" / "llm" / "content.json").mkdir(parents=True)
    articles, problems = read_surveys(tmp_path, topics=["a", *"bcdefghijk"])
    assert list(articles) == ["a"] and articles["a"].works == ()
    assert problems["b"].startswith("b/llm/content.json is not JSON (")
    assert problems["c"] == "c/llm/content.json is missing."
    assert problems["d"] == "d has no folder 'llm'."
    assert "outline.json" in problems["e"] and "content.json" in problems["f"]
    assert "reference.json" in problems["g"] and "no survey on 'h'" in problems["h"]
    assert all("is not [level, heading]" in problems[topic] for topic in "ij")
    assert problems["k"] == "content.json cannot be read: Is a directory."


def test_reports_are_found_by_topic(tmp_path: Path) -> None:
    names = ["cs_02", "bloom-eval-cs_03-482f66e24c040c43", "storm_gs_02", "notes"]
    (tmp_path / "reports").mkdir()
    for name in names:
        (tmp_path / "reports" / f"{name}.md").write_text(f"# {name}\n\nB.", encoding="utf-8")
    articles, problems = read_surveys(tmp_path, topics=["gs_02", "cs_02", "cs_03"])
    assert {topic: article.title for topic, article in articles.items()} == {
        "gs_02": names[2], "cs_02": names[0], "cs_03": names[1]
    }  # fmt: skip
    assert next(iter(articles)) == "gs_02" and not problems
    assert "cs_03" in read_surveys(tmp_path)[0]
    with pytest.raises(DataError, match="is not a folder"):
        read_surveys(tmp_path / "none")


def test_the_experts_articles_are_well_formed(real_data: Any) -> None:
    folder = real_data.papers.parent / "bloom_eval"
    if not folder.is_dir():
        pytest.skip(f"the articles are not here: {str(folder)!r} is missing")
    articles, problems = read_surveys(folder, "human")
    assert len(articles) == 13 and not problems
    for name in ("fmi", "dsi"):
        scores = [
            compare(SurveyPair(each, each), [name])[name]["finding"].scores[""]
            for each in articles.values()
        ]
        assert sum(scores) / len(scores) >= 0.9
    for article in articles.values():
        assert sum(bool(work.key) for work in article.works) >= 0.9 * len(article.works)
        assert sum(bool(work.abstract) for work in article.works) >= 0.9 * len(article.works)
