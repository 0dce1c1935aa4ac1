"""Full texts of Semantic Scholar: sections, abstract, bibliography, and broken annotations."""

from __future__ import annotations

from typing import Any

import pytest
from release_helpers import full_text

from corpus_builder.release import RecordLimits, RejectError, Sink
from corpus_builder.sources.s2orc import parse_text

#       0         10        20        30        40        50        60
#       0123456789012345678901234567890123456789012345678901234567890123456789
TEXT = "A Title. We sum up. Before. One Here. There [1]. Fig. 1 A reef. Two End."
ABSTRACT, BEFORE, ONE, HERE, THERE = (9, 19), (20, 27), (28, 31), (32, 37), (38, 48)
FIGURE, CAPTION, TWO, END = (49, 63), (49, 55), (64, 67), (68, 72)


def spans(*pairs: tuple[Any, Any], **attributes: Any) -> list[dict[str, Any]]:
    told = {"attributes": attributes} if attributes else {}
    return [{"start": start, "end": end, **told} for start, end in pairs]


def parse(
    record: Any, limits: RecordLimits | None = None
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Return rows by table and flaws by reason."""
    sink = Sink()
    parse_text(record, sink, limits or RecordLimits())
    rows: dict[str, list[Any]] = {}
    for table, row in sink.rows:
        rows.setdefault(table, []).append(row)
    return rows, dict(sink.flaws)


def sections(row: tuple[Any, ...]) -> list[tuple[str, str]]:
    return [(section["heading"], section["text"]) for section in row[2]]


@pytest.mark.parametrize("version", [1, 2])
def test_sections_with_headings(version):
    rows, flaws = parse(
        full_text(
            7, TEXT, version,
            abstract=spans(ABSTRACT),
            sectionheader=[*spans(ONE, n="1"), *spans(CAPTION), *spans(TWO, n="2")],
            paragraph=spans(BEFORE, HERE, THERE, END),
            figure=spans(FIGURE, id="fig_0"),
            table=None,
            bibref=None,
            bibentry=None,
        )
    )  # fmt: skip
    (row,) = rows["texts"]
    assert row[:2] == ("7", "We sum up.")
    assert sections(row) == [("", "Before."), ("One", "Here.\n\nThere [1]."), ("Two", "End.")]
    assert row[3] == 0
    assert not flaws


def test_what_stands_in_the_abstract_a_figure_or_a_table_is_in_no_section():
    rows, flaws = parse(
        full_text(
            7, TEXT,
            abstract=spans(ABSTRACT),
            paragraph=spans((9, 14), HERE, (56, 63), END),
            figure=spans(FIGURE),
            table=spans(END),
        )
    )  # fmt: skip
    assert sections(rows["texts"][0]) == [("", "Here.")]
    assert not flaws


@pytest.mark.parametrize("version", [1, 2])
def test_the_bibliography_counts_mentions(version):
    entries = [
        {"start": 0, "end": 5, "attributes": {"id": "b0", "matched_paper_id": 20}},
        {"start": 5, "end": 9, "attributes": {"id": "b1", "matched_paper_id": "30"}},
        {"start": 9, "end": 12, "attributes": {"id": "b2"}},  # matched to no paper
        {"start": 12, "end": 13},
        {"start": 0, "end": 10**6, "attributes": {"id": "b4", "matched_paper_id": 40}},
        {"start": 0, "end": 1, "attributes": {"id": "b5", "matched_paper_id": 20}},
    ]
    references = [
        *spans((44, 47), ref_id="b0"),
        *spans((44, 47), ref_id="b5"),  # another entry for the same paper
        *spans((44, 47), ref_id="b2"),
        *spans((44, 47), ref_id="b9"),
        *spans((44, 47)),
        *spans((44, 47), ref_id="b4"),
    ]
    rows, flaws = parse(
        full_text(7, TEXT, version, paragraph=spans(HERE), bibentry=entries, bibref=references)
    )
    assert rows["bibliography"] == [("7", "20", 2), ("7", "30", 0), ("7", "40", 1)]
    assert rows["texts"][0][3] == 6
    assert not flaws


def test_a_match_that_only_the_mention_tells():
    entries = [{"start": 0, "end": 5, "attributes": {"id": "b0"}}]
    references = spans((44, 47), ref_id="b0", matched_paper_id=20)
    rows, _ = parse(
        full_text(7, TEXT, 2, paragraph=spans(HERE), bibentry=entries, bibref=references)
    )
    assert rows["bibliography"] == [("7", "20", 1)]


def test_a_citation_to_itself_is_left_out():
    entries = [{"start": 0, "end": 5, "attributes": {"id": "b0", "matched_paper_id": 7}}]
    rows, flaws = parse(
        full_text(7, TEXT, paragraph=spans(HERE), bibentry=entries,
                  bibref=spans((44, 47), ref_id="b0"))
    )  # fmt: skip
    assert "bibliography" not in rows
    assert rows["texts"][0][3] == 1
    assert list(flaws) == ["cites itself"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (spans((68, 73)), "annotation out of range"),
        (spans((72, 68)), "annotation reversed"),
        (spans((-4, 3)), "annotation without offsets"),
        ([{}], "annotation without offsets"),
        (spans((36, 40)), "annotations overlap"),
        ([3], "annotations unreadable"),
    ],
)
def test_a_broken_annotation_is_left_out_and_the_rest_is_kept(bad, reason):
    whole = [*spans(HERE), *bad] if isinstance(bad, list) else bad
    record = full_text(7, TEXT, sectionheader=spans(ONE, TWO), paragraph=whole)
    rows, flaws = parse(record)
    assert reason in flaws
    if isinstance(bad, list):
        assert sections(rows["texts"][0]) == [("One", "Here."), ("Two", "")]
    else:
        assert "texts" not in rows
        assert "no paragraphs" in flaws


def test_offsets_count_characters_not_bytes():
    text = "é😀 Reef 礁."
    rows, _ = parse(full_text(7, text, paragraph=spans((3, len(text)))))
    assert sections(rows["texts"][0]) == [("", "Reef 礁.")]


def test_no_paragraph_is_no_full_text_but_its_bibliography_counts():
    matched = {"start": 0, "end": 5, "attributes": {"id": "b0", "matched_paper_id": 20}}
    entries = [matched, {"start": 5, "end": 9, "attributes": {"id": "b1"}}]
    rows, flaws = parse(full_text(7, TEXT, sectionheader=spans(ONE), bibentry=entries))
    assert rows == {"bibliography": [("7", None, 2), ("7", "20", 0)]}
    assert list(flaws) == ["no paragraphs"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"corpusid": 7, "content": {"text": None, "annotations": {}}}, "no text"),
        ({"corpusid": None, "content": {"text": "a"}}, "no id"),
        ({"corpusid": 7, "abstract": "We sum up."}, "of another dataset"),
        ([7], "not an object"),
        ({"corpusid": 7, "content": {"text": "a" * 101}}, "text too long"),
    ],
)
def test_rejects(record, reason):
    with pytest.raises(RejectError) as caught:
        parse(record, RecordLimits(characters=100))
    assert caught.value.reason == reason
