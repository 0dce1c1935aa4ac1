"""The search of any result for what is out of reach, by hand."""

from __future__ import annotations

import json

import pytest
from helpers import Memory

from arena.testing.exposure import Exposure
from arena.testing.reference import PlainView
from arena.testing.stored import StoredCorpus
from corpus_builder.build import build

CUTOFF = "2020-08-24"
QUOTED = "We count all votes until 2031-05-01 and publish them by the end of that year."


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    directory = tmp_path_factory.mktemp("dated") / "corpus"
    papers = [
        {"id": "p:now", "title": "Votes", "abstract": QUOTED, "date": "2019-01-01"},
        {"id": "p:2031-05-02", "title": "Votes Again", "date": "2019-01-02", "venue": "Polls"},
        {"id": "p:late", "title": "Late", "abstract": "Until 2032-05-01.", "date": "2022-01-01"},
    ]
    topic = {"id": "s", "title": "Polls, a Survey", "date": CUTOFF, "references": ["p:now"]}
    build(Memory(papers, [topic]), directory)
    return StoredCorpus(directory)


def dates(facts, result, *sent: str) -> list[str]:
    leaks = Exposure(facts).find(result, PlainView(facts, CUTOFF, ["s"]), sent)
    return [what for check, what in leaks if check == "leak.date"]


@pytest.mark.parametrize(
    "result",
    [
        {"date": "2099-05"},
        {"year": "2021"},
        {"year": 2021.0},
        {"pubDate": "May 2021"},
        {"publication_month": "2020-09"},
        {"by_year": {"2019": 1, "2021": 2}},
        {"years": [2019, [2021]]},
        {"2020-12-15": 1},
        {"x": "last cited on 2020-12-15"},
        {"x": "last cited on 2020-08-24"},
        {"x": "2020-12-15T10:00:00Z"},
        {"x": "Until 2032-05-01."},
    ],
    ids=json.dumps,
)
def test_dates_from_the_cutoff_on_are_found(facts, result):
    assert dates(facts, result)


@pytest.mark.parametrize(
    "result",
    [
        {"date": "2020-08-23"},
        {"date": "2020-08"},
        {"year": "2020"},
        {"year": 2020},
        {"date": "unknown"},
        {"candidates": 3000},
        {"x": 3000, "y": "3000", "isbn": "2999-99-99", "phone": "12020-12-150"},
        {"x": QUOTED},
        {"x": "until 2031-05-01, they say"},
        {"x": f"{QUOTED} (2019)"},
        {"x": QUOTED[:40]},
        {"x": QUOTED[25:]},
        {"x": "p:2031-05-02"},
        {"message": f"no paper before {CUTOFF}", "cutoff": CUTOFF},
    ],
    ids=json.dumps,
)
def test_dates_before_it_and_in_the_texts_of_papers_in_reach_are_none(facts, result):
    assert dates(facts, result) == []


def test_a_date_that_the_agent_has_sent_may_come_back(facts):
    result = {"notes": ["2099-01-01", "until 2099-01-01"]}
    assert dates(facts, result)
    assert dates(facts, result, "what happens until 2099-01-01?") == []


def test_a_title_out_of_reach_is_found_unless_the_agent_has_written_it(tmp_path):
    papers = [
        {"id": "x:four-words-are-enough", "title": "Four Words: are Enough", "date": "2022-01-01"},
        {"id": "p:now", "title": "Now", "abstract": "Why other words are enough.", "date": "2019"},
        {"id": "p:2", "title": "Other Words are Enough", "date": "2022-01-01"},
    ]
    topic = {"id": "s", "title": "Polls, a Survey", "date": CUTOFF, "references": ["p:now"]}
    build(Memory(papers, [topic]), tmp_path / "corpus")
    stored = StoredCorpus(tmp_path / "corpus")
    view = PlainView(stored, CUTOFF, ["s"])

    def found(text: str, *sent: str) -> list[str]:
        return [check for check, _ in Exposure(stored).find({"x": text}, view, sent)]

    assert found("They say four words are enough!") == ["leak.paper"]
    assert found("They say four words are enough!", "FOUR WORDS -- are enough, see") == []
    assert found("no paper 'x:four-words-are-enough' here", "x:four-words-are-enough") == []
    assert found("It is other words are enough.") == []  # a paper in reach has it, too
    assert found("polls: a SURVEY") == ["leak.survey-title"]
