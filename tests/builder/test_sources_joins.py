"""Looking references up in a collection: names of papers, candidates, and what is counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena_suites.recognised import find_citations
from arena_suites.sources.bloom_eval import count_mentions, write_article
from corpus_builder.sources.matching import (
    Collection,
    PaperQuery,
    join,
    own_key,
    paper_keys,
)
from corpus_builder.sources.published import DatesFile


def write(path: Path, records: list[Any]) -> Path:
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(lines, mtime=0) if path.suffix == ".gz" else lines)
    return path


def collection(
    tmp_path: Path, papers: list[Any], sought: list[PaperQuery], *surveys: PaperQuery
) -> Any:
    return Collection(write(tmp_path / "papers.jsonl", papers), sought, surveys)


def distinct(places: list[str | None]) -> list[str]:
    return list(dict.fromkeys(place for place in places if place))


def test_the_id_of_the_collection_counts_where_the_title_is_the_same(tmp_path):
    papers = [{"id": 1, "title": "Reefs", "date": "2001"}, {"id": 7, "title": "Reefs"}]
    sought = [PaperQuery(title, (own_key(7, title),)) for title in ("Reefs", "Lakes")]
    found = join(sought, collection(tmp_path, papers, sought))
    assert found[0] == ["7", None]  # by title alone it would be the earlier one
    assert found[1]["by_id"] == 1


def test_arxiv_identifiers_that_passed_through_a_number():
    """All of these are ids of the real collection; the papers are what arXiv has under them."""
    damaged = {
        "arxiv:1907.0384800000002": "arxiv:1907.03848",
        "arxiv:1911.0637199999999": "arxiv:1911.06372",
        "arxiv:1909.013": "arxiv:1909.01300",
        "arxiv:705.361": "arxiv:0705.3610",
        "arxiv:1309.266": "arxiv:1309.2660",
        "arxiv:1409.1556": "arxiv:1409.1556",
        "arxiv:1501.06789": "arxiv:1501.06789",
        "arxiv:cs/9301111": "arxiv:cs/9301111",
    }
    for identifier, key in damaged.items():
        assert key in paper_keys({"id": identifier})
    assert paper_keys({"id": "t:01c493ed4615"}) == set()
    assert paper_keys({"id": 7, "externalids": {"ArXiv": "1706.03762", "DOI": "10.1/A"}}) == {
        "arxiv:1706.03762"
    }  # 10.1/A is no DOI: a registrant has four digits or more


PAPERS = [
    {"id": "t:1", "title": "Deep nets", "date": "2019"},
    {"id": "arxiv:1801.0000300000001", "title": "Deep Nets.", "date": "2018-01-05"},
    {"id": "t:2", "title": "Undated", "date": None},
    {"id": "t:3", "title": "Old book", "date": "1966", "doi": "10.1000/Book"},
    {"id": "t:4", "title": "Undated!", "date": "2021"},
]


def test_a_join_counts_what_it_did(tmp_path):
    listed = [
        PaperQuery("Deep Nets", (), 2018),  # two candidates, the earlier is taken
        PaperQuery("Renamed", ("arxiv:1801.00003",)),  # the same by id: a repeat
        PaperQuery("undated"),  # the dated one of two
        PaperQuery("OLD BOOK", (), 2013),  # 47 years apart
        PaperQuery("Another title", ("doi:10.1000/book",)),
        PaperQuery("Nowhere"),
        PaperQuery("nowhere."),  # a repeat, although it is not found
        PaperQuery("", ()),
        PaperQuery("", ()),  # nothing tells whether it is the same
    ]
    places, counts = join(listed, collection(tmp_path, PAPERS, listed))
    assert distinct(places) == ["arxiv:1801.0000300000001", "t:4", "t:3"]
    assert places[4] == "t:3" and places[5:] == [None] * 4
    assert counts == {
        "listed": 9, "by_id": 0, "by_title": 3, "not_found": 3, "repeated": 3,
        "ambiguous": 2, "years_apart": 1,
    }  # fmt: skip


def test_an_identifier_goes_before_a_title(tmp_path):
    listed = [PaperQuery("Deep nets", ("doi:10.1000/book",))]
    places, counts = join(listed, collection(tmp_path, PAPERS, listed))
    assert distinct(places) == ["t:3"]
    assert (counts["by_id"], counts["by_title"]) == (1, 0)


@given(order=st.permutations(PAPERS), picks=st.lists(st.sampled_from(
    ["Deep nets", "deep nets!", "Undated", "Old book", "x", "X.", ""]), max_size=12))  # fmt: skip
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_join_adds_up_whatever_the_order(tmp_path, order, picks):
    listed = [PaperQuery(pick) for pick in picks]
    places, counts = join(listed, collection(tmp_path, order, listed))
    parts = ("by_id", "by_title", "not_found", "repeated")
    assert counts["listed"] == sum(counts[part] for part in parts) == len(picks)
    assert len(distinct(places)) == counts["by_id"] + counts["by_title"]
    assert (places, counts) == join(listed, collection(tmp_path, PAPERS, listed))


def test_versions_of_a_survey_are_marked(tmp_path):
    made = collection(
        tmp_path,
        [
            {"id": "arxiv:2006.00001", "title": "Preprint of another name"},
            {"id": "x", "title": "On r\\'esum\\'es"},
            {"id": "y", "title": "On resumes, too", "is_survey": True},
            {"id": "z", "title": "No survey"},
        ],
        [],
        PaperQuery("On Résumés", ("arxiv:2006.00001",)),
    )
    marks = [place.record.get("is_survey") for place in made.papers()]
    assert marks == [True, True, True, None]


@pytest.mark.parametrize("name", ["dates.jsonl", "dates.jsonl.gz", "dates.csv"])
def test_dates_of_surveys(tmp_path, name):
    path = tmp_path / name
    rows = [
        {"id": "a", "title": "", "date": "2020-05"},
        {"id": "", "title": "Ünder B", "date": "2021"},
    ]
    if path.suffix == ".csv":
        path.write_text("id,title,date\na,,2020-05\n,Ünder B,2021\n", encoding="utf-8")
    else:
        write(path, rows)
    dates = DatesFile(path)
    assert dates.find(["x:a", "a"], "Other") == "2020-05"
    assert dates.find(["c"], "under b.") == "2021"
    assert dates.find(["c"], "under c") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "a"}\n', "dates.jsonl line 1: {'id': 'a'}: give an id or a title, and a date."),
        ('{"id": "a", "date": "May"}\n', "line 1: date: 'May' is not a date."),
        ('{"id":"a","date":"2020"}\n{"id":"a","date":"2021"}', "line 2: 'id:a' has two dates."),
        ("[]\n", "line 1: [] is not a JSON object."),
    ],
)
def test_dates_that_are_none(tmp_path, text, message):
    (tmp_path / "dates.jsonl").write_text(text)
    with pytest.raises(DataError) as caught:
        DatesFile(tmp_path / "dates.jsonl")
    assert message in str(caught.value)


def mentions(titles: list[str], bibliography: list[str], sections: dict[str, str]):
    records = [{"title": title} for title in titles]
    return count_mentions(find_citations(records, bibliography, sections), len(titles))


def test_mentions_follow_the_articles_own_numbers():
    titles = ["Improved nets", "Nets", "Trees", "Woods"]  # the data set's order is another one
    bibliography = [
        "[1] A. “Nets,” 2019. [2] B. “Trees,” 2020.",  # scanned as one
        "[3] C. “Improved nets,” 2021.",
        "[4] D. “Woods,” 2022.",
    ]
    sections = {"1": "See [1], [2, 3] and [1]–[3].", "2": "As in [1-3]; (4); [4000]; x[i]."}
    assert mentions(titles, bibliography, sections) == [3, 3, 3, 0]
    assert mentions([*titles, "Bushes"], bibliography, sections) is None  # 4 of 5 explained
    assert mentions(titles, ["A. 2019. Nets."], sections) is None  # author and year
    assert mentions(titles, bibliography, {"1": "Cited (Ames, 2019)."}) is None


def test_an_article_that_cites_by_numbers_in_round_brackets():
    """By hand: entries have no titles; 1 and 2 are in another order in the data set."""
    records = [
        {"title": f"Work {number}", "authors": [f"{name} AB", "Other C."], "date": "2016"}
        for number, name in enumerate(["Bohm", "Ames", *(f"Writer{c}" for c in "CDEFGHIJ")])
    ]
    bibliography = ["1.Ames AB,Other C.2016.Pbys. 65(3):239", "2．Böhm AB,OtherC.2016.Nature 6:15"]
    bibliography += [
        f"{number}. {record['authors'][0]}. 2016. Science 1:{number}"
        for number, record in enumerate(records[2:], 3)
    ]
    text = "Old (1,2), new (3–9;see Section 2) and (1O). In 2016(3) no; (11) and $x(2)$ neither."
    citations = find_citations(records, bibliography, {"1 Past": text})
    assert count_mentions(citations, len(records)) is None
    assert write_article("Nets", citations, list("bacdefghij")).split("\n\n")[2] == (
        "Old [@a; @b], new (3–9;see Section 2) [@c; @d; @e; @f; @g; @h; @i] and [@j]. "
        "In 2016(3) no; (11) and $x(2)$ neither.\n"
    )


def test_an_article_that_cites_by_author_and_year():
    """By hand: an entry has lost its authors; Carr 2012 is not a record; and O stands for 0."""
    records = [
        {"title": "Nets", "authors": ["Ames A", "Böhm B"], "date": "2011"},
        {"title": "Trees of nets", "authors": ["Ames A", "Dunn D", "Eden E"], "date": "2O12b"},
        {"title": "Woods", "authors": ["Ames A"], "date": "2012"},
    ]
    bibliography = ["2011. Nets. J. 3", "Ames A, Dunn D, Eden E. 2O12b. Trees of nets. J. 4",
                    "Ames A. 2012a. Woods. J. 5", "Carr C. 2012. Bushes"]  # fmt: skip
    text = "So (Ames & Bohm 2O11), (Ames et al.2O12b,Carr 2012). Ames (2012a) shows it."
    citations = find_citations(records, bibliography, {"1 Past": text})
    assert write_article("Nets", citations, ["n", "t", "w"]).split("\n\n")[2] == (
        "So [@n], (Ames et al.2012b,Carr 2012) [@t]. Ames (2012a) [@w] shows it.\n"
    )


def test_levels_of_headings_in_an_article():
    headings = (
        "I. PAST", "A. Nets", "B. Woods", "C. Seas", "II. NOW", "I. Ices", "Thanks", "4.1Trees"
    )  # fmt: skip
    article = write_article("T", find_citations([], [], dict.fromkeys(headings, "")), [])
    assert article.split("\n\n")[1:] == [
        "## I. PAST", "### A. Nets", "### B. Woods", "### C. Seas", "## II. NOW", "### I. Ices",
        "## Thanks", "### 4.1 Trees\n",
    ]  # fmt: skip
