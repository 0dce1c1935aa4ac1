"""Raw records: what is taken, what is refused, and that nothing else ever happens."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.dates import parse_date
from arena.errors import DataError, clip
from corpus_builder.records import CitedId, parse_paper, parse_survey

PAPER = {"id": "p1", "title": "A title"}
SURVEY = {"id": "s1", "title": "A survey", "date": "2020-05-06", "references": []}


def test_the_smallest_paper() -> None:
    paper = parse_paper(PAPER)
    assert paper == ("p1", "A title", "", None, False, None, [], [], [], [])


def test_every_key_of_a_paper() -> None:
    paper = parse_paper(
        {
            "id": 2_004_111,
            "title": "  A\ttitle\n over  lines ",
            "abstract": "First line.\nSecond line.",
            "date": "2020-02",
            "sections": [
                {"heading": " 1 \n Start", "text": "Body."},
                {"heading": "", "text": None},
                {"text": "No heading.", "figures": 3},
            ],
            "references": ["a", 7, {"id": "b", "influential": True}, {"id": 8, "year": 1999}],
            "is_survey": False,
            "is_survey_title": True,
            "fields": ["Physics"],
            "venue": "Journal",
            "authors": ["Ada", {"name": "Bo", "authorId": "9"}],
            "citation_count": 10**300,
        }
    )
    assert paper.id == "2004111"
    assert paper.title == "A title over lines"
    assert paper.abstract == "First line.\nSecond line."
    assert (str(paper.date), paper.date.precision) == ("2020-02-29", "month")
    assert paper.sections == [("1 Start", "Body."), ("", "No heading.")]
    assert paper.references == [
        CitedId("a", False),
        CitedId("7", False),
        CitedId("b", True),
        CitedId("8", False),
    ]
    assert paper.is_survey is True
    assert (paper.fields, paper.venue, paper.authors) == (["Physics"], "Journal", ["Ada", "Bo"])


OPTIONAL = ["abstract", "date", "sections", "references", "is_survey", "fields", "venue", "authors"]


@pytest.mark.parametrize("key", OPTIONAL)
def test_null_counts_as_absent(key: str) -> None:
    assert parse_paper({**PAPER, key: None}) == parse_paper(PAPER)


@pytest.mark.parametrize(
    ("date", "day", "precision"),
    [
        ("1970-01-01", 0, "day"),
        ("1969-12-31", -1, "day"),
        ("1970", 364, "year"),  # 31 December of a year of 365 days
        ("1972", 365 + 365 + 366 - 1, "year"),
        ("1970-02", 30 + 28, "month"),
        ("1900-02", -25_509 + 0, "month"),  # no leap year: 1900-02-28
        ("2000-02-29", 11_016, "day"),
        ("9999", 2_932_896, "year"),
        ("1600", -135_140 + 365, "year"),  # 366 days from 1600-01-01
    ],
)
def test_dates(date: object, day: int, precision: str) -> None:
    assert parse_paper({**PAPER, "date": date}).date == (day, precision)


@pytest.mark.parametrize("title", [None, "", " ", "<i></i>", "&nbsp;"])
def test_a_title_has_words(title: object) -> None:
    with pytest.raises(DataError, match="every record needs a title"):
        parse_paper({"id": "p1", "title": title})


@pytest.mark.parametrize("date", ["0001-01-01", "0001", "1599-12", "1900-01-01", 1599])
def test_a_placeholder_is_no_date(date: object) -> None:
    assert parse_paper({**PAPER, "date": date, "date_guessed": True}).date is None
    with pytest.raises(DataError, match="a survey needs a date"):
        parse_survey({**SURVEY, "date": date})


@pytest.mark.parametrize(
    "date",
    ["", " ", "2020-13", "2020-00", "2020-02-30", "1900-02-29", "20", "20201305", "2020-3-5",
     "2020-03-05T00:00:00", "05.03.2020", "0000", "-2020", "２０２０", "2020\n", "unknown", True,
     False, 2020.0, 0, 20_201_305, -1, 10**5000, [], ["2020"], {"year": 2020}, "2" * 100_000],
    ids=clip,
)  # fmt: skip
def test_a_date_that_is_none(date: object) -> None:
    with pytest.raises(DataError, match=r"date: .* not a (date|day of the calendar)\. Write YYYY"):
        parse_paper({**PAPER, "date": date})
    with pytest.raises(DataError) as caught:
        parse_date(date)
    assert len(str(caught.value)) < 300


BAD_IDS = [None, "", " ", "a b", "a\tb", "a\nb", "a\u00a0b", "a\0b", "\ud800", "\u200b", "\x1b[31m",
           "x" * 257, True, 1.5, [], {}, 10**256]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_IDS, ids=clip)
def test_an_id_that_is_none(bad: object) -> None:
    for record in ({**PAPER, "id": bad}, {**PAPER, "references": [bad or ""]}):
        with pytest.raises(DataError) as caught:
            parse_paper(record)
        message = str(caught.value)
        assert re.match("id=.*: (every record needs an id|an id has at most 256)", message), message
        assert message.isprintable()
        assert len(message) < 300


def test_labels_of_a_survey() -> None:
    survey = parse_survey(
        {
            **SURVEY,
            "references": ["a", {"id": "b", "influential": True}, "a", {"id": "c"}],
            "influential": ["c", "elsewhere"],
            "taxonomy": {"b": [], "a": "é\ud800"},
        }
    )
    assert survey.references == [("a", False), ("b", True), ("a", False), ("c", True)]
    assert survey.n_references_total == 3  # distinct ones
    assert survey.mind_map == r'{"b": [], "a": "\u00e9\ufffd"}'


@pytest.mark.parametrize("key", ["citation_count", "citationcount", "cited_by_count"])
def test_the_citations_of_a_survey_by_any_name(key: str) -> None:
    assert parse_survey({**SURVEY, key: 12}).survey_citations == 12
    assert parse_survey({**SURVEY, key: 12, "survey_citations": 0}).survey_citations == 0
    for unknown in ("12", -1, None, 1.5, True):  # what a catalogue writes is no fault
        assert parse_survey({**SURVEY, key: unknown}).survey_citations is None


@pytest.mark.parametrize(("given_total", "total"), [(None, 2), (0, 2), (2, 2), (90, 90)])
def test_the_total_is_never_below_the_list(given_total: int | None, total: int) -> None:
    survey = parse_survey({**SURVEY, "references": ["a", "b"], "n_references_total": given_total})
    assert survey.n_references_total == total


@pytest.mark.parametrize("record", [{**SURVEY, "date": None}, {"id": "s", "title": "t"}])
def test_a_survey_needs_a_date(record: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="a survey needs a date"):
        parse_survey(record)


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [text for item in value for text in texts(item)]
    return []


strings = st.text(st.characters(codec=None), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | strings
keys = st.sampled_from(
    ["id", "title", "date", "heading", "text", "name", "influential", *OPTIONAL, "mind_map",
     "taxonomy", "n_references_total", "survey_citations", "cluster", "is_survey_title"]
)  # fmt: skip
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(keys, v, max_size=5), max_leaves=12
)


@given(values | st.dictionaries(keys, values))
def test_anything_is_taken_or_refused_in_one_printable_line(raw: Any) -> None:
    base = raw if isinstance(raw, dict) else {"title": raw}
    for parse, record in (
        (parse_paper, raw),
        (parse_survey, raw),
        (parse_paper, {**PAPER, **base}),
        (parse_survey, {**SURVEY, **base}),
    ):
        try:
            parsed = parse(record)
        except DataError as error:
            message = str(error)
            assert "\n" not in message and len(message) < 400
            assert message.encode()
        else:
            assert parsed.id and parsed.title.strip() == parsed.title != ""
            for text in texts(parsed):
                text.encode()


def test_headings_keep_their_order() -> None:
    """In this form the headings are keys, and tree distances depend on their order."""
    typology = {"Zeta": {"b": None, "a": None}, "Alpha": None}
    stored = parse_survey({**SURVEY, "mind_map": typology}).mind_map
    assert stored == '{"Zeta": {"b": null, "a": null}, "Alpha": null}'
